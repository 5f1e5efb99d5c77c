"""Real programs do their own work plain and measured, and what came of it is compared.

A test hands `alike` a function work(place) that starts programs by the place it is given and
returns what it saw of them. The same function runs without the agent and at each sampling rate; the
outcomes must be equal. What the profiles hold beyond being whole is for the caller.
"""
import contextlib
import ctypes
import os
import pathlib
import shutil
import signal
import subprocess
import time

import harness
import pitfall

# What programs print and store must not depend on the machine, the user or the day.
FIXED = {'LC_ALL': 'C', 'TZ': 'UTC', 'PYTHONHASHSEED': '0', 'PYTHONDONTWRITEBYTECODE': '1',
         'GIT_AUTHOR_DATE': '2020-01-01T00:00:00Z', 'GIT_COMMITTER_DATE': '2020-01-01T00:00:00Z',
         'GIT_CONFIG_NOSYSTEM': '1', 'HOME': '/nonexistent',
         'PATH': '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'}
PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
STOP_SECONDS = 30
LEFT_BEHIND_SECONDS = 10


def need(*programs):
    """Skips the test when one of the programs is missing."""
    for program in programs:
        if shutil.which(program, path=FIXED['PATH']) is None:
            harness.skip(f'{program} is not installed')


def make_text(path, lines):
    """Text that differs from line to line and is the same in every run."""
    state = 1
    with open(path, 'w') as file:
        for _ in range(lines):
            state = state * 16807 % 2147483647
            file.write(f'{state % 9973:x} {state % 4999 * 7:x} {state:x}\n')


class Place:
    """A folder for the work, with the environment that its programs get."""

    def __init__(self, path, variables):
        self.path = path
        self.variables = variables

    def __truediv__(self, name):
        return self.path / name

    def run(self, *command, **arguments):
        """Runs a program to its end; stdout and stderr are in the result."""
        return harness.run_plain(command, env=self.variables, cwd=self.path, **arguments)

    def output(self, *command, **arguments):
        """Stdout of a program that must succeed without a word on stderr."""
        result = self.run(*command, **arguments)
        assert result.status == 0 and not result.stderr, (
            f'{command}: status {result.status}, {result.stdout[-2000:]!r}, {result.stderr[-2000:]!r}')
        return result.stdout.decode()

    def shell(self, script):
        """All that can be seen of a bash script: status, output and the files it leaves."""
        return self.seen(self.run('bash', '-c', script))

    def seen(self, result, leave_out=lambda name: False):
        return {'status': result.status, 'stdout': result.stdout, 'stderr': result.stderr,
                'files': harness.tree_digest(self.path, leave_out)}

    @contextlib.contextmanager
    def server(self, *command, **arguments):
        """A program that runs beside the test. The body stops it; if it fails to, we do."""
        with open(self / 'server.out', 'ab') as out:
            process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL,
                                       stdout=out, stderr=out, env=self.variables, cwd=self.path,
                                       start_new_session=True, **arguments)
        try:
            yield process
            process.wait(STOP_SECONDS)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def adopt_orphans():
    """Daemons below this test become its children when their parents end."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def wait_until(ready, what, seconds=30):
    """Polls until ready() is true; returns what it returned."""
    end = time.monotonic() + seconds
    while not (value := ready()):
        assert time.monotonic() < end, f'after {seconds} s: not {what}'
        time.sleep(0.01)
    return value


def children_of(process):
    """Pids of the live children, and of those orphaned below a subreaper such as this test."""
    found = []
    for stat in pathlib.Path('/proc').glob('[0-9]*/stat'):
        with contextlib.suppress(OSError):
            state, parent = stat.read_text().rpartition(')')[2].split()[:2]
            if int(parent) == process and state != 'Z':
                found.append(int(stat.parent.name))
    return found


def wait_for(pid):
    """Exit status of a child of the test, or of a daemon whose parent has ended."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _reap(seconds):
    """Waits for children to end; returns the pids of those that do not."""
    end = time.monotonic() + seconds
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0] != 0 or time.monotonic() < end:
            time.sleep(0.01)
    return children_of(os.getpid())


