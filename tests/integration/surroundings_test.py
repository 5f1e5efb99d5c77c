#!/usr/bin/env python3
"""What else is in the process: sandboxes and other allocators."""
import ctypes.util
import os
import shutil

import harness
from harness import case


@case
def a_new_user_namespace_is_entered_as_without_us(folder):
    command = [harness.PROGRAMS / 'user_namespace', 0.4]
    plain = harness.run_plain(command)
    if not plain.json()['entered']:
        harness.skip(f'this machine allows no user namespace (errno {plain.json()["error"]})')
    result = harness.run_measured(command, folder, {'rate': 1000})
    assert (result.status, result.stdout, result.stderr) == (plain.status, plain.stdout, plain.stderr)
    parsed = result.only_profile()
    for function in ('alloc_before', 'alloc_after'):
        samples = harness.total(harness.sites_of(parsed, function), 'samples')
        print(f'{function}: {samples} samples')
        assert samples >= 200, f'{samples} samples on {function}, expected about 400'


def as_plain(folder, what):
    """Runs one of the program's tricks plain and measured; returns the report."""
    command = [harness.PROGRAMS / 'surroundings', what]
    plain = harness.run_plain(command)
    result = harness.run_measured(command, folder)
    assert (result.status, result.stdout, result.stderr) == (plain.status, plain.stdout, plain.stderr), (
        f'plain {plain.status} {plain.stdout} {plain.stderr}; '
        f'measured {result.status} {result.stdout} {result.stderr}')
    return plain, result


@case
def a_process_whose_last_thread_exits_by_system_call_ends(folder):
    plain, result = as_plain(folder, 'raw_exit')
    assert plain.status == 7, plain.status
    assert result.only_profile()['file']['end'] == 'threads_ended'


def sandbox(folder, what):
    """The filter kills for nearly every system call: none of ours is made, what was recorded is kept."""
    plain, result = as_plain(folder, what)
    assert plain.status == 5 and b'filter 0' in plain.stdout, (plain.status, plain.stdout)
    parsed = result.only_profile()
    assert parsed['file']['end'] == 'seccomp', parsed['file']
    assert harness.total(harness.sites_of(parsed, 'alloc_before'), 'allocations') == 1


@case
def a_seccomp_filter_for_one_thread_kills_nobody(folder):
    sandbox(folder, 'prctl')


@case
def a_seccomp_filter_for_all_threads_kills_nobody(folder):
    sandbox(folder, 'tsync')


@case
def privileges_given_up_are_given_up_in_every_thread(folder):
    if os.geteuid() != 0:
        harness.skip('only root has privileges to give up')
    command = [harness.PROGRAMS / 'surroundings', 'credentials']
    folder.chmod(0o755)
    result = harness.run_measured(command, folder)
    assert result.status == 0, f'status {result.status}, {result.stderr.decode()}'
    lines = {' '.join(line.split()[1:]) for line in result.stdout.decode().splitlines()}
    assert lines == {'65534 65534 65534 65534'}, result.stdout.decode()
    assert result.only_profile()['file']['end'] == 'exit'


@case
def curl_starts_as_without_us(folder):
    """libp11-kit allocates under the locale's lock before our constructor has run."""
    if not shutil.which('curl'):
        harness.skip('curl is not installed')
    plain = harness.run_plain(['curl', '--version'])
    result = harness.run_measured(['curl', '--version'], folder)
    assert (result.status, result.stdout) == (plain.status, plain.stdout)
    result.only_profile()


def small_blocks(folder, preload):
    """Exact counts for blocks that share 32 bytes, whatever allocator serves them."""
    command = [harness.PROGRAMS / 'small_blocks']
    result = harness.run_measured(command, folder, variables={'LD_PRELOAD': preload})
    assert result.status == 0, f'status {result.status}, {result.stderr.decode()}'
    truth, parsed = result.json(), result.only_profile()
    for function, kept in truth['kept'].items():
        sites = harness.sites_of(parsed, function)
        counted = {key: harness.total(sites, key) for key in ('allocations', 'frees', 'bytes_live')}
        expected = {'allocations': truth['calls'], 'frees': truth['calls'] // 2, 'bytes_live': kept}
        assert counted == expected, f'{function}: {counted}, expected {expected}'
    return parsed


def allocator(name):
    library = ctypes.util.find_library(name)
    if not library:
        harness.skip(f'lib{name} is not installed')
    return library


@case
def small_blocks_of_glibc_are_all_counted(folder):
    small_blocks(folder, str(harness.AGENT))


def behind_us(folder, name):
    small_blocks(folder, f'{harness.AGENT}:{allocator(name)}')


def ahead_of_us(folder, name):
    """The program's malloc is then not ours: it runs on, and the profile says so."""
    library = allocator(name)
    result = harness.run_measured([harness.PROGRAMS / 'small_blocks'], folder,
                                  variables={'LD_PRELOAD': f'{library}:{harness.AGENT}'})
    assert result.status == 0, f'status {result.status}, {result.stderr.decode()}'
    codes = [event['code'] for event in result.only_profile()['events']]
    assert 'foreign_malloc' in codes, f'events: {codes}'


for _name in ('jemalloc', 'tcmalloc', 'tcmalloc_minimal', 'mimalloc'):
    for _function, _suffix in ((behind_us, 'behind_us'), (ahead_of_us, 'ahead_of_us')):
        def _case(folder, function=_function, name=_name):
            function(folder, name)
        _case.__name__ = f'{_name}_{_suffix}'
        case(_case)


@case
def a_program_at_a_fixed_address_that_takes_mallocs_address(folder):
    """Its own symbol of that name is only a jump: nobody's malloc is ahead of ours."""
    result = harness.run_measured([harness.PROGRAMS / 'fixed_address'], folder)
    assert result.status == 0, f'status {result.status}, {result.stderr.decode()}'
    parsed = result.only_profile()
    codes = [event['code'] for event in parsed['events']]
    assert 'foreign_malloc' not in codes, f'events: {codes}'
    sites = harness.sites_of(parsed, 'alloc_by_address')
    assert harness.total(sites, 'frees') == harness.total(sites, 'allocations') == result.json()['calls']


if __name__ == '__main__':
    harness.main()
