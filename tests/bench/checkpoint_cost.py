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

import paired

INTERVALS = ('0', '5', '1')  # seconds, as the option checkpoint= takes them; 5 is its default
SQL = '''
create table a(id integer primary key, text, number);
insert into a with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000000)
  select i, hex(randomblob(12)), abs(random() % 1000) from n;
create index by_number on a(number);
create table b as select number, count(*) as count, group_concat(substr(text, 1, 3)) as texts from a group by number;
select sum(length(b.texts)) from a join b on a.number = b.number where a.id % 7 = 0;
update a set text = text || id where id % 3 = 0;
select count(distinct substr(text, 1, 4)) from a;
'''


def own_cost(build, folder):
    (profile,) = folder.glob('*.memagent')
    text = subprocess.run([build / 'viewer/memagent', 'info', '--format', 'json', profile], check=True,
                          capture_output=True).stdout
    profile.unlink()
    return json.loads(text)['own_cost']


def measure(command, build, rounds, folder):
    """{interval: [(wall, cpu, own cost or None)]}; None is the plain run."""
    runs = {interval: [] for interval in (None, *INTERVALS)}
    for round_number in range(rounds + 1):
        order = list(runs)
        for interval in order[round_number % len(order):] + order[:round_number % len(order)]:
            environment = dict(os.environ)
            if interval is not None:
                environment.update(LD_PRELOAD=str(build / 'agent/libmemagent.so'),
                                   MEMAGENT_OPTIONS=f'output={folder}/%p.memagent,checkpoint={interval}')
            wall, cpu, _, status = paired.run(command, environment)
            if status != 0:
                sys.exit(f'checkpoint_cost.py: {command[0]} ended with status {status}')
            own = None if interval is None else own_cost(build, folder)
            if round_number > 0:  # the first round warms caches
                runs[interval].append((wall, cpu, own))
    return runs


def ratio_text(runs, base, index):
    ratios = sorted(run[index] / other[index] for run, other in zip(runs, base))
    low, high = paired.quartiles(ratios)
    return f'x{statistics.median(ratios):.4f} ({low:.4f} to {high:.4f})'


def report(runs):
    base = runs['0']
    print(f'{"checkpoint=":12} {"wall s":>8} {"CPU s":>8}  {"wall against 0":28} {"CPU against 0":28} written, each')
    for interval, done in runs.items():
        line = (f'{interval or "plain":12} {statistics.median(run[0] for run in done):8.3f} '
                f'{statistics.median(run[1] for run in done):8.3f}  {ratio_text(done, base, 0):28} '
                f'{ratio_text(done, base, 1):28}')
        if interval is not None:
            count = statistics.median(run[2]['checkpoints'] for run in done)
            # The last one counts its time too late for itself to be in the profile.
            each = statistics.median(run[2]['checkpoint_ns'] / max(run[2]['checkpoints'] - 1, 1) for run in done)
            line += f' {count:.0f}, {each / 1e6:.2f} ms' if count > 1 else f' {count:.0f}'
        print(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', default='build/release', type=pathlib.Path)
    parser.add_argument('-n', type=int, default=9, help='rounds (default 9)')
    parser.add_argument('command', nargs='*', default=['sqlite3', ':memory:', SQL])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix='memagent-checkpoints-') as folder:
        report(measure(arguments.command, arguments.build.resolve(), arguments.n, pathlib.Path(folder)))


if __name__ == '__main__':
    main()
