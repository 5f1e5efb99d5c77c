#!/usr/bin/env python3
"""Many forks, threads and blocks: counts stay exact, and the agent's own memory stays bounded."""
import collections
import concurrent.futures

import harness
from harness import case

PEAK = 'peak_kib'
# What a process needs however long it runs: tables, and what was freed in the last 20 ms and may still
# be asked for (at most 32 MiB; agent/attribute/block_finder.h).
FIXED_KIB = 48 << 10
# A thread's record, its rings as far as used, its cache of call stacks, its perf ring.
THREAD_KIB = 320


def run_both(folder, program, *words):
    """Plain and measured; returns the program's truth, the measured run, and the KiB it took more."""
    command = [harness.PROGRAMS / program, *map(str, words)]
    plain = harness.run_plain(command)
    measured = harness.run_measured(command, folder)
    assert (plain.status, measured.status) == (0, 0), (plain.status, measured.status, measured.stderr)
    more = measured.json()[PEAK] - plain.json()[PEAK]
    print(f'{program} {words}: peak {plain.json()[PEAK]} KiB plain, {more:+} KiB under the agent')
    return measured.json(), measured, more


def counts(parsed, function):
    sites = harness.sites_of(parsed, function)
    return harness.total(sites, 'allocations'), harness.total(sites, 'frees')


def profiles_by_pid(profiles):
    """One report for each process, read two at a time."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        reports = list(pool.map(harness.report, profiles))
    by_pid = collections.defaultdict(list)
    for parsed in reports:
        by_pid[parsed['process']['pid']].append(parsed)
    return by_pid


def check_forks(folder, children, read):
    truth, measured, more = run_both(folder, 'stress_forks', children)
    assert len(measured.profiles) == children + 1, f'{len(measured.profiles)} profiles'
    # The parent's is the biggest.
    by_size = sorted(measured.profiles, key=lambda path: path.stat().st_size)
    parent = harness.report(by_size[-1])
    assert counts(parent, 'alloc_hammer') == (truth['hammered'],) * 2, (counts(parent, 'alloc_hammer'), truth)
    for parsed_list in profiles_by_pid(by_size[:-1][:: max(1, children // read)]).values():
        (parsed,) = parsed_list
        assert counts(parsed, 'alloc_child') == (truth['in_child'],) * 2, parsed['process']
    assert more < FIXED_KIB, f'{more} KiB more'  # however many children there were


def check_threads(folder, short_threads, live_threads):
    truth, measured, more = run_both(folder, 'stress_threads', short_threads, live_threads)
    parsed = measured.only_profile()
    each = truth['blocks_each']
    assert counts(parsed, 'alloc_short') == (truth['short_threads'] * each,) * 2, (counts(parsed, 'alloc_short'), truth)
    assert counts(parsed, 'alloc_live') == (truth['live_threads'] * each,) * 2, (counts(parsed, 'alloc_live'), truth)
    threads = len(parsed['threads'])
    assert threads >= truth['short_threads'] + truth['live_threads'] + 1, f'{threads} threads listed'
    assert more < FIXED_KIB + THREAD_KIB * truth['live_threads'], f'{more} KiB more'


def check_blocks(folder, blocks):
    truth, measured, more = run_both(folder, 'live_blocks', blocks)
    parsed = measured.only_profile()
    assert counts(parsed, 'alloc_live') == (blocks, blocks), counts(parsed, 'alloc_live')
    (site,) = harness.sites_of(parsed, 'alloc_live')
    assert site['bytes_peak'] == blocks * truth['bytes'], site
    # Index: 8 bytes for each 32 of heap, where a block of 48 takes 64. Bound: that and 24 MiB.
    assert more * 1024 < blocks * 16 + (24 << 20), f'{more} KiB more for {blocks} blocks'


@case
def forks_while_threads_hammer_malloc_are_counted_exactly(folder):
    check_forks(folder, 100, read=25)


@case
def short_and_live_threads_are_counted_exactly(folder):
    check_threads(folder, 400, 100)


@case
def a_million_live_blocks_are_counted_exactly(folder):
    check_blocks(folder, 1_000_000)


@case(long=True)
def a_thousand_forks_while_threads_hammer_malloc_are_counted_exactly(folder):
    check_forks(folder, 1000, read=1000)


@case(long=True)
def two_thousand_short_and_five_hundred_live_threads_are_counted_exactly(folder):
    check_threads(folder, 2000, 500)


@case(long=True)
def ten_million_live_blocks_are_counted_exactly(folder):
    check_blocks(folder, 10_000_000)


if __name__ == '__main__':
    harness.main()
