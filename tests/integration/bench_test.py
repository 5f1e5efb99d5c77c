#!/usr/bin/env python3
"""The benchmark command with next to no work: does it measure, compare and print? Nothing is timed."""
import pathlib
import re
import shutil
import sys

import harness
from harness import case

BENCH = pathlib.Path(__file__).resolve().parents[1] / 'bench'
sys.path.insert(0, str(BENCH))
import pairing  # noqa: E402
import process  # noqa: E402
import readme  # noqa: E402

# A number with its sign and unit, or a dash where there is none.
AMOUNT = r'(-|[+-]?[\d,.]+( [a-z]+)?)'
LINE = re.compile(rf'.{{24}} memagent( sampling)? +{AMOUNT} +{AMOUNT} +\S+ to \S+ +{AMOUNT}( +\S+ to \S+| +-)'
                  r'(  by its own estimate [\d.,]+)?')


def bench(*words):
    return harness.run_plain([sys.executable, BENCH / 'run', '--build', harness.BUILD, '--rounds', '1', *words])


def need_programs():
    if shutil.which('sqlite3') is None:
        harness.skip('sqlite3 is not installed')
    if not (harness.BUILD / 'tests/bench/malloc_pairs').exists():
        harness.skip('the target bench is not built')


@case
def every_case_gives_a_line_and_a_row(folder):
    need_programs()
    leave_out = 'clang|g[+]{2}|python|redis'  # seconds of work however small the scale
    result = bench('--scale', '0.0005', '--tools', 'memagent', '--only', f'^(?!{leave_out})', '--markdown')
    assert result.status == 0, f'{result.status}: {result.stdout.decode()} {result.stderr.decode()}'
    lines = result.stdout.decode().split('\n')
    measured = [line for line in lines if LINE.fullmatch(line)]
    odd = [line for line in lines[2:]
           if ' memagent' in line and line not in measured and not line.startswith(('|', 'target:'))]
    assert len(measured) > 25 and not odd, f'{len(measured)} lines; odd: {odd}'
    widths = [line.count('|') for line in lines if line.startswith('|')]
    assert widths and set(widths) == {5}, widths
    names = bench('--list').stdout.decode().split('\n')[:-1]
    rows = [line for line in lines if line.startswith('| ') and ': ' in line]
    assert len(rows) == len([name for name in names if not re.match(leave_out, name)]), rows
    assert any(line.startswith('target: ') for line in lines)


@case
def a_command_whose_output_changes_is_reported(folder):
    result = bench('--', 'sh', '-c', 'echo "$LD_PRELOAD"')
    assert result.status == 1 and b'did not do the same as plain' in result.stdout, result.stdout.decode()
    result = bench('--tools', 'memagent', '--', 'sh', '-c', 'exit 3')
    assert result.status == 0 and b'peak memory' in result.stdout, result.stdout.decode()


@case
def the_other_commands_measure(folder):
    need_programs()
    small = ['sqlite3', ':memory:', 'select 1']
    for name, words in (('own_cost.py', ['--rounds', '1', '--scale', '0.001', '--only', 'malloc|sqlite']),
                        ('own_cost.py', ['--rounds', '1', '--', *small]),
                        ('checkpoint_cost.py', ['-n', '1', '--', *small])):
        result = harness.run_plain([sys.executable, BENCH / name, '--build', harness.BUILD, *words])
        assert result.status == 0 and result.stdout.count(b'(') >= 2, f'{name} {words}: {result.stderr.decode()}'


@case
def pairs_are_of_one_round_when_the_machine_drifts(folder):
    costs = {'plain': 10, 'tool': 12}
    speeds = {name: iter([1, 1, 5, 2]) for name in costs}  # the first round only warms up

    def measure(name):
        if name == 'broken':
            raise process.Failed('it broke')
        return pairing.Reading(costs[name] * next(speeds[name]), 'same')
    rounds, failures = pairing.take_turns(['plain', 'tool', 'broken'], measure, 3)
    done = pairing.compare(rounds, failures)
    assert done.failures == {'broken': 'it broke'} and list(done.pairs) == ['tool'], done
    ratio = done.ratio('tool')
    assert done.plain == [10, 50, 20] and ratio.low == ratio.median == ratio.high == 1.2, (done, ratio)


@case
def tables_replace_what_is_between_the_markers(folder):
    page = folder / 'README.md'
    page.write_text(f'before\n{readme.BEGIN}\nold\n{readme.END}\nafter\n')
    readme.write('new\n', page)
    assert page.read_text() == f'before\n{readme.BEGIN}\nnew\n{readme.END}\nafter\n'
    readme_text = readme.README.read_text()
    assert readme_text.count(readme.BEGIN) == readme_text.count(readme.END) == 1


if __name__ == '__main__':
    harness.main()
