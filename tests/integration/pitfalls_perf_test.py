#!/usr/bin/env python3
"""Perf events that are refused, limited, lost or throttled (rows P67 to P74)."""
import errno
import os
import pathlib
import resource
import shutil

import harness
import pitfall
from harness import case

WORKERS = harness.PROGRAMS / 'pitfalls/worker_threads'
SOURCES = pathlib.Path(__file__).resolve().parents[2]


def of(profiles, name):
    """The reports of one program's profiles."""
    return [harness.report(path) for path in profiles if path.name.startswith(f'{name}.')]


def counts(reports, function):
    sites = [site for parsed in reports for site in harness.sites_of(parsed, function)]
    return harness.total(sites, 'allocations'), harness.total(sites, 'bytes_allocated')


def own_counts(reports, function):
    """By "is a child of fork": each profile counts what its own process allocated."""
    return {parsed['process']['forked_without_exec']: counts([parsed], function) for parsed in reports}


@case(rows='P67')
def no_event_limit_is_ever_set(folder):
    """PERF_EVENT_IOC_REFRESH (0x2402) on a clock event hangs Linux 6.16: not in the code, not at run time."""
    for source in (SOURCES / 'agent').rglob('*'):
        if source.suffix in ('.cc', '.h', '.inc'):
            text = source.read_text()
            assert 'IOC_REFRESH' not in text and '.wakeup_events = ' not in text, source
    if shutil.which('strace') is None:
        harness.skip('strace is not installed')
    trace = folder / 'trace'
    result = harness.run_plain(
        ['strace', '-f', '-o', trace, '-e', 'trace=ioctl', '-E', f'LD_PRELOAD={harness.AGENT}',
         '-E', f'MEMAGENT_OPTIONS=rate=10000,output={folder}/x.memagent', WORKERS, 2, 100, 0.05])
    assert result.status == 3, (result.status, result.stderr)
    text = trace.read_text()
    assert 'PERF_EVENT_IOC_ENABLE' in text or '0x2400' in text, text[:2000]
    assert 'REFRESH' not in text and '0x2402' not in text, text


def refused(folder, code):
    """Runs on with allocations complete; one event says what was refused and what helps."""
    command = [harness.PROGRAMS / 'pitfalls/deny_perf', code, WORKERS, 3, 200, 0.01]
    for plain, measured in pitfall.unnoticed(folder / str(code), command):
        if plain.status == 99:
            harness.skip('this kernel takes no seccomp filter')
        assert plain.status == 3
        assert counts(of(measured.profiles, 'deny_perf'), 'alloc_in_launcher') == (1, 2000)
        (parsed,) = of(measured.profiles, 'worker_threads')
        assert counts([parsed], 'alloc_in_worker') == (600, 60000)
        assert parsed['engine'] == 'none' and parsed['samples_seen'] == 0, parsed['engine']
        events = [event for event in parsed['events'] if event['code'] == 'thread_not_sampled']
        assert len(events) == 1, parsed['events']
        assert len(parsed['threads']) == 4 and all(t['not_sampled'] for t in parsed['threads'])
        yield parsed, events[0]


@case(rows='P68 P69')
def a_refused_event_is_said_once_and_allocations_are_complete(folder):
    folder.chmod(0o755)
    for code in (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ENOENT, errno.EOPNOTSUPP, errno.ENODEV):
        (folder / str(code)).mkdir()
        for parsed, event in refused(folder, code):
            software = [engine for engine in parsed['engines'] if engine['kind'] == 'software'][0]
            assert software['refused_errno'] == code and software['remedy'], software
        print(f'{errno.errorcode[code]}: {event["text"]}')


ENGINE_ERRNOS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ENOENT, errno.EOPNOTSUPP, errno.ENODEV, errno.EINVAL,
                 errno.E2BIG, errno.EBUSY, errno.EMFILE, errno.ENOSPC, errno.ENXIO, errno.ENODATA, errno.ESRCH,
                 errno.ENOMEM, errno.EINTR)


def faulted(folder, call, code):
    """A run in which one call that perf events need always fails; output and status are unchanged."""
    (folder / f'{call}-{code}').mkdir()
    words = [harness.PROGRAMS / 'pitfalls/deny_perf', f'{call}:{code}' if call else code, WORKERS, 3, 200, 0.02]
    for plain, measured in pitfall.unnoticed(folder / f'{call}-{code}', words, rates=(1000,)):
        assert plain.status == 3
        (parsed,) = of(measured.profiles, 'worker_threads')
        assert counts([parsed], 'alloc_in_worker') == (600, 60000)
        return parsed


@case(rows='P68')
def every_errno_of_opening_leaves_the_program_alone(folder):
    folder.chmod(0o755)
    for code in ENGINE_ERRNOS:
        parsed = faulted(folder, '', code)
        (software,) = [engine for engine in parsed['engines'] if engine['kind'] == 'software']
        assert parsed['engine'] == 'none' and software['refused'] and software['remedy'], parsed['engines']
        assert software['refused_errno'] == code, software


@case(rows='P68')
def every_other_call_that_fails_leaves_the_program_alone(folder):
    """What is said: why there are no samples, or what is not known of those that there are."""
    folder.chmod(0o755)
    for call, codes in (('map', (errno.EPERM, errno.ENOMEM, errno.EINVAL, errno.EACCES, errno.EBUSY)),
                        ('id', (errno.EPERM, errno.ENOTTY)), ('enable', (errno.EPERM, errno.EINVAL)),
                        ('redirect', (errno.EINVAL, errno.EBADF))):
        for code in codes:
            parsed = faulted(folder, call, code)
            (software,) = [engine for engine in parsed['engines'] if engine['kind'] == 'software']
            assert parsed['engine'] == 'none' and parsed['samples_seen'] == 0, (call, code, parsed['engine'])
            assert software['refused_errno'] == code and software['refused'] and software['remedy'], software
            print(f'{call} {errno.errorcode[code]}: {software["refused"]}')
    assert faulted(folder, 'period', errno.EINVAL)['engine'] == 'software'
    assert faulted(folder, 'read', errno.EIO)['engine'] == 'software'


