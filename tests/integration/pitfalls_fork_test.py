#!/usr/bin/env python3
"""Children of fork and vfork, made while other threads are inside the allocator (rows P23 to P28)."""
import harness
import pitfall
from harness import case

BLOCKS = 500  # of each child and each of its threads


def reports_by_program(measured):
    """{program: [report of each process]}; each profile must be readable whole."""
    programs = {}
    for path in measured.profiles:
        parsed = harness.report(path)
        about = parsed['file']
        assert not about['truncated'] and about['chunks_damaged'] == 0, f'{path}: {about}'
        programs.setdefault(path.name.split('.')[0], []).append(parsed)
    return programs


def allocations(parsed, function):
    return harness.total(harness.sites_of(parsed, function), 'allocations')


def children_of(measured, program):
    """The reports of the forked children of `program`; asserts that there is one profile a process."""
    reports = reports_by_program(measured)[program]
    pids = [parsed['process']['pid'] for parsed in reports]
    assert len(set(pids)) == len(pids), f'two profiles of one process: {sorted(pids)}'
    children = [parsed for parsed in reports if parsed['process']['forked_without_exec']]
    assert len(children) == len(reports) - 1, f'{len(children)} of {len(reports)} are children'
    return children


def check_child(parsed, own_threads=2, blocks=BLOCKS):
    """The child's own allocations, its own threads and nothing of its parent's threads."""
    pid = parsed['process']['pid']
    found = allocations(parsed, 'alloc_in_child')
    assert found == blocks, f'child {pid}: {found} allocations, made {blocks}'
    found = allocations(parsed, 'alloc_in_childs_thread')
    assert found == own_threads * BLOCKS, f'child {pid}: {found} allocations in its threads'
    assert len(parsed['threads']) == 1 + own_threads, f'child {pid} lists {parsed["threads"]}'
    assert [thread['tid'] for thread in parsed['threads'] if thread['main']] == [pid]


@case(rows='P23 P25')
def children_of_a_process_whose_threads_allocate(folder):
    count = 6
    for plain, measured in pitfall.unnoticed_program(folder, 'fork_busy', 'threads', count):
        assert plain.status == 0 and b'0 children ended wrongly' in plain.stdout
        children = children_of(measured, 'fork_busy')
        assert len(children) == count
        for parsed in children:
            check_child(parsed)
        ends = sorted(parsed['file']['end'] for parsed in children)
        assert ends == sorted(['exit', '_exit', 'exec'] * 2), ends


@case(rows='P23')
def children_that_nobody_saw_being_forked(folder):
    for plain, _ in pitfall.unnoticed_program(folder, 'fork_unseen'):
        assert plain.status == 0 and b'0 children ended wrongly' in plain.stdout


@case(rows='P23')
def children_forked_by_four_threads_at_once(folder):
    for plain, measured in pitfall.unnoticed_program(folder, 'fork_busy', 'concurrent', 2):
        assert plain.status == 0 and b'0 children ended wrongly' in plain.stdout
        children = children_of(measured, 'fork_busy')
        assert len(children) == 8
        for parsed in children:
            assert allocations(parsed, 'alloc_in_child') == BLOCKS
            assert allocations(parsed, 'alloc_in_childs_thread') == 2 * BLOCKS


@case(rows='P23 P25')
def a_child_of_a_child_of_a_child(folder):
    depth = 4
    for plain, measured in pitfall.unnoticed_program(folder, 'fork_busy', 'nested', depth):
        assert plain.status == 0 and b'0 children ended wrongly' in plain.stdout
        children = children_of(measured, 'fork_busy')
        assert len(children) == depth
        for parsed in children:
            check_child(parsed)  # its own only: what was inherited is told apart


