"""Tests whose body runs in a guest with several NUMA nodes.

A script is a list of functions marked @case(...) and ends in main(). `script NAME` boots the machine
of that case and runs `script --inside NAME` there, so a body is ordinary code that finds the host's
files under their own names; what it prints and its exit status are the test's. --list prints the
names for CMakeLists.txt.
"""
import ctypes
import os
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'integration'))

import guest  # noqa: E402
import harness  # noqa: E402
import kernel  # noqa: E402

PROGRAMS = harness.BUILD / 'tests/system'
SYS_INIT_MODULE = 175  # asm/unistd_64.h

_cases = {}


def case(long=False, **machine):
    """Marks a test. `long`: only with tests/run --all; the rest are the arguments of guest.Machine."""
    def mark(function):
        _cases[function.__name__] = (function, guest.Machine(**machine), ' long' if long else '')
        return function
    return mark


def machine_of(function):
    """The guest.Machine that a case runs in."""
    return _cases[function.__name__][1]


def run_inside(name):
    with tempfile.TemporaryDirectory(prefix='memagent-test-') as folder:
        _cases[name][0](pathlib.Path(folder))
    print(f'ok: {name}')


def run_in_guest(name):
    try:
        finished = guest.boot(_cases[name][1], [sys.executable, '-Bu', sys.argv[0], '--inside', name],
                              {'MEMAGENT_BUILD': harness.BUILD})
    except kernel.Unavailable as reason:
        harness.skip(reason)
    guest.show(finished)
    print(f'guest: {finished.seconds:.1f} s from start to end')
    if finished.status != 0:
        sys.exit(finished.status)


def main():
    if sys.argv[1:] == ['--list']:
        print('\n'.join(name + case[2] for name, case in _cases.items()))
    elif sys.argv[1:2] == ['--inside']:
        run_inside(sys.argv[2])
    else:
        for name in sys.argv[1:] or _cases:
            run_in_guest(name)


def raise_last_error(what):
    error = ctypes.get_errno()
    raise OSError(error, f'{what}: {os.strerror(error)}')


def load_simpmu(**parameters):
    """Loads the simulated PMU with these module parameters (tests/system/simpmu); it stays."""
    libc = ctypes.CDLL(None, use_errno=True)
    image = pathlib.Path(os.environ['SIMPMU']).read_bytes()
    words = ' '.join(f'{name}={int(value) if isinstance(value, bool) else value}'
                     for name, value in parameters.items())
    if libc.syscall(SYS_INIT_MODULE, image, len(image), words.encode()) != 0:
        raise_last_error(f'loading simpmu {words}')


def set_simpmu(**parameters):
    """Changes parameters of the loaded module that may change."""
    for name, value in parameters.items():
        pathlib.Path(f'/sys/module/simpmu/parameters/{name}').write_text(f'{value}\n')
