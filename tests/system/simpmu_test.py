#!/usr/bin/env python3
"""The simulated PMU keeps to the kernel's rules and tells the truth: read by a reader of our own."""
import collections
import os
import pathlib
import struct
import threading
import time

import guest_case
import perf
import placement
from guest_case import case

DEVICES = pathlib.Path('/sys/bus/event_source/devices')
MEMORY = (perf.IP | perf.TID | perf.TIME | perf.ADDR | perf.CPU | perf.DATA_SRC | perf.PHYS_ADDR)
USER_ONLY = ('disabled', 'exclude_kernel')
BLOCK_BYTES = 2 << 20
WANTED_SAMPLES = 60
WAIT_SECONDS = 30
SWFILT = 1  # config2
PERIOD = 500_000  # about as many nanoseconds


def check_refusals(title, expected, **base):
    """expected: (what, arguments, errno name or '')"""
    for what, arguments, error in expected:
        got = perf.refusal(**{**base, **arguments})
        assert got == error, f'{title}: {what} gives {got or "an event"}, not {error or "an event"}'
    print(f'{title}: {len(expected)} answers as expected')


def files_of(pmu):
    return sorted(str(path.relative_to(DEVICES / pmu)) for folder in ('format', 'caps', 'events')
                  for path in (DEVICES / pmu / folder).glob('*'))


class Worker(threading.Thread):
    """Works on one block from one CPU until there are samples enough; they are in `samples`."""

    def __init__(self, cpu, node, work, per_cpu=False, wanted=WANTED_SAMPLES, **attr):
        super().__init__()
        self.wanted = wanted
        self.cpu, self.node, self.work, self.per_cpu, self.attr = cpu, node, work, per_cpu, attr
        self.samples, self.times, self.error = [], None, None

    def run(self):
        try:
            self.measure()
        except Exception as error:  # told by whoever joins
            self.error = error

    def measure(self):
        os.sched_setaffinity(0, {self.cpu})
        self.block = placement.Block(self.node, BLOCK_BYTES)
        self.tid = threading.get_native_id()
        whose = {'pid': -1, 'cpu': self.cpu} if self.per_cpu else {}
        event = perf.Event(**whose, **self.attr)
        event.enable()
        end = time.monotonic() + WAIT_SECONDS
        while self.in_block() < self.wanted and time.monotonic() < end:
            for _ in range(8):
                self.work(self.block)
            self.samples += event.drain()
        event.disable()
        self.times = event.times()
        self.samples += event.drain()
        self.lost = event.lost
        event.close()

    def in_block(self):
        return sum(sample.addr in self.block for sample in self.samples)


