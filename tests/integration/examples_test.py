#!/usr/bin/env python3
"""Each example's report finds what its README says."""
import harness
from harness import case


def measure(folder, name, *arguments):
    result = harness.run_measured([harness.BUILD / 'examples' / name, *arguments], folder)
    assert result.status == 0, result.stderr
    parsed = result.only_profile()
    print(harness.evidence_text(parsed))
    return parsed


def the_site(parsed, function, share):
    """The site of `function`, after checking that it comes first with at least `share`."""
    first = max(parsed['sites'], key=lambda site: site['samples'])
    assert first in harness.sites_of(parsed, function) or first['name'] == function, (
        f'{first["function"]} {first["name"]} comes first')
    assert first['samples'] >= share * parsed['attributed'], f'{first["samples"]} of {parsed["attributed"]}'
    return first


def thread_names(parsed):
    return {thread['id']: thread['name'] for thread in parsed['threads']}


def touchers(site):
    """Share of the first touches by (thread name, function)."""
    pages = {}
    for touch in site['first_touch']:
        key = touch['thread_name'], harness.plain_name(touch['function'])
        pages[key] = pages.get(key, 0) + touch['pages']
    whole = sum(pages.values())
    return {key: count / whole for key, count in pages.items()}


def code_share(site, function):
    return sum(code['samples'] for code in site['code']
               if harness.plain_name(code['function']) == function) / site['samples']


@case
def one_thread_first_touch(folder):
    parsed = measure(folder, 'one_thread_first_touch')
    site = the_site(parsed, 'AllocateField', 0.95)
    main_ids = {thread['id'] for thread in parsed['threads'] if thread['main']}
    assert {touch['thread'] for touch in site['first_touch']} <= main_ids, site['first_touch']
    assert code_share(site, 'SweepPart') > 0.9, site['code']
    assert len({use['thread'] for use in site['uses']} - main_ids) == 4, site['uses']


@case
def linked_list(folder):
    parsed = measure(folder, 'linked_list')
    site = the_site(parsed, 'MakeNode', 0.95)
    assert site['allocations'] == site['frees'] == 1 << 20, site
    assert code_share(site, 'WalkList') > 0.8, site['code']


@case
def hot_static_array(folder):
    site = the_site(measure(folder, 'hot_static_array'), 'g_histogram', 0.95)
    assert site['kind'] == 'global', site['kind']


@case
def false_sharing(folder):
    site = the_site(measure(folder, 'false_sharing'), 'AllocateCounters', 0.95)
    assert site['bytes_allocated'] == 64, site['bytes_allocated']
    uses = sorted(use['samples'] / site['samples'] for use in site['uses'])
    assert min(uses[-2:]) > 0.3 and sum(uses[-2:]) > 0.95, uses  # main may be caught setting them up


@case
def producer_consumer(folder):
    parsed = measure(folder, 'producer_consumer')
    site = the_site(parsed, 'AllocateBlock', 0.9)
    block = 4 << 20
    assert site['allocations'] == site['frees'] == 360 and site['bytes_allocated'] == 360 * block, site
    # At most four are queued, one is filled and one read.
    assert block <= site['bytes_peak'] <= 6 * block, f'peak {site["bytes_peak"] / block:.1f} blocks'
    by_thread = {}
    for use in site['uses']:
        name = thread_names(parsed)[use['thread']]
        by_thread[name] = by_thread.get(name, 0) + use['samples'] / site['samples']
    assert by_thread['consumer'] > 0.8, by_thread
    assert touchers(site).get(('producer', 'FillBlock'), 0) > 0.95, touchers(site)


# On a machine with one node, too: what there is to see is which allocation, and who touched it.
def check_placed(folder, name, allocator, filler, user):
    site = the_site(measure(folder, name, '2'), allocator, 0.9)
    assert code_share(site, user) > 0.8, site['code']
    if filler:
        assert sum(share for (_, function), share in touchers(site).items() if function == filler) > 0.9, touchers(site)


@case
def interleave_wanted(folder):
    check_placed(folder, 'interleave_wanted', 'AllocateTable', 'FillTable', 'ReadTable')


@case
def wrong_bind(folder):
    check_placed(folder, 'wrong_bind', 'AllocateBuffer', 'UseBuffer', 'UseBuffer')


@case
def thread_moves_after_touch(folder):
    check_placed(folder, 'thread_moves_after_touch', 'AllocateOwn', 'FillOwn', 'UseOwn')


@case
def shared_huge_page(folder):
    check_placed(folder, 'shared_huge_page', 'AllocatePieces', 'FillPieces', 'UsePieces')


if __name__ == '__main__':
    harness.main()
