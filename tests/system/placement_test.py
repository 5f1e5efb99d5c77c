#!/usr/bin/env python3
"""Who uses which part of a block, what is shared, which policies and calls placed it: of a program of
which all that is known (programs/shared_blocks.cc).
"""
import ctypes
import json
import subprocess
import time

import guest_case
import harness
import placed
import seccomp
from guest_case import case
from placement_facts import Facts

SYS_SET_MEMPOLICY, MPOL_INTERLEAVE = 238, 3  # asm/unistd_64.h, linux/mempolicy.h
TICKS = 150  # of each thread, before and after the move


def wait_for_ticks(tids):
    pace = placed.Pace(tids)
    end = time.monotonic() + placed.ENOUGH_SECONDS / 2
    while pace.slowest() < TICKS and time.monotonic() < end:
        time.sleep(0.2)
    pace.close()


def run(folder, preexec=None):
    """(tids by role, Facts) of a run in which everything moves in the middle."""
    profile = folder / 'shared_blocks.memagent'
    environment = harness.environment(
        LD_PRELOAD=str(harness.AGENT),
        MEMAGENT_OPTIONS=harness.options_text(folder, {'output': profile, 'checkpoint': 1, 'ring_pages': 256}))
    with subprocess.Popen([guest_case.PROGRAMS / 'shared_blocks'], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, env=environment, preexec_fn=preexec) as program:
        tids = json.loads(program.stdout.readline())
        everybody = {*tids['workers'], tids['mover']}
        wait_for_ticks(everybody)
        program.stdin.write(b'move\n')
        program.stdin.flush()
        assert program.stdout.readline() == b'moved\n'
        wait_for_ticks(everybody)
        program.stdin.close()
        assert program.wait(60) == 0, program.returncode
    print(harness.evidence_text(harness.report(profile)))
    return tids, Facts(profile)


def cells(site):
    """(tid, CPU node, memory node, samples, stores, set of positions) of each."""
    count = len(site['cell_tid'])
    stores = site['cell_stores'] or [0] * count
    positions = site['cell_positions'] or [0] * count
    for row in zip(site['cell_tid'], site['cell_cpu_node'], site['cell_memory_node'],
                   site['cell_samples'], stores, positions):
        yield *row[:5], {bit for bit in range(64) if row[5] >> bit & 1}


def share(counts, key):
    return counts[key] / counts['pairs']


def check_blocked(tids, site):
    """Each thread its quarter, all on node 0."""
    node_of = {tid: node for node, tid in enumerate(tids['workers'])}
    for tid, cpu_node, memory_node, samples, stores, positions in cells(site):
        if tid not in node_of:
            continue  # main, while it touched all
        node = node_of[tid]
        assert cpu_node == node and memory_node in (0, -1), (tid, cpu_node, memory_node)
        assert positions <= set(range(16 * node, 16 * node + 16)), (node, positions)
        assert stores == samples, (stores, samples)
    seen = 0
    for position, cpu_node, memory_node, samples in zip(
            site['strip_position'], site['strip_cpu_node'], site['strip_memory_node'], site['strip_samples']):
        owner = position // 16
        assert cpu_node in (owner, 0) and memory_node in (0, -1), (position, cpu_node, memory_node)
        seen += samples if cpu_node == owner else 0
    pages = site['sharing']['4096']
    print(f'blocked: {seen} samples in strips, pages {pages}, block {site["sharing"]["0"]}')
    assert seen > 100, site['strip_samples']
    assert share(pages, 'same_thread') > 0.9, pages
    assert share(site['sharing']['0'], 'same_thread') < 0.6, site['sharing']
    assert any(tid == tids['main'] and positions for tid, positions in site['touches']), site['touches']


def check_shared(site, written):
    """All nodes use all of it."""
    pages = site['sharing']['4096']
    print(f'shared, {"written" if written else "read"}: pages {pages}')
    assert pages['pairs'] >= 30, pages
    assert share(pages, 'same_node') < 0.6, pages
    other = pages['pairs'] - pages['same_node']
    # What is only read was written by main at the start: so are the pairs with samples of that.
    assert pages['other_node_written'] == other if written else pages['other_node_written'] <= 5, pages


def policies(site):
    return [(policy['mode'], policy['nodes'], policy['of_thread']) for policy in site['policy']]


