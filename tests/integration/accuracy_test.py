#!/usr/bin/env python3
"""Time share of each allocation against a truth that the programs know by construction."""
import harness
from harness import case


def check_phases(folder, rate):
    result = harness.run_measured([harness.PROGRAMS / 'accuracy_phases', '4'], folder, {'rate': rate})
    assert result.status == 0, result.stderr
    harness.check_shares(result.only_profile(), result.json()['shares'])


def check_interleaved(folder, rate):
    result = harness.run_measured([harness.PROGRAMS / 'accuracy_interleaved', '3'], folder, {'rate': rate})
    assert result.status == 0, result.stderr
    harness.check_shares(result.only_profile(), result.json()['shares'])


@case(serial=True)
def phases_at_1_khz(folder):
    check_phases(folder, 1000)


@case(serial=True)
def phases_at_4_khz(folder):
    check_phases(folder, 4000)


@case(serial=True)
def interleaved_at_1_khz(folder):
    check_interleaved(folder, 1000)


@case(serial=True)
def interleaved_at_4_khz(folder):
    check_interleaved(folder, 4000)


@case(serial=True)
def access_before_a_slow_one_is_not_blamed(folder):
    result = harness.run_measured([harness.PROGRAMS / 'accuracy_neighbours', '3'], folder, {'rate': 1000})
    assert result.status == 0, result.stderr
    harness.check_shares(result.only_profile(), result.json()['shares'])


@case(serial=True)
def rate_is_kept(folder):
    """Samples seen against CPU time: what the agent does not see, it can't report as lost."""
    result = harness.run_measured([harness.PROGRAMS / 'accuracy_interleaved', '2'], folder,
                                  {'rate': 1000})
    seconds = result.json()['cpu_seconds']
    seen = result.only_profile()['samples_seen']
    print(f'{seen} samples in {seconds:.3f} s of the loop')
    # Filling 128 MiB before the loop is user time too, its page faults are the kernel's.
    assert 0.93 * 1000 * seconds <= seen <= 1.25 * 1000 * seconds, f'{seen} samples in {seconds} s at 1 kHz'


if __name__ == '__main__':
    harness.main()
