#!/usr/bin/env python3
"""Mappings and breaks, against what the kernel says is mapped (rows P64 to P66)."""
import re

import harness
import pitfall
from harness import case

PAGE = 4096


def family(folder, what):
    for plain, measured in pitfall.unnoticed_program(folder, 'mmap_family', what):
        mapped = int(re.search(rb'mapped (\d+)', plain.stdout).group(1))
        yield plain, measured.only_profile(), mapped


def live(parsed, function):
    return harness.total([site for site in harness.sites_of(parsed, function)
                          if site['kind'] != 'heap'], 'bytes_live')


def mapped_here(parsed):
    """Live bytes of all sites of the program's own mappings."""
    sites = [site for site in parsed['sites'] if site['kind'] in ('mmap', 'shm') and
             any(harness.plain_name(frame['function']) == 'main' for frame in site['stack'])]
    return harness.total(sites, 'bytes_live')


@case(rows='P64')
def each_way_of_changing_a_mapping(folder):
    for _, parsed, mapped in family(folder, 'cases'):
        pages = {'overlaid': 16, 'holed': 6, 'grown': 7, 'shrunk': 2, 'sent': 4, 'part_sent': 8,
                 'left_behind': 6, 'copied': 10, 'refused': 0}
        found = {name: live(parsed, f'alloc_{name}') // PAGE for name in pages}
        assert found == pages, found
        assert mapped_here(parsed) == mapped == sum(pages.values()) * PAGE


@case(rows='P64')
def random_changes_end_as_the_kernel_says(folder):
    for _, parsed, mapped in family(folder, 'random'):
        assert mapped > 100 * PAGE, mapped
        lost = parsed['untracked_allocations'].get('mmap_event_lost', 0)
        if lost:  # on a machine whose CPUs are all taken
            print(f'{lost} of 4,000 events lost, and counted')
            continue
        assert mapped_here(parsed) == mapped, (mapped_here(parsed) / PAGE, mapped / PAGE)
        for site in parsed['sites']:
            assert site['frees'] <= site['allocations'], site
            assert site['bytes_live'] >= 0, site


@case(rows='P65')
def calls_that_no_function_of_libc_makes(folder):
    for _, parsed, mapped in family(folder, 'raw'):
        assert live(parsed, 'alloc_and_unmap_unseen') == 3 * PAGE
        assert live(parsed, 'alloc_raw') == 6 * PAGE, live(parsed, 'alloc_raw')
        assert mapped_here(parsed) == mapped == 15 * PAGE, (mapped_here(parsed), mapped)


@case(rows='P66')
def pages_mapped_twice_in_a_row(folder):
    for plain, parsed, mapped in family(folder, 'ring'):
        assert b'ring 2 2' in plain.stdout and mapped == 16 * PAGE
        sites = harness.sites_of(parsed, 'alloc_ring')
        assert harness.total(sites, 'bytes_allocated') >= 16 * PAGE
        assert all(site['bytes_live'] >= 0 for site in sites)


@case(rows='P64')
def a_break_that_goes_up_and_down(folder):
    for plain, parsed, _ in family(folder, 'break'):
        assert b'grown by 110000' in plain.stdout
        assert live(parsed, 'alloc_break') == 110000, live(parsed, 'alloc_break')
        segments = harness.sites_of(parsed, 'alloc_segment')
        assert harness.total(segments, 'allocations') == 3
        assert harness.total(segments, 'frees') == 2
        assert harness.total(segments, 'bytes_live') == 5 * PAGE


if __name__ == '__main__':
    harness.main()
