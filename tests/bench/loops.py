"""Cases that measure one thing: the malloc loop, threads, start and end, sampling, single operations."""
import dataclasses
import os
import statistics
import time

from case import Case, google, printed
from pairing import Reading
from process import Failed
from tools import DHAT, OURS, PEERS, SAMPLED, TRACKED

PAIRS = 3e6  # a count that is a float grows and shrinks with the work
STARTS = 20
IDLE_SECONDS = 2  # after one second without perf events the kernel has patched its code back


def loop(name, program, *arguments, meaning, tools=OURS, unit='ns'):
    return Case(name, unit, tools, printed(program, *arguments), meaning)


def start_milliseconds(setting, command):
    """Wall time from spawn to the end of a program that is silent but for what a tool says."""
    words = setting.tool.command(command, setting.folder)
    environment = setting.environment()
    silent = [(os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)]
    start = time.monotonic()
    _, status = os.waitpid(os.posix_spawnp(words[0], words, environment, file_actions=silent), 0)
    end = time.monotonic()
    if status != 0:
        raise Failed(f'{command[0]} ended with status {status}')
    return (end - start) * 1e3


def measure_true(setting):
    return Reading(statistics.median(start_milliseconds(setting, ['/bin/true']) for _ in range(setting.count(STARTS))))


def measure_true_after_idle(setting):
    time.sleep(IDLE_SECONDS * min(setting.scale, 1))
    return Reading(start_milliseconds(setting, ['/bin/true']))


def measure_final_dump(setting):
    """From the program's call of exit to its end."""
    usage = setting.run_program('live_blocks', 1e6, 1e4)
    return Reading((usage.ended_at - float(usage.stdout.split()[1])) * 1e3)


def measure_drain(setting):
    """What a sample more costs the drain thread: the difference of two rates, so that start, checkpoints
    and the end do not count. Plain has no drain thread.
    """
    if setting.plain:
        return Reading(0.0)
    costs, samples = zip(*(_drain_cost(setting, folder, rate) for folder, rate in (('few', 1000), ('many', 10000))))
    return Reading((costs[1] - costs[0]) / max(samples[1] - samples[0], 1))


def _drain_cost(setting, name, rate):
    """(nanoseconds of the drain thread, samples seen)"""
    folder = setting.folder / name
    folder.mkdir()
    setting = dataclasses.replace(setting, folder=folder).with_options(f'rate={rate}')
    setting.run_program('memory_walk', 3e6, 1, 48.0)
    info = setting.own_info()
    return info['own_cost']['drain_cpu_ns'], info['samples_seen']


def walk(hertz):
    return Case(f'memory walk at {hertz // 1000} kHz', 'ms', (SAMPLED,),
                printed('memory_walk', 5e6, 1, 48.0, options=f'rate={hertz}'),
                'dependent loads in 48 MiB, CPU time of the thread', shown='ratio')


CASES = [
    loop('malloc + free, 1 thread', 'malloc_pairs', PAIRS, 1, tools=(*OURS, *PEERS),
         meaning='a pair; 16 call sites, stacks 13 deep, 64 live blocks of 16 to 256 bytes'),
    loop('malloc + free, 2 threads', 'malloc_pairs', PAIRS, 2, meaning='the same in two threads at once'),
    loop('producer, consumer', 'producer_consumer', PAIRS,
         meaning='one thread allocates, another frees; both together, a pair'),
    loop('malloc + free, 1k live', 'malloc_pairs', PAIRS, 1, 1e3, meaning='a random one of 1,000 blocks replaced'),
    loop('malloc + free, 1M live', 'malloc_pairs', PAIRS, 1, 1e6, meaning='of 1,000,000'),
    loop('malloc + free, 10M live', 'malloc_pairs', PAIRS, 1, 1e7, meaning='of 10,000,000'),
    loop('1 thread in turns', 'thread_turns', 1, 4e3, 1000, meaning='a pair, in turns of 1,000 pairs'),
    loop('1,000 threads in turns', 'thread_turns', 1e3, 4, 1000, meaning='one thread after the other'),
    loop('realloc growth', 'realloc_growth', 1e6,
         meaning='a realloc; a buffer grows by half from 16 bytes to 64 KiB'),
    loop('a live block', 'live_blocks', 1e6, 16, unit='bytes',
         tools=(*OURS, *(peer for peer in PEERS if peer != DHAT)), meaning='resident for one of 1M blocks of 64 bytes'),
    loop('thread create + join', 'thread_churn', 1e3, unit='us', meaning='a thread that does nothing, wall time'),
    Case('start and end', 'ms', (*OURS, *PEERS), measure_true, '`/bin/true`, wall time, profile included'),
    Case('start after idle', 'ms', OURS, measure_true_after_idle, 'the same when nothing used perf events for 2 s'),
    Case('final dump', 'ms', OURS, measure_final_dump, 'exit to end, 1M live blocks from 10,000 call stacks'),
    walk(1000), walk(4000), walk(10000),
    Case('drain, a sample', 'ns', (SAMPLED,), measure_drain, "CPU time of the drain thread for a sample more"),
    Case('capture, depth 16', 'ns', (TRACKED,), google('stack_bench', 'BM_Capture/16/1', 'BM_CallsOnly/16/1'),
         'a call stack met before'),
    Case('capture, 64 stacks', 'ns', (TRACKED,), google('stack_bench', 'BM_Capture/16/64', 'BM_CallsOnly/16/64'),
         'the same, one of 64 at random'),
    Case('capture, new stack', 'ns', (TRACKED,),
         google('stack_bench', 'BM_NewStack/16/iterations:40000', 'BM_CallsOnly/16/2048'), 'of known code addresses'),
    Case('index, insert + erase', 'ns', (TRACKED,), google('index_bench', 'BM_InsertErase/1000'), '1,000 live blocks'),
    Case('index, 1M live', 'ns', (TRACKED,), google('index_bench', 'BM_InsertErase/1000000'), 'the same among 1M'),
    Case('index, look-up', 'ns', (TRACKED,), google('index_bench', 'BM_LookUpInterior/1000000'),
         'an interior address, 1M live blocks'),
]
