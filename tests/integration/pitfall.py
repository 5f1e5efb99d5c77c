"""One program run plain and measured at two rates, and everything it left compared.

A pitfall test calls `unnoticed`: it fails where the program's status, output or files differ from
the plain run's, or where a run takes much longer; what the profile must hold is for the caller.
"""
import time

import harness

RATES_HZ = (1000, 10000)
# Bounded time: a measured run may take this factor and these seconds more than the plain one. Wide,
# since the tests share two cores; a hang is what it is to find.
SLOWER_FACTOR, SLOWER_SECONDS = 5, 10


def _run(run, folder, **arguments):
    """Runs in an own empty working folder; returns the result, the files left and the seconds."""
    folder.mkdir(parents=True)
    start = time.monotonic()
    result = run(cwd=folder, **arguments)
    seconds = time.monotonic() - start
    return result, harness.tree_digest(folder), seconds


def _explain(result, text):
    return (f'{text}\n  status {result.status}\n  stdout {result.stdout[-2000:]!r}\n'
            f'  stderr {result.stderr[-2000:]!r}')


def unnoticed(folder, command, *, options=None, variables=None, normalise=lambda output: output,
              prepare=lambda folder: None, rates=RATES_HZ, ahead=(), behind=(), **arguments):
    """Runs `command` plain, then measured at each rate; yields (plain, measured) of each rate.

    `prepare(folder)` fills the working folder before each run. `normalise(bytes)` takes out of
    stdout and stderr what no two plain runs share (pids, addresses, times). `variables` are set in
    the plain run too. Profiles are in measured.profiles. `ahead` and `behind` are other libraries
    to preload, in the plain run too.
    """
    command = [str(word) for word in command]
    plain_variables, variables = dict(variables or {}), dict(variables or {})
    if ahead or behind:
        plain_variables['LD_PRELOAD'] = ':'.join([*map(str, ahead), *map(str, behind)])
        variables['LD_PRELOAD'] = ':'.join(map(str, [*ahead, harness.AGENT, *behind]))

    def at(name, run, **more):
        where = folder / name / 'work'
        where.parent.mkdir()

        def start(cwd, **rest):
            prepare(cwd)
            return run(command, cwd=cwd, **rest, **arguments)
        return _run(start, where, **more)

    plain, plain_files, plain_seconds = at('plain', harness.run_plain,
                                           env=harness.environment(**plain_variables))
    print(f'plain: status {plain.status}, {plain_seconds:.2f} s')
    for rate in rates:
        profiles = folder / f'profiles-{rate}'
        profiles.mkdir()
        profiles.chmod(0o777)

        def measure(words, **rest):
            return harness.run_measured(words, profiles, {'rate': rate, **(options or {})},
                                        variables, **rest)
        measured, files, seconds = at(str(rate), measure)
        print(f'{rate} Hz: status {measured.status}, {seconds:.2f} s, {len(measured.profiles)} profiles')
        seen = (measured.status, normalise(measured.stdout), normalise(measured.stderr))
        expected = (plain.status, normalise(plain.stdout), normalise(plain.stderr))
        assert seen == expected, (_explain(plain, 'plain:') + '\n' +
                                  _explain(measured, f'at {rate} Hz:'))
        assert files == plain_files, f'files left: plain {plain_files}, at {rate} Hz {files}'
        bound = SLOWER_FACTOR * plain_seconds + SLOWER_SECONDS
        assert seconds < bound, f'{seconds:.1f} s at {rate} Hz, plain {plain_seconds:.1f} s'
        yield plain, measured


def unnoticed_program(folder, name, *words, **arguments):
    """`unnoticed` for a program of tests/programs/pitfalls."""
    return unnoticed(folder, [harness.PROGRAMS / 'pitfalls' / name, *words], **arguments)


def parent_and_children(measured):
    """The report of the program itself, and those of its children of fork."""
    reports = [harness.report(profile) for profile in measured.profiles]
    parents = [parsed for parsed in reports if not parsed['process']['forked_without_exec']]
    assert len(parents) == 1, f'{len(parents)} profiles of the program, {len(reports)} in all'
    return parents[0], [parsed for parsed in reports if parsed is not parents[0]]
