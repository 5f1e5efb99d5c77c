#!/usr/bin/env python3
"""The software engine on several nodes: what the report says of nodes is where pages and threads are."""
import json
import subprocess

import guest_case
import placed
import seccomp
from guest_case import case


@case(nodes=4)
def four_nodes(folder):
    placed.check(placed.run(folder), 4)


@case(long=True, nodes=2, cpuless=True)
def node_without_cpus(folder):
    placed.check(placed.run(folder), 3)


@case(nodes=2)
def move_pages_refused(folder):
    """As in Docker with CAP_SYS_NICE, and without."""
    measured = placed.run(folder / 'mempolicy', preexec=seccomp.refuse('move_pages'))
    placed.check(measured, 2, rung='get_mempolicy')
    measured = placed.run(folder, preexec=seccomp.refuse('move_pages', 'get_mempolicy'))
    assert measured.report['own_cost']['page_node_rung'] == 'numa_maps'
    placed.check_samples(measured, can_be_unknown=('AllocateSpread',))  # several nodes in a mapping


@case(long=True, nodes=2, cpuless=True)
def every_rung_of_the_ladder(folder):
    """All kinds of pages, each rung against move_pages: none wrong."""
    result = subprocess.run([guest_case.PROGRAMS / 'page_ladder'], check=True, capture_output=True, text=True)
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    print(result.stdout, result.stderr, sep='')
    assert sorted({row['rung'] for row in rows}) == ['get_mempolicy', 'move_pages', 'numa_maps'], rows
    for row in rows:
        assert row['wrong'] == 0 and row['right'] > 0 and row['not_present'] > 0, row
        assert row['unknown'] == 0 or row['rung'] != 'move_pages', row


if __name__ == '__main__':
    guest_case.main()
