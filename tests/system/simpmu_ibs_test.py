#!/usr/bin/env python3
"""The simulated IBS keeps to the rules of three kernels and tells the truth."""
import os
import struct

import guest_case
import perf
import placement
from guest_case import case
from simpmu_reader import (MEMORY, PERIOD, USER_ONLY, WANTED_SAMPLES, Worker, check_all,
                           check_refusals, distance, expect_latency,
                           expect_no_weight, files_of, latency_of, measure)

# Data sources: perf_abi 2.5; what is refused: 2.2.
SWFILT = 1  # config2
LOCAL_DRAM, REMOTE_DRAM = 0x1a29081042, 0x103a29082042
ZEN3_L3, ZEN3_PEER = 0x81629088842, 0x103629090042
STORE_L1, STORE_UNKNOWN = 0x229080144, 0x1e29080024
ZEN3, ZEN5 = 0x3ff, 0x81bff  # capabilities: perf_abi 2.1
OF_601 = (1 << 33) - 1  # Linux 6.1 leaves the newer fields empty


def ibs(**attr):
    return {'type': perf.pmu_type('ibs_op'), 'config': 1 << 19, 'period': PERIOD,
            'sample_type': MEMORY | perf.WEIGHT_STRUCT, **attr}


IBS_ALWAYS = [
    ('a bit outside config', {'config': 1 << 18}, 'EINVAL'),
    ('no period', {'period': 0}, 'EINVAL'),
    ('a period in config', {'period': 0, 'config': 0x1000}, ''),
    ('a period twice', {'config': 0x1000}, 'EINVAL'),
    ('exclude_idle', {'flags': ('disabled', 'exclude_idle')}, 'EINVAL'),
    ('a frequency', {'period': 1000, 'flags': ('disabled', 'freq')}, ''),
]
IBS_UNTIL_612 = [
    ('exclude_kernel', {'flags': USER_ONLY}, 'EINVAL'),
    ('exclude_kernel with swfilt, which is unknown', {'flags': USER_ONLY, 'config2': SWFILT}, 'EINVAL'),
    ('a period that is no multiple of 16', {'period': 0x1001}, 'EINVAL'),
    ('a period of 0x10', {'period': 0x10}, ''),
]
IBS_702 = [
    ('exclude_kernel', {'flags': USER_ONLY}, 'EINVAL'),
    ('exclude_kernel with swfilt', {'flags': USER_ONLY, 'config2': SWFILT}, ''),
    ('exclude_guest with swfilt', {'flags': ('disabled', 'exclude_guest'), 'config2': SWFILT}, 'EINVAL'),
    ('a period that is no multiple of 16', {'period': 0x1001}, ''),
    ('a period of 0x80', {'period': 0x80}, 'EINVAL'),
    ('a period of 0x90', {'period': 0x90}, ''),
    ('a threshold under 128', {'config1': 127}, 'EINVAL'),
    ('a threshold', {'config1': 128}, ''),
    ('a threshold over 2048', {'config1': 2049}, 'EINVAL'),
    ('a branch stack', {'sample_type': perf.IP | perf.BRANCH_STACK}, 'EOPNOTSUPP'),
]


def check_second_in_group(error):
    leader = perf.open_event(**ibs())
    got = perf.refusal(**ibs(), group=leader)
    os.close(leader)
    assert got == error, f'a second IBS event in a group: {got}, not {error}'


def check_raw(worker, caps, registers):
    """The registers say what the kernel made of them."""
    for sample in worker.samples:
        if sample.addr not in worker.block:
            continue
        assert len(sample.raw) == 4 + 8 * registers, len(sample.raw)
        got_caps, = struct.unpack_from('<I', sample.raw)
        ctl, rip, data, data2, data3, linear, physical = struct.unpack_from('<7Q', sample.raw, 4)
        assert (got_caps, rip, linear, physical) == (caps, sample.ip, sample.addr, sample.phys), sample
        assert ctl & 0xffff == PERIOD >> 4 & 0xffff and ctl >> 19 & 1, hex(ctl)
        assert data3 & 3 == 1 and data3 >> 17 & 3 == 3, hex(data3)  # a load; both addresses valid
        weights = sample.weight & 0xffff, sample.weight >> 32 & 0xffff
        assert (data3 >> 32 & 0xffff, data >> 16 & 0xffff) == weights, sample
        assert data2 == (0x23 if worker.node == worker.cpu else 0x33), hex(data2)


