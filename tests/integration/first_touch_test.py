#!/usr/bin/env python3
"""Who touched a page first: every page, also those touched as a thread's first action."""
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
    print(f'expected {expected}\nfound    {found}\nfaults {parsed["faults"]}')
    assert found == expected


@case
def every_page_of_four_threads(folder):
    check(folder, 4, 512)


@case
def one_page_each_of_many_threads(folder):
    check(folder, 64, 1)


if __name__ == '__main__':
    harness.main()
