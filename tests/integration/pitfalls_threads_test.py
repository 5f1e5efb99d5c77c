#!/usr/bin/env python3
"""Many threads, threads nobody saw start, odd stacks and name spaces (rows P40 to P45)."""
import shutil

import harness
import pitfall
from harness import case


def total(parsed, function, key='allocations'):
    return harness.total(harness.sites_of(parsed, function), key)


@case(rows='P40')
def a_process_with_a_big_heap_forks(folder):
    for plain, measured in pitfall.unnoticed_program(folder, 'fork_big', 48):
        assert b'12582 blocks, 6 children' in plain.stdout
        reports = [harness.report(path) for path in measured.profiles]
        assert len(reports) == 7
        for parsed in reports:
            child = parsed['process']['forked_without_exec']
            [site] = harness.sites_of(parsed, 'alloc_big_heap')
            # A child frees what it inherited.
            counted = {key: site[key] for key in ('allocations', 'inherited_blocks', 'bytes_live')}
            assert counted == {'allocations': 0 if child else 12582, 'bytes_live': 0 if child else 12582 * 4000,
                               'inherited_blocks': 12582 if child else 0}, counted
            assert total(parsed, 'alloc_in_child') == (100 if child else 0)


@case(rows='P41 P44')
def two_thousand_threads_give_back_what_they_cost(folder):
    count = 2000
    for plain, measured in pitfall.unnoticed_program(folder, 'threads_released', count):
        assert b'given back' in plain.stdout
        parsed = measured.only_profile()
        threads = count + 200
        assert total(parsed, 'alloc_in_thread') == 3 * threads
        assert len(parsed['threads']) == threads + 2, f'{len(parsed["threads"])} threads listed'
        problems = {event['text'] for event in parsed['events'] if event['code'] == 'thread_not_sampled'}
        assert all('ended' in text for text in problems), problems  # no descriptor, no memory missing
        last = total(parsed, 'alloc_in_last', 'samples')
        assert last > 30, f'{last} samples on what the last thread works on'


@case(rows='P42')
def a_thread_that_started_before_us(folder):
    for plain, measured in pitfall.unnoticed_program(folder, 'threads_unseen', 'early'):
        assert plain.status == 0 and b'early thread joined' in plain.stdout
        parsed = measured.only_profile()
        assert total(parsed, 'alloc_in_early_thread') == 200
        assert len(parsed['threads']) == 2, parsed['threads']
        [early] = [thread for thread in parsed['threads'] if not thread['main']]
        assert early['samples_seen'] > 100 and early['attributed'] > 50, early


@case(rows='P42')
def a_thread_made_by_clone(folder):
    for plain, measured in pitfall.unnoticed_program(folder, 'threads_unseen', 'raw'):
        assert plain.status == 0 and b'2500 rounds' in plain.stdout
        parsed = measured.only_profile()
        assert len(parsed['threads']) == 3, parsed['threads']
        assert all(thread['samples_seen'] > 0 for thread in parsed['threads'] if not thread['main'])
        assert total(parsed, 'alloc_for_raw_thread', 'samples') > 10


def trick(folder, what, said, blocks):
    """`blocks`: how many the program allocates at the site; None where that is up to chance."""
    for plain, measured in pitfall.unnoticed_program(folder, 'stack_tricks', what):
        assert plain.status == 0 and said in plain.stdout, plain.stdout
        [site, *rest] = harness.sites_of(measured.only_profile(), 'alloc_in_trick')
        sites = [site, *rest]
        found = harness.total(sites, 'allocations')
        assert found == blocks or (blocks is None and found >= 1000), f'{found} blocks'
        assert harness.total(sites, 'frees') == found and harness.total(sites, 'bytes_live') == 0


@case(rows='P43')
def exceptions_through_refused_allocations(folder):
    trick(folder, 'exceptions', b'caught 1400', 3 * 200 * 10 + 1000)


@case(rows='P43')
def jumps_out_of_callbacks_and_handlers(folder):
    trick(folder, 'jumps', b'jumped 400', 2 * 200 + 1000)


@case(rows='P43')
def coroutines_that_wander_between_threads(folder):
    trick(folder, 'coroutines', b'steps 2560, caught 2560', 2560 * (5 + 4) + 1000)


@case(rows='P43')
def threads_that_are_cancelled(folder):
    trick(folder, 'cancellation', b'left 20', None)


@case(rows='P45')
def name_spaces_asked_for_in_every_way(folder):
    for plain, measured in pitfall.unnoticed_program(folder, 'name_spaces'):
        if b'unshare: entered' not in plain.stdout:
            harness.skip(f'this machine allows no user name space: {plain.stdout.decode()}')
        children = [parsed for parsed in map(harness.report, measured.profiles)
                    if parsed['process']['forked_without_exec']]
        outside = sorted(total(parsed, 'alloc_outside') for parsed in children)
        inside = [total(parsed, 'alloc_inside') for parsed in children]
        assert outside.count(10) >= 10 and sum(count == 20 for count in inside) >= 10, (outside, inside)


@case(rows='P45')
def commands_that_enter_name_spaces(folder):
    commands = [['unshare', '-U', '-r', 'id', '-u'], ['unshare', '-U', '-r', '-m', '-p', '-f', 'id', '-u']]
    if shutil.which('bwrap'):
        commands.append(['bwrap', '--dev-bind', '/', '/', '--unshare-user', '--unshare-pid', 'id', '-u'])
    if harness.run_plain(commands[0]).status != 0:
        harness.skip('this machine allows no user name space')
    for number, command in enumerate(commands):
        where = folder / str(number)
        where.mkdir()
        for plain, measured in pitfall.unnoticed(where, command):
            assert measured.profiles, f'{command}: no profile'


if __name__ == '__main__':
    harness.main()
