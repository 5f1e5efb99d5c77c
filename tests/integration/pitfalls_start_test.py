#!/usr/bin/env python3
"""What runs before the agent's constructor and after its destructor (rows P01 to P08)."""
import ctypes.util
import shutil

import harness
import pitfall
from harness import case

OTHER_TOOL = harness.PROGRAMS / 'pitfalls/next_allocator_plugin.so'


def counted(parsed, function):
    """What `function` allocated itself, not an allocator or another tool inside its call."""
    sites = [site for site in parsed['sites'] if harness.plain_name(site['function']) == function
             and site['kind'] == 'heap']
    return {key: harness.total(sites, key) for key in ('allocations', 'bytes_allocated', 'frees')}


def booked(allocations, size, frees=None):
    return {'allocations': allocations, 'bytes_allocated': allocations * size,
            'frees': allocations if frees is None else frees}


@case(rows='P01 P02 P03')
def blocks_of_preinit_code_live_on(folder):
    for rate, (plain, measured) in zip(pitfall.RATES_HZ,
                                       pitfall.unnoticed_program(folder, 'early_start', 'heap')):
        assert plain.status == 3 and b'kept: from preinit' in plain.stdout, plain.stdout
        assert b'environment missing in preinit: 1' in plain.stdout, plain.stdout
        parsed = measured.only_profile()
        assert f'rate={rate}' in parsed['options'], parsed['options']
        assert counted(parsed, 'alloc_preinit') == booked(3000, 1000)
        assert counted(parsed, 'alloc_big') == booked(1, 1 << 20)
        assert parsed['file']['end'] == 'exit', parsed['file']


@case(rows='P01 P03')
def a_thread_of_preinit_code_is_measured(folder):
    # How often it allocates depends on the time it gets; it says so on stderr.
    for _, measured in pitfall.unnoticed_program(folder, 'early_start', 'thread',
                                                 normalise=lambda output: output.strip(b'0123456789\n')):
        parsed = measured.only_profile()
        truth = int(measured.stderr)
        assert counted(parsed, 'alloc_thread') == booked(truth, 48), (counted(parsed, 'alloc_thread'), truth)
        assert counted(parsed, 'alloc_main') == booked(10, 64, frees=0)
        assert len(parsed['threads']) == 2, parsed['threads']
        samples = [thread['samples_seen'] for thread in parsed['threads'] if not thread['main']]
        print(f'{samples} samples of the early thread')
        # Of 300 at 1 kHz: a storm of frees must not restart the period before it has run out.
        assert samples[0] >= 150, samples


@case(rows='P03')
def a_child_of_preinit_code_has_its_own_profile(folder):
    for plain, measured in pitfall.unnoticed_program(folder, 'early_start', 'fork'):
        assert plain.status == 3 and b'child 400' in plain.stdout, plain.stdout
        assert len(measured.profiles) == 2, measured.profiles
        for profile in measured.profiles:
            assert counted(harness.report(profile), 'alloc_main') == booked(10, 64, frees=0)


@case(rows='P01 P02')
def programs_without_operator_new_start(folder):
    """Looking for it allocates the text of an error, which somebody frees later."""
    for number, command in enumerate((['true'], ['bash', '-c', 'exit 5'], ['perl', '-e', 'exit 6'],
                                      ['/usr/bin/python3', '-c', 'raise SystemExit(7)'])):
        if not shutil.which(command[0]):
            print(f'{command[0]} is not installed')
            continue
        where = folder / str(number)
        where.mkdir()
        for _, measured in pitfall.unnoticed(where, command):
            parsed = measured.only_profile()
            assert parsed['file']['end'] == 'exit', parsed['file']
            assert not parsed['untracked_allocations'], parsed['untracked_allocations']


@case(rows='P01')
def a_decoder_that_does_not_load_leaves_no_error(folder):
    """The program's own dlerror must not tell of a library of ours."""
    (folder / 'libZydis.so.4.0').write_text('no library')
    for plain, measured in pitfall.unnoticed_program(folder, 'early_start', 'heap',
                                                     variables={'LD_LIBRARY_PATH': str(folder)}):
        assert b'error left by a look-up: none' in plain.stdout, plain.stdout
        parsed = measured.only_profile()
        assert 'no_decoder' in [event['code'] for event in parsed['events']], parsed['events']


