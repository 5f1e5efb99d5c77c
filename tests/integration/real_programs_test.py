#!/usr/bin/env python3
"""Programs of the distribution behave alike with and without the agent: stdout, stderr, status, files."""
import shutil

import harness
from harness import case

FIXED = {'LC_ALL': 'C', 'TZ': 'UTC', 'PYTHONHASHSEED': '0', 'PYTHONDONTWRITEBYTECODE': '1',
         'GIT_AUTHOR_DATE': '2020-01-01T00:00:00Z', 'GIT_COMMITTER_DATE': '2020-01-01T00:00:00Z',
         'GIT_CONFIG_NOSYSTEM': '1', 'HOME': '/nonexistent'}


def make_text(path, lines):
    """Text that differs from line to line and is the same in every run."""
    state = 1
    with open(path, 'w') as file:
        for _ in range(lines):
            state = state * 16807 % 2147483647
            file.write(f'{state % 9973:x} {state % 4999 * 7:x} {state:x}\n')


def check(folder, program, command, prepare=lambda place: None, leave_out=lambda name: False, least_profiles=1):
    """Runs `command` in a folder of its own, once plain and once measured, and compares everything."""
    if shutil.which(program) is None:
        harness.skip(f'{program} is not installed')
    results, trees = [], []
    profiles = folder / 'profiles'
    profiles.mkdir()
    place = folder / 'place'  # the same name both times: programs print and store it
    for measured in (False, True):
        place.mkdir()
        prepare(place)
        if measured:
            results.append(harness.run_measured(command, profiles, variables=FIXED, cwd=place))
        else:
            results.append(harness.run_plain(command, env=harness.environment(**FIXED), cwd=place))
        trees.append(harness.tree_digest(place, leave_out))
        shutil.rmtree(place)
    plain, measured = results
    assert plain.status == measured.status, f'status {plain.status} and {measured.status}: {measured.stderr}'
    assert plain.stdout == measured.stdout, 'stdout differs'
    assert plain.stderr == measured.stderr, f'stderr: {plain.stderr} and {measured.stderr}'
    assert trees[0] == trees[1], f'files differ: {set(trees[0].items()) ^ set(trees[1].items())}'
    assert len(measured.profiles) >= least_profiles, f'{len(measured.profiles)} profiles'
    for path in measured.profiles:
        parsed = harness.report(path)
        print(f'{path.name}: {harness.evidence_text(parsed)}')
        assert parsed['file']['end'] is not None, f'{path.name} has no footer'
    return plain


@case
def xz(folder):
    check(folder, 'xz', ['xz', '-3', '--threads=2', 'text'], lambda place: make_text(place / 'text', 300000))


@case
def sqlite3(folder):
    statements = ('CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT);'
                  'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<60000) '
                  'INSERT INTO t SELECT i, printf("%x-%d", i*7919, i) FROM n;'
                  'CREATE INDEX tb ON t(b); SELECT count(*), max(b) FROM t WHERE b LIKE "1%";'
                  'SELECT a, b FROM t ORDER BY b LIMIT 5;')
    plain = check(folder, 'sqlite3', ['sqlite3', 'base.db', statements])
    assert plain.stdout, 'sqlite3 printed nothing'


@case
def python3(folder):
    script = ('import hashlib, json, threading\n'
              'def work(n, out):\n'
              '    d = {str(i): [i] * 5 for i in range(30000)}\n'
              '    out[n] = hashlib.sha256(json.dumps(d).encode()).hexdigest()\n'
              'out = {}\n'
              'ts = [threading.Thread(target=work, args=(n, out)) for n in range(3)]\n'
              '[t.start() for t in ts]; [t.join() for t in ts]\n'
              'print(sorted(out.items())); open("file", "w").write("x" * 100)\n'
              'raise SystemExit(3)\n')
    plain = check(folder, 'python3', ['python3', '-c', script])
    assert plain.status == 3


@case
def gcc(folder):
    def prepare(place):
        (place / 'code.c').write_text(
            '#include <stdio.h>\n' + ''.join(f'int f{i}(int x) {{ return x * {i} + f{i - 1}(x); }}\n'
                                             if i else 'int f0(int x) { return x; }\n' for i in range(400)) +
            'int main(void) { printf("%d\\n", f399(2)); return 0; }\n')
    # The driver, cc1, as, collect2 and ld.
    check(folder, 'gcc', ['gcc', '-O2', '-o', 'program', 'code.c'], prepare, least_profiles=4)


@case
def gcc_that_fails(folder):
    def prepare(place):
        (place / 'code.c').write_text('int main(void) { return undeclared; }\n')
    plain = check(folder, 'gcc', ['gcc', 'code.c'], prepare)
    assert plain.status == 1 and plain.stderr


@case
def sort(folder):
    check(folder, 'sort', ['sort', '--parallel=2', '-S', '8M', '-T', '.', '-k2', '-o', 'sorted', 'text'],
          lambda place: make_text(place / 'text', 300000))


@case
def bash_pipelines(folder):
    script = ('set -o pipefail; cut -d" " -f1 text | sort | uniq -c | sort -rn | head -5;'
              'for i in 1 2 3; do (exit $i) || echo $?; done; x=$(wc -l < text); echo "$x";'
              'cat <(head -1 text) <(tail -1 text); (sleep 0.1; echo late) & wait; exit 5')
    plain = check(folder, 'bash', ['bash', '-c', script], lambda place: make_text(place / 'text', 50000))
    assert plain.status == 5


@case
def git(folder):
    script = ('set -e; git init -q -b main .; git config user.name n; git config user.email e@example.org;'
              'for i in 1 2 3; do head -$((i*2000)) text > f$i; git add f$i; git commit -q -m "c$i"; done;'
              'git log --format=%H; git diff --stat HEAD~2; git gc -q; git fsck --full; git log -p | tail -3')
    # The index holds the time and inode of each file.
    check(folder, 'git', ['bash', '-c', script], lambda place: make_text(place / 'text', 6000),
          leave_out=lambda name: name == '.git/index')


@case
def tar_through_a_pipe_to_a_reader_that_stops(folder):
    """The writer dies of SIGPIPE as without us."""
    script = 'set -o pipefail; yes | head -3; echo ${PIPESTATUS[@]}'
    check(folder, 'bash', ['bash', '-c', script])


if __name__ == '__main__':
    harness.main()
