#!/usr/bin/env python3
"""Calls that place memory and threads: they do what they do without us, and are in the profile."""
import errno
import os

import harness
import pitfall
from harness import case
from placement_facts import Facts


def run(folder, way):
    """Yields the Facts of each measured run."""
    for plain, measured in pitfall.unnoticed_program(folder, 'placement_calls', way):
        assert plain.status == 0, plain
        print(plain.stdout.decode())
        yield plain, Facts(measured.profiles[0])


def results(plain):
    """{what: (result, errno)} of what the program printed."""
    rows = {}
    for line in plain.stdout.decode().splitlines():
        what, _, rest = line.partition(': ')
        if ', errno ' in rest:
            result, _, error = rest.partition(', errno ')
            rows[what] = int(result), int(error)
    return rows


def refusals(facts):
    return sum(call['refused'] for call in facts.calls)


@case
def every_call_returns_what_it_returns_without_us(folder):
    for plain, facts in run(folder, 'calls'):
        rows = results(plain)
        asking = {'where they are'}
        # pthread_setaffinity_np returns the error; a positive result of the others is none.
        failed = sum(result < 0 or (result > 0 and what.startswith('thread'))
                     for what, (result, _) in rows.items())
        made = len(rows) - len(asking & rows.keys())
        assert facts.left_out == 0, facts.left_out
        assert sum(call['calls'] for call in facts.calls) == made, (made, facts.calls)
        assert refusals(facts) == failed, (failed, facts.calls)
        for call in facts.calls:
            assert call['function'], call
            assert call['refused'] == 0 or not call['nodes'], call


@case
def calls_say_who_what_and_where(folder):
    for plain, facts in run(folder, 'calls'):
        rows = results(plain)
        own = [call for call in facts.calls_of('sched_setaffinity') if call['refused'] == 0]
        assert own and all(call['target_tid'] == 0 and call['nodes'] == [0] for call in own), own
        missing = [call for call in facts.calls_of('sched_setaffinity') if call['errno'] == errno.ESRCH]
        assert [call['target_tid'] for call in missing] == [999999999], missing
        threads = facts.calls_of('pthread_setaffinity_np')
        main = own[0]['tid']
        assert {call['target_tid'] == 0 for call in threads} == {True, False}, threads
        assert all(call['tid'] == main and call['target_tid'] not in (-1, main) for call in threads), threads
        if rows['mbind'][0] != 0:
            harness.skip('no memory policies here')
        bound = [call for call in facts.calls_of('mbind') if call['mode'] == 'bind' and not call['refused']]
        assert len(bound) == 1 and bound[0]['nodes'] == [0] and bound[0]['size_bytes'] == 4096, bound
        assert bound[0]['site'], bound
        modes = [call['mode'] for call in facts.calls_of('set_mempolicy') if not call['refused']]
        assert modes == ['preferred', 'default'], modes


@case
def libnuma_is_seen_through(folder):
    for plain, facts in run(folder, 'libnuma'):
        if plain.stdout == b'none\n':
            harness.skip('no libnuma')
        rows = results(plain)
        if rows['mbind'][0] != 0:
            harness.skip('no memory policies here')
        calls = facts.calls_of('mbind')
        assert calls and all('libnuma' not in call['function'] for call in calls), calls
        # When it is loaded it tries a policy and takes it back: the loader's call.
        assert all(call['function'] for call in facts.calls if call['call'] != 'set_mempolicy'), facts.calls
        # numa_tonode_memory binds by mbind, numa_run_on_node by sched_setaffinity.
        assert sum(call['calls'] for call in calls) == 3, calls
        assert [call['size_bytes'] for call in calls if not call['refused']].count(8192) == 1, calls
        assert any(call['refused'] == 0 for call in facts.calls_of('sched_setaffinity')), facts.calls


@case
def a_vfork_childs_calls_are_not_ours(folder):
    for plain, facts in run(folder, 'vfork'):
        assert b'in a vfork child: 3' in plain.stdout
        assert facts.calls == [], facts.calls


@case
def calls_in_a_signal_handler_inside_malloc(folder):
    for _, facts in run(folder, 'signals'):
        calls = sum(call['calls'] for call in facts.calls)
        print(f'{calls} recorded, {facts.left_out} left out')
        assert facts.calls and calls + facts.left_out >= 2 * 500, (facts.calls, facts.left_out)


@case
def a_child_of_fork_has_only_its_own_calls(folder):
    """A shell's taskset, in a child that goes on without executing anything, is the child's."""
    code = ('import os\n'
            'os.sched_setaffinity(0, os.sched_getaffinity(0))\n'
            'child = os.fork()\n'
            'if child == 0:\n'
            '    os.sched_setaffinity(0, os.sched_getaffinity(0))\n'
            '    os.sched_setaffinity(0, os.sched_getaffinity(0))\n'
            '    os._exit(0)\n'
            'os.waitpid(child, 0)\n')
    result = harness.run_measured(['python3', '-c', code], folder)
    assert result.status == 0, result.stderr
    counts = sorted(sum(call['calls'] for call in Facts(profile).calls) for profile in result.profiles)
    assert counts == [1, 2], (counts, os.listdir(folder))


if __name__ == '__main__':
    harness.main()
