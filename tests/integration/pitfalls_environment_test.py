#!/usr/bin/env python3
"""Sandboxes, runtimes and programs that can't be measured (rows P90 to P96)."""
import os
import pathlib
import shutil
import subprocess

import harness
import pitfall
from harness import case

PITFALLS = harness.PROGRAMS / 'pitfalls'
PYTHON = '/usr/bin/python3'  # Debian's, whatever python runs this


def counts(parsed, function):
    sites = harness.sites_of(parsed, function)
    return harness.total(sites, 'allocations'), harness.total(sites, 'bytes_allocated')


@case(rows='P90')
def an_environment_read_all_the_time(folder):
    for plain, measured in pitfall.unnoticed_program(folder, 'getenv_loop'):
        assert plain.status == 3 and b'found 200000' in plain.stdout
        assert counts(measured.only_profile(), 'alloc_between') == (1000, 64000)


@case(rows='P91 P93')
def a_static_program_runs_unmeasured_and_memagent_run_says_so(folder):
    """What is linked statically, such as most Go programs, has no loader that could load the agent."""
    for plain, measured in pitfall.unnoticed_program(folder, 'hello_static'):
        assert (plain.status, plain.stdout) == (6, b'static\n')
        assert not measured.profiles
    result = harness.memagent('run', '-o', folder / 'x.memagent', PITFALLS / 'hello_static')
    assert (result.status, result.stdout) == (6, b'static\n'), result.status
    lines = result.stderr.decode().splitlines()
    assert 'statically linked' in lines[0] and 'no profile was written' in result.stderr.decode(), lines


def set_user_id_copy(folder, name):
    """A copy that runs as root whoever starts it, or the reason why there can't be one."""
    if os.geteuid() != 0:
        harness.skip('only root can make a set-uid program')
    folder.chmod(0o755)
    copy = folder / name
    shutil.copy(PITFALLS / name, copy)
    copy.chmod(0o4755)
    found = subprocess.run(['findmnt', '-no', 'OPTIONS', '-T', folder], capture_output=True, text=True).stdout
    if 'nosuid' in found:
        harness.skip(f'{folder} is on a file system without set-uid')
    return copy


@case(rows='P91')
def a_set_user_id_program_runs_unmeasured_and_memagent_run_says_so(folder):
    copy = set_user_id_copy(folder, 'worker_threads')
    for place, source in (('bin', harness.MEMAGENT), ('lib', harness.AGENT)):
        (folder / place).mkdir()
        shutil.copy(source, folder / place)
    command = [folder / 'bin/memagent', 'run', '-o', folder / 'x.memagent', copy, 2, 10, 0.01]
    result = harness.run_plain(command, user=65534, group=65534, extra_groups=[],
                               env=harness.environment(MEMAGENT_LIBRARY=str(folder / 'lib/libmemagent.so')))
    text = result.stderr.decode()
    assert result.status == 3 and b'2 threads done' in result.stdout, (result.status, text)
    assert 'set-user-ID' in text or 'set-uid' in text or 'privileges' in text, text
    assert 'no profile was written' in text and not (folder / 'x.memagent').exists(), text
    print(text)


def sandbox(folder, what, end='seccomp', output=b'filter 0', status=5):
    (folder / what).mkdir()
    for plain, measured in pitfall.unnoticed_program(folder / what, 'sandboxes', what):
        assert plain.status == status and output in plain.stdout, (plain.status, plain.stdout)
        parsed = [harness.report(path) for path in measured.profiles]
        own = [each for each in parsed if not each['process']['forked_without_exec']]
        assert len(own) == 1 and own[0]['file']['end'] == end, [each['file'] for each in parsed]
        assert counts(own[0], 'alloc_before_sandbox') == (100, 90000)
        yield parsed


@case(rows='P92')
def a_sandbox_that_kills_kills_nobody(folder):
    for what in ('kill', 'thread', 'sync'):
        for profiles in sandbox(folder, what):
            assert len(profiles) == 1, 'a child born in the sandbox wrote a profile'


@case(rows='P92')
def no_unexpected_call_is_made_in_a_sandbox(folder):
    for profiles in sandbox(folder, 'trap', output=b'\n0 unexpected calls'):
        assert len(profiles) == 1


@case(rows='P92')
def strict_mode_is_survived(folder):
    for profiles in sandbox(folder, 'strict', output=b'strict'):
        assert len(profiles) == 1


