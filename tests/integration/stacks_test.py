#!/usr/bin/env python3
"""Call stacks of real programs, as the agent captures them, against glibc's backtrace() and libunwind.

Each program does its work under build/tests/stacks/libstack_oracles.so, which captures the stack of every
allocation with the agent's own code and compares it with backtrace(), every eighth with libunwind and
every 32nd with a capture that uses no cache. `every_program` prints the table that docs/DECISIONS.md D12
quotes:

    MEMAGENT_BUILD=build/release python3 tests/integration/stacks_test.py every_program
"""
import collections
import functools
import os
import pathlib
import shutil
import struct
import subprocess
import time

import harness
import real
import servers
from harness import case

LIBRARY = harness.BUILD / 'tests/stacks/libstack_oracles.so'
SOURCES = pathlib.Path(__file__).resolve().parents[1] / 'programs/real'
PITFALLS = harness.PROGRAMS / 'pitfalls'
PYTHON = '/usr/bin/python3'  # Debian's own: one found first in PATH may be a script

# tests/stacks/counts.h
ENTRY = struct.Struct('<QQBBB109s')
ENTRIES = 2048
BACKTRACE, LIBUNWIND, NO_CACHE = range(3)
ORACLES = ('backtrace', 'libunwind', 'no cache')
OUTCOMES = ('equal', 'equal to the limit', 'equal to code without tables', 'differs beyond code without tables',
            'capture is cut', 'capture ends earlier', 'oracle ends earlier', 'different caller', 'oracle failed',
            'no room in the trie')
RULES = ('no tables', 'no rule for', 'end', 'sp', 'fp', 'fp deref', 'sp deref', 'plt', 'signal')
EQUAL = range(3)  # as far as unwind tables go
AT_LIMIT, TO_NO_TABLES, BEYOND_NO_TABLES = 1, 2, 3
LEAST_EQUAL = 0.999
LEAST_CAPTURES = 1000000


class Counts:
    """What libstack_oracles.so counted in one program and those that it started."""

    def __init__(self, path):
        self.places = collections.Counter()
        self.totals = collections.Counter()
        for key, count, oracle, outcome, rule, where in ENTRY.iter_unpack(path.read_bytes()):
            if key != 0:
                self.totals[oracle, outcome] += count
                self.places[oracle, outcome, rule, where.split(b'\0')[0].decode()] += count

    def compared(self, oracle):
        return sum(self.totals[oracle, outcome] for outcome in range(len(OUTCOMES)))

    def equal(self, oracle):
        return sum(self.totals[oracle, outcome] for outcome in EQUAL)

    def differences(self):
        """Lines that say what differs from whom, and after which frame."""
        for (oracle, outcome, rule, where), count in self.places.most_common():
            if outcome not in EQUAL:
                yield f'    {count} of {ORACLES[oracle]}: {OUTCOMES[outcome]}, after {where} ({RULES[rule]})'


HEADER = (f'{"program":22} {"captures":>9} {"= backtrace":>11} {"at limit":>9} {"no tables":>9} {"differ":>7}   '
          f'{"libunwind":>9} {"=":>9} {"differ":>7}   {"no cache":>8} {"=":>8}')


def row(name, counts):
    captures, libunwind, uncached = map(counts.compared, range(3))
    return (f'{name:22} {captures:9} {counts.equal(BACKTRACE):11} {counts.totals[BACKTRACE, AT_LIMIT]:9} '
            f'{counts.totals[BACKTRACE, TO_NO_TABLES]:9} {captures - counts.equal(BACKTRACE):7}   '
            f'{libunwind:9} {counts.equal(LIBUNWIND):9} {libunwind - counts.equal(LIBUNWIND):7}   '
            f'{uncached:8} {counts.equal(NO_CACHE):8}')


def count(folder, name, work):
    """Runs work(place) in a place of its own under the library."""
    if not LIBRARY.exists():
        harness.skip(f'{LIBRARY} is not built')
    below = folder / name.replace(' ', '-')
    below.mkdir()
    for path in (folder, below):
        path.chmod(0o755)  # servers give up root
    library, file = below / LIBRARY.name, below / 'counts'
    shutil.copy(LIBRARY, library)
    file.write_bytes(bytes(ENTRY.size * ENTRIES))
    file.chmod(0o666)
    place = real.Place(below / 'place', harness.environment(**real.FIXED, LD_PRELOAD=str(library),
                                                            STACK_ORACLES_COUNTS=str(file)))
    place.path.mkdir()
    place.path.chmod(0o777)
    real.adopt_orphans()
    start = time.monotonic()
    work(place)
    counts = Counts(file)
    print(f'{row(name, counts)}   {time.monotonic() - start:.0f} s')
    print(*counts.differences(), sep='\n', end='\n' if counts.equal(BACKTRACE) < counts.compared(BACKTRACE) else '')
    shutil.rmtree(below)
    return counts


