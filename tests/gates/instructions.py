#!/usr/bin/env python3
"""The hooks execute no more instructions for an operation than instructions.txt says, plus 3 %.

    tests/gates/instructions.py BUILD_FOLDER [--write]

Callgrind counts tests/programs/fast_path.cc plain and under the agent; the difference is what the agent
adds. Valgrind runs no drain thread, so the history that sampling needs is not kept in these runs.
Counts are the same from run to run to within 0.3 %, and mean something for one compiler and set of
flags only: with others the test skips. --write makes the file anew, after an improvement or for
another compiler; the commit then shows what changed.
"""
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

import gate

GOLDEN = 'instructions.txt'
REPETITIONS = 1000  # kCount in fast_path.cc
TOLERANCE = 0.03
HEADER = '''# Instructions that the agent adds to one operation (tests/programs/fast_path.cc), and what compiled it.
# Written by tests/gates/instructions.py --write.
'''


def built_by(build):
    """What the counts depend on besides our source."""
    cache = dict(re.findall(r'^(\w+):\w+=(.*)$', (build / 'CMakeCache.txt').read_text(), re.M))
    kind = cache['CMAKE_BUILD_TYPE']
    compiler = next(build.glob('CMakeFiles/*/CMakeCXXCompiler.cmake')).read_text()
    known = dict(re.findall(r'^set\((\w+) "(.*)"\)$', compiler, re.M))
    flags = f'{cache["CMAKE_CXX_FLAGS"]} {cache.get("CMAKE_CXX_FLAGS_" + kind.upper(), "")}'.split()
    version = f'{known["CMAKE_CXX_COMPILER_ID"]} {known["CMAKE_CXX_COMPILER_VERSION"]}'
    return {'compiler': f'{version} {platform.machine()}',
            'flags': ' '.join(flags)}


def counts(program, folder, **variables):
    """{operation: instructions of all its repetitions}, of the second, warm round."""
    out = pathlib.Path(folder) / 'callgrind.out'
    # An environment of our own: its length moves the stack.
    finished = subprocess.run([shutil.which('valgrind'), '--tool=callgrind', '--combine-dumps=yes',
                               f'--callgrind-out-file={out}', program],
                              env=variables, capture_output=True, text=True)
    if finished.returncode != 0:
        sys.exit(f'valgrind ended with status {finished.returncode}: {finished.stderr}')
    parts = re.findall(r'^desc: Trigger: Client Request: (\w+)$.*?^totals: (\d+)$', out.read_text(), re.M | re.S)
    return {name: int(total) for name, total in parts}


def measure(build):
    program = build / 'tests/programs/fast_path'
    library = build / 'agent/libmemagent.so'
    for needed in (program, library):
        if not needed.exists():
            sys.exit(f'{needed} is not built')
    with tempfile.TemporaryDirectory() as folder:
        plain = counts(program, folder)
        added = counts(program, folder, LD_PRELOAD=str(library),
                       MEMAGENT_OPTIONS=f'engine=none,output={folder}/%e.%p.memagent')
    return {name: round((added[name] - plain[name]) / REPETITIONS) for name in plain}


def compare(expected, measured):
    problems = []
    for name in sorted(expected.keys() | measured.keys()):
        if name not in expected or name not in measured:
            problems.append(f'{name}: only in {"the program" if name in measured else GOLDEN}')
            continue
        before, now = int(expected[name]), measured[name]
        print(f'{name:26} {before:6} {now:6} {100 * (now - before) / max(before, 1):+6.1f} %')
        if now - before > max(TOLERANCE * before, 1):
            problems.append(f'{name}: {now} instructions, {before} before')
        elif before - now > max(TOLERANCE * before, 1):
            print(f'    better than {GOLDEN} says: --write pins it')
    return problems


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    write = sys.argv[2:] == ['--write']
    if shutil.which('valgrind') is None:
        gate.skip('valgrind is not installed')
    ours = built_by(build)
    expected = {} if write else gate.golden(GOLDEN)
    for name, value in ours.items():
        if expected.pop(name, value) != value and not write:
            gate.skip(f'{GOLDEN} was not written with this {name}: {value}')
    measured = measure(build)
    if write:
        rows = [*ours.items(), *measured.items()]
        (gate.ROOT / 'tests/gates' / GOLDEN).write_text(HEADER + ''.join(f'{name} {value}\n' for name, value in rows))
        return
    problems = compare(expected, measured)
    gate.finish(problems, f'instructions added to {len(measured)} operations')


main()
