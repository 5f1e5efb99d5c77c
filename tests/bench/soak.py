#!/usr/bin/env python3
"""A server under steady load for a long time: does the agent's memory stay flat?

    tests/bench/soak.py [--build DIR] [--seconds N] [--rate N] [--options TEXT]

Two redis-servers, one plain and one under the agent, get the same commands at the same bounded rate
over Unix sockets: strings of changing size, lists, hashes, keys that expire, a new connection every
second and a BGSAVE (a fork) every minute. Every 10 s a line is printed: what the agent says it has
mapped (from the profile, at its last checkpoint), and how much more memory is resident than in the
plain server. Ends with a plot, and with status 1 when memory went on growing after the warm-up (the
first third). The rate is low enough to leave two thirds of a core alone.
"""
import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

from redis_server import Server, encode

KEYS = 4000
BATCH = 20  # commands in one write
SAMPLE_SECONDS = 10
BGSAVE_SECONDS = 60
# Growth after the warm-up that counts as flat: a few pages of tables that fill up slowly.
FLAT_KIB = 512


def some_command(chance):
    key = chance.randrange(KEYS)
    kind = chance.randrange(6)
    if kind == 0:
        return encode('SET', f's{key}', b'x' * chance.randrange(10, 2000))
    if kind == 1:
        return encode('GET', f's{key}')
    if kind == 2:
        return encode('SET', f'e{key}', b'y' * chance.randrange(10, 500), 'PX', 3000)
    if kind == 3:
        return encode('HSET', f'h{key % 200}', key % 37, chance.randrange(1 << 30))
    if kind == 4:
        return encode('LPUSH', f'l{key % 100}', b'z' * chance.randrange(100))
    return encode('LTRIM', f'l{key % 100}', 0, 50)


def agent_figures(build, profile):
    """own_cost of the server's profile at its last checkpoint; {} before the first."""
    info = subprocess.run([build / 'viewer/memagent', 'info', '--format', 'json', profile],
                          capture_output=True, check=False)
    return json.loads(info.stdout)['own_cost'] if info.returncode == 0 else {}


def plot(samples):
    most = max(max(kib for _, kib in samples), 1)
    print('resident KiB more than the plain server, over time:')
    for seconds, kib in samples:
        print(f'{seconds:6.0f} s {kib:8d} |{"#" * round(60 * max(kib, 0) / most)}')


def verdict(samples):
    """Compares the second third with the last one: the first is warm-up."""
    third = len(samples) // 3
    if third == 0:
        sys.exit('soak.py: too short for a verdict')
    middle = statistics.median(kib for _, kib in samples[third:2 * third])
    last = statistics.median(kib for _, kib in samples[2 * third:])
    print(f'median of the second third {middle:.0f} KiB, of the last {last:.0f} KiB: '
          f'{last - middle:+.0f} KiB, {FLAT_KIB} allowed')
    return 0 if last - middle <= FLAT_KIB else 1


def drive(servers, seconds, rate, sample):
    """The same commands to both servers, `rate` a second to each."""
    chance = random.Random(1)
    start = time.monotonic()
    batches = 0
    next_connect, next_save, next_sample = 1, BGSAVE_SECONDS, SAMPLE_SECONDS
    while (now := time.monotonic() - start) < seconds:
        commands = [some_command(chance) for _ in range(BATCH)]
        for server in servers:
            server.run(commands)
        batches += 1
        if now >= next_connect:
            next_connect += 1
            for server in servers:
                server.connect()
        if now >= next_save:
            next_save += BGSAVE_SECONDS
            for server in servers:
                server.run([encode('BGSAVE')])
        if now >= next_sample:
            next_sample += SAMPLE_SECONDS
            sample(now)
        time.sleep(max(0.0, batches * BATCH / rate - (time.monotonic() - start)))
    print(f'{batches * BATCH} commands to each server, {batches * BATCH / seconds:.0f} a second')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', default='build/release', type=pathlib.Path)
    parser.add_argument('--seconds', default=600, type=int)
    parser.add_argument('--rate', default=2000, type=int, help='commands a second to each server')
    parser.add_argument('--options', default='', help='more MEMAGENT_OPTIONS')
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    with tempfile.TemporaryDirectory(prefix='memagent-soak-') as name:
        folder = pathlib.Path(name)
        options = ','.join(filter(None, [f'output={folder}/%p.memagent', arguments.options]))
        measured = Server(folder / 'measured', dict(
            os.environ, LD_PRELOAD=str(build / 'agent/libmemagent.so'), MEMAGENT_OPTIONS=options))
        plain = Server(folder / 'plain', dict(os.environ))
        samples = []

        def sample(now):
            more = measured.resident_kib() - plain.resident_kib()
            samples.append((now, more))
            own = agent_figures(build, folder / f'{measured.process.pid}.memagent')
            print(f'{now:6.0f} s: agent has {own.get("bytes_mapped", 0) >> 10} KiB mapped, {more:+} KiB '
                  f'resident; {own.get("live_blocks", 0)} live blocks, {own.get("stacks", 0)} stack nodes, '
                  f'{own.get("allocations_tracked", 0)} allocations, profile {own.get("profile_bytes", 0) >> 10} '
                  f'KiB written; CPU {measured.cpu_seconds():.1f} s, plain {plain.cpu_seconds():.1f} s', flush=True)
        try:
            drive([measured, plain], arguments.seconds, arguments.rate, sample)
        finally:
            for server in (measured, plain):
                server.stop()
    plot(samples)
    return verdict(samples)


if __name__ == '__main__':
    sys.exit(main())