def check(counts):
    """All but one in a thousand are equal, to each oracle."""
    for oracle in (BACKTRACE, LIBUNWIND, NO_CACHE):
        equal, compared = counts.equal(oracle), counts.compared(oracle)
        assert equal >= LEAST_EQUAL * compared, f'{ORACLES[oracle]}: {equal} of {compared} are equal'
    assert counts.compared(BACKTRACE) > 0 and counts.compared(LIBUNWIND) > 0, 'nothing was compared'


# --- the programs ----------------------------------------------------------------------------------

CXX = '''#include <algorithm>
#include <map>
#include <string>
#include <vector>
int main() {
  std::map<std::string, std::vector<int>> map;
  for (int i = 0; i < 10; ++i) map[std::to_string(i)].push_back(i);
  for (auto& [name, numbers] : map) std::sort(numbers.begin(), numbers.end());
  return map.size() > 3;
}
'''
SQL = ('create table t(a integer primary key, b text); '
       'with recursive n(i) as (select 1 union all select i + 1 from n where i < 60000) '
       'insert into t select i, printf("%x-%d", i * 7919, i) from n; create index tb on t(b); '
       'select count(*), max(b) from t where b like "1%"; select a from t order by b limit 5;')
PYTHON_WORK = ('import ast, json, re, sqlite3, xml.dom.minidom\n'
               'for i in range(3000):\n'
               '  text = json.dumps({"a": [i, str(i)], "b": {"c": None}})\n'
               '  json.loads(text); re.sub(r"(\\d+)", lambda m: m.group(1)[::-1], text)\n'
               'ast.dump(ast.parse("def f(a, b):\\n  return [a + b for i in range(9)]\\n" * 40))\n'
               'xml.dom.minidom.parseString("<a>" + "<b c=\\"d\\">e</b>" * 200 + "</a>").toxml()\n')
GREENLETS = ('import greenlet\n'
             'def run():\n'
             '  for n in range(20):\n'
             '    sorted([str(i) * 50 for i in range(20)], key=lambda s: s[::-1])\n'
             '    greenlet.getcurrent().parent.switch(n)\n'
             'all = [greenlet.greenlet(run) for _ in range(50)]\n'
             'for _ in range(20):\n'
             '  for each in all: each.switch()\n')
PERL = ('my %h; for my $i (1 .. 15000) { $h{$i} = [$i, "x$i"]; my $s = join(",", 1 .. 5); $s =~ s/(\\d)/<$1>/g; } '
        'my @k = sort { $h{$a}[1] cmp $h{$b}[1] } keys %h; print eval { die {k => $k[0]} } // $@->{k};')
NODE = ('const all = []; for (let i = 0; i < 3000; ++i) { all.push(Buffer.from("x" + i)); '
        'JSON.parse(JSON.stringify({a: i})); } require("zlib").gzipSync(Buffer.alloc(1000000)); '
        'for (let i = 0; i < 100; ++i) require("vm").runInNewContext("1+" + i);')
BASH = ('for i in {1..4000}; do a[$((i % 300))]="${i/1/x} $i"; done; f() { local x=$1; ((x == 0)) || f $((x - 1)); }; '
        'for i in {1..40}; do f 20; done; for i in {1..40}; do x=$(echo "$i" | tr 1 2); done; printf "%s\\n" "${a[@]}" | sort | wc -l')
MAKEFILE = ('all: $(foreach i,$(shell seq 600),f$(i))\n'
            'f%: ; @test -n "$(sort $(foreach j,$(shell seq 9),$(subst 1,x,$j)))" || echo $@\n')
GIT = ('git init -q; git config user.name n; git config user.email e@example.org\n'
       'for i in $(seq 6); do head -$((i * 400)) ../text > f$i; git add f$i; git commit -q -m "c$i"; done\n'
       'git log -p | tail -1; git blame f6 | tail -1; git gc -q; git fsck --full; git grep -c 1 | tail -1')