@case(rows='P05')
def exit_handlers_allocate(folder):
    for plain, measured in pitfall.unnoticed_program(folder, 'exit_handlers'):
        assert plain.status == 6 and b'after 200 handlers' in plain.stdout, plain.stdout
        parsed = measured.only_profile()
        assert counted(parsed, 'alloc_static') == booked(2, 100)
        assert counted(parsed, 'alloc_handler') == booked(200, 200)
        assert counted(parsed, 'alloc_destructor') == booked(3, 300)
        assert counted(parsed, 'alloc_thread_local') == booked(11, 400)
        assert len(parsed['threads']) == 13, len(parsed['threads'])
        assert parsed['file']['end'] == 'exit', parsed['file']


def with_allocator(folder, name, place):
    """The family of functions on another allocator; it serves the program or not, as without us."""
    library = ctypes.util.find_library(name)
    if not library:
        harness.skip(f'lib{name} is not installed')
    for _, measured in pitfall.unnoticed_program(folder, 'early_start', 'heap', **{place: [library]}):
        parsed = measured.only_profile()
        codes = [event['code'] for event in parsed['events']]
        if place == 'ahead':
            assert 'foreign_malloc' in codes, codes
        else:
            assert 'foreign_malloc' not in codes, codes
            assert counted(parsed, 'alloc_preinit') == booked(3000, 1000)


for _name in ('jemalloc', 'tcmalloc', 'tcmalloc_minimal', 'mimalloc'):
    for _place in ('ahead', 'behind'):
        def _case(folder, name=_name, place=_place):
            with_allocator(folder, name, place)
        _case.__name__ = f'{_name}_{_place}'
        case(_case, rows='P04 P06')


@case(rows='P01 P04 P06')
def another_tool_behind_us_is_called(folder):
    for plain, measured in pitfall.unnoticed_program(folder, 'early_start', 'heap', behind=[OTHER_TOOL]):
        assert b'other tool: it was called' in plain.stderr, plain.stderr
        assert counted(measured.only_profile(), 'alloc_preinit') == booked(3000, 1000)


@case(rows='P01 P04 P06')
def another_tool_ahead_of_us_calls_us(folder):
    """Its frame lies between the site and us; what it takes through it is booked all the same."""
    for plain, measured in pitfall.unnoticed_program(folder, 'early_start', 'heap', ahead=[OTHER_TOOL]):
        assert b'other tool: it was called' in plain.stderr, plain.stderr
        parsed = measured.only_profile()
        assert counted(parsed, 'alloc_preinit') == booked(3000, 1000)
        assert 'foreign_malloc' in [event['code'] for event in parsed['events']], parsed['events']


MUSL_PROGRAM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int allocate(struct dl_phdr_info* info, size_t size, void* context) {
  free(malloc(info->dlpi_phnum));
  return 0;
}

static void* work(void* argument) {
  for (int i = 0; i < 1000; ++i) {
    free(realloc(malloc(100), 5000));
    dl_iterate_phdr(allocate, NULL);
    if (i % 100 == 0) dlclose(dlopen("libc.so", RTLD_NOW));
  }
  return argument;
}

int main(void) {
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
  pid_t child = fork();
  if (child == 0) {
    work(NULL);
    exit(5);
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("child %x\n", status);
  fflush(stdout);
  return execl("/bin/sh", "sh", "-c", "exit 4", (char*)NULL);
}
"""


@case(rows='P07 P16')
def a_program_on_musl_runs_on(folder):
    """The agent loads there, since it needs no function that musl lacks, and only passes through."""
    if not shutil.which('musl-gcc'):
        harness.skip('musl-gcc is not installed (package musl-tools)')
    source, program = folder / 'program.c', folder / 'program'
    source.write_text(MUSL_PROGRAM)
    harness.run_plain(['musl-gcc', '-O1', '-o', program, source])
    for plain, measured in pitfall.unnoticed(folder, [program]):
        assert plain.status == 4 and b'child 500' in plain.stdout, (plain.status, plain.stdout)
        # Of the shell, which runs on glibc, alone.
        assert [harness.report(profile)['process']['arguments'][0] for profile in measured.profiles] == ['sh']


if __name__ == '__main__':
    harness.main()
