#!/usr/bin/env python3
"""Allocation functions and other heaps in the process (rows P52 to P58, P110)."""
import ctypes.util

import harness
import pitfall
from harness import case

CALLS, BYTES = 200, 1536
# Function: how often `allocation_forms` calls it for each of its 200 rounds.
FORMS = {**{f'alloc_{form}': 1 for form in (
    'malloc', 'calloc', 'realloc', 'reallocarray', 'memalign', 'aligned_alloc', 'posix_memalign',
    'valloc', 'pvalloc', 'new_nothrow', 'new_array_nothrow', 'new_aligned_nothrow',
    'new_array_aligned_nothrow')},
         **{f'alloc_{form}': 2 for form in ('new', 'new_array', 'new_aligned', 'new_array_aligned')}}


def counted(parsed, function):
    sites = harness.sites_of(parsed, function)
    return {key: harness.total(sites, key)
            for key in ('allocations', 'frees', 'bytes_allocated', 'bytes_live')}


def event_codes(parsed):
    return [event['code'] for event in parsed['events']]


def check_forms(parsed, words=()):
    """Each form once: none missing, none counted at two levels, every free seen."""
    for function, calls in FORMS.items():
        if function == 'alloc_pvalloc' and 'no_pvalloc' in words:
            continue
        expected = {'allocations': CALLS * calls, 'frees': CALLS * calls,
                    'bytes_allocated': CALLS * calls * BYTES, 'bytes_live': 0}
        found = counted(parsed, function)
        assert found == expected, f'{function}: {found}, expected {expected}'
    for reason in ('foreign_free', 'missed_free'):
        assert parsed['untracked_allocations'].get(reason, 0) == 0, parsed['untracked_allocations']


@case(rows='P52 P53 P58')
def every_form_is_counted_once(folder):
    for plain, measured in pitfall.unnoticed_program(folder, 'allocation_forms'):
        assert plain.status == 4 and b'misaligned 0, too small 0' in plain.stdout, plain.stdout
        check_forms(measured.only_profile())


def allocator(name):
    library = ctypes.util.find_library(name)
    if not library:
        harness.skip(f'lib{name} is not installed')
    return library


def words_for(name):
    return ['no_pvalloc'] if name == 'jemalloc' else []


def behind_us(folder, name):
    for plain, measured in pitfall.unnoticed_program(folder, 'allocation_forms', *words_for(name),
                                                     behind=[allocator(name)]):
        assert plain.status == 4, plain.stderr
        check_forms(measured.only_profile(), words_for(name))


def ahead_of_us(folder, name):
    """The program's malloc is then not ours: the profile says so and counts nothing twice."""
    for plain, measured in pitfall.unnoticed_program(folder, 'allocation_forms', *words_for(name),
                                                     ahead=[allocator(name)]):
        assert plain.status == 4, plain.stderr
        parsed = measured.only_profile()
        assert 'foreign_malloc' in event_codes(parsed), parsed['events']
        for function, calls in FORMS.items():
            assert counted(parsed, function)['allocations'] <= CALLS * calls


for _name in ('jemalloc', 'tcmalloc', 'tcmalloc_minimal', 'mimalloc'):
    for _function, _suffix in ((behind_us, 'behind_us'), (ahead_of_us, 'ahead_of_us')):
        def _case(folder, function=_function, name=_name):
            function(folder, name)
        _case.__name__ = f'{_name}_{_suffix}'
        case(_case, rows='P53 P55 P06')


POOL = harness.PROGRAMS / 'pitfalls/pool_allocator_plugin.so'


@case(rows='P55')
def a_heap_behind_us_gets_only_its_own_blocks(folder):
    """It ends the program with 72 where it is given another heap's block."""
    for plain, measured in pitfall.unnoticed_program(folder, 'allocation_forms',
                                                     behind=[POOL]):
        assert plain.status == 4 and not plain.stderr, (plain.status, plain.stderr)
        check_forms(measured.only_profile())


@case(rows='P55')
def a_heap_ahead_of_us_gets_only_its_own_blocks(folder):
    for plain, measured in pitfall.unnoticed_program(folder, 'allocation_forms',
                                                     ahead=[POOL]):
        assert plain.status == 4 and not plain.stderr, (plain.status, plain.stderr)
        assert 'foreign_malloc' in event_codes(measured.only_profile())


def own_malloc(folder, program, event):
    """Its own blocks are not seen, which the profile says; its mappings are."""
    for plain, measured in pitfall.unnoticed_program(folder, program):
        assert plain.status == 6 and b'mapped 1, done' in plain.stdout, (plain.status, plain.stdout)
        parsed = measured.only_profile()
        assert event in event_codes(parsed), parsed['events']
        mapped = counted(parsed, 'alloc_mapping')
        assert mapped == {'allocations': 11, 'frees': 10, 'bytes_allocated': 11 << 20,
                          'bytes_live': 1 << 20}, mapped
        assert parsed['file']['end'] == 'exit'


@case(rows='P54')
def a_program_that_exports_a_malloc_family(folder):
    own_malloc(folder, 'own_malloc', 'foreign_malloc')


@case(rows='P54')
def a_program_that_exports_only_malloc_and_free(folder):
    own_malloc(folder, 'own_malloc_and_free', 'foreign_malloc')


@case(rows='P54')
def a_program_with_a_malloc_that_it_does_not_export(folder):
    own_malloc(folder, 'own_static_malloc', 'static_malloc')


@case(rows='P56')
def errno_stays_as_it_was(folder):
    for plain, measured in pitfall.unnoticed_program(folder, 'heap_contract', 'errno'):
        assert plain.stdout.startswith(b'errno changed 0 times'), plain.stdout
        assert counted(measured.only_profile(), 'alloc_kept')['allocations'] == 21 * 18


@case(rows='P57')
def what_can_not_be_had_is_refused_as_ever(folder):
    for plain, measured in pitfall.unnoticed_program(folder, 'heap_contract', 'failures'):
        assert plain.stdout.count(b'malloc: null, errno 12\n') == 4, plain.stdout
        assert b'block kept, sum 7000' in plain.stdout
        parsed = measured.only_profile()
        assert counted(parsed, 'alloc_refused')['allocations'] == 0, 'a block that was not had'
        assert counted(parsed, 'alloc_kept') == {'allocations': 2, 'frees': 2,
                                                 'bytes_allocated': 1100, 'bytes_live': 0}
        assert counted(parsed, 'alloc_grown') == {'allocations': 1, 'frees': 1,
                                                  'bytes_allocated': 50, 'bytes_live': 0}


@case(rows='P58')
def blocks_lie_and_end_as_ever(folder):
    for _, measured in pitfall.unnoticed_program(folder, 'heap_contract', 'layout'):
        kept = counted(measured.only_profile(), 'alloc_kept')
        assert kept['allocations'] == kept['frees'] > 20, kept


@case(rows='P110 P02 P03')
def blocks_from_before_us_are_freed_and_grown(folder):
    for plain, measured in pitfall.unnoticed_program(folder, 'blocks_from_before'):
        assert b'from before' in plain.stdout
        parsed = measured.only_profile()
        early = counted(parsed, 'alloc_in_preinit')
        assert early['allocations'] == early['frees'] == 300, early
        # 150 grown of preinit's, 300 of libc's own: counted as new, never as negative.
        assert counted(parsed, 'alloc_grown') == {'allocations': 450, 'frees': 450,
                                                  'bytes_allocated': 900000, 'bytes_live': 0}
        assert parsed['untracked_allocations'].get('foreign_free') == 600, (
            parsed['untracked_allocations'])


if __name__ == '__main__':
    harness.main()
