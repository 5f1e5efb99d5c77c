#!/usr/bin/env python3
"""What checkpoints cost: the same work without any, at the default interval, and every second.

    tests/bench/checkpoint_cost.py [--build DIR] [-n ROUNDS] [-- CMD...]

Without CMD the work is sqlite3 filling, indexing and joining tables in memory for some seconds. Runs
plain and with each interval in turn, and prints for each the medians of wall and CPU time, the median
paired ratio to the run without checkpoints with its quartiles, and what the profile says: how many
checkpoints were written, and the drain thread's time for one.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import process
import programs
from pairing import PLAIN, Reading, compare, take_turns

INTERVALS = ('0', '5', '1')  # seconds, as the option checkpoint= takes them; 5 is its default
SQL_ROWS = 1000000


def own_cost(build, folder):
    (profile,) = folder.glob('*.memagent')
    text = subprocess.run([build / 'viewer/memagent', 'info', '--format', 'json', profile], check=True,
                          capture_output=True).stdout
    profile.unlink()
    return json.loads(text)['own_cost']


def measure(command, build, rounds, folder):
    """[{interval: Reading}] by round; values are (Usage, own cost)."""
    def once(interval):
        environment = dict(os.environ)
        if interval != PLAIN:
            environment.update(LD_PRELOAD=str(build / 'agent/libmemagent.so'),
                               MEMAGENT_OPTIONS=f'output={folder}/%p.memagent,checkpoint={interval}')
        usage = process.run_well(command, environment)
        return Reading((usage, own_cost(build, folder) if interval != PLAIN else None), usage.outcome())
    done, failures = take_turns([PLAIN, *INTERVALS], once, rounds)
    if failures:
        sys.exit(f'checkpoint_cost.py: {failures}')
    return done


def report(rounds):
    print(f'{"checkpoint=":12} {"wall s":>8} {"CPU s":>8}  {"wall against 0":28} {"CPU against 0":28} written, each')
    for interval in (PLAIN, *INTERVALS):
        line = f'{interval:12}'
        ratios = ''
        for read in (lambda value: value[0].wall_seconds, lambda value: value[0].cpu_seconds):
            line += f' {statistics.median(read(readings[interval].value) for readings in rounds):8.3f}'
            if interval != INTERVALS[0]:
                ratio = compare(rounds, {}, read, base=INTERVALS[0]).ratio(interval)
                ratios += f'  x{ratio.median:.4f} ({ratio.low:.4f} to {ratio.high:.4f})'
        line += f'{ratios:60}'
        if interval != PLAIN:
            costs = [readings[interval].value[1] for readings in rounds]
            count = statistics.median(cost['checkpoints'] for cost in costs)
            # The last one counts its time too late for itself to be in the profile.
            each = statistics.median(cost['checkpoint_ns'] / max(cost['checkpoints'] - 1, 1) for cost in costs)
            line += f' {count:.0f}, {each / 1e6:.2f} ms' if count > 1 else f' {count:.0f}'
        print(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', default='build/release', type=pathlib.Path)
    parser.add_argument('-n', type=int, default=9, help='rounds (default 9)')
    parser.add_argument('command', nargs='*', default=programs.sqlite_command(SQL_ROWS))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix='memagent-checkpoints-') as folder:
        report(measure(arguments.command, arguments.build.resolve(), arguments.n, pathlib.Path(folder)))


if __name__ == '__main__':
    main()
