#!/usr/bin/env python3
"""memagent diff of real runs: nothing changed between two runs of one program, much between two programs."""
import harness
from harness import case

CHANGED = {'better', 'worse', 'fixed', 'mixed'}


def profile_of(folder, name, run):
    result = harness.run_measured([harness.BUILD / 'examples' / name], folder / f'{name}{run}')
    assert result.status == 0 and len(result.profiles) == 1, (result.profiles, result.stderr)
    return result.profiles[0]


def run_in(folder, name, runs):
    for run in range(runs):
        (folder / f'{name}{run}').mkdir()
    return [profile_of(folder, name, run) for run in range(runs)]


def diff(*words):
    result = harness.memagent('diff', '--format', 'json', *words)
    assert result.status == 0, result.stderr
    return result.json()


def site_named(found, name):
    return next(site for site in found['sites'] if harness.plain_name(site['function']) == name)


@case
def two_runs_of_one_program_are_the_same(folder):
    before, after = run_in(folder, 'hot_static_array', 2)
    found = diff(before, after)
    site = site_named(found, 'g_histogram')
    print({key: site[key] for key in ('share', 'total', 'verdict', 'matched_by')})
    assert found['comparable'] and found['same_build'], found['differences']
    assert site['matched_by'] == 'name' and site['verdict'] == 'same', site
    changed = [site for site in found['sites'] if site['verdict'] in CHANGED]
    assert not changed, changed
    assert found['wall']['change_interval'] is None, found['wall']
    held = harness.memagent('diff', before, after, '--fail-if', '*.share>+5', '--fail-if', '*.verdict=worse')
    assert held.status == 0 and not held.stderr, held.stderr


@case
def two_programs_have_other_sites(folder):
    before, = run_in(folder, 'hot_static_array', 1)
    after, = run_in(folder, 'linked_list', 1)
    found = diff(before, after)
    assert not found['comparable'], found
    assert any(text.startswith('program (') for text in found['differences']), found['differences']
    assert site_named(found, 'g_histogram')['verdict'] == 'gone'
    assert site_named(found, 'MakeNode')['verdict'] == 'new'
    failed = harness.memagent('diff', before, after, '--fail-if', '*.verdict=new')
    print(failed.stderr.decode(), end='')
    assert failed.status == 1 and b'MakeNode is new' in failed.stderr, failed.stderr


@case
def several_runs_tell_how_much_runs_differ(folder):
    runs = run_in(folder, 'false_sharing', 4)
    found = diff(*runs[:2], '--vs', *runs[2:])
    print(found['wall'])
    assert found['wall']['basis'] == 'runs', found['wall']
    low, high = found['wall']['change_interval']
    assert low < 0 < high or found['wall']['verdict'] != 'no clear change', found['wall']
    assert site_named(found, 'AllocateCounters')['verdict'] not in CHANGED, found['sites'][0]
    assert len(found['runs_before']) == len(found['runs_after']) == 2


if __name__ == '__main__':
    harness.main()
