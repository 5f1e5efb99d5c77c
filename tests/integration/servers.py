"""Servers of the distribution and the work that tests give them: redis, PostgreSQL, nginx.

A function *_work(place) starts a server in a real.Place, loads it, stops it, and returns what it saw.
"""
import hashlib
import http.client
import os
import pathlib
import re
import shutil
import signal
import socket

import harness
import real


def lines_without_numbers(path):
    """The kinds of lines of a log: what differs from run to run (pids, times, sizes) is digits."""
    text = path.read_text(errors='replace') if path.exists() else ''
    return sorted({re.sub(r'\d+', 'N', line) for line in text.splitlines()})


# --- redis -----------------------------------------------------------------------------------------

FILL = ("for i = 1, tonumber(ARGV[1]) do redis.call('set', 'key:' .. i, string.rep('v', i % 500)) "
        "redis.call('hset', 'hash:' .. i % 100, 'field' .. i, i) end return redis.call('dbsize')")


class Redis:
    """A redis-server on a socket in the place, and its command line client."""

    def __init__(self, place, *options):
        self.place = place
        self.command = ['redis-server', '--port', '0', '--unixsocket', 'redis.sock', '--dir', place.path,
                        '--save', '', '--enable-debug-command', 'local', *options]

    def cli(self, *words):
        return self.place.output('redis-cli', '-s', 'redis.sock', *words).strip()

    def answers(self):
        return self.place.run('redis-cli', '-s', 'redis.sock', 'ping').stdout == b'PONG\n'

    def persistence(self, name):
        return re.search(f'^{name}:(.*?)\r?$', self.cli('info', 'persistence'), re.MULTILINE).group(1)

    def save(self, command, kind, status):
        """BGSAVE or BGREWRITEAOF: a forked child writes the data while the server goes on."""
        self.cli(command)
        real.wait_until(lambda: self.persistence(f'{kind}_in_progress') == '0', f'{command} done')
        return self.persistence(status)

    def contents(self):
        return self.cli('dbsize'), self.cli('debug', 'digest')


def redis_work(place, requests, keys, options=()):
    seen = {}
    redis = Redis(place, *options)
    with place.server(*redis.command) as server:
        real.wait_until(redis.answers, 'redis-server answers')
        load = place.run('redis-benchmark', '-s', 'redis.sock', '-n', requests, '-c', 20, '-r', 1000, '-P', 8,
                         '--threads', 2, '-t', 'set,get,incr,lpush,sadd,hset,zadd,lrange_100', '--csv')
        seen['load'] = (load.status, load.stderr, [line.split(b',')[0] for line in load.stdout.splitlines()])
        redis.cli('flushall')
        seen['filled'] = redis.cli('eval', FILL, '0', keys)
        seen['bgsave'] = redis.save('bgsave', 'rdb_bgsave', 'rdb_last_bgsave_status')
        if 'appendonly' in ' '.join(options):
            seen['rewrite'] = redis.save('bgrewriteaof', 'aof_rewrite', 'aof_last_bgrewrite_status')
        seen['contents'] = redis.contents()
        place.run('redis-cli', '-s', 'redis.sock', 'shutdown', 'nosave')
    seen['status'] = server.returncode
    with place.server(*redis.command) as server:  # loads what the child wrote
        real.wait_until(redis.answers, 'redis-server answers again')
        seen['loaded'] = redis.contents()
        server.send_signal(signal.SIGTERM)  # its own handler shuts down
    seen['status after loading'] = server.returncode
    slow = ('Slow script', 'Asynchronous AOF fsync')  # said of a machine that is busy
    seen['log'] = [line for line in lines_without_numbers(place / 'server.out')
                   if not any(words in line for words in slow)]
    assert seen['contents'] == seen['loaded'] and seen['contents'][0] == seen['filled'], seen
    return seen


# --- PostgreSQL ------------------------------------------------------------------------------------

CONSISTENT = (
    'select count(*) from pgbench_history',
    'select (select sum(abalance) from pgbench_accounts) = (select sum(delta) from pgbench_history), '
    '(select sum(tbalance) from pgbench_tellers) = (select sum(bbalance) from pgbench_branches)')
# Sorts, hashes, an index, parallel workers, an error that is caught in a sub-transaction.
QUERIES = ('create table t as select i, md5(i::text) as m from generate_series(1, 30000) i',
           'create index on t (m)', 'vacuum analyze t', 'set force_parallel_mode = on',
           "select count(*), max(m) from t where m like 'a%'", 'set work_mem = 64',
           "select md5(string_agg(m, ',' order by m desc)) from t",
           "do $$ begin perform 1 / 0; exception when division_by_zero then raise notice 'caught'; end $$")


def postgres_folder():
    folders = sorted(pathlib.Path('/usr/lib/postgresql').glob('*/bin'))
    if not folders:
        harness.skip('postgresql is not installed')
    return folders[-1]


class Postgres:
    """A cluster below the place, owned by the user that the server runs as: it refuses root."""

    def __init__(self, place):
        self.place = place
        self.programs = postgres_folder()
        self.user = {'user': 'postgres', 'group': 'postgres', 'extra_groups': []} if os.getuid() == 0 else {}
        self.command = [self.programs / 'postgres', '-D', 'data', '-k', place.path, '-h', '', '-c', 'fsync=off']

    def run(self, program, *words):
        return self.place.run(self.programs / program, *words, **self.user)

    def answers(self):
        return b'ready to accept connections' in (self.place / 'server.out').read_bytes()

    def sql(self, statements):
        words = [word for statement in statements for word in ('-c', statement)]
        result = self.run('psql', '-h', self.place.path, '-XAt', *words, 'postgres')
        return result.status, result.stdout, result.stderr

    def bench(self, *words):
        result = self.run('pgbench', '-h', self.place.path, *words, 'postgres')
        return result.status, re.findall(rb'actually processed: .*|failed transactions: .*', result.stdout)