@case(rows='P68 P92')
def a_filter_that_kills_for_perf_events_kills_nobody(folder):
    """systemd's SystemCallFilter= kills by default, and is there before the program starts."""
    (folder / 'kill').mkdir()
    for _, event in refused(folder, 'kill'):
        assert 'seccomp' in event['text'], event


@case(rows='P70')
def locked_memory_used_up_costs_samples_not_the_program(folder):
    if os.geteuid() != 0:
        harness.skip('only root can become nobody')
    folder.chmod(0o755)
    for limit in (0, 65536):
        (folder / str(limit)).mkdir()
        for plain, measured in pitfall.unnoticed_program(folder / str(limit), 'limits', 'memlock', limit):
            assert plain.status == 3 and b'can be locked' in plain.stdout, plain.stdout
            parsed = measured.only_profile()
            assert counts([parsed], 'alloc_limited') == (2400, 2400000)
            assert len(parsed['threads']) == 25, len(parsed['threads'])
            unsampled = sum(1 for thread in parsed['threads'] if thread['not_sampled'])
            print(f'limit {limit}: {unsampled} of 25 threads not sampled')
            said = [event for event in parsed['events'] if event['code'] == 'thread_not_sampled']
            assert len(said) <= 2 and bool(said) == bool(unsampled), parsed['events']


@case(rows='P71')
def a_program_may_use_all_its_descriptors(folder):
    for limit in (3, 4, 8, 16):
        (folder / str(limit)).mkdir()
        for plain, measured in pitfall.unnoticed_program(folder / str(limit), 'limits', 'nofile', limit):
            assert plain.status == 3 and f'soft {limit}, hard {limit}'.encode() in plain.stdout, plain.stdout
            reports = of(measured.profiles, 'limits')
            assert own_counts(reports, 'alloc_limited') == {False: (200, 200000), True: (100, 100000)}, (
                limit, own_counts(reports, 'alloc_limited'))


@case(rows='P71')
def a_program_started_with_few_descriptors_has_them(folder):
    """The loader itself needs number 3."""
    for limit in (4, 6, 12):
        (folder / str(limit)).mkdir()
        steps = pitfall.unnoticed_program(
            folder / str(limit), 'limits', 'nofile', limit,
            preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)))
        for plain, measured in steps:
            assert plain.status == 3, plain.stdout
            reports = of(measured.profiles, 'limits')
            assert own_counts(reports, 'alloc_limited') == {False: (200, 200000), True: (100, 100000)}, (
                limit, own_counts(reports, 'alloc_limited'))


@case(rows='P72')
def each_thread_and_each_child_has_events_of_its_own(folder):
    for _, measured in pitfall.unnoticed_program(folder, 'worker_threads', 3, 50, 0.1, 'fork'):
        assert len(measured.profiles) == 2, measured.profiles
        for parsed in of(measured.profiles, 'worker_threads'):
            child = parsed['process']['forked_without_exec']
            function, size, threads = ('alloc_in_child', 300, 1) if child else ('alloc_in_worker', 100, 3)
            assert counts([parsed], function) == (threads * 50, threads * 50 * size)
            busy = [t for t in parsed['threads'] if not t['main']]
            assert len(busy) == threads and not any(t['not_sampled'] for t in busy), busy
            for thread in busy:
                # 0.1 s of CPU time at 1 or 10 kHz, nothing of another thread's or process's.
                seen = thread['samples_seen'] / parsed_rate(parsed)
                assert 0.03 < seen < 0.2, f'{seen:.3f} s of samples, {thread}'


def parsed_rate(parsed):
    return [engine for engine in parsed['engines'] if engine['in_use']][0]['rate_hz']


@case(rows='P73')
def samples_lost_in_a_tiny_ring_are_counted(folder):
    options = {'ring_pages': 1, 'drain_interval': 500}
    for _, measured in pitfall.unnoticed_program(folder, 'worker_threads', 2, 5000, 0.3, options=options):
        parsed = measured.only_profile()
        print(harness.evidence_text(parsed))
        assert counts([parsed], 'alloc_in_worker') == (10000, 1000000)
        expected = 2 * 0.3 * parsed_rate(parsed)
        assert 0.5 * expected < parsed['samples_seen'] < 1.4 * expected, (parsed['samples_seen'], expected)
        if parsed_rate(parsed) > 5000:
            assert parsed['dropped'].get('ring_lost', 0) > 0, parsed['dropped']


@case(rows='P74')
def a_rate_over_the_kernels_is_lowered_before_it_throttles(folder):
    """The kernel's limit is the machine's: it is stayed under, not provoked, and a throttled event is counted."""
    result = harness.run_measured([WORKERS, 4, 50, 0.15], folder, {'rate': 1000000})
    assert result.status == 3
    parsed = result.only_profile()
    limit = parsed['machine']['max_sample_rate']
    assert parsed_rate(parsed) <= max(1, limit / 2), (parsed_rate(parsed), limit)
    assert 'rate_changed' in [event['code'] for event in parsed['events']], parsed['events']
    assert all(thread['throttled'] == 0 for thread in parsed['threads']), parsed['threads']


if __name__ == '__main__':
    harness.main()