def runs(*command, **variables):
    """A work: the command ends with status 0."""
    def work(place):
        place.variables.update(variables)
        result = place.run(*command)
        assert result.status == 0, f'{command}: status {result.status}, {result.stderr[-2000:]!r}'
    return work


def with_file(name, text, work):
    def prepared(place):
        (place / name).write_text(text)
        work(place)
    return prepared


def with_text(lines, work):
    def prepared(place):
        real.make_text(place / 'text', lines)
        work(place)
    return prepared


def java(place):
    place.output('javac', '-d', '.', SOURCES / 'Threads.java')
    result = place.run('java', '-Xmx192m', '-Xshare:auto', 'Threads', 4)
    assert result.status == 7, result.stderr


def greenlets(place):
    if subprocess.run([PYTHON, '-c', 'import greenlet'], capture_output=True).returncode == 0:
        runs(PYTHON, '-c', GREENLETS, PYTHONMALLOC='malloc')(place)


PROGRAMS = {
    'sqlite3': runs('sqlite3', ':memory:', SQL),
    'python3': runs(PYTHON, '-c', PYTHON_WORK, PYTHONMALLOC='malloc'),
    'python3 greenlet': greenlets,
    'perl': runs('perl', '-e', PERL),
    'node': runs('node', '-e', NODE),
    'java': java,
    'g++': with_file('code.cc', CXX, runs('g++', '-O2', '-c', 'code.cc')),
    'clang++': with_file('code.cc', CXX, runs('clang++', '-O2', '-c', 'code.cc')),
    'redis-server': functools.partial(servers.redis_work, requests=2000, keys=2000),
    'nginx': functools.partial(servers.nginx_work, requests=48, reloads=1),
    'postgresql': functools.partial(servers.postgres_work, transactions=100),
    'git': with_text(2400, lambda place: runs('bash', '-ec', f'mkdir g; cd g; {GIT}')(place)),
    'bash': runs('bash', '-c', BASH),
    'make': with_file('Makefile', MAKEFILE, runs('make', '-s', '-j2')),
    'xz': with_text(150000, runs('xz', '-1', '--block-size=256KiB', '--threads=2', 'text')),
    'pigz': with_text(150000, runs('pigz', '-3', '-p', '3', 'text')),
}
NEEDED = ('sqlite3', 'perl', 'node', 'java', 'javac', 'g++', 'clang++', 'redis-server', 'redis-benchmark', 'nginx',
          'git', 'make', 'xz', 'pigz')


@case
def two_programs(folder):
    real.need('sqlite3')
    print(HEADER)
    for name in ('sqlite3', 'python3 greenlet'):
        check(count(folder, name, PROGRAMS[name]))


# Coroutines, a handler on an alternate stack, 300 calls, a call without a return, exceptions, longjmp,
# cancelled threads; then code made at run time whose frame pointer is right, and wrong.
AWKWARD = ('unwinding coroutines', 'unwinding signal', 'unwinding deep', 'unwinding noreturn',
           'stack_tricks exceptions', 'stack_tricks jumps', 'stack_tricks coroutines', 'stack_tricks cancellation',
           'unwinding generated', 'unwinding garbage')


@case
def awkward_stacks(folder):
    print(HEADER)
    for name in AWKWARD:
        program, argument = name.split()
        counts = count(folder, name, runs(PITFALLS / program, argument))
        guessed = (100, 12) if argument in ('generated', 'garbage') else (0, 0)
        for oracle, most in zip((BACKTRACE, LIBUNWIND), guessed):
            different = counts.compared(oracle) - counts.equal(oracle)
            assert different == counts.totals[oracle, BEYOND_NO_TABLES] <= most + 2, (name, different)
        assert counts.equal(NO_CACHE) == counts.compared(NO_CACHE), name
        assert argument != 'deep' or counts.totals[BACKTRACE, AT_LIMIT] == 1, 'no stack was at the limit'


@case(long=True)
def every_program(folder):
    real.need(*NEEDED)
    servers.postgres_folder()
    print(HEADER)
    every = [count(folder, name, work) for name, work in PROGRAMS.items()]
    for counts in every:
        check(counts)
    captures = sum(counts.compared(BACKTRACE) for counts in every)
    equal = sum(counts.equal(BACKTRACE) for counts in every)
    print(f'{captures} captures of {len(every)} programs, {100 * equal / captures:.4f} % equal to backtrace()')
    assert captures >= LEAST_CAPTURES, f'{captures} captures'


if __name__ == '__main__':
    harness.main()