@case(rows='P92')
def a_filter_that_is_refused_changes_nothing(folder):
    for profiles in sandbox(folder, 'refused', end='exit', output=b'filter -1, errno 14'):
        own = [each for each in profiles if not each['process']['forked_without_exec']][0]
        allocations, _ = counts(own, 'alloc_in_sandbox')
        assert len(profiles) == 2 and allocations == 11001, allocations


@case(rows='P95')
def code_made_at_run_time_has_the_name_it_gave_itself(folder):
    """In /tmp/perf-PID.map, which perf reads too."""
    name = 'LazyCompile:*allocate /app/main.js:3:7'
    for plain, measured in pitfall.unnoticed_program(folder, 'jit_code'):
        assert plain.stdout == b'100 blocks\n', plain.stdout
        sites = [site for site in measured.only_profile()['sites']
                 if name in [frame['function'] for frame in site['stack']]]
        assert harness.total(sites, 'bytes_allocated') == 64000, sites
    for path in pathlib.Path('/tmp').glob('perf-*.map'):
        if name in path.read_text(errors='replace'):
            path.unlink()


def python(folder, name, text, processes=None, **arguments):
    """Runs a script plain and measured; every process must leave a profile that can be read."""
    (folder / name).mkdir(exist_ok=True)
    script = folder / f'{name}.py'
    script.write_text(text)
    for plain, measured in pitfall.unnoticed(folder / name, [PYTHON, script], **arguments):
        assert plain.status != 1, plain.stderr.decode()
        reports = [harness.report(path) for path in measured.profiles]
        pids = {parsed['process']['pid'] for parsed in reports}
        if processes is not None:
            assert len(pids) == processes, f'{len(pids)} processes left profiles, expected {processes}'
        yield reports


FORKS = '''
import ctypes, os, sys, threading
blocks = [bytearray(5000) for _ in range(200)]
thread = threading.Thread(target=lambda: [bytearray(100) for _ in range(20000)])
thread.start()
for way in range(4):
    pid = os.fork()
    if pid == 0:
        more = [bytearray(7000) for _ in range(100)]
        if way == 0: os._exit(10)
        if way == 1: sys.exit(11)
        if way == 2: ctypes.CDLL(None).exit(12)
        os.execv(sys.executable, [sys.executable, '-c', 'import sys; print("new image"); sys.exit(13)'])
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
thread.join()
ctypes.CDLL(None).fflush(None)
os._exit(9)
'''

POOLS = '''
import multiprocessing, sys

def square(n):
    return len(bytearray(n * 1000)) * n

if __name__ == '__main__':
    for method in ('fork', 'spawn', 'forkserver'):
        context = multiprocessing.get_context(method)
        with context.Pool(2) as pool:
            print(method, sum(pool.map(square, range(50))))
        process = context.Process(target=sys.exit, args=(7,))
        process.start()
        process.join()
        print(process.exitcode)
    shared = multiprocessing.shared_memory.SharedMemory(create=True, size=10000)
    shared.buf[9999] = 7
    print(shared.buf[9999])
    shared.close()
    shared.unlink()
'''.replace('import multiprocessing, sys', 'import multiprocessing, multiprocessing.shared_memory, sys')

GREENLETS = '''
import faulthandler, greenlet, sys
faulthandler.enable()
done = []

def run(n):
    blocks = [bytearray(3000) for _ in range(20)]
    for _ in range(50):
        greenlet.getcurrent().parent.switch(len(blocks) + n)
    done.append(n)

greenlets = [greenlet.greenlet(run) for _ in range(200)]
total = 0
for turn in range(51):
    for n, each in enumerate(greenlets):
        total += each.switch(n) or 0
print(total, len(done), sum(each.dead for each in greenlets))
sys.exit(4)
'''


@case(rows='P96')
def python_forks_and_ends_in_every_way(folder):
    for reports in python(folder, 'forks', FORKS, processes=5):
        assert all(harness.total(parsed['sites'], 'allocations') >= 100 for parsed in reports)


@case(rows='P96')
def python_multiprocessing(folder):
    """Pools are terminated by a signal that may meet them anywhere: each profile can be read all the same."""
    for reports in python(folder, 'pools', POOLS):
        assert len(reports) > 6


@case(rows='P96')
def greenlets_switch_stacks(folder):
    if subprocess.run([PYTHON, '-c', 'import greenlet'], capture_output=True).returncode != 0:
        harness.skip('python3-greenlet is not installed')
    for reports in python(folder, 'greenlets', GREENLETS, processes=1):
        assert reports[0]['file']['end'] == 'exit', reports[0]['file']


if __name__ == '__main__':
    harness.main()
