#!/usr/bin/env python3
"""memagent run: status, the three lines, and programs that cannot be measured."""
import shlex
import shutil
import subprocess

import harness
from harness import case

PROGRAM = harness.PROGRAMS / 'exit_ways'


def run(folder, *words, **arguments):
    return harness.memagent('run', '-o', folder / '%e.%p.memagent', *words, cwd=folder, **arguments)


def three_lines(result):
    lines = result.stderr.decode().splitlines()
    assert len(lines) == 3 and all(line.startswith('memagent: ') for line in lines), lines
    return lines


@case
def last_line_is_a_command_that_works(folder):
    result = run(folder, '--', PROGRAM, 'return', '0.2')
    assert result.status == 7
    measured, place, following = three_lines(result)
    assert 'samples' in measured and 'engine' in measured, measured
    assert 'profile ' in place, place
    command = shlex.split(following.removeprefix('memagent: next: '))
    assert command[:2] == ['memagent', 'report'], following
    assert harness.memagent(*command[1:], cwd=folder).status == 0


@case
def status_is_the_programs(folder):
    for way, status in (('exit', 7), ('abort', 134), (15, 143), (9, 137)):
        result = run(folder, '--', PROGRAM, way, '0.1')
        assert result.status == status, f'{way}: {result.status}'
        three_lines(result)
    assert run(folder, '--', '/no/such/program').status == 127
    assert run(folder, '--', '/').status == 126
    assert run(folder, '--no-such-option', '--', 'true').status == 125
    assert run(folder).status == 125


@case
def options_and_environment_are_merged(folder):
    variables = harness.environment(MEMAGENT_OPTIONS='rate=250,raw_samples=5')
    result = run(folder, '--rate', '2000', PROGRAM, 'return', '0.2', env=variables)
    assert '2,000 samples/s' in three_lines(result)[0], result.stderr
    parsed = harness.report(harness.profiles_in(folder)[0])
    assert 'raw_samples=5' in parsed['options'] and 'rate=2000' in parsed['options'], parsed['options']


@case
def children_are_counted(folder):
    result = run(folder, '--', harness.PROGRAMS / 'fork_children', '3')
    assert result.status == 0, result.stderr
    assert 'of other programs it started' in three_lines(result)[1], result.stderr


@case
def earlier_preloads_stay(folder):
    result = run(folder, '--', 'sh', '-c', 'echo "$LD_PRELOAD"',
                 env=harness.environment(LD_PRELOAD='libdl.so.2'))
    assert result.stdout.decode().strip() == f'{harness.AGENT}:libdl.so.2', result.stdout


def compiled(folder, *flags):
    if shutil.which('gcc') is None:
        harness.skip('gcc is not installed')
    (folder / 'code.c').write_text('#include <stdio.h>\nint main(void) { puts("hello"); return 9; }\n')
    build = subprocess.run(['gcc', *flags, '-o', folder / 'program', folder / 'code.c'], capture_output=True)
    if build.returncode != 0:
        harness.skip(f'gcc {" ".join(flags)} does not work here: {build.stderr.decode()[-200:]}')
    return folder / 'program'


def check_unmeasured(folder, program, word):
    result = run(folder, '--', program)
    assert (result.status, result.stdout) == (9, b'hello\n'), f'{result.status} {result.stdout} {result.stderr}'
    text = result.stderr.decode()
    assert word in text.splitlines()[0] and 'runs unmeasured' in text.splitlines()[0], text
    assert 'no profile was written' in text and not harness.profiles_in(folder), text


@case
def static_program_runs_unmeasured(folder):
    check_unmeasured(folder, compiled(folder, '-static'), 'statically linked')


@case
def sanitized_program_runs_unmeasured(folder):
    check_unmeasured(folder, compiled(folder, '-fsanitize=address'), 'sanitizer')


@case
def check_command_agrees_with_its_json(_):
    text, parsed = harness.memagent('check'), harness.memagent('check', '--json')
    assert text.status == parsed.status and text.status in (0, 1, 3), (text.status, parsed.status)
    found = parsed.json()
    assert (found['engine'] == 'none') == (text.status == 3)
    for finding in found['engines'] + found['features']:
        assert finding['usable'] or (finding['detail'] and finding['remedy']), finding


if __name__ == '__main__':
    harness.main()
