#!/usr/bin/env python3
"""Who touched a page first: every page, also those touched as a thread's first action."""
import pathlib

import harness
from harness import case


def check(folder, threads, pages):
    program = harness.PROGRAMS / 'first_touch_threads'
    result = harness.run_measured([program, threads, pages], folder, {'fault_period': 1})
    truth = result.json()
    parsed = result.only_profile()
    tids = {thread['id']: thread['tid'] for thread in parsed['threads']}
    expected = {thread['tid']: thread['pages'] for thread in truth['threads']}
    found = {tid: 0 for tid in expected}
    sites = harness.sites_of(parsed, truth['buffer'])
    assert sites, f'no site of {truth["buffer"]}'
    for site in sites:
        for touch in site['first_touch']:
            tid = tids.get(touch['thread'])
            assert tid in found, f'first toucher {touch} is none of the threads'
            assert harness.plain_name(touch['function']) == truth['code'], f'touched in {touch["function"]}'
            found[tid] += touch['faults']
    # On a crowded machine a thread may run before its events are open: then it says so.
    late = {thread['tid'] for thread in parsed['threads'] if thread['unobserved_ns'] > 0}
    print(f'expected {expected}\nfound    {found}\nfaults {parsed["faults"]}, {len(late)} threads late')
    assert all(count == expected[tid] or (tid in late and count < expected[tid])
               for tid, count in found.items())


@case
def every_page_of_four_threads(folder):
    check(folder, 4, 512)


@case
def one_page_each_of_many_threads(folder):
    check(folder, 64, 1)


def touched_pages(folder, name, function, options, variables=None):
    folder.mkdir()
    result = harness.run_measured([harness.BUILD / 'examples' / name], folder, options, variables=variables)
    assert result.status == 0, result.stderr.decode()
    sites = harness.sites_of(result.only_profile(), function)
    touches = [touch for site in sites for touch in site['first_touch']]
    return sum(touch['pages'] for touch in touches), sum(touch['faults'] for touch in touches)


def estimate(folder, name, function):
    """What a widened fault period estimates against every fault, counted."""
    truth, counted = touched_pages(folder / 'all', name, function, {'fault_period': 1, 'ring_pages': 512})
    pages, faults = touched_pages(folder / 'some', name, function, {})
    print(f'{name}: {truth} pages ({counted} faults); estimated {pages} from {faults} faults')
    assert truth == counted, 'faults were lost at period 1'
    assert abs(pages - truth) < 0.2 * truth, f'{pages} pages estimated, {truth} touched'


@case(serial=True)
def estimate_of_one_large_block(folder):
    estimate(folder, 'one_thread_first_touch', 'AllocateField')


@case(serial=True)
def estimate_of_many_small_blocks(folder):
    """glibc and the agent's own index touch pages in turn: a period that fits the pattern sees one kind."""
    estimate(folder, 'linked_list', 'MakeNode')


@case(serial=True)
def huge_pages_count_as_what_they_hold(folder):
    """One fault brings 512 pages, where the kernel says so (Linux 5.11)."""
    state = pathlib.Path('/sys/kernel/mm/transparent_hugepage/enabled')
    if not state.exists() or '[never]' in state.read_text():
        harness.skip('no transparent huge pages')
    small, _ = touched_pages(folder / 'small', 'one_thread_first_touch', 'AllocateField', {'fault_period': 1, 'ring_pages': 512})
    pages, faults = touched_pages(folder / 'huge', 'one_thread_first_touch', 'AllocateField', {'fault_period': 1},
                                  {'GLIBC_TUNABLES': 'glibc.malloc.hugetlb=1'})
    print(f'{pages} pages from {faults} faults, {small} from small ones')
    if faults > small / 4:
        harness.skip('malloc gets no huge pages here')
    assert abs(pages - small) < 0.02 * small, (pages, small)


if __name__ == '__main__':
    harness.main()
