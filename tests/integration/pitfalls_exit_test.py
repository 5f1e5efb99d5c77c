#!/usr/bin/env python3
"""Every way to end, with what was allocated right before it in the profile (rows P34 to P39)."""
import harness
import pitfall
from harness import case

# By exit(): the handler registered with atexit, a static's destructor and a library's run, too.
EXIT = {'alloc_before_end': 1000, 'alloc_in_handler': 200, 'alloc_in_destructor': 300,
        'alloc_in_library': 100}
AT_ONCE = {'alloc_before_end': 1000, 'alloc_in_handler': 0, 'alloc_in_destructor': 0,
           'alloc_in_library': 30}


def check(folder, way, end, counts, *words):
    """`end`: the footer's word."""
    for plain, measured in pitfall.unnoticed_program(folder, 'endings', way, *words):
        assert b'__libc_freeres' not in plain.stdout + measured.stdout
        parsed = measured.only_profile()
        about = parsed['file']
        assert not about['truncated'] and about['chunks_damaged'] == 0, about
        counted = {name: harness.total(harness.sites_of(parsed, name), 'allocations') for name in counts}
        assert (counted, about['end']) == (counts, end), f'{counted}, {about}; expected {counts}'


@case(rows='P34 P37 P38 P39')
def by_return_from_main(folder):
    check(folder, 'return', 'exit', EXIT)


@case(rows='P34 P38 P39')
def by_exit(folder):
    check(folder, 'exit', 'exit', EXIT)


@case(rows='P34 P36')
def by_exit_while_threads_allocate(folder):
    check(folder, 'exit', 'exit', EXIT, 'threads')


@case(rows='P36')
def by_exit_from_four_threads_at_once(folder):
    check(folder, 'threads_exit', 'exit', {'alloc_before_end': 1000})


@case(rows='P34 P39')
def by_underscore_exit(folder):
    check(folder, '_exit', '_exit', AT_ONCE)


@case(rows='P34 P36')
def by_underscore_exit_while_threads_allocate(folder):
    check(folder, '_Exit', '_exit', AT_ONCE, 'threads')


@case(rows='P34')
def by_underscore_exit_in_a_signal_handler_inside_malloc(folder):
    check(folder, 'handler', '_exit', AT_ONCE)


@case(rows='P34')
def by_quick_exit(folder):
    check(folder, 'quick_exit', 'quick_exit', {**AT_ONCE, 'alloc_in_handler': 200})


@case(rows='P34')
def by_the_system_call(folder):
    check(folder, 'exit_group', 'exit_group', AT_ONCE)


@case(rows='P34 P36')
def by_abort_while_threads_allocate(folder):
    check(folder, 'abort', 'abort', AT_ONCE, 'threads')


@case(rows='P34 P35')
def by_pthread_exit_of_main(folder):
    check(folder, 'pthread_exit', 'exit', EXIT)


@case(rows='P34 P35')
def by_the_end_of_a_thread_that_outlived_main(folder):
    check(folder, 'last_thread', 'exit', {**EXIT, 'alloc_in_last_thread': 400})


@case(rows='P34')
def by_signals_that_kill(folder):
    for way, end in (('sigterm', 'SIGTERM'), ('sigint', 'SIGINT'), ('sighup', 'SIGHUP'),
                     ('sigusr1', 'SIGUSR1')):
        (folder / way).mkdir()
        check(folder / way, way, end, AT_ONCE)


@case(rows='P34 P36')
def by_a_signal_while_threads_allocate(folder):
    check(folder, 'sigterm', 'SIGTERM', AT_ONCE, 'threads')


@case(rows='P34')
def by_faults(folder):
    for way, end in (('segv', 'SIGSEGV'), ('trap', 'SIGILL')):
        (folder / way).mkdir()
        check(folder / way, way, end, AT_ONCE)


def killed(folder, way):
    """Nobody can tell us: the profile holds what came before the last checkpoint, here 0.1 s."""
    for plain, measured in pitfall.unnoticed_program(folder, 'endings', way, 'later'):
        parsed = measured.only_profile()
        about = parsed['file']
        assert about['chunks_damaged'] == 0 and not about['final'], about
        for name in ('alloc_before_end', 'alloc_in_library'):
            found = harness.total(harness.sites_of(parsed, name), 'allocations')
            assert found == AT_ONCE[name], f'{name}: {found}'


@case(rows='P34')
def by_sigkill(folder):
    killed(folder, 'sigkill')


@case(rows='P34')
def by_an_instruction_of_the_program(folder):
    killed(folder, 'instruction')


if __name__ == '__main__':
    harness.main()