def postgres_work(place, transactions, clients=3):
    seen = {}
    postgres = Postgres(place)
    made = postgres.run('initdb', '-D', 'data', '-A', 'trust', '-N', '-k', '--locale=C', '-E', 'UTF8')
    seen['initdb'] = (made.status, made.stdout, made.stderr)
    with place.server(*postgres.command, **postgres.user) as server:
        real.wait_until(postgres.answers, 'PostgreSQL answers')
        idle = len(real.children_of(server.pid))
        seen['init'] = postgres.bench('-i', '-q')
        seen['bench'] = postgres.bench('-c', clients, '-j', 2, '-t', transactions)
        seen['consistent'] = postgres.sql(CONSISTENT)
        seen['queries'] = postgres.sql(QUERIES)
        real.wait_until(lambda: len(real.children_of(server.pid)) <= idle, 'last connection closed')
        server.send_signal(signal.SIGINT)  # fast shutdown
    seen['status'] = server.returncode
    seen['log'] = lines_without_numbers(place / 'server.out')
    state = postgres.run('pg_controldata', 'data').stdout
    seen['state'] = re.findall(rb'cluster state: *(.*)', state)
    seen['checksums'] = re.findall(rb'Bad checksums: *(.*)', postgres.run('pg_checksums', 'data').stdout)
    assert seen['consistent'][1].split()[0] == str(transactions * clients).encode(), seen
    return seen


# --- nginx -----------------------------------------------------------------------------------------

NGINX = """
worker_processes 2; pid {place}/nginx.pid; error_log {place}/server.out notice; user nobody nogroup;
thread_pool default threads=3 max_queue=65536;
env LD_PRELOAD; env MEMAGENT_OPTIONS;
events {{ worker_connections 64; }}
http {{
  access_log {place}/access.log combined; gzip on; gzip_min_length 100; gzip_types *; aio threads; sendfile off;
  output_buffers 1 64k;
  client_body_temp_path {place}/body; proxy_temp_path {place}/proxy; fastcgi_temp_path {place}/fastcgi;
  uwsgi_temp_path {place}/uwsgi; scgi_temp_path {place}/scgi;
  server {{ listen 127.0.0.1:{port}; root {place}/www;
    location /again/ {{ proxy_pass http://127.0.0.1:{port}/; }}
    location = /worker {{ access_log off; return 200 "$pid"; }} }}
}}
"""


def free_port():
    with socket.socket() as listener:
        listener.bind(('127.0.0.1', 0))
        return listener.getsockname()[1]


class Nginx:
    """A master and two workers that gave up root, on a port of loopback."""

    def __init__(self, place):
        self.place, self.port = place, free_port()
        (place / 'www').mkdir()
        real.make_text(place / 'www/small', 20)
        real.make_text(place / 'www/large', 20000)
        (place / 'nginx.conf').write_text(NGINX.format(place=place.path, port=self.port))

    def start(self):
        """The pid of the master: a daemon, since it would take no upgrade otherwise."""
        # It executes its argv[0] when it is upgraded.
        self.place.output(shutil.which('nginx', path=real.FIXED['PATH']), '-p', self.place.path, '-c', self.place / 'nginx.conf', '-e', 'stderr')
        return self.master()

    def master(self):
        return int((self.place / 'nginx.pid').read_text())

    def get(self, path, **headers):
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=20)
        try:
            connection.request('GET', path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.getheader('Content-Encoding'), answer.read()
        finally:
            connection.close()

    def worker(self):
        try:
            return int(self.get('/worker')[2])
        except OSError:
            return None

    def reload(self, master, sign):
        """Waits until a worker that was not there before answers."""
        before = set(real.children_of(master))
        os.kill(master, sign)
        real.wait_until(lambda: self.worker() not in before | {None}, 'answered by a new worker')

    def load(self, requests):
        """Digest of the answers to a fixed series of requests."""
        digest = hashlib.sha256()
        for i in range(requests):
            digest.update(repr(self.get(('/small', '/large', '/again/large', '/missing')[i % 4],
                                        **({'Accept-Encoding': 'gzip'} if i % 3 == 0 else {}))).encode())
        return digest.hexdigest()


def nginx_work(place, requests, reloads):
    nginx = Nginx(place)
    seen = {}
    master = nginx.start()
    real.wait_until(nginx.worker, 'nginx answers')
    seen['workers'] = len(real.children_of(master))
    seen['first'] = nginx.load(requests)
    for i in range(reloads):
        nginx.reload(master, signal.SIGHUP)
        seen[f'after reload {i}'] = nginx.load(requests)
    # A new master is forked and executed, inherits the listening sockets, and takes over.
    nginx.reload(master, signal.SIGUSR2)
    successor = nginx.master()
    os.kill(master, signal.SIGQUIT)
    seen['status'] = real.wait_for(master)
    seen['by the new one'] = nginx.load(requests)
    os.kill(successor, signal.SIGTERM)
    seen['status of the new one'] = real.wait_for(successor)
    # The master asks again, by SIGALRM, when a worker takes more than 50 ms to end.
    seen['log'] = [line for line in lines_without_numbers(place / 'server.out') if 'SIGALRM' not in line]
    seen['logged'] = len((place / 'access.log').read_text().splitlines())
    return seen
