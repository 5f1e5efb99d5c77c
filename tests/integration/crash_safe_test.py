#!/usr/bin/env python3
"""SIGKILL at random moments: the profile is readable and holds everything up to the last checkpoint.

The program writes down how much it has allocated, and when. Checkpoints come after 0.1 s, after 1 s,
then every `checkpoint=` seconds; a killed program's profile must hold at least what the log says for
one interval, and a margin for a crowded machine, before the kill.
"""
import collections
import concurrent.futures
import random
import signal
import subprocess
import time

import harness
from harness import case

INTERVAL_SECONDS = 1  # the option's smallest
# The drain thread has to get a CPU first, and a checkpoint takes its time: 1 s covers two cores shared
# by several test runs.
MARGIN_SECONDS = 1.0
AT_ONCE = 4

Killed = collections.namedtuple('Killed', 'after state required counted')


def last_count_before(log, moment_nanos):
    """What had been allocated at `moment_nanos` at the latest, as the program saw it."""
    count = 0
    for line in log.splitlines(keepends=True):
        if not line.endswith('\n'):
            break  # cut short by the kill
        nanos, allocations = map(int, line.split())
        if nanos > moment_nanos:
            break
        count = allocations
    return count


def kill_once(folder, after_seconds, stacks):
    """Starts the program, kills it, checks what is left; returns a Killed."""
    folder.mkdir()
    log = folder / 'log'
    environment = harness.environment(
        LD_PRELOAD=str(harness.AGENT),
        MEMAGENT_OPTIONS=harness.options_text(folder, {'checkpoint': INTERVAL_SECONDS}))
    program = subprocess.Popen([harness.PROGRAMS / 'crash_log', log, stacks], env=environment,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)
    time.sleep(after_seconds)
    killed_at = time.monotonic_ns()
    program.kill()
    output, _ = program.communicate(timeout=harness.TIMEOUT_SECONDS)
    assert (program.returncode, output) == (-signal.SIGKILL, b''), (program.returncode, output)
    text = log.read_text() if log.exists() else ''
    required = last_count_before(text, killed_at - int((INTERVAL_SECONDS + MARGIN_SECONDS) * 1e9))
    profiles = [path for path in harness.profiles_in(folder) if path.suffix == '.memagent']
    # Killed between making the file and writing its first record: it says nothing, and the report says so.
    if not profiles or profiles[0].stat().st_size == 0:
        assert required == 0, f'no profile, but {required} allocations were due'
        return Killed(after_seconds, 'no profile yet', required, 0)
    parsed = harness.report(profiles[0])  # checks that the accounting adds up
    assert not parsed['file']['chunks_damaged'] and not parsed['file']['chunks_missing'], parsed['file']
    assert parsed['file']['end'] is None, parsed['file']
    counted = harness.total(harness.sites_of(parsed, 'alloc_logged'), 'allocations')
    assert counted >= required, (
        f'killed after {after_seconds:.3f} s: {counted} allocations in the profile, the program had '
        f'{required} {INTERVAL_SECONDS + MARGIN_SECONDS:.1f} s earlier')
    return Killed(after_seconds, 'cut short' if parsed['file']['truncated'] else 'whole', required, counted)


def kill_often(folder, kills, longest_seconds, stacks='few', seed=1):
    random.seed(seed)
    delays = [random.uniform(0, longest_seconds) for _ in range(kills)]
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        results = list(pool.map(lambda job: kill_once(folder / str(job[0]), job[1], stacks),
                                enumerate(delays)))
    states = collections.Counter(result.state for result in results)
    held = sum(result.required > 0 for result in results)
    print(f'{kills} kills within {longest_seconds} s: {dict(states)}; in {held} the profile had to hold '
          f'something, and did')


@case
def killed_at_random_moments_the_profile_holds_all_checkpoints(folder):
    kill_often(folder, 16, 4)


@case
def killed_while_it_starts_nothing_unreadable_is_left(folder):
    kill_often(folder, 40, 0.25)


@case
def killed_while_big_checkpoints_are_written_it_is_readable(folder):
    kill_often(folder, 6, 5, 'many')


@case(long=True)
def killed_two_hundred_times_the_profile_holds_all_checkpoints(folder):
    kill_often(folder, 200, 6, seed=2)


@case(long=True)
def killed_a_hundred_times_while_it_starts_nothing_unreadable_is_left(folder):
    kill_often(folder, 100, 0.25, seed=3)


@case(long=True)
def killed_fifty_times_while_big_checkpoints_are_written_it_is_readable(folder):
    kill_often(folder, 50, 12, 'many', seed=4)


if __name__ == '__main__':
    harness.main()