def check_threshold(**attr):
    """Node 2 is 240 to 255 cycles from CPU 0: what took no longer than the threshold is left out."""
    worker = Worker(0, 2, placement.Block.search, **attr)
    worker.run()
    assert not worker.error, worker.error
    latencies = [latency_of(sample.weight) for sample in worker.samples]
    print(f'above 250 cycles: {len(latencies)} samples of {min(latencies)} to {max(latencies)}')
    assert len(latencies) >= WANTED_SAMPLES and min(latencies) > 250


def check_not_memory(workers):
    """IBS tags any operation: those without an access say so."""
    others = [sample for worker in workers for sample in worker.samples if sample.addr == 0]
    assert others and all(sample.data_src & 0x1f == 1 and sample.weight == 0 for sample in others)
    print(f'{len(others)} samples of other operations')


@case(nodes=4)
def ibs_of_linux_702(folder):
    """With the capabilities of Zen 5."""
    guest_case.load_simpmu(ibs_kernel=702, pebs=0, ibs_caps=ZEN5)
    check_refusals('ibs 7.2', IBS_ALWAYS + IBS_702, **ibs())
    check_second_in_group('EINVAL')
    assert files_of('ibs_op') == ['caps/ldlat', 'caps/zen4_ibs_extensions', 'format/cnt_ctl',
                                  'format/l3missonly', 'format/ldlat', 'format/swfilt'], files_of('ibs_op')
    user = ibs(flags=USER_ONLY, config2=SWFILT, sample_type=MEMORY | perf.WEIGHT_STRUCT | perf.RAW)
    loads = measure(4, placement.Block.search, **user)
    check_all('loads', loads, local={LOCAL_DRAM}, remote={REMOTE_DRAM}, check_weight=expect_latency)
    for worker in loads:
        check_raw(worker, caps=ZEN5, registers=8)
    check_not_memory(loads)
    check_threshold(**ibs(config1=250, config2=SWFILT, flags=USER_ONLY))
    stores = measure(4, lambda block: block.fill(2), **ibs(flags=USER_ONLY, config2=SWFILT))
    check_all('stores', stores, local={STORE_UNKNOWN}, remote={STORE_UNKNOWN}, check_weight=expect_no_weight)
    event = perf.Event(**ibs())
    assert perf.set_period(event.fd, 0x1001) == 'EINVAL' and perf.set_period(event.fd, 0x1000) == ''
    event.close()


def expect_beyond_l2(worker, sample):
    assert 50 <= latency_of(sample.weight) < 10 * distance(worker) + 16, sample


@case(long=True, nodes=4)
def ibs_of_linux_612(folder):
    """With the capabilities of Zen 3, and caches at work."""
    guest_case.load_simpmu(ibs_kernel=612, pebs=0, ibs_caps=ZEN3, l3=40, peer=50)
    check_refusals('ibs 6.12', IBS_ALWAYS + IBS_UNTIL_612 + [
        ('l3missonly without the capability', {'config': 1 << 19 | 1 << 16}, 'EINVAL')], **ibs())
    assert files_of('ibs_op') == ['format/cnt_ctl'], files_of('ibs_op')
    local, remote = {ZEN3_L3, LOCAL_DRAM}, {ZEN3_L3, ZEN3_PEER, REMOTE_DRAM}
    workers = measure(4, placement.Block.search, **ibs())
    check_all('loads', workers, local=local, remote=remote, check_weight=expect_beyond_l2)
    assert remote <= {sample.data_src for sample in workers[1].samples}, 'a level never occurred'


@case(long=True, nodes=4)
def ibs_of_linux_601(folder):
    guest_case.load_simpmu(ibs_kernel=601, pebs=0)
    check_refusals('ibs 6.1, of a thread', [('any event', {}, 'EINVAL')], **ibs())
    check_refusals('ibs 6.1, of a CPU', IBS_ALWAYS + IBS_UNTIL_612, pid=-1, cpu=0, **ibs())
    workers = measure(4, placement.Block.search, per_cpu=True, **ibs())
    check_all('loads', workers, local={LOCAL_DRAM & OF_601}, remote={REMOTE_DRAM & OF_601},
              check_weight=expect_latency)


if __name__ == '__main__':
    guest_case.main()
