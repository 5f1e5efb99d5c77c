#!/usr/bin/env python3
"""Servers of the distribution under load: same answers, same files, clean ends, with and without the agent."""
import functools
import pathlib
import shutil

import harness
import real
import servers
from harness import case

RATES_IN_FULL = (1000, 10000)


# --- redis -----------------------------------------------------------------------------------------

def check_redis(reports, savers):
    server = pathlib.Path(shutil.which('redis-server')).resolve().name
    started = real.named(reports, server, forked_without_exec=False)
    saved = real.named(reports, server, forked_without_exec=True)
    assert len(started) == 2 and len(saved) == savers, (len(started), len(saved))
    assert {parsed['file']['end'] for parsed in started} == {'exit'}
    assert {parsed['file']['end'] for parsed in saved} == {'_exit'}
    for parsed in started:  # main, three for background work, jemalloc's
        assert len(parsed['threads']) >= 4, parsed['threads']
        assert real.allocations([parsed]) > 0
    benchmark, = real.named(reports, 'redis-benchmark')
    assert len(benchmark['threads']) >= 3


@case
def redis(folder):
    real.need('redis-server', 'redis-benchmark')
    for reports in real.alike(folder, functools.partial(servers.redis_work, requests=5000, keys=5000)):
        check_redis(reports, savers=1)


@case(long=True)
def redis_in_full(folder):
    real.need('redis-server', 'redis-benchmark')
    work = functools.partial(servers.redis_work, requests=15000, keys=100000,
                             options=('--appendonly', 'yes', '--io-threads', '2', '--lazyfree-lazy-user-flush', 'yes'))
    for reports in real.alike(folder, work, rates=RATES_IN_FULL):
        check_redis(reports, savers=2)


# --- PostgreSQL ------------------------------------------------------------------------------------

def check_postgres(reports, clients):
    everything = real.named(reports, 'postgres')
    forked = [parsed for parsed in everything if parsed['process']['forked_without_exec']]
    # Checkpointer, writer, WAL writer, autovacuum and replication launchers, and one for each connection.
    assert len(forked) >= 5 + clients, len(forked)
    assert {parsed['file']['end'] for parsed in everything} <= {'exit', '_exit'}, everything
    for parsed in everything:
        assert real.allocations([parsed]) > 0, parsed['process']
    benchmarks = real.named(reports, 'pgbench')
    assert max(len(parsed['threads']) for parsed in benchmarks) >= 2


def postgres_alike(folder, transactions, rates):
    servers.postgres_folder()
    folder.chmod(0o755)  # the server's user gets to its own place below
    agent = folder / 'libmemagent.so'  # and reads the agent, wherever the build folder is
    shutil.copy(harness.AGENT, agent)
    work = functools.partial(servers.postgres_work, transactions=transactions)
    for reports in real.alike(folder, work, rates=rates, agent=agent):
        check_postgres(reports, clients=3)


@case
def postgresql(folder):
    postgres_alike(folder, 100, rates=(1000,))


@case(long=True)
def postgresql_in_full(folder):
    postgres_alike(folder, 1500, rates=RATES_IN_FULL)


# --- nginx -----------------------------------------------------------------------------------------

def check_nginx(reports, workers):
    # The child that becomes the new master leaves a profile of its own only if it takes its time.
    everything = [parsed for parsed in real.named(reports, 'nginx') if parsed['file']['end'] != 'exec']
    forked = [parsed for parsed in everything if parsed['process']['forked_without_exec']]
    # The first process and the upgrade were executed; the daemon and the workers forked.
    assert len(everything) - len(forked) == 2 and len(forked) == 1 + workers, (len(everything), len(forked))
    for parsed in everything:
        assert parsed['file']['end'] == 'exit', parsed['file']
    pools = [parsed for parsed in forked if len(parsed['threads']) == 4]
    assert len(pools) == workers, f'{len(pools)} workers with three more threads'
    assert all(real.allocations([parsed]) > 0 for parsed in pools)


@case
def nginx(folder):
    real.need('nginx')
    folder.chmod(0o755)  # the workers' user gets to the files below
    for reports in real.alike(folder, functools.partial(servers.nginx_work, requests=48, reloads=1)):
        check_nginx(reports, workers=6)


@case(long=True)
def nginx_in_full(folder):
    real.need('nginx')
    folder.chmod(0o755)
    work = functools.partial(servers.nginx_work, requests=400, reloads=5)
    for reports in real.alike(folder, work, rates=RATES_IN_FULL):
        check_nginx(reports, workers=14)


if __name__ == '__main__':
    harness.main()
