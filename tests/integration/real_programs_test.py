#!/usr/bin/env python3
"""Programs of the distribution behave alike with and without the agent: stdout, stderr, status, files."""
import harness
import real
from harness import case

RATES_IN_FULL = (1000, 10000)


def check(folder, command, prepare=lambda place: None, *, rates=(1000,), leave_out=lambda name: False,
          programs=None, status=0):
    """Compares all that can be seen of `command`; `programs`: how many profiles of which, at least."""
    def work(place):
        prepare(place)
        seen = place.seen(place.run(*command), leave_out)
        assert seen['status'] == status, seen
        return seen
    for reports in real.alike(folder, work, rates=rates):
        for program, least in (programs or {command[0]: 1}).items():
            found = real.named(reports, program)
            assert len(found) >= least, f'{len(found)} profiles of {program}, {least} expected'
        yield reports


def run_check(folder, command, *arguments, **keywords):
    for _ in check(folder, command, *arguments, **keywords):
        pass


# --- compressors and sort: threads -----------------------------------------------------------------

def in_threads(folder, command, lines, rates=(1000,), threads=2):
    """A program that works on `text` in threads of its own."""
    real.need(command[0])
    for reports in check(folder, command, lambda place: real.make_text(place / 'text', lines), rates=rates):
        parsed, = real.named(reports, command[0])
        assert len(parsed['threads']) >= threads, f'{len(parsed["threads"])} threads'
        assert parsed['file']['end'] == 'exit'


@case
def xz(folder):
    in_threads(folder, ['xz', '-1', '--block-size=1MiB', '--threads=2', 'text'], 150000)


@case
def pigz(folder):
    in_threads(folder, ['pigz', '-3', '-p', '3', '-k', '-n', 'text'], 300000)


@case
def sort(folder):
    in_threads(folder, ['sort', '--parallel=2', '-S', '64M', '-T', '.', '-k2', '-o', 'sorted', 'text'], 300000)


@case(long=True)
def compressors_in_full(folder):
    for command in (['xz', '-3', '--block-size=2MiB', '--threads=3', 'text'],
                    ['pigz', '-9', '-p', '4', '-k', '-n', 'text'],
                    ['sort', '--parallel=4', '-S', '64M', '-T', '.', '-k2', '-o', 'sorted', 'text']):
        below = folder / command[0]
        below.mkdir()
        in_threads(below, command, 500000, RATES_IN_FULL)


# --- sqlite3 ---------------------------------------------------------------------------------------

def sqlite3_statements(rows):
    return ('PRAGMA journal_mode = WAL; PRAGMA mmap_size = 100000000; '
            'CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT); '
            f'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows}) '
            'INSERT INTO t SELECT i, printf("%x-%d", i * 7919, i) FROM n; '
            'CREATE INDEX tb ON t(b); SELECT count(*), max(b) FROM t WHERE b LIKE "1%"; '
            'SELECT a, b FROM t ORDER BY b LIMIT 5; BEGIN; DELETE FROM t WHERE a % 3 = 0; ROLLBACK; '
            'DELETE FROM t WHERE a % 7 = 0; VACUUM; PRAGMA integrity_check; SELECT count(*) FROM t;')


def sqlite3_alike(folder, rows, rates):
    real.need('sqlite3')
    for reports in check(folder, ['sqlite3', 'base.db', sqlite3_statements(rows)], rates=rates):
        parsed, = real.named(reports, 'sqlite3')
        assert real.allocations([parsed]) > rows and parsed['file']['end'] == 'exit'


@case
def sqlite3(folder):
    sqlite3_alike(folder, 50000, (1000,))


@case(long=True)
def sqlite3_in_full(folder):
    sqlite3_alike(folder, 500000, RATES_IN_FULL)


# --- compilers and make ----------------------------------------------------------------------------

def c_file(functions, name='main'):
    lines = ['#include <stdio.h>', '#include <stdlib.h>', '#include <math.h>', 'int f0(int x) { return x; }']
    lines += [f'static int f{i}(int x) {{ return x * {i} + f{i - 1}(x); }}' for i in range(1, functions)]
    return '\n'.join([*lines, f'int {name}(void) {{ return printf("%d\\n", f{functions - 1}(2)) < 0; }}', ''])


@case
def gcc(folder):
    real.need('gcc')
    run_check(folder, ['gcc', '-O2', '-o', 'program', 'code.c'],
              lambda place: (place / 'code.c').write_text(c_file(300)),
              programs={name: 1 for name in ('cc1', 'collect2')})


@case
def gcc_that_fails(folder):
    real.need('gcc')
    run_check(folder, ['gcc', 'code.c'],
              lambda place: (place / 'code.c').write_text('int main(void) { return undeclared; }\n'),
              programs={'cc1': 1}, status=1)


# No headers of the library: a million call stacks of a compiler make a report of gigabytes.
CXX = '''template <int N> struct Sum { static constexpr int value = N + Sum<N - 1>::value; };
template <> struct Sum<0> { static constexpr int value = 0; };
template <typename T, int N> struct Row { T cells[N]; constexpr T total() const {
  T sum{}; for (const T& cell : cells) sum += cell; return sum; } };
template <typename... Ts> auto all(Ts... parts) { return (parts + ...); }
int use(int x) { Row<int, 64> row{}; row.cells[x & 63] = x; return all(row.total(), x, 3L, 4.5) + Sum<400>::value; }
'''