def check_policies(facts, start):
    """`start` is what was in force when the program started."""
    expected = {'AllocateBlocked': start, 'AllocateBound': ('bind', [3], False), 'AllocateWritten': start,
                'AllocatePolicied': ('bind', [2], True), 'AllocateLeft': start}
    told = 0
    for function, policy in expected.items():
        found = facts.site(function)['policy']
        print(f'{function}: {found}')
        # None is told of a site of which the ring lost the first touches, or its thread started unseen.
        assert policies(facts.site(function)) in ([policy], []), (function, found)
        assert all(row['pages'] <= 64 for row in found), found
        told += len(found)
    assert told >= 3, f'the policies of {told} sites'


def check_calls(tids, facts):
    bound, = facts.calls_of('mbind')
    assert bound['mode'] == 'bind' and bound['nodes'] == [3] and bound['size_bytes'] == 1 << 20, bound
    assert any('AllocateBound' in name for name in bound['site']), bound
    assert bound['tid'] == tids['main'] and bound['function'], bound
    set_to = [(call['mode'], call['nodes'], call['tid']) for call in facts.calls_of('set_mempolicy')]
    assert set_to == [('bind', [2], tids['workers'][3]), ('default', [], tids['workers'][3])], set_to
    moved, = facts.calls_of('move_pages')
    assert moved['nodes'] == [3] and moved['size_bytes'] == 1 << 20, moved
    assert any('AllocateMigrated' in name for name in moved['site']), moved
    pinned = {(call['tid'], *call['nodes']) for call in facts.calls_of('sched_setaffinity')}
    expected = {(tid, node) for node, tid in enumerate(tids['workers'])}
    assert expected | {(tids['main'], 0), (tids['mover'], 1), (tids['mover'], 2)} == pinned, pinned


def check_moves(tids, facts):
    migrated = facts.site('AllocateMigrated')
    print(f'migrated: {migrated["pages_moved"]} moves seen')
    assert 0 < migrated['pages_moved'] <= 256, migrated['pages_moved']
    assert {row[2] for row in cells(migrated) if row[0] == tids['workers'][0]} - {-1} == {0, 3}
    left = {(row[1], row[2]) for row in cells(facts.site('AllocateLeft')) if row[2] != -1}
    assert left == {(1, 1), (2, 1)}, left
    assert facts.site('AllocateLeft')['pages_moved'] == 0
    # Each may have been seen on node 0, where main was, before it went to its own.
    assert facts.node_changes[tids['mover']] in (1, 2), facts.node_changes
    assert all(facts.node_changes[tid] <= 1 for tid in tids['workers']), facts.node_changes


@case(nodes=4)
def blocks_of_known_use(folder):
    tids, facts = run(folder)
    check_blocked(tids, facts.site('AllocateBlocked'))
    check_shared(facts.site('AllocateBound'), written=False)
    check_shared(facts.site('AllocateWritten'), written=True)
    check_policies(facts, ('default', [], False))
    check_calls(tids, facts)
    check_moves(tids, facts)
    assert sorted(facts.nodes) == [0, 1, 2, 3], facts.nodes
    print(facts.nodes)
    assert all(0 < node['least_free_bytes'] < 512 << 20 for node in facts.nodes.values())
    assert facts.nodes[0]['hit'] > 1000 and facts.nodes[3]['hit'] >= 256, facts.nodes


def interleave_all():
    """A preexec_fn: what numactl --interleave=0-3 does."""
    mask = ctypes.c_ulong(0b1111)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(SYS_SET_MEMPOLICY, MPOL_INTERLEAVE, ctypes.byref(mask), ctypes.c_ulong(64)) != 0:
        guest_case.raise_last_error('set_mempolicy')


@case(nodes=4)
def started_by_numactl(folder):
    tids, facts = run(folder, preexec=interleave_all)
    check_policies(facts, ('interleave', [0, 1, 2, 3], True))
    blocked = facts.site('AllocateBlocked')
    assert {row[2] for row in cells(blocked)} - {-1} == {0, 1, 2, 3}, blocked['cell_memory_node']
    check_calls(tids, facts)  # who started it is no call of the program's
    print(facts.nodes)
    assert all(node['interleave_hit'] > 100 for node in facts.nodes.values()), facts.nodes


@case(nodes=2)
def policies_refused(folder):
    """As in Docker: nothing is said of policies, and nothing wrong."""
    measured = placed.run(folder, preexec=seccomp.refuse('get_mempolicy'))
    placed.check(measured, 2)
    facts = Facts(folder / 'placed_blocks.memagent')
    for function in placed.FUNCTIONS:
        for site in facts.sites(function):
            assert site['policy'] == [], site['policy']


if __name__ == '__main__':
    guest_case.main()