def measure(nodes, work, **attr):
    """Worker i on CPU i: even ones on their own node's memory, odd ones on the next node's."""
    workers = [Worker(cpu, (cpu + cpu % 2) % nodes, work, **attr) for cpu in range(nodes)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        if worker.error:
            raise worker.error
    return workers


def check_samples(worker, local, remote, check_weight):
    """Each sample in the block is true: CPU, thread, physical address, node, latency by distance."""
    sources, weights = (local if worker.node == worker.cpu else remote), []
    nodes = collections.Counter(worker.block.nodes())
    assert set(nodes) == {worker.node}, f'the block for node {worker.node} lies on {nodes}'
    for sample in worker.samples:
        if sample.misc & perf.MISC_CPUMODE != perf.CPUMODE_USER or sample.addr not in worker.block:
            continue
        assert (sample.cpu, sample.tid) == (worker.cpu, worker.tid), sample
        assert sample.misc & perf.MISC_EXACT_IP, sample
        assert sample.data_src in sources, f'{sample.data_src:#x} on CPU {worker.cpu}, node {worker.node}'
        assert sample.phys == placement.physical_address(sample.addr), sample
        check_weight(worker, sample)
        weights.append(sample.weight)
    assert len(weights) >= WANTED_SAMPLES, (
        f'CPU {worker.cpu}: {len(weights)} of {len(worker.samples)} samples')
    return len(weights)


def latency_of(weight):
    """var1_dw of a weight struct."""
    return weight & 0xffffffff


def distance(worker):
    return guest_case.guest.Machine().distance(worker.cpu, worker.node)


def expect_latency(worker, sample):
    low = 10 * distance(worker)
    assert low <= latency_of(sample.weight) < low + 16, f'{sample.weight:#x} at distance {distance(worker)}'


def expect_no_weight(worker, sample):
    assert sample.weight == 0, sample


def check_all(title, workers, **expected):
    counts = [check_samples(worker, **expected) for worker in workers]
    print(f'{title}: {counts} samples by CPU, all true')


# AMD IBS. Data sources: perf_abi 2.5; what is refused: 2.2.
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


# Intel PEBS. Data sources: perf_abi 3.4; what is refused: 3.2.
LOADS, STORES_SKX, STORES_SPR, LOADS_AUX = 0x1cd, 0x82d0, 0x2cd, 0x8203
PEBS_LOCAL, PEBS_REMOTE, DATALA_MISS = 0x11a68201042, 0x13a68100042, 0x1e05080184
LDLAT = 30


def pebs(config, **attr):
    return {'type': perf.pmu_type('cpu'), 'config': config, 'period': PERIOD, 'precise': 3,
            'config1': LDLAT if config == LOADS else 0, 'flags': USER_ONLY,
            'sample_type': MEMORY | perf.WEIGHT_STRUCT, **attr}


PEBS_ALWAYS = [
    ('precise_ip 2', {'precise': 2}, ''),
    ('precise_ip of an event that only counts', {'period': 0}, 'EINVAL'),
    ('precise_ip 0', {'precise': 0}, ''),
    ('a threshold of 17 bits', {'config1': 1 << 16}, 'EINVAL'),
    ('exclude_guest', {'flags': ('disabled', 'exclude_guest')}, ''),
]


def store_weight(worker, sample):
    """Golden Cove tells a store's latency, that of its instruction and the time until it retired."""
    latency = latency_of(sample.weight)
    expect_latency(worker, sample)
    assert (sample.weight >> 32 & 0xffff, sample.weight >> 48) == (latency + 20, 5), hex(sample.weight)


def as_store(source):
    return source & ~0x1f | 4


@case(long=True, nodes=4)
def pebs_of_skylake(folder):
    guest_case.load_simpmu(ibs=0, pebs_model='skx', max_precise=2)
    assert perf.pmu_type('cpu') == 4
    assert files_of('cpu') == ['caps/max_precise', 'events/mem-loads', 'events/mem-stores', 'format/event',
                               'format/ldlat', 'format/umask'], files_of('cpu')
    check_refusals('pebs, skx', [*PEBS_ALWAYS, ('precise_ip 3', {'precise': 3}, 'EOPNOTSUPP'),
                                 ('a small period', {'period': 64}, '')], **{**pebs(LOADS), 'precise': 2})
    loads = measure(4, placement.Block.search, **pebs(LOADS, precise=2))
    check_all('loads', loads, local={PEBS_LOCAL}, remote={PEBS_REMOTE}, check_weight=expect_latency)
    assert all(sample.addr for worker in loads for sample in worker.samples)
    stores = measure(4, lambda block: block.fill(2), **pebs(STORES_SKX, precise=2))
    check_all('stores', stores, local={DATALA_MISS}, remote={DATALA_MISS}, check_weight=expect_no_weight)


@case(nodes=4)
def pebs_of_sapphire_rapids(folder):
    guest_case.load_simpmu(ibs=0, pebs_model='spr')
    assert 'events/mem-loads-aux' in files_of('cpu')
    check_refusals('pebs, spr', [
        ('loads with a data source', {}, 'ENODATA'),
        ('loads without', {'sample_type': MEMORY & ~perf.DATA_SRC}, ''),
        ('stores', {'config': STORES_SPR, 'config1': 0}, ''),
        ('a period under 128', {'sample_type': perf.ADDR, 'period': 127}, 'EINVAL'),
        ('the same with precise_ip 2', {'sample_type': perf.ADDR, 'period': 127, 'precise': 2}, ''),
    ], **pebs(LOADS))
    leader = perf.open_event(**pebs(LOADS_AUX, period=0, precise=0, sample_type=0))
    check_refusals('pebs, spr, beside the auxiliary event', [('loads', {}, ''), *PEBS_ALWAYS],
                   group=leader, **pebs(LOADS))
    os.close(leader)
    stores = measure(4, lambda block: block.fill(2), **pebs(STORES_SPR))
    check_all('stores', stores, local={as_store(PEBS_LOCAL)}, remote={as_store(PEBS_REMOTE)},
              check_weight=store_weight)


@case(long=True, nodes=2)
def an_event_that_never_runs(folder):
    def times_of(attr):
        event = perf.Event(**attr)
        event.enable()
        end = time.thread_time() + 0.2
        while time.thread_time() < end:
            pass
        count, enabled, running = event.times()
        event.close()
        assert count == 0 and enabled > 100_000_000, (count, enabled, running)
        return enabled, running

    guest_case.load_simpmu(silent=1)
    for attr in (ibs(), pebs(LOADS)):
        enabled, running = times_of(attr)
        assert running == 0, (enabled, running)
    guest_case.set_simpmu(silent=2)
    enabled, running = times_of(ibs())
    assert running == enabled, (enabled, running)


@case(long=True, nodes=2)
def levels_and_wrong_sources(folder):
    """The draw of levels has the shares it was told, and "wrong" turns the data source, not the page."""
    guest_case.load_simpmu(l1=40, l2=20, l3=20, wrong=25, pebs_model='gnr')
    worker = measure(2, placement.Block.search, wanted=400, **pebs(LOADS, config1=3, period=PERIOD // 2))[0]
    sources = [sample.data_src for sample in worker.samples if sample.addr in worker.block]
    told = {0x10268100142: 40, 0x10468100442: 20, 0x10668100842: 20,  # L1, L2, L3
            PEBS_LOCAL: 20 * 0.75, PEBS_REMOTE: 20 * 0.25}
    assert set(sources) <= set(told), {hex(source) for source in sources}
    for source, share in told.items():
        got = 100 * sources.count(source) / len(sources)
        print(f'{source:#x}: {got:.1f} % of {len(sources)}, told {share} %')
        # Five standard deviations of the most uncertain share.
        assert abs(got - share) < 5 * 50 / len(sources) ** 0.5, f'{source:#x}: {got:.1f} %'


if __name__ == '__main__':
    guest_case.main()