def cxx(folder, compiler, programs, rates=(1000,)):
    real.need(compiler)
    run_check(folder, [compiler, '-std=c++20', '-O2', '-c', 'code.cc'],
              lambda place: (place / 'code.cc').write_text(CXX), programs=programs, rates=rates)


@case(long=True)
def clangxx(folder):
    cxx(folder, 'clang++', {'clang': 1}, RATES_IN_FULL)


@case(long=True)
def gxx(folder):
    cxx(folder, 'g++', {'cc1plus': 1}, RATES_IN_FULL)


MAKEFILE = '''
objects := $(patsubst %.c,%.o,$(wildcard f*.c))
count := $(shell ls f*.c | wc -l)
all: program ; @./program; echo $(count) files
program: $(objects) ; @$(CC) -o $@ $(sort $^)
%.o: %.c ; @$(CC) -O1 -c $<
'''


def make_alike(folder, files, functions, rates):
    real.need('make', 'cc')

    def prepare(place):
        (place / 'Makefile').write_text(MAKEFILE)
        for i in range(files):
            text = c_file(functions, f'g{i}' if i else 'main')
            text = text.replace(' f0(', f' f0_{i}(')  # each file's own
            (place / f'f{i}.c').write_text(text)
    run_check(folder, ['make', '-j3'], prepare, rates=rates,
              programs={'make': 1, 'cc1': files, 'program': 1})


@case
def make(folder):
    make_alike(folder, 3, 30, (1000,))


@case(long=True)
def make_in_full(folder):
    make_alike(folder, 16, 200, RATES_IN_FULL)


# --- git -------------------------------------------------------------------------------------------

GIT = '''set -e
git init -q -b main origin; cd origin; git config user.name n; git config user.email e@example.org
for i in $(seq COMMITS); do
  head -$((i * 500)) ../text > f$i; git add f$i; git commit -q -m "c$i"
done
git checkout -q -b side HEAD~1; echo side > side; git add side; git commit -q -m side
git checkout -q main; git merge -q --no-edit side
git log --format=%H; git diff --stat HEAD~2; git blame f1 | tail -1
git gc -q; git fsck --full
cd ..; git clone -q --no-local origin copy; cd copy; git log -p | tail -3; git status --short
git grep -c 1 | tail -1; git archive HEAD | tar -t | sort | tail -2
echo new > new; git add new; git -c user.name=n -c user.email=e@example.org commit -q -m new
git push -q origin HEAD:pushed; git fsck --full; git rev-parse origin/pushed
'''


def git_alike(folder, commits, rates):
    real.need('git')
    # The index holds the time and inode of each file.
    run_check(folder, ['bash', '-c', GIT.replace('COMMITS', str(commits))],
              lambda place: real.make_text(place / 'text', 500 * commits), rates=rates,
              leave_out=lambda name: name.endswith('.git/index'), programs={'git': 10 + 2 * commits})


@case
def git(folder):
    git_alike(folder, 2, (1000,))


@case(long=True)
def git_in_full(folder):
    git_alike(folder, 12, RATES_IN_FULL)


# --- bash ------------------------------------------------------------------------------------------

BASH = '''set -e -o pipefail
cut -d" " -f1 text | sort | uniq -c | sort -rn | sed -n 1,5p
for i in 1 2 3; do (exit $i) || echo $?; done
x=$(wc -l < text); echo "$x $(echo nested "$(echo deeper)")"
cat <(head -1 text) <(tail -1 text)
cat > here <<END
$x and $((x * 2))
END
tr a-f A-F <<< "$(cat here)"
coproc tr a-z A-Z; echo shouted >&"${COPROC[1]}"; exec {COPROC[1]}>&-; cat <&"${COPROC[0]}"; wait
(sleep 0.05; echo late) & wait $!
exec 7> seven; for i in $(seq 3 20); do eval "exec $i>&7"; done; echo through >&19; for i in $(seq 3 20); do eval "exec $i>&-"; done
trap 'echo caught; trap - USR1' USR1; kill -USR1 $BASHPID
(trap 'echo leaving' EXIT; exit 3) || echo "left $?"
sh -c 'kill -TERM $$' || echo "killed $?"
yes | head -2 || echo "yes ${PIPESTATUS[*]}"
timeout 0.1 sleep 10 || echo "timed out $?"
ls -1 /proc/self/fd | tr '\\n' ' '; ulimit -n; umask; ( ulimit -v 4000000; echo limited )
set -- a b; printf '%s\\n' "$@" | xargs -P 2 -n 1 sh -c 'exit 0'; echo xargs
trap 'echo "failed at the end $?"' ERR
false | true
'''


@case
def bash_pipelines(folder):
    run_check(folder, ['bash', '-c', BASH], lambda place: real.make_text(place / 'text', 2000),
              rates=(1000,), programs={'bash': 5, 'sort': 1}, status=1)


@case(long=True)
def bash_pipelines_in_full(folder):
    run_check(folder, ['bash', '-c', f'for round in $(seq 4); do (\n{BASH}\n) || echo $?; done; exit 5'],
              lambda place: real.make_text(place / 'text', 20000), rates=RATES_IN_FULL,
              programs={'bash': 20}, status=5)


@case
def tar_through_a_pipe_to_a_reader_that_stops(folder):
    """The writer dies of SIGPIPE as without us."""
    run_check(folder, ['bash', '-c', 'set -o pipefail; yes | head -3; echo ${PIPESTATUS[@]}'])


if __name__ == '__main__':
    harness.main()
