"""What tests of the simulated PMU share: threads that sample themselves while they work on memory of a
known node, by a reader that shares no code with the agent, and what each of their samples must say.
"""
import collections
import os
import pathlib
import threading
import time

import guest
import perf
import placement

DEVICES = pathlib.Path('/sys/bus/event_source/devices')
MEMORY = (perf.IP | perf.TID | perf.TIME | perf.ADDR | perf.CPU | perf.DATA_SRC | perf.PHYS_ADDR)
USER_ONLY = ('disabled', 'exclude_kernel')
BLOCK_BYTES = 2 << 20
WANTED_SAMPLES = 60
WAIT_SECONDS = 30
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
    return guest.Machine().distance(worker.cpu, worker.node)


def expect_latency(worker, sample):
    low = 10 * distance(worker)
    assert low <= latency_of(sample.weight) < low + 16, f'{sample.weight:#x} at distance {distance(worker)}'


def expect_no_weight(worker, sample):
    assert sample.weight == 0, sample


def check_all(title, workers, **expected):
    counts = [check_samples(worker, **expected) for worker in workers]
    print(f'{title}: {counts} samples by CPU, all true')
