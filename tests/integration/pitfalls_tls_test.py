#!/usr/bin/env python3
"""Thread-local storage, its end, and small stacks (rows P18 to P22)."""
import re

import harness
import pitfall
from harness import case

# Of a host thread's stack: what a hook may need. 700 bytes were measured.
STACK_BYTES = 2048


def booked(parsed, function):
    sites = harness.sites_of(parsed, function)
    return {key: harness.total(sites, key) for key in ('allocations', 'frees')}


@case(rows='P18')
def libraries_with_static_tls_still_load(folder):
    plugin = harness.PROGRAMS / 'pitfalls/static_tls_plugin.so'
    for plain, measured in pitfall.unnoticed_program(folder, 'static_tls', 'libraries', plugin):
        loaded = int(re.search(rb'(\d+) libraries', plain.stdout).group(1))
        print(f'{loaded} of 40 loaded')
        assert 20 <= loaded <= 40, plain.stdout
        measured.only_profile()


@case(rows='P22')
def a_program_with_big_static_tls_runs(folder):
    for plain, measured in pitfall.unnoticed_program(folder, 'static_tls', 'big'):
        assert plain.status == 3 and b'child 800' in plain.stdout, plain.stdout
        parent, [child] = pitfall.parent_and_children(measured)
        assert booked(child, 'alloc_for_thread')['frees'] >= 1
        assert booked(parent, 'alloc_for_thread') == {'allocations': 11, 'frees': 11}
        assert len(parent['threads']) == 11, parent['threads']


@case(rows='P20 P21')
def destructors_of_keys_allocate_and_fork(folder):
    for plain, measured in pitfall.unnoticed_program(folder, 'thread_storage', 'keys'):
        assert plain.status == 3 and b'keys done' in plain.stdout
        parent, children = pitfall.parent_and_children(measured)
        assert len(children) == 5, measured.profiles
        assert booked(parent, 'alloc_in_destructor') == {'allocations': 2020, 'frees': 2020}
        assert booked(parent, 'alloc_value') == {'allocations': 2025, 'frees': 2025}
        assert 'thread_ending' not in parent['untracked_allocations'], parent['untracked_allocations']
        assert len(parent['threads']) == 506, len(parent['threads'])


@case(rows='P20 P21', long=True)
def four_thousand_threads_that_only_free(folder):
    for plain, measured in pitfall.unnoticed_program(folder, 'thread_storage', 'free_only'):
        assert plain.status == 3 and b'free_only done' in plain.stdout
        parsed = measured.only_profile()
        assert booked(parsed, 'alloc_for_thread') == {'allocations': 4000, 'frees': 4000}
        assert len(parsed['threads']) == 4001, len(parsed['threads'])
        print(f'{parsed["own_cost"]["bytes_mapped"] >> 20} MiB mapped')


@case(rows='P22')
def small_stacks_suffice(folder):
    def used(run):
        return int(re.search(rb'stack used: (\d+)', run.stdout).group(1))
    without_use = lambda output: re.sub(rb'stack used: \d+', b'', output)
    for plain, measured in pitfall.unnoticed_program(folder, 'thread_storage', 'stacks',
                                                     normalise=without_use):
        assert plain.status == 3 and b'stacks done' in plain.stdout
        print(f'{used(plain)} bytes of stack plain, {used(measured)} measured')
        assert used(measured) <= used(plain) + STACK_BYTES
        parsed = measured.only_profile()
        assert booked(parsed, 'alloc_on_small_stack') == {'allocations': 200, 'frees': 200}


if __name__ == '__main__':
    harness.main()
