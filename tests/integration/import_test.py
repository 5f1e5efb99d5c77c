#!/usr/bin/env python3
"""memagent import: what the machine's own perf records here, which are page faults with their
addresses, and what it refuses. Samples of hardware: tests/system/import_test.py.
"""
import shutil
import subprocess
import sys

import harness
from harness import case

FAULTS = ['-e', 'page-faults', '-c', '1', '-d', '--sample-cpu']
PROGRAM = harness.BUILD / 'examples/hot_static_array'


def perf(*words, **arguments):
    if shutil.which('perf') is None:
        harness.skip('perf is not installed')
    finished = subprocess.run(['perf', *map(str, words)], capture_output=True, timeout=60,
                              stdin=subprocess.DEVNULL, env=harness.environment(), **arguments)
    if finished.returncode != 0:
        harness.skip(f'perf {words[0]} failed: {finished.stderr.decode().splitlines()[-1:]}')
    return finished


def record(folder, *words, program=('/bin/ls', '/')):
    data = folder / 'perf.data'
    perf('record', '-q', *words, '-o', data, '--', *program)
    return data


def imported(data, folder, *words):
    result = harness.memagent('import', data, *words, cwd=folder)
    assert result.status == 0, result.stderr.decode()
    print(result.stdout.decode().strip())
    return result


def refused(*words, folder, needed):
    """Status 2, nothing on stdout, one sentence that says `needed`; and no profile."""
    result = harness.memagent('import', *words, cwd=folder)
    lines = result.stderr.decode().splitlines()
    print(lines)
    assert (result.status, result.stdout, len(lines)) == (2, b'', 1), (result.status, result.stdout, lines)
    assert needed in lines[0], f'"{needed}" is not in "{lines[0]}"'
    assert not list(folder.glob('*.memagent')), 'a profile was left behind'


@case
def page_faults_are_first_touches_of_what_they_hit(folder):
    data = record(folder, *FAULTS, program=(PROGRAM,))
    imported(data, folder)
    report = harness.report(folder / 'perf.memagent')
    faults = perf('script', '-i', data, '-F', 'ip').stdout.splitlines()
    assert report['faults']['seen'] == len(faults), (report['faults'], len(faults))
    assert report['faults']['attributed'] == report['faults']['seen'], report['faults']
    table = [site for site in report['sites'] if site['function'] == 'g_histogram']
    assert len(table) == 1 and table[0]['kind'] == 'global', table
    code = {harness.plain_name(touch['function']) for touch in table[0]['first_touch']}
    assert 'CountInto' in code, code
    pages = sum(touch['pages'] for touch in table[0]['first_touch'])
    print(f'{len(faults)} faults, {pages} pages of g_histogram')
    assert pages > 0
    for command in (['report'], ['report', '--by', 'code'], ['info']):
        assert harness.memagent(*command, folder / 'perf.memagent').status == 0, command


@case
def pipe_is_read_from_standard_input(folder):
    recorded = perf('record', '-q', *FAULTS, '-o', '-', '--', '/bin/ls', '/').stdout
    # What perf writes first: its magic number.
    (folder / 'pipe').write_bytes(recorded[recorded.index(b'PERFILE2'):])
    with open(folder / 'pipe', 'rb') as pipe:
        result = subprocess.run([harness.MEMAGENT, 'import', '-'], cwd=folder, stdin=pipe, capture_output=True)
    assert result.returncode == 0, result.stderr.decode()
    report = harness.report(folder / 'perf.memagent')
    assert report['faults']['seen'] > 50, report['faults']
    assert report['imported_from'] == 'standard input'


@case
def nothing_is_overwritten(folder):
    data = record(folder, *FAULTS)
    for number in ('', '.1', '.2'):
        imported(data, folder)
        assert (folder / f'perf{number}.memagent').exists(), number
    first = (folder / 'perf.memagent').read_bytes()
    imported(data, folder, '-o', folder / 'perf.memagent')
    assert (folder / 'perf.memagent').read_bytes() == first
    assert (folder / 'perf.3.memagent').exists()


