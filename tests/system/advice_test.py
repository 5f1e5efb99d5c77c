#!/usr/bin/env python3
"""Classic placement faults, each by its example with pinned threads: cause, pattern and advice are those that its
README promises, the advice is taken by --place-from, pages then lie where it says, as many accesses are
remote as predicted, and diff says that the fault is mended.
"""
import shlex

import guest_case
import harness
import replay
from guest_case import case

POINTS = 0.05  # how far a prediction may be off
HUGE = 0.07  # 32 MiB have 15 huge pages, which go round the nodes as a whole


def sites_of(profile, command, allocator, *files):
    """What a command says, as JSON, of the site of an allocating function with most samples."""
    result = harness.memagent(command, '--format', 'json', profile, *files)
    assert result.status == 0, result.stderr
    print(harness.memagent(command, '--width', '120', profile, *files).stdout.decode())
    found = [site for site in result.json()['sites'] if harness.plain_name(site['function']) == allocator]
    assert found, f'no site of {allocator}'
    return found[0]


def check_diagnosis(site, cause, pattern, kinds, at_least):
    shares = {found['cause']: found['share'] for found in site['causes']}
    assert shares.get(cause, 0) > at_least, site['causes']
    assert site['pattern']['class'] == pattern, site['pattern']
    assert [advice['kind'] for advice in site['advice']][:len(kinds)] == kinds, site['advice']


def check(folder, program, allocator, cause, pattern, kinds, pages, at_least=0.9, within=0.02):
    """`pages`: node -> share of the pages that lie there after the advice was taken."""
    guest_case.load_simpmu(ibs_kernel=702, pebs=0)
    words = shlex.split(program)
    before = replay.Run(folder, 'before', words)
    site = sites_of(before.profile, 'advise', allocator)
    check_diagnosis(site, cause, pattern, kinds, at_least)
    print('pages before:', before.pages(site['profile_site']))
    advice = next(advice for advice in site['advice'] if advice['rule'])

    after = replay.Run(folder, 'after', words, '--place-from', before.profile)
    change = sites_of(before.profile, 'diff', allocator, after.profile)
    found = after.pages(sites_of(after.profile, 'report', allocator)['profile_site'])
    total = sum(found.values())
    print('pages after:', found)
    for node, share in pages.items():
        assert abs(found[node] / total - share) < within, found
    predicted, measured = advice['remote_share']['predicted'], change['remote_share']['after']
    print(f'{words[0]}: {advice["kind"]} {advice["nodes"]}: remote {advice["remote_share"]["now"]:.4f}, '
          f'predicted {predicted:.4f}, measured {measured:.4f}')
    assert abs(predicted - measured) < POINTS, advice
    assert change['verdict'] == 'fixed', change


@case(nodes=2, timeout=480)
def one_thread_first_touch(folder):
    check(folder, 'one_thread_first_touch 1', 'AllocateField', 'touched_elsewhere', 'blocked',
          ['block', 'touch_in_parallel'], {0: 0.5, 1: 0.5})


@case(long=True, nodes=4, timeout=480)
def one_thread_first_touch_on_four_nodes(folder):
    check(folder, 'one_thread_first_touch 1', 'AllocateField', 'touched_elsewhere', 'blocked',
          ['block', 'touch_in_parallel'], {node: 0.25 for node in range(4)})


@case(nodes=2, timeout=480)
def interleave_wanted(folder):
    check(folder, 'interleave_wanted 20', 'AllocateTable', 'touched_elsewhere', 'all-shared, read',
          ['replicate', 'interleave'], {0: 0.5, 1: 0.5}, within=HUGE)


@case(long=True, nodes=4, timeout=480)
def interleave_wanted_on_four_nodes(folder):
    check(folder, 'interleave_wanted 40', 'AllocateTable', 'touched_elsewhere', 'all-shared, read',
          ['replicate', 'interleave'], {node: 0.25 for node in range(4)}, within=HUGE)


@case(nodes=2, timeout=480)
def wrong_bind(folder):
    check(folder, 'wrong_bind 10', 'AllocateBuffer', 'policy', 'one owner', ['bind'], {0: 1})


@case(nodes=2, cpuless=True, timeout=480)
def wrong_bind_to_a_node_without_cpus(folder):
    """As memory that was meant for a tier behind CXL."""
    check(folder, 'wrong_bind 10 2', 'AllocateBuffer', 'policy', 'one owner', ['bind'], {0: 1})


@case(nodes=2, timeout=480)
def thread_moves_after_touch(folder):
    # On a crowded host a thread's events may come too late for its first page faults.
    check(folder, 'thread_moves_after_touch 12', 'AllocateOwn', 'thread_moved', 'one owner',
          ['pin_threads', 'bind'], {1: 1}, at_least=0.4)


@case(nodes=2, timeout=480)
def producer_consumer(folder):
    check(folder, 'producer_consumer 1', 'AllocateBlock', 'touched_elsewhere', 'producer and consumer', ['bind'],
          {1: 1})


@case(nodes=2, timeout=480)
def shared_huge_page(folder):
    # On a crowded host one thread runs more than the other: then some of it is that the page is not with that one.
    check(folder, 'shared_huge_page 12', 'AllocatePieces', 'huge_page', 'cyclic', ['small_pages'], {0: 0.5, 1: 0.5},
          at_least=0.75)


if __name__ == '__main__':
    guest_case.main()
