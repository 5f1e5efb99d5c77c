#!/usr/bin/env python3
"""Classic placement faults, each by its example with pinned threads, on two nodes: cause, pattern and advice are
those that its README promises. (Huge pages can only be told from Linux 6.7 on, which the guest is not.)
"""
import shlex

import guest_case
import harness
from guest_case import case


def run(folder, name, words):
    profile = folder / f'{name}.memagent'
    program = harness.BUILD / 'examples' / words[0]
    result = harness.memagent('run', '--output', profile, '--', program, *words[1:])
    print(result.stderr.decode(), end='')
    assert result.status == 0, result.status
    return profile


def advise(profile, allocator):
    """What `advise` says of the site of an allocating function."""
    result = harness.memagent('advise', '--format', 'json', profile)
    assert result.status == 0, result.stderr
    print(harness.memagent('advise', profile).stdout.decode())
    found = [site for site in result.json()['sites']
             if harness.plain_name(site['function']) == allocator]
    assert found, f'no site of {allocator}'
    return max(found, key=lambda site: site['samples'])


def check(folder, program, allocator, cause, pattern, kinds, at_least=0.9):
    guest_case.load_simpmu(ibs_kernel=702, pebs=0)
    words = shlex.split(program)
    before = advise(run(folder, 'before', words), allocator)
    shares = {found['cause']: found['share'] for found in before['causes']}
    assert shares.get(cause, 0) > at_least, before['causes']
    assert before['pattern']['class'] == pattern, before['pattern']
    assert [advice['kind'] for advice in before['advice']][:len(kinds)] == kinds, before['advice']


@case(nodes=2)
def one_thread_first_touch(folder):
    check(folder, 'one_thread_first_touch 1', 'AllocateField', 'touched_elsewhere', 'blocked',
          ['block', 'touch_in_parallel'])


@case(nodes=2)
def interleave_wanted(folder):
    check(folder, 'interleave_wanted 20', 'AllocateTable', 'touched_elsewhere', 'all-shared, read',
          ['replicate', 'interleave'])


@case(nodes=2)
def wrong_bind(folder):
    check(folder, 'wrong_bind 15', 'AllocateBuffer', 'policy', 'one owner', ['bind'])


@case(nodes=2)
def thread_moves_after_touch(folder):
    check(folder, 'thread_moves_after_touch 20', 'AllocateOwn', 'thread_moved', 'one owner',
          ['pin_threads', 'bind'], at_least=0.4)  # of a thread whose page faults were lost it can't be told


@case(nodes=2)
def producer_consumer(folder):
    check(folder, 'producer_consumer 1', 'AllocateBlock', 'touched_elsewhere', 'producer and consumer', ['bind'])


if __name__ == '__main__':
    guest_case.main()
