#!/usr/bin/env python3
"""Whether a profile's own estimate of what memagent cost is what paired runs show.

    tests/bench/own_cost.py [--build DIR] [--rounds N] [--scale X] [--options TEXT] [--only REGEX] [-- CMD...]

Each program runs plain and under memagent in turn. Stated are medians over the rounds: the CPU time
that memagent added, the sum of what the profiles of all its processes say (own_cost.estimated_ns),
the ratio of the two within a round with its quartiles, and the largest parts of the estimate.
"""
import argparse
import collections
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import machine
import programs
from case import Case, Setting
from pairing import PLAIN, Reading, statistic, take_turns
from process import Failed
from tools import TRACKED, all_tools

SHOWN_PARTS = 5


def cpu_of(name, command):
    """A case like those of whole programs; command(Setting) gives the words."""
    def measure(setting):
        return Reading(setting.run(command(setting)).cpu_seconds)
    return Case(name, 's', (TRACKED,), measure, '')


def pairs(name, threads):
    return cpu_of(name, lambda setting: [setting.build / 'tests/bench/malloc_pairs', setting.count(3e6), threads])


CASES = [pairs('malloc_pairs, 1 thread', 1), pairs('malloc_pairs, 2 threads', 2),
         *(case for case in programs.CASES if case.unit == 's')]


def own_costs(build, folder):
    """own_cost of every profile in the folder."""
    return [json.loads(subprocess.run([build / 'viewer/memagent', 'info', '--format', 'json', profile], check=True,
                                      capture_output=True).stdout)['own_cost'] for profile in folder.glob('*.memagent')]


def measure_rounds(case, tools, arguments):
    """[(plain CPU seconds, CPU seconds under memagent, own costs)] by round."""
    def once(name):
        with tempfile.TemporaryDirectory(prefix='memagent-own-cost-') as folder:
            setting = Setting(tools[name], arguments.build, pathlib.Path(folder), arguments.scale)
            reading = case.measure(setting)
            return Reading((reading.value, own_costs(arguments.build, setting.folder)), reading.outcome)
    rounds, failures = take_turns([PLAIN, TRACKED], once, arguments.rounds)
    if failures:
        sys.exit(f'own_cost.py: {failures}')
    return [(done[PLAIN].value[0], *done[TRACKED].value) for done in rounds]


def parts_text(rounds):
    """Medians of the largest parts, in milliseconds, with what one cost."""
    totals, means = collections.defaultdict(list), collections.defaultdict(list)
    for _, _, costs in rounds:
        for part in {part['what']: part for cost in costs for part in cost['parts'] if not part['inside']}:
            matching = [p for cost in costs for p in cost['parts'] if p['what'] == part]
            totals[part].append(sum(p['total_ns'] for p in matching))
            means[part].append(sum(p['total_ns'] for p in matching) / max(1, sum(p['count'] for p in matching)))
    largest = sorted(totals, key=lambda part: -statistics.median(totals[part]))[:SHOWN_PARTS]
    return ', '.join(f'{part} {statistics.median(totals[part]) / 1e6:.1f} ms ({statistics.median(means[part]):.0f} ns)'
                     for part in largest)


def report(name, rounds):
    added = [profiled - plain for plain, profiled, _ in rounds]
    stated = [sum(cost['estimated_ns'] for cost in costs) / 1e9 for _, _, costs in rounds]
    ratio = statistic([mine / true for mine, true in zip(stated, added)])
    print(f'{name:24} {statistics.median(plain for plain, _, _ in rounds) * 1e3:9.1f} '
          f'{statistics.median(added) * 1e3:+9.1f} {statistics.median(stated) * 1e3:9.1f}   '
          f'{ratio.median:.3f} ({ratio.low:.3f} to {ratio.high:.3f})\n    {parts_text(rounds)}', flush=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', default='build/release', type=pathlib.Path, help='default build/release')
    parser.add_argument('--rounds', type=int, default=9, help='default 9')
    parser.add_argument('--scale', type=float, default=1.0, help='part of the full work to do')
    parser.add_argument('--options', default='', help="MEMAGENT_OPTIONS instead of engine=none")
    parser.add_argument('--only', default='', metavar='REGEX', help='only programs whose name matches')
    parser.add_argument('command', nargs='*', help='a command instead of the programs')
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()
    return arguments


def main():
    arguments = parse()
    tools = all_tools(arguments.build, arguments.options)
    cases = [case for case in CASES if re.search(arguments.only, case.name)]
    if arguments.command:
        cases = [cpu_of(arguments.command[0], lambda setting: arguments.command)]
    print(machine.describe(arguments.rounds, arguments.scale))
    print(f'{"CPU time in ms":24} {"plain":>9} {"added":>9} {"estimate":>9}   estimate / added (quartiles)')
    for case in cases:
        reason = case.missing()
        if reason:
            print(f'{case.name}: left out, {reason}')
            continue
        try:
            report(case.name, measure_rounds(case, tools, arguments))
        except Failed as failure:
            sys.exit(f'own_cost.py: {case.name}: {failure}')


if __name__ == '__main__':
    main()