def _end_all():
    """Kills what is still running below the test, orphans of the killed ones too."""
    while left := _reap(0.1):
        for pid in left:
            os.kill(pid, signal.SIGKILL)


def _run(work, folder, variables):
    path = folder / 'place'  # the same name each time: programs print and store it
    path.mkdir()
    path.chmod(0o777)
    start = time.monotonic()
    try:
        outcome = work(Place(path, harness.environment(**FIXED, **variables)))
        seconds = time.monotonic() - start
        left = _reap(LEFT_BEHIND_SECONDS)
        assert not left, f'still running after {LEFT_BEHIND_SECONDS} s: {left}'
    finally:
        _end_all()
    shutil.rmtree(path)
    return outcome, seconds


def _compare(plain, measured, what):
    assert plain.keys() == measured.keys(), f'{what}: {plain.keys()} and {measured.keys()}'
    for name, value in plain.items():
        assert value == measured[name], f'{what}: {name} differs:\nplain {value}\nmeasured {measured[name]}'


def _whole(path):
    """The report of a profile that nothing is missing from; only a killed process has no footer."""
    parsed = harness.report(path)
    file = parsed['file']
    assert not file['truncated'] and not file['chunks_damaged'] and not file['bad_references'], file
    return parsed


def program_of(parsed):
    """The executable's own name: Debian's redis-server is a link to redis-check-rdb."""
    return pathlib.Path(os.fsdecode(parsed['process']['executable'])).name


def named(reports, program, **process):
    """Reports of one program; e.g. forked_without_exec=True for its children of fork alone."""
    return [parsed for parsed in reports if program_of(parsed) == program and
            all(parsed['process'][key] == value for key, value in process.items())]


def allocations(reports):
    return sum(harness.total(parsed['sites'], 'allocations') for parsed in reports)


def _row(rate, plain_seconds, seconds, reports, paths):
    programs = sorted({program_of(parsed) for parsed in reports})
    counted = ', '.join(f'{len(named(reports, name))} {name}' for name in programs)
    ends = sorted({parsed['file']['end'] or 'SIGKILL' for parsed in reports})
    return (f'{rate} Hz: {plain_seconds:.2f} s plain, {seconds:.2f} s measured; {len(reports)} profiles '
            f'({sum(path.stat().st_size for path in paths) / 1e6:.1f} MB) of {counted}; '
            f'{sum(len(parsed["threads"]) for parsed in reports)} threads, ended by {", ".join(ends)}; '
            f'{allocations(reports)} allocations, '
            f'{sum(parsed["samples_seen"] for parsed in reports)} samples, '
            f'{sum(parsed["attributed"] for parsed in reports)} attributed')


def alike(folder, work, *, rates=(1000,), variables=None, agent=harness.AGENT, killed=0):
    """Runs `work` plain and measured, compares its outcomes (dicts), yields the reports of each rate.

    `killed`: how many processes the work ends by SIGKILL; all others must leave a finished profile.
    """
    adopt_orphans()
    plain, plain_seconds = _run(work, folder, variables or {})
    for rate in rates:
        profiles = folder / f'profiles-{rate}'
        profiles.mkdir()
        profiles.chmod(0o777)
        preload = {'LD_PRELOAD': str(agent),
                   'MEMAGENT_OPTIONS': harness.options_text(profiles, {'rate': rate})}
        outcome, seconds = _run(work, folder, {**(variables or {}), **preload})
        _compare(plain, outcome, f'at {rate} Hz')
        paths = harness.profiles_in(profiles)
        reports = [_whole(path) for path in paths]
        print(_row(rate, plain_seconds, seconds, reports, paths))
        bound = pitfall.SLOWER_FACTOR * plain_seconds + pitfall.SLOWER_SECONDS
        assert seconds < bound, f'{seconds:.1f} s at {rate} Hz, plain {plain_seconds:.1f} s'
        unfinished = [path.name for path, parsed in zip(paths, reports) if parsed['file']['end'] is None]
        assert len(unfinished) <= killed, f'without a footer: {unfinished}'
        assert allocations(reports) > 0, 'no profile holds an allocation'
        yield reports
