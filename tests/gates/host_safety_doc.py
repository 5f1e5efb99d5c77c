#!/usr/bin/env python3
"""The table of docs/HOST_SAFETY.md has every row of the pitfall table and names the tests that exist.

A test says in its @case which rows it covers; the table must say the same. A row without a test says
"not tested here:" and why.
"""
import re
import sys

import gate

WANTED = [f'P{number:02}' for number in range(1, 97)] + ['P110']
ROW = re.compile(r'^\| (P\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$', re.M)


def marked_tests():
    """{row: {script.case}} as the test scripts say."""
    tests = {}
    for path in sorted((gate.ROOT / 'tests/integration').glob('*_test.py')):
        for line in gate.output_of(sys.executable, str(path), '--rows').splitlines():
            row, case = line.split()
            tests.setdefault(row, set()).add(f'{path.name.removesuffix("_test.py")}.{case}')
    return tests


def is_gate(name):
    return (gate.ROOT / 'tests/gates' / f'{name.removeprefix("gates.")}.py').exists()


def problems_of(table, tests):
    rows = ROW.findall(table)
    names = [row[0] for row in rows]
    for row in WANTED:
        if names.count(row) != 1:
            yield f'{row} stands {names.count(row)} times in the table'
    for row, _, _, cell in rows:
        named = set(re.findall(r'`(\w+\.\w+)`', cell))
        gates = {name for name in named if name.startswith('gates.')}
        yield from (f'{row}: no {name}' for name in gates if not is_gate(name))
        named -= gates
        marked = tests.get(row, set())
        for test in sorted(named ^ marked):
            yield f'{row}: {test} is {"named, not marked" if test in named else "marked, not named"}'
        if not named and 'not tested here: ' not in cell:
            yield f'{row}: no test, and no "not tested here:" with a reason'
    for row in sorted(set(tests) - set(WANTED)):
        yield f'{row}: no such row, marked by {", ".join(sorted(tests[row]))}'


gate.finish(list(problems_of((gate.ROOT / 'docs/HOST_SAFETY.md').read_text(), marked_tests())),
            f'docs/HOST_SAFETY.md covers {len(WANTED)} rows')
