#!/usr/bin/env python3
"""What the agent does when an engine opens and then does nothing, can't be had for threads, or samples
too fast."""
import pathlib
import subprocess
import time

import guest_case
import harness
from guest_case import case

SECONDS = 15  # a guest is slow, and on a crowded host slower


class Measured:
    def __init__(self, profile):
        self.report = harness.report(profile)
        self.engines = {engine['kind']: engine for engine in self.report['engines']}
        for event in self.report['events']:
            print(event['code'], event['text'])

    def said(self, code):
        return ' '.join(event['text'] for event in self.report['events'] if event['code'] == code)

    def used(self):
        return next(engine for engine in self.report['engines'] if engine['in_use'])


def measure(folder, **options):
    """placed_blocks, which works on every node until its input ends."""
    profile = folder / 'placed_blocks.memagent'
    environment = harness.environment(
        LD_PRELOAD=str(harness.AGENT),
        MEMAGENT_OPTIONS=harness.options_text(folder, {'output': profile, 'checkpoint': 2, **options}))
    with subprocess.Popen([guest_case.PROGRAMS / 'placed_blocks'], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, env=environment) as program:
        assert program.stdout.readline().startswith(b'[')
        time.sleep(SECONDS)
        program.stdin.close()
        assert program.wait(60) == 0, program.returncode
    return Measured(profile)


def check_left_ibs(measured, why):
    """Sampling went on with the software engine, and everybody is told."""
    ibs = measured.engines['ibs']
    assert not ibs['in_use'] and why in ibs['refused'], ibs
    assert measured.used()['kind'] == 'software', measured.used()
    assert 'Sampling went on with software/cpu-clock' in measured.said('silent_event')
    # How many find an allocation is the emulated processor's matter (README.md).
    print(harness.evidence_text(measured.report))
    assert measured.report['samples_seen'] > 50, measured.report['samples_seen']


@case(nodes=2)
def event_that_never_runs(folder):
    guest_case.load_simpmu(silent=1, pebs=0)
    check_left_ibs(measure(folder), 'never ran')


@case(long=True, nodes=2)
def event_that_never_samples(folder):
    guest_case.load_simpmu(silent=2, pebs=0)
    check_left_ibs(measure(folder), 'no sample came')


@case(long=True, nodes=2)
def engine_by_name_stays(folder):
    guest_case.load_simpmu(silent=1, pebs=0)
    measured = measure(folder, engine='ibs')
    assert measured.used()['kind'] == 'ibs' and 'never ran' in measured.said('silent_event')


@case(nodes=2)
def whole_cpus_where_threads_have_no_ibs(folder):
    """Linux 6.1's rules: no IBS events of threads."""
    guest_case.load_simpmu(ibs_kernel=601, pebs=0)
    measured = measure(folder, engine='ibs')
    assert measured.used()['kind'] == 'ibs', measured.used()
    assert all(thread['samples_seen'] > 0 for thread in measured.report['threads'] if not thread['main'])
    for function, remote in (('AllocateNear', 0), ('AllocateFar', 1)):
        sites = harness.sites_of(measured.report, function)
        located = harness.total(sites, 'located_samples')
        assert located > 20, (function, located)
        assert harness.total(sites, 'remote_samples') == remote * located, function


@case(long=True, nodes=2)
def throttled_events_get_a_longer_period(folder):
    guest_case.load_simpmu(pebs=0)
    pathlib.Path('/proc/sys/kernel/perf_event_max_sample_rate').write_text('1000')
    measured = measure(folder, engine='ibs', period=20000)
    assert 'so the period was doubled' in measured.said('throttled')


if __name__ == '__main__':
    guest_case.main()
