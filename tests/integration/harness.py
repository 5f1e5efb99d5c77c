"""Runs programs with and without the agent and reads their profiles as JSON.

A test script is a list of functions marked @case and ends in main(); --list prints their names,
--rows which row of the pitfall table each covers. MEMAGENT_BUILD names the build
folder. Python's standard library only.
"""
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SKIP = 77  # SKIP_RETURN_CODE in CMakeLists.txt
BUILD = pathlib.Path(os.environ.get('MEMAGENT_BUILD') or
                     pathlib.Path(__file__).resolve().parents[2] / 'build/release').resolve()
AGENT = BUILD / 'agent/libmemagent.so'
MEMAGENT = BUILD / 'viewer/memagent'
PROGRAMS = BUILD / 'tests/programs'
TIMEOUT_SECONDS = 100  # of one program
LONG_TIMEOUT_SECONDS = 500  # in a long test; CMakeLists.txt gives the test 100 more

_cases = {}


def case(function=None, *, serial=False, long=False, rows=''):
    """Marks a test. `serial`: it measures time; `long`: only with tests/run --all; `rows`: the rows
    of the table in docs/HOST_SAFETY.md that it covers, such as 'P01 P35'.
    """
    def mark(target):
        words = [word for word, on in (('serial', serial), ('long', long)) if on]
        _cases[target.__name__] = (target, words, rows.split())
        return target
    return mark(function) if function else mark


def skip(reason):
    print(f'SKIPPED: {reason}')
    sys.exit(SKIP)


def main():
    global TIMEOUT_SECONDS
    if sys.argv[1:] == ['--list']:
        for name, (_, marks, _) in _cases.items():
            print(' '.join([name, *marks]))
        return
    if sys.argv[1:] == ['--rows']:
        for name, (_, _, rows) in _cases.items():
            for row in rows:
                print(row, name)
        return
    for needed in (AGENT, MEMAGENT):
        if not needed.exists():
            sys.exit(f'{needed} is not built')
    for name in sys.argv[1:] or _cases:
        if 'long' in _cases[name][1]:
            TIMEOUT_SECONDS = LONG_TIMEOUT_SECONDS
        with tempfile.TemporaryDirectory(prefix='memagent-test-') as folder:
            _cases[name][0](pathlib.Path(folder))
        print(f'ok: {name}')


class Run:
    """What a finished program left: status, stdout, stderr (bytes), profiles (paths, oldest first)."""

    def __init__(self, finished, profiles):
        self.status = finished.returncode
        self.stdout = finished.stdout
        self.stderr = finished.stderr
        self.profiles = profiles

    def json(self):
        return json.loads(self.stdout)

    def only_profile(self):
        assert len(self.profiles) == 1, f'expected one profile, found {self.profiles}; stderr: {self.stderr!r}'
        return report(self.profiles[0])


def environment(**changes):
    """Ours without any variable of memagent, plus `changes`; None removes."""
    variables = {name: value for name, value in os.environ.items()
                 if not name.startswith('MEMAGENT') and name != 'LD_PRELOAD'}
    variables.update({name: value for name, value in changes.items() if value is not None})
    return variables


def run_plain(command, **arguments):
    arguments.setdefault('env', environment())
    finished = subprocess.run([str(word) for word in command], capture_output=True,
                              timeout=TIMEOUT_SECONDS, stdin=subprocess.DEVNULL, **arguments)
    return Run(finished, [])


def options_text(folder, options):
    options = {'output': f'{folder}/%e.%p.memagent', **options}
    return ','.join(f'{name}={value}' for name, value in options.items())


def profiles_in(folder):
    return sorted(pathlib.Path(folder).glob('*.memagent*'), key=lambda path: path.lstat().st_mtime_ns)


def run_measured(command, folder, options=None, variables=None, **arguments):
    """Runs under plain LD_PRELOAD; profiles go to `folder`."""
    arguments['env'] = environment(**{'LD_PRELOAD': str(AGENT),
                                      'MEMAGENT_OPTIONS': options_text(folder, options or {}),
                                      **(variables or {})})
    result = run_plain(command, **arguments)
    result.profiles = profiles_in(folder)
    return result


def memagent(*words, **arguments):
    return run_plain([MEMAGENT, *words], **arguments)


def report(profile):
    """The JSON report of a profile, after checking that no sample is unaccounted for."""
    result = memagent('report', '--by', 'site', '--format', 'json', profile)
    assert result.status == 0, f'report of {profile}: status {result.status}, {result.stderr.decode()}'
    parsed = result.json()
    check_accounting(parsed)
    return parsed


def check_accounting(parsed):
    """seen = attributed + unattributed + dropped, of the process and of each thread, and they add up."""
    def check(owner, name):
        accounted = (owner['attributed'] + sum(owner['unattributed'].values()) + sum(owner['dropped'].values()))
        assert owner['samples_seen'] == accounted, (
            f'{name}: {owner["samples_seen"]} samples seen, {accounted} accounted for: {owner}')
    check(parsed, 'process')
    for thread in parsed['threads']:
        check(thread, f'thread {thread["tid"]}')
    seen = sum(thread['samples_seen'] for thread in parsed['threads'])
    assert parsed['samples_seen'] == seen, f'process saw {parsed["samples_seen"]}, its threads {seen}'
    sites = sum(site['samples'] for site in parsed['sites'])
    assert parsed['attributed'] == sites, f'{parsed["attributed"]} attributed, the sites have {sites}'


def plain_name(function):
    """'(anonymous namespace)::f' as 'f'."""
    return function.rsplit('::', 1)[-1]


def sites_of(parsed, function):
    """Sites that `function` allocated: it stands in their call stack."""
    return [site for site in parsed['sites']
            if function in [plain_name(name) for name in
                            [site['function'], *(frame['function'] for frame in site['stack'])]]]


def total(sites, key):
    return sum(site[key] for site in sites)


def shares(parsed, functions):
    """Share of all attributed samples on the sites of each function."""
    assert parsed['attributed'] > 0, 'no sample was attributed'
    return {function: total(sites_of(parsed, function), 'samples') / parsed['attributed']
            for function in functions}


def evidence_text(parsed):
    evidence = parsed['evidence']
    return (f'{parsed["samples_seen"]} samples, {parsed["attributed"]} attributed; exact {evidence["exact"]}, '
            f'approximate {evidence["approximate"]}, pc-only {evidence["pc_only"]}, none {evidence["none"]}; '
            f'unattributed {parsed["unattributed"]}, dropped {parsed["dropped"]}')


def check_shares(parsed, truth, points=3.0):
    """Every share within `points` percentage points of the truth; prints all of them."""
    print(evidence_text(parsed))
    measured = shares(parsed, truth)
    worst = 0.0
    for function, share in truth.items():
        error = 100 * (measured[function] - share)
        worst = max(worst, abs(error))
        print(f'{function}: truth {100 * share:.2f} %, measured {100 * measured[function]:.2f} %, '
              f'{error:+.2f} points')
    assert worst <= points, f'worst error {worst:.2f} points, {points} allowed'


def tree_digest(folder, leave_out=lambda name: False):
    """{relative name: SHA-256 or link target} of every file below a folder."""
    digests = {}
    for path in sorted(pathlib.Path(folder).rglob('*')):
        name = str(path.relative_to(folder))
        if leave_out(name):
            continue
        if path.is_symlink():
            digests[name] = os.readlink(path)
        elif path.is_file():
            digests[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return digests
