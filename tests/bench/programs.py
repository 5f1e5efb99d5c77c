"""Whole programs: CPU time with each tool against plain. What they print and make must stay the same."""
import contextlib
import re
import shlex
import subprocess
import sys

from case import WORKLOADS, Case
from pairing import Reading
from process import run_well
from redis_server import Server, free_port
from tools import OURS, PEERS

SQL_ROWS = 120000
PYTHON_RECORDS = 40000
REDIS_TESTS = 'set,get,incr,lpush,rpush,lpop,sadd,hset,spop,zadd'
REDIS_REQUESTS = 60000  # of each test
REDIS_PIPELINE = 16     # requests that a connection sends at once: else the kernel's share hides the server's


def sqlite_command(rows):
    return ['sqlite3', ':memory:', f'create table size(n); insert into size values({rows})',
            f'.read {WORKLOADS}/database.sql']


def measured(setting, words, more=None, makes=()):
    """CPU time of a program; what it prints and `makes` is its outcome."""
    usage = setting.run(words, more)
    return Reading(usage.cpu_seconds, usage.outcome(*makes), setting.own_estimate())


def measure_sqlite(setting):
    return measured(setting, sqlite_command(setting.count(SQL_ROWS)))


def measure_python(setting):
    return measured(setting, [sys.executable, WORKLOADS / 'objects.py', setting.count(PYTHON_RECORDS)],
                    {'PYTHONMALLOC': 'malloc', 'PYTHONHASHSEED': '0'})


def source_words(setting):
    return ['-std=c++20', '-O2', f'-DWORK={2 if setting.scale > 0.2 else 1}', '-c', WORKLOADS / 'templates.cc',
            '-o', setting.folder / 'templates.o']


def measure_clang(setting):
    return measured(setting, ['clang++', *source_words(setting)], makes=[setting.folder / 'templates.o'])


def measure_gcc(setting):
    """The compiler proper, as g++ starts it: not every tool follows it into a child."""
    shown = subprocess.run(['g++', '-###', *source_words(setting)], check=True, capture_output=True, text=True).stderr
    (line,) = [line for line in shown.split('\n') if 'cc1plus' in line.split(' -', 1)[0]]
    words = shlex.split(line)
    words[words.index('-o') + 1] = setting.folder / 'templates.s'
    return measured(setting, words, makes=[setting.folder / 'templates.s'])


def command_counts(server):
    """How often the server ran which command and failed, from INFO commandstats."""
    text = subprocess.run(['redis-cli', '-s', server.socket_path, 'info', 'commandstats'], check=True,
                          capture_output=True, text=True).stdout
    return sorted(line for line in re.findall(r'cmdstat_(\w+):calls=(\d+).*failed_calls=(\d+)', text)
                  if line[0] in REDIS_TESTS.split(','))


def measure_redis(setting):
    requests = setting.count(REDIS_REQUESTS)
    port = free_port()
    prefix = setting.tool.command([], setting.folder)
    server = Server(setting.folder / 'redis', setting.environment(), prefix, port)
    with contextlib.ExitStack() as stack:
        stack.callback(server.process.kill)
        start = server.cpu_seconds()
        run_well(['redis-benchmark', '-p', port, '-q', '-P', REDIS_PIPELINE, '-n', requests, '-d', '64',
                  '-r', '100000', '-t', REDIS_TESTS], None)
        seconds = server.cpu_seconds() - start
        counts = command_counts(server)
        status = server.stop()
    return Reading(seconds / (requests * len(REDIS_TESTS.split(','))) * 1e6, (counts, status),
                   setting.own_estimate())


def program(name, unit, measure, needs, meaning):
    return Case(name, unit, (*OURS, *PEERS), measure, meaning, shown='ratio', needs=needs)


CASES = [
    program('sqlite3', 's', measure_sqlite, ('sqlite3',), 'tables in memory filled, indexed, joined and grouped'),
    program('python3', 's', measure_python, (), 'objects, lists, strings and JSON with PYTHONMALLOC=malloc'),
    program('redis-server', 'us', measure_redis, ('redis-server', 'redis-benchmark', 'redis-cli'),
            "the server's CPU time for a request of redis-benchmark's, 50 connections, pipelines of 16"),
    program('clang++ -O2 -c', 's', measure_clang, ('clang++',), 'a C++ file of containers and templates'),
    program('g++ -O2 -c', 's', measure_gcc, ('g++',), "the same, without g++'s driver and assembler"),
]
