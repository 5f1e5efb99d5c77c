#!/usr/bin/env python3
"""The agent's cost figures, measured here and now.

    tests/bench/figures.py [--build DIR] [-n ROUNDS]

Each program is run plain and under the agent in turn; the table has the medians, the median of the
paired differences, and the median and quartiles of the paired ratios.
"""
import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile

CASES = [
    # (what, unit, program and arguments, options)
    ('malloc+free pair, 1 thread, engine=none', 'ns', ['malloc_pairs', '3000000', '1'], 'engine=none'),
    ('malloc+free pair, 1 thread', 'ns', ['malloc_pairs', '3000000', '1'], ''),
    ('malloc+free pair, 2 threads', 'ns', ['malloc_pairs', '3000000', '2'], ''),
    ('thread create+join', 'us', ['thread_churn', '1000'], ''),
    ('memory walk at 1 kHz', 'ms', ['memory_walk', '5', '1'], 'rate=1000'),
    ('memory walk at 4 kHz', 'ms', ['memory_walk', '5', '1'], 'rate=4000'),
    ('memory walk at 10 kHz', 'ms', ['memory_walk', '5', '1'], 'rate=10000'),
]


def figure(command, environment):
    return float(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)


def measure(case, build, library, rounds, folder):
    what, unit, words, options = case
    command = [os.path.join(build, 'tests', 'bench', words[0]), *words[1:]]
    profiled = dict(os.environ, LD_PRELOAD=library,
                    MEMAGENT_OPTIONS=','.join(filter(None, [f'output={folder}/%e.%p.memagent', options])))
    pairs = [(figure(command, os.environ), figure(command, profiled)) for _ in range(rounds)]
    ratios = sorted(b / a for a, b in pairs)
    print(f'{what:42} {statistics.median(a for a, _ in pairs):9.1f} {statistics.median(b for _, b in pairs):9.1f} '
          f'{statistics.median(b - a for a, b in pairs):+9.1f} {unit:3} x{statistics.median(ratios):.3f} '
          f'({ratios[len(ratios) // 4]:.3f} to {ratios[len(ratios) * 3 // 4]:.3f})', flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', default='build/release', help='build folder (default build/release)')
    parser.add_argument('-n', type=int, default=9, help='rounds of each case (default 9)')
    arguments = parser.parse_args()
    library = os.path.abspath(os.path.join(arguments.build, 'agent', 'libmemagent.so'))
    if not os.path.exists(library):
        sys.exit(f'figures.py: {library} does not exist; build it first')
    print(f'{platform.machine()}, Linux {platform.release()}, {os.cpu_count()} CPUs, {arguments.n} rounds')
    print(f'{"":42} {"plain":>9} {"profiled":>9} {"added":>9}     ratio (quartiles)')
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            measure(case, arguments.build, library, arguments.n, folder)


if __name__ == '__main__':
    main()
