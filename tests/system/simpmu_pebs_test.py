#!/usr/bin/env python3
"""The simulated PEBS keeps to the rules of its processors and tells the truth."""
import os
import time

import guest_case
import perf
import placement
from guest_case import case
from simpmu_reader import (MEMORY, PERIOD, USER_ONLY, check_all, check_refusals, expect_latency,
                           expect_no_weight, files_of, latency_of, measure)

# Data sources: perf_abi 3.4; what is refused: 3.2.
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
    ibs = {'type': perf.pmu_type('ibs_op'), 'period': PERIOD, 'sample_type': MEMORY}
    for attr in (ibs, pebs(LOADS)):
        enabled, running = times_of(attr)
        assert running == 0, (enabled, running)
    guest_case.set_simpmu(silent=2)
    enabled, running = times_of(ibs)
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
