#!/usr/bin/env python3
"""Programs that replace themselves, and helpers that inherit LD_PRELOAD (rows P29 to P33)."""
import os
import re
import shutil

import harness
import pitfall
from harness import case


def read(measured, program=None):
    """The whole, undamaged reports of one program's profiles, in the order of their start."""
    reports = [harness.report(path) for path in measured.profiles
               if program is None or path.name.startswith(f'{program}.')]
    for parsed in reports:
        about = parsed['file']
        assert not about['truncated'] and about['chunks_damaged'] == 0, about
    return sorted(reports, key=lambda parsed: parsed['process']['start_monotonic_ns'])


def allocations(parsed, function):
    return harness.total(harness.sites_of(parsed, function), 'allocations')


def without_pids(output):
    return re.sub(rb'of process \d+', b'of this process', output)


@case(rows='P29 P30 P31')
def each_image_of_a_chain_keeps_its_profile(folder):
    """Nine images, one for each function of the exec family, with a signal pending and threads busy."""
    last = 9
    for plain, measured in pitfall.unnoticed_program(folder, 'exec_chain', last, normalise=without_pids):
        assert plain.status == 9 and plain.stdout.count(b'pending 1') == last
        images = read(measured, 'exec_chain')
        assert len({parsed['process']['pid'] for parsed in images}) == 1
        counted = [allocations(parsed, 'alloc_in_image') for parsed in images]
        assert counted == [100 * (number + 1) for number in range(last + 1)], counted
        ends = [parsed['file']['end'] for parsed in images]
        assert ends == ['exec'] * last + ['exit'], ends
        assert not any(parsed['process']['forked_without_exec'] for parsed in images)


@case(rows='P31')
def a_second_thread_executes_the_next_image(folder):
    for plain, measured in pitfall.unnoticed_program(folder, 'exec_chain', 'thread',
                                                     normalise=without_pids):
        assert plain.status == 9
        first, second = read(measured, 'exec_chain')
        assert first['process']['pid'] == second['process']['pid']
        assert allocations(first, 'alloc_in_image') == 200 and first['file']['end'] == 'exec'
        assert allocations(second, 'alloc_in_image') == 200 and second['file']['end'] == 'exit'


@case(rows='P31')
def an_exec_that_fails_loses_nothing(folder):
    for plain, measured in pitfall.unnoticed_program(folder, 'exec_chain', 'failing'):
        assert plain.status == 4 and plain.stdout.startswith(b'2 2 13\n' * 10)
        parsed = measured.only_profile()
        assert allocations(parsed, 'alloc_in_image') == 100
        assert parsed['file']['end'] == 'exit' and parsed['file']['final']


def runner_of(measured):
    """The report of the program that ran the helper."""
    [parsed] = [parsed for parsed in read(measured, 'helper_runner')
                if not parsed['process']['forked_without_exec']]
    assert allocations(parsed, 'alloc_around') == 100
    return parsed


def programs(measured):
    return {path.name.split('.')[0] for path in measured.profiles} - {'helper_runner'}


@case(rows='P32')
def ldd_lists_what_the_loader_loads(folder):
    """The preloaded library is listed, as ld.so would list any; the rest is the same."""
    def normalise(output):
        lines = [line for line in output.splitlines() if b'libmemagent' not in line]
        return re.sub(rb'0x[0-9a-f]+', b'ADDRESS', b'\n'.join(lines))
    for plain, measured in pitfall.unnoticed_program(folder, 'helper_runner', 'ldd', '/bin/bash',
                                                     normalise=normalise):
        assert plain.status == 0 and b'libc.so.6' in plain.stdout
        runner_of(measured)


@case(rows='P32')
def a_helper_with_an_empty_environment_is_left_alone(folder):
    for plain, measured in pitfall.unnoticed_program(folder, 'helper_runner', 'env', '-i', '/bin/sh', '-c',
                                                     'export -p | grep -v PWD; echo $((6*7))'):
        assert b'42' in plain.stdout
        runner_of(measured)
        assert 'dash' not in programs(measured)


@case(rows='P32')
def a_static_helper_is_left_alone(folder):
    helper = harness.PROGRAMS / 'pitfalls/alone_static'
    for plain, measured in pitfall.unnoticed_program(folder, 'helper_runner', helper):
        assert plain.status == 11 and b'block given' in plain.stdout
        runner_of(measured)
        assert programs(measured) <= {'alone_static'}


@case(rows='P32')
def a_set_user_id_helper_is_left_alone(folder):
    if os.geteuid() != 0:
        harness.skip('only root can make a program that runs as another user')
    folder.chmod(0o755)
    helper = folder / 'id'
    shutil.copy(shutil.which('id'), helper)
    shutil.chown(helper, 'nobody')
    helper.chmod(0o4755)
    for plain, measured in pitfall.unnoticed_program(folder, 'helper_runner', helper, '-un'):
        assert plain.stdout == b'nobody\n', plain
        runner_of(measured)
        assert 'id' not in programs(measured)


@case(rows='P32')
def children_run_without_the_agent_where_that_is_asked(folder):
    for plain, measured in pitfall.unnoticed_program(
            folder, 'helper_runner', 'bash', '-c', 'echo "($LD_PRELOAD)"; ls; env | grep -c LD_',
            options={'follow': 'fork'}):
        assert plain.stdout == b'()\n0\n', plain.stdout
        runner_of(measured)
        assert programs(measured) == set()


@case(rows='P25 P32 P33')
def a_shell_and_its_children_each_write_a_file_of_their_own(folder):
    if not shutil.which('git'):
        harness.skip('git is not installed')
    script = ('set -e; git init -q repository; cd repository; echo text > file; git add file; '
              'GIT_AUTHOR_DATE=@1000000000 GIT_COMMITTER_DATE=@1000000000 git -c user.name=n -c user.email=e commit -qm first; '
              'git gc -q; ls | wc -l; git log --format=%H | cat; unset LD_PRELOAD; seq 20000 | head -1; '
              'rm -rf .git; exit 5')
    for plain, measured in pitfall.unnoticed(folder, ['bash', '-c', script]):
        assert plain.status == 5 and plain.stdout.endswith(b'\n1\n'), plain.stdout
        assert {'bash', 'git', 'ls', 'wc'} <= {path.name.split('.')[0] for path in measured.profiles}
        [shell] = [parsed for parsed in read(measured, 'bash')
                   if not parsed['process']['forked_without_exec']]
        assert shell['file']['end'] == 'exit' and shell['own_cost']['allocations_tracked'] > 100
        assert all(parsed['file']['final'] for parsed in read(measured, 'ls') + read(measured, 'wc'))


if __name__ == '__main__':
    harness.main()
