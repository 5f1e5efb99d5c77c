#!/usr/bin/env python3
"""The guest is the machine that was asked for, and memagent reads it so."""
import json
import os
import pathlib

import guest_case
import harness
from guest_case import case

NODES = pathlib.Path('/sys/devices/system/node')


def check_guest(machine):
    """The kernel's own view: distances, a CPU for each node, page placement left alone."""
    for node in range(machine.node_count()):
        words = (NODES / f'node{node}/distance').read_text().split()
        expected = [machine.distance(node, other) for other in range(machine.node_count())]
        assert [int(word) for word in words] == expected, f'node {node}: {words}, not {expected}'
        cpus = (NODES / f'node{node}/cpulist').read_text().strip()
        assert cpus == (str(node) if node < machine.nodes else ''), f'node {node} has CPUs {cpus!r}'
    assert not (NODES / f'node{machine.node_count()}').exists()
    assert pathlib.Path('/proc/sys/kernel/numa_balancing').read_text() == '0\n'


def check_seen(nodes, machine):
    """Nodes as a report and `memagent check` list them."""
    assert [node['id'] for node in nodes] == list(range(machine.node_count())), nodes
    for node in nodes:
        assert node['cpus'] == (str(node['id']) if node['id'] < machine.nodes else ''), node
        # The kernel keeps some of it for itself; of node 0 its own image too.
        assert 0.8 < node['memory_bytes'] / (machine.memory_mib << 20) <= 1, node


def check(folder, machine):
    check_guest(machine)
    result = harness.memagent('check', '--json')
    checked = json.loads(result.stdout)
    assert result.status == 1, f'status {result.status}: only the software engine is here'
    assert checked['engine'] == 'software', checked['engine']
    check_seen(checked['nodes'], machine)

    result = harness.run_measured(['sleep', '0.1'], folder)
    assert result.status == 0, result.stderr
    parsed = result.only_profile()
    check_seen(parsed['nodes'], machine)
    count = machine.node_count()
    expected = [machine.distance(one, other) for one in range(count) for other in range(count)]
    assert parsed['machine']['distances'] == expected, parsed['machine']['distances']
    assert parsed['own_cost']['page_node_rung'] == 'move_pages', parsed['own_cost']
    print(f'{count} nodes, distances {expected}, {os.uname().release}')


@case(nodes=4)
def four_nodes(folder):
    check(folder, guest_case.machine_of(four_nodes))


@case(nodes=2, cpuless=True)
def node_without_cpus(folder):
    check(folder, guest_case.machine_of(node_without_cpus))


if __name__ == '__main__':
    guest_case.main()