@case(rows='P23')
def children_that_libcs_fork_does_not_know_of(folder):
    """Made by _Fork, which runs no handlers, and by the system call."""
    count = 4
    for plain, measured in pitfall.unnoticed_program(folder, 'fork_busy', 'raw', count):
        assert b'0 children ended wrongly' in plain.stdout
        children = children_of(measured, 'fork_busy')
        assert [allocations(parsed, 'alloc_in_child') for parsed in children] == [BLOCKS] * count


@case(rows='P24')
def fork_handlers_that_allocate_and_start_threads(folder):
    for plain, measured in pitfall.unnoticed_program(folder, 'fork_handlers'):
        assert plain.status == 0 and b'0 children ended wrongly' in plain.stdout
        children = children_of(measured, 'fork_handlers')
        assert len(children) == 10
        for parsed in children:
            pid = parsed['process']['pid']
            # What a handler before ours allocates is what the child inherits (or own, if it came later).
            assert allocations(parsed, 'alloc_in_handler') in (0, 100)
            found = allocations(parsed, 'alloc_in_child')
            assert found == 5000, f'child {pid}: {found} allocations'
            assert allocations(parsed, 'alloc_in_handlers_thread') >= 100
            assert len(parsed['threads']) == 2, f'child {pid} lists {parsed["threads"]}'


@case(rows='P26')
def children_of_a_process_whose_threads_unwind(folder):
    for plain, measured in pitfall.unnoticed_program(folder, 'fork_busy', 'unwinding', 6):
        assert plain.status == 0 and b'0 children ended wrongly' in plain.stdout
        children = children_of(measured, 'fork_busy')
        assert len(children) == 6
        for parsed in children:
            check_child(parsed)
            for site in harness.sites_of(parsed, 'alloc_in_child'):
                assert 'main' in [frame['function'] for frame in site['stack']], site['stack']


@case(rows='P27')
def samples_of_parent_and_child_are_kept_apart(folder):
    for rate in pitfall.RATES_HZ:
        (folder / str(rate)).mkdir()
        [(plain, measured)] = pitfall.unnoticed_program(folder / str(rate), 'fork_samples', rates=[rate])
        assert plain.stdout.startswith(b'4 5\n')
        reports = reports_by_program(measured)['fork_samples']
        assert len(reports) == 3
        for parsed in reports:
            check_samples(parsed, rate)


def check_samples(parsed, rate):
    """Parent and worker take 0.3 s of CPU time each on blocks of their own, the sleeper none."""
    end = parsed['file']['end']
    samples = {name: harness.total(harness.sites_of(parsed, name), 'samples')
               for name in ('alloc_in_parent', 'alloc_in_child')}
    print(f'{end}: {parsed["samples_seen"]} seen, {samples}')
    worker = allocations(parsed, 'alloc_in_child') > 0
    if not parsed['process']['forked_without_exec']:
        worked, other = 'alloc_in_parent', 'alloc_in_child'
    else:
        worked, other = 'alloc_in_child', 'alloc_in_parent'
    assert samples[other] == 0, f'{samples} in the profile that ends with {end}'
    busy = worker or worked == 'alloc_in_parent'
    least, most = (0.15, 0.33) if busy else (0, 0.02)
    assert least * rate <= parsed['samples_seen'] <= most * rate + 10, parsed['samples_seen']
    assert samples[worked] > 0.3 * parsed['samples_seen'] or not busy


@case(rows='P28')
def children_that_share_the_parents_memory(folder):
    for plain, measured in pitfall.unnoticed_program(folder, 'vfork_children'):
        assert b'vfork and exec of nothing: 2 2 2 2 2' in plain.stdout
        programs = reports_by_program(measured)
        [parent] = programs.pop('vfork_children')
        assert parent['file']['end'] == 'exit'
        assert allocations(parent, 'alloc_between') == 8 * 5 * 100
        assert allocations(parent, 'alloc_in_clone') == 5
        assert {name: len(reports) for name, reports in programs.items()} == {
            'dash': 5 * 3, 'true': 5}, programs.keys()


if __name__ == '__main__':
    harness.main()
