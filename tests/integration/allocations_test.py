#!/usr/bin/env python3
"""Allocations, frees and bytes of every allocation function, from threads and after fork."""
import harness
from harness import case


@case
def every_function_is_counted_exactly(folder):
    result = harness.run_measured([harness.PROGRAMS / 'malloc_family', '100'], folder)
    assert result.status == 0, f'status {result.status}: pass-through is not exact; {result.stderr}'
    truth = result.json()
    parsed = result.only_profile()
    problems = []
    for expected in truth['sites']:
        sites = harness.sites_of(parsed, expected['function'])
        found = {key: harness.total(sites, key)
                 for key in ('allocations', 'frees', 'bytes_allocated', 'bytes_live')}
        right = {'allocations': truth['calls'], 'frees': truth['calls'],
                 'bytes_allocated': truth['calls'] * truth['bytes_each'], 'bytes_live': 0}
        kinds = {site['kind'] for site in sites}
        if found != right or kinds != {expected['kind']}:
            problems.append(f'{expected["function"]}: {found} of kind {kinds}, expected {right} of '
                            f'{expected["kind"]}')
    assert not problems, '\n'.join(problems)


def check_threads(folder, program, *arguments):
    result = harness.run_measured([harness.PROGRAMS / program, *arguments], folder)
    assert result.status == 0, result.stderr
    truth = result.json()
    parsed = result.only_profile()
    allocations = harness.total(harness.sites_of(parsed, truth['site']), 'allocations')
    assert allocations == truth['allocations'], f'{allocations} allocations, {truth}'
    print(f'{len(parsed["threads"])} threads listed, {harness.evidence_text(parsed)}')
    return truth, parsed


@case
def threads_that_come_and_go(folder):
    truth, parsed = check_threads(folder, 'thread_churn', '2000')
    assert len(parsed['threads']) >= truth['threads'], f'{len(parsed["threads"])} threads listed, {truth}'


@case
def two_hundred_threads_at_once(folder):
    truth, parsed = check_threads(folder, 'many_threads', '200', '10')
    # A thread works for 10 ms. On a crowded machine its events may open late: then it says so.
    sampled = [thread for thread in parsed['threads'] if thread['samples_seen'] > 0]
    explained = [thread for thread in parsed['threads'] if thread['samples_seen'] == 0
                 and (thread['not_sampled'] or thread['unobserved_ns'] > 5_000_000)]
    assert len(sampled) + len(explained) >= truth['threads'], (
        f'{len(sampled)} threads sampled, {len(explained)} say why not')


@case
def children_have_profiles_of_their_own(folder):
    result = harness.run_measured([harness.PROGRAMS / 'fork_children', '3'], folder)
    assert result.status == 0, result.stderr
    truth = result.json()
    reports = [harness.report(profile) for profile in result.profiles]
    by_pid = {}
    for parsed in reports:
        by_pid.setdefault(parsed['process']['pid'], []).append(parsed)
    assert set(by_pid) == {truth['parent'], *truth['children']}, f'{sorted(by_pid)} against {truth}'
    assert harness.sites_of(by_pid[truth['parent']][0], 'alloc_in_parent')
    for child in truth['children']:
        sites = [site for parsed in by_pid[child] for site in harness.sites_of(parsed, 'alloc_in_child')]
        assert harness.total(sites, 'allocations') == 1, f'child {child}: {sites}'
        assert harness.total(sites, 'samples') > 0, f'child {child} has no sample on its allocation'
        forked = [parsed for parsed in by_pid[child] if parsed['process']['forked_without_exec']]
        for site in harness.sites_of(forked[0], 'alloc_in_parent'):
            counts = [site[key] for key in ('allocations', 'inherited_blocks', 'inherited_bytes', 'bytes_live')]
            assert counts == [0, 1, 2 << 20, 2 << 20], f'of the parent, in child {child}: {site}'


@case
def no_child_profile_when_not_followed(folder):
    result = harness.run_measured([harness.PROGRAMS / 'fork_children', '3'], folder, {'follow': 'no'})
    assert result.status == 0, result.stderr
    parsed = result.only_profile()
    assert parsed['process']['pid'] == result.json()['parent']


if __name__ == '__main__':
    harness.main()
