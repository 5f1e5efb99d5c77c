#!/usr/bin/env python3
"""However a program ends, it ends as without us, and the profile is whole."""
import signal

import harness
from harness import case

SECONDS = 0.4
RATE = 1000


def measure(folder, way, ends, options, seconds):
    """`ends`: the footer's word; None: killed, no footer. Returns (samples seen, on the site)."""
    command = [harness.PROGRAMS / 'exit_ways', int(way) if isinstance(way, signal.Signals) else way, seconds]
    plain = harness.run_plain(command)
    result = harness.run_measured(command, folder, {'rate': RATE, **(options or {})})
    assert (result.status, result.stdout, result.stderr) == (plain.status, plain.stdout, plain.stderr), (
        f'plain {plain.status} {plain.stdout} {plain.stderr}; '
        f'measured {result.status} {result.stdout} {result.stderr}')
    reports = [harness.report(path) for path in result.profiles if path.name.startswith('exit_ways')]
    assert len(reports) == 1, result.profiles
    parsed = reports[0]
    assert parsed['file']['end'] == ends, f'ended by {parsed["file"]["end"]}, expected {ends}'
    assert not parsed['file']['truncated'] and parsed['file']['chunks_damaged'] == 0, parsed['file']
    on_site = harness.total(harness.sites_of(parsed, 'alloc_work'), 'samples')
    print(f'{way}: {parsed["samples_seen"]} samples, {on_site} on the site')
    return parsed['samples_seen'], on_site


def check(folder, way, ends, options=None, seconds=SECONDS, least_share=0.8,
          least_on_site=0.5):
    """Where other machines take the CPU, ticks of its timer are lost, 1 in 5 now and then; samples
    that an end loses are lost each time. So one good run of three will do."""
    for attempt in range(3):
        into = folder / str(attempt)
        into.mkdir()
        seen, on_site = measure(into, way, ends, options, seconds)
        if seen >= least_share * seconds * RATE and on_site > least_on_site * seen:
            return
    raise AssertionError(f'{seen} samples only, {on_site} on the site')


@case
def by_return(folder):
    check(folder, 'return', 'exit')


@case
def by_exit(folder):
    check(folder, 'exit', 'exit')


@case
def by_underscore_exit(folder):
    check(folder, '_exit', '_exit')


@case
def by_quick_exit(folder):
    check(folder, 'quick_exit', 'quick_exit')


@case
def by_abort(folder):
    check(folder, 'abort', 'abort')


@case
def by_exec(folder):
    check(folder, 'exec', 'exec')


@case
def by_pthread_exit_of_main(folder):
    check(folder, 'pthread_exit', 'exit')


@case
def by_a_fault(folder):
    check(folder, 'fault', 'SIGSEGV')


def by_signal(number, ends):
    def run(folder):
        check(folder, number, ends, seconds=0.2, least_on_site=0.25)
    run.__name__ = f'by_{number.name.lower()}'
    case(run)


# Every signal that ends a process by default, and that the agent can reach.
for _number in signal.Signals:
    if _number in (signal.SIGKILL, signal.SIGSYS, signal.SIGRTMIN, signal.SIGRTMAX):
        continue
    if _number in (signal.SIGCHLD, signal.SIGCONT, signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN,
                   signal.SIGTTOU, signal.SIGURG, signal.SIGWINCH):
        continue
    by_signal(_number, 'abort' if _number == signal.SIGABRT else _number.name)


@case
def by_sigkill_losing_one_checkpoint_at_most(folder):
    check(folder, signal.SIGKILL, None, {'checkpoint': 1}, seconds=2.2, least_share=0.4)


@case
def by_sigterm_where_signals_are_left_alone(folder):
    check(folder, signal.SIGTERM, None, {'checkpoint': 1, 'signals': 'leave'}, seconds=2.2,
          least_share=0.4)


if __name__ == '__main__':
    harness.main()