LOGGING_PROGRAM = """
import ctypes, mmap, os, sys, time
PAGES, PAGE = 256, 4096
def log(text):
    nanos = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    print(f'{nanos // 10**9}.{nanos % 10**9:09} {os.getpid()} {text}', file=file)
def touch(pages):
    for page in pages:
        block[page * PAGE] = 1
block = mmap.mmap(-1, PAGES * PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
block.madvise(mmap.MADV_NOHUGEPAGE)
address = ctypes.addressof(ctypes.c_char.from_buffer(block))
with open(sys.argv[1], 'w') as file:
    log(f'alloc {address:#x} {PAGES * PAGE} made by a log')
    touch(range(PAGES // 2))
    log(f'free {address:#x}')
    touch(range(PAGES // 2, PAGES))
"""


@case
def allocation_log_tells_blocks_apart(folder):
    log = folder / 'log'
    data = record(folder, *FAULTS, '-k', 'CLOCK_MONOTONIC', program=(sys.executable, '-c', LOGGING_PROGRAM, log))
    result = imported(data, folder, '--allocations', log)
    assert b'allocation log' not in result.stderr, result.stderr
    sites = [site for site in harness.report(folder / 'perf.memagent')['sites'] if site['name'] == 'made by a log']
    assert len(sites) == 1 and sites[0]['kind'] == 'heap', sites
    assert (sites[0]['allocations'], sites[0]['frees'], sites[0]['bytes_peak']) == (1, 1, 256 * 4096), sites[0]
    pages = sum(touch['pages'] for touch in sites[0]['first_touch'])
    assert pages == 128, f'{pages} pages were touched while the block lived, not 128'


@case
def compressed_files_are_refused(folder):
    data = record(folder, *FAULTS, '-z')
    refused(data, folder=folder, needed='record without -z')


@case
def files_without_memory_events_are_refused(folder):
    data = record(folder, '-e', 'cpu-clock')
    refused(data, folder=folder, needed='has no memory events, only cpu-clock: record them with perf mem record')


@case
def other_files_are_refused(folder):
    (folder / 'text').write_text('no recording\n')
    (folder / 'empty').touch()
    (folder / 'perf.data').mkdir()
    for name in ('text', 'empty'):
        refused(folder / name, folder=folder, needed='is not a perf.data file')
    refused(folder / 'nothing', folder=folder, needed='cannot read')
    refused(folder=folder, needed='perf record --threads')
    refused('--pid', 'x', folder=folder, needed='see memagent import --help')


@case
def allocation_logs_of_no_use_are_refused(folder):
    data = record(folder, *FAULTS)
    (folder / 'text').write_text('no log\n')
    for name, needed in (('text', 'has no allocation'), ('nothing', 'cannot read')):
        refused(data, '--allocations', folder / name, folder=folder, needed=needed)
    refused('-', '--allocations', '-', folder=folder, needed='name a file')


@case
def cut_files_are_read_as_far_as_they_go(folder):
    data = record(folder, *FAULTS).read_bytes()
    seen = []
    for share in (0.3, 0.6, 0.9):
        name = folder / f'{share}.data'
        name.write_bytes(data[:int(len(data) * share)])
        result = imported(name, folder)
        assert b'cut short' in result.stderr, result.stderr
        seen.append(harness.report(folder / f'{share}.memagent')['faults']['seen'])
    print(f'faults in 30, 60 and 90 % of the file: {seen}')
    assert 0 < seen[0] < seen[1] <= seen[2], seen


@case
def output_that_cannot_be_written_is_told(folder):
    data = record(folder, *FAULTS)
    result = harness.memagent('import', data, '-o', folder / 'no/such/folder/x', cwd=folder)
    assert result.status == 2, result.status
    assert b'its folder does not exist' in result.stderr, result.stderr


harness.main()
