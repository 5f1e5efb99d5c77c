#!/usr/bin/env python3
"""Interpreters and virtual machines: threads, processes and signals as without the agent."""
import pathlib
import shutil

import harness
import real
from harness import case

SOURCES = pathlib.Path(__file__).resolve().parents[1] / 'programs/real'
RATES_IN_FULL = (1000, 10000)


def alike(folder, command, status, rounds, rates, killed=0):
    """Runs `command ROUNDS` of a program of tests/programs/real; it ends with `status`."""
    def work(place):
        seen = place.seen(place.run(*command, rounds))
        assert seen['status'] == status, seen
        return seen
    return real.alike(folder, work, rates=rates, killed=killed)


# --- python3 ---------------------------------------------------------------------------------------

def python3_alike(folder, rounds, rates):
    # Debian's own: a python3 found first in PATH may be a script that starts a hundred processes.
    for reports in alike(folder, ['/usr/bin/python3', SOURCES / 'processes.py'], 3, rounds, rates,
                         killed=4):  # one of each start method, and `sleep`
        pythons = [parsed for parsed in reports if real.program_of(parsed).startswith('python3')]
        # A pool of two, a worker and a killed one by fork; by spawn they are executed.
        forked = [parsed for parsed in pythons if parsed['process']['forked_without_exec']]
        assert len(forked) >= 4 and len(pythons) - len(forked) >= 1 + 4, (len(forked), len(pythons))
        main, = [parsed for parsed in pythons if parsed['process']['pid'] ==
                 min(other['process']['pid'] for other in pythons)]
        assert len(main['threads']) >= 1 + 3 * rounds, main['threads']
        assert main['file']['end'] == 'exit'
        # malloc's address is taken by Debian's python3; that is no allocator ahead of ours.
        assert 'foreign_malloc' not in [event['code'] for event in main['events']], main['events']


@case
def python3(folder):
    python3_alike(folder, 1, (1000,))


@case(long=True)
def python3_in_full(folder):
    python3_alike(folder, 8, RATES_IN_FULL)


# --- node ------------------------------------------------------------------------------------------

def node_alike(folder, rounds, rates):
    real.need('node')
    for reports in alike(folder, ['node', SOURCES / 'workers.js'], 3, rounds, rates):
        nodes = real.named(reports, 'node', forked_without_exec=False)
        assert len(nodes) == 3, f'{len(nodes)} nodes, expected the first and two children'
        main = max(nodes, key=lambda parsed: len(parsed['threads']))
        # Four of V8, four of the pool, the inspector's, and the workers.
        assert len(main['threads']) >= 9 + 2 * rounds, f'{len(main["threads"])} threads'
        assert main['file']['end'] == 'exit' and real.allocations([main]) > 10000


@case
def node(folder):
    node_alike(folder, 1, (1000,))


@case(long=True)
def node_in_full(folder):
    node_alike(folder, 6, RATES_IN_FULL)


# --- java ------------------------------------------------------------------------------------------

def java_alike(folder, rounds, rates, options=()):
    real.need('java', 'javac')

    def work(place):
        shutil.copy(SOURCES / 'Threads.java', place.path)
        assert place.output('javac', 'Threads.java') == ''
        seen = place.seen(place.run('java', '-Xmx192m', '-Xshare:auto', *options, 'Threads', rounds))
        assert seen['status'] == 7, seen
        return seen
    for reports in real.alike(folder, work, rates=rates):
        machines = [real.named(reports, name, forked_without_exec=False) for name in ('javac', 'java')]
        assert [len(found) for found in machines] == [1, 1], machines
        for (parsed,) in machines:
            assert len(parsed['threads']) >= 10, f'{len(parsed["threads"])} threads'
            assert parsed['file']['end'] == 'exit' and real.allocations([parsed]) > 1000


@case(rows='P94')
def java(folder):
    java_alike(folder, 1, (1000,))


@case(long=True)
def java_in_full(folder):
    java_alike(folder, 12, RATES_IN_FULL)


@case(long=True)
def java_with_other_collectors(folder):
    for collector in ('-XX:+UseParallelGC', '-XX:+UseZGC', '-XX:+UseShenandoahGC'):
        below = folder / collector.split('Use')[1]
        below.mkdir()
        java_alike(below, 2, (1000,), (collector,))


# --- perl ------------------------------------------------------------------------------------------

def perl_alike(folder, rounds, rates):
    real.need('perl')
    for reports in alike(folder, ['perl', SOURCES / 'processes.pl'], 6, rounds, rates):
        perls = real.named(reports, 'perl')
        main, = [parsed for parsed in perls if not parsed['process']['forked_without_exec']]
        assert len(main['threads']) == 4 and main['file']['end'] == 'exit', main['threads']
        assert len(perls) >= 1 + 3, f'{len(perls)} perls'
        assert real.allocations([main]) > 10000


@case
def perl(folder):
    perl_alike(folder, 1, (1000,))


@case(long=True)
def perl_in_full(folder):
    perl_alike(folder, 20, RATES_IN_FULL)


if __name__ == '__main__':
    harness.main()
