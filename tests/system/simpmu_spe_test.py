#!/usr/bin/env python3
"""The simulated SPE keeps to the rules of its driver, fills an AUX area as it does, and tells the truth."""
import os
import time

import guest
import guest_case
import perf
import placement
import spe
from guest_case import case
from simpmu_reader import (BLOCK_BYTES, PERIOD, USER_ONLY, WAIT_SECONDS, WANTED_SAMPLES, check_refusals,
                           files_of)

# What is refused: perf_abi 4.2; data sources of Arm's own cores: 4.5.
TS_ENABLE, PA_ENABLE, LOADS_ONLY, STORES_ONLY = 1 << 0, 1 << 1, 1 << 33, 1 << 34
SPE_LOCAL, SPE_REMOTE = 0xe, 0xd
SPE_EVENTS_NEAR = 0x31e  # retired, L1 accessed and missed, TLB accessed, last level accessed and missed


def spe_attr(**attr):
    return {'type': perf.pmu_type('arm_spe_0'), 'config': TS_ENABLE | PA_ENABLE | LOADS_ONLY, 'period': PERIOD,
            'sample_type': perf.TID | perf.TIME | perf.CPU, 'flags': USER_ONLY, **attr}


SPE_REFUSALS = [
    ('a reserved event', {'config1': 1 << 8}, 'EOPNOTSUPP'),
    ('retired operations', {'config1': 1 << 1}, ''),
    ('exclude_idle', {'flags': ('disabled', 'exclude_idle')}, 'EOPNOTSUPP'),
    ('a frequency', {'period': 1000, 'flags': ('disabled', 'freq')}, 'EINVAL'),
    ('a small period', {'period': 1}, ''),
]


def spe_records(cpu, node, work, **attr):
    """(block, records in it) of this thread, pinned to a CPU."""
    os.sched_setaffinity(0, {cpu})
    block = placement.Block(node, BLOCK_BYTES)
    event = perf.AuxEvent(**spe_attr(**attr))
    event.enable()
    found, end = [], time.monotonic() + WAIT_SECONDS
    while len(found) < WANTED_SAMPLES and time.monotonic() < end:
        for _ in range(8):
            work(block)
        event.disable()  # what is in the area is announced
        found += [record for record in spe.records(event.drain_area()) if record.get('va', 0) in block]
        event.enable()
    event.close()
    return block, found


def check_spe(cpu, node):
    block, found = spe_records(cpu, node, placement.Block.search)
    low = 10 * guest.Machine().distance(cpu, node) + 12
    assert len(found) >= WANTED_SAMPLES, len(found)
    for record in found:
        assert record['source'] == (SPE_LOCAL if cpu == node else SPE_REMOTE), record
        assert record['events'] == SPE_EVENTS_NEAR | (0 if cpu == node else 1 << 10), hex(record['events'])
        assert record['pa'] == placement.physical_address(record['va']) and record['store'] == 0, record
        assert low <= record['total'] < low + 16 and record['issue'] == 12, record
    stamps = [record['timestamp'] for record in found]
    assert stamps == sorted(stamps) and stamps[0] > 0, stamps
    print(f'CPU {cpu}, node {node}: {len(found)} records, all true')


def check_full_area():
    """Nothing is read: the area fills, the event stops, and goes on when there is room again."""
    block = placement.Block(0, BLOCK_BYTES)
    event = perf.AuxEvent(aux_pages=2, **spe_attr(period=20_000))
    event.enable()
    count, end = -1, time.monotonic() + WAIT_SECONDS
    while event.times()[0] != count and time.monotonic() < end:
        count = event.times()[0]
        for _ in range(100):
            block.search()
    first = list(spe.records(event.drain_area()))
    flags, event.flags = event.flags, 0
    event.disable()  # Linux 6.1 does not always do that itself: agent/runtime/aux_channel.cc
    event.enable()
    for _ in range(100):
        block.search()
    event.disable()
    second = list(spe.records(event.drain_area()))
    print(f'a full area: {len(first)} records, flags {flags}; then {len(second)}, flags {event.flags}')
    # One of the 128 places stays free, or a full area would look like an empty one.
    assert len(first) == 127 and flags == perf.AUX_TRUNCATED and second, count
    event.close()


@case(long=True, nodes=4)
def spe_of_neoverse(folder):
    guest_case.load_simpmu(ibs=0, pebs=0, spe=1)
    assert files_of('arm_spe_0') == sorted(
        [f'caps/{name}' for name in ('arch_inst', 'count_size', 'ernd', 'min_interval')] +
        [f'format/{name}' for name in ('branch_filter', 'event_filter', 'jitter', 'load_filter', 'min_latency',
                                       'pa_enable', 'pct_enable', 'store_filter', 'ts_enable')])
    check_refusals('spe', SPE_REFUSALS, **spe_attr())
    check_spe(0, 0)
    check_spe(1, 2)
    _, stores = spe_records(0, 1, lambda block: block.fill(2), config=STORES_ONLY)
    assert all(record['store'] == 1 and 'source' not in record and 'pa' not in record and
               'timestamp' not in record for record in stores), stores
    check_full_area()


if __name__ == '__main__':
    guest_case.main()
