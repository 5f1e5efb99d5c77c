#!/usr/bin/env python3
"""Hooks reached from inside libc, an allocator or the loader, which hold locks (rows P09 to P17)."""
import harness
import pitfall
from harness import case

LOADS = 50  # as in the program
PLUGIN = harness.PROGRAMS / 'pitfalls/loader_lock_plugin.so'


def counted(parsed, function):
    return harness.total(harness.sites_of(parsed, function), 'allocations')


def unlost(measured):
    """The program's own report, without its children's: to the end, with no event lost inside a hook
    and nothing of the agent in it.
    """
    parsed, _ = pitfall.parent_and_children(measured)
    assert parsed['file']['end'] == 'exit', parsed['file']
    assert 'reentrant' not in parsed['untracked_allocations'], parsed['untracked_allocations']
    for site in parsed['sites']:
        modules = [frame['module'] for frame in site['stack'][:1]]
        assert not any('libmemagent' in module for module in modules), site
    return parsed


@case(rows='P09 P10')
def stdio_allocates_under_its_lock(folder):
    for plain, measured in pitfall.unnoticed_program(folder, 'stdio_lock'):
        assert plain.status == 3 and b'printed' in plain.stdout
        parsed = unlost(measured)
        assert counted(parsed, 'alloc_round') == 6000
        assert len(parsed['threads']) == 4, parsed['threads']


@case(rows='P11')
def threads_ask_for_their_stacks(folder):
    for plain, measured in pitfall.unnoticed_program(folder, 'thread_attributes'):
        assert plain.status == 3 and b'asked' in plain.stdout
        parsed = unlost(measured)
        assert counted(parsed, 'alloc_round') == 500


@case(rows='P12 P13 P17')
def an_allocator_maps_under_its_lock(folder):
    for plain, measured in pitfall.unnoticed_program(folder, 'own_allocator'):
        assert plain.status == 3 and b'3000 locks, 3 masks\nenough maps' in plain.stdout, plain.stdout
        parsed = unlost(measured)
        sites = harness.sites_of(parsed, 'alloc_chunk')
        assert {site['kind'] for site in sites} == {'mmap'}, sites
        assert harness.total(sites, 'bytes_allocated') >= 28 << 20
        assert 'foreign_malloc' in [event['code'] for event in parsed['events']], parsed['events']


@case(rows='P14 P15')
def a_callback_under_the_loaders_lock_waits_for_others(folder):
    for plain, measured in pitfall.unnoticed_program(folder, 'loader_lock', 'callback'):
        assert plain.status == 3 and b'callback done' in plain.stdout
        assert len(measured.profiles) == 6, measured.profiles
        parsed = unlost(measured)
        assert counted(parsed, 'alloc_beside_lock') == 5 * 100 + 5
        assert len(parsed['threads']) == 7, parsed['threads']


@case(rows='P14 P19')
def a_librarys_constructor_waits_for_a_thread(folder):
    for plain, measured in pitfall.unnoticed_program(folder, 'loader_lock', 'constructor', PLUGIN):
        assert plain.status == 3 and b'constructor done' in plain.stdout
        parsed = unlost(measured)
        assert counted(parsed, 'alloc_plugin') == 20 * 3
        assert len(parsed['threads']) == 1 + 20 * 2, len(parsed['threads'])


@case(rows='P14 P15')
def libraries_come_and_go_while_others_allocate(folder):
    for plain, measured in pitfall.unnoticed_program(folder, 'loader_lock', 'loop', PLUGIN):
        assert plain.status == 3 and b'loop done' in plain.stdout
        parsed = unlost(measured)
        assert counted(parsed, 'alloc_plugin') == LOADS * 3
        assert counted(parsed, 'alloc_beside_lock') > 0
        assert counted(parsed, 'alloc_under_lock') > 0


@case(rows='P14')
def libraries_come_and_go_while_others_throw(folder):
    for plain, measured in pitfall.unnoticed_program(folder, 'loader_lock', 'throw', PLUGIN):
        assert plain.status == 3 and b'throw done' in plain.stdout
        assert counted(unlost(measured), 'alloc_plugin') == LOADS * 3


if __name__ == '__main__':
    harness.main()
