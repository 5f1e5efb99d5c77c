#!/usr/bin/env python3
"""sample_bytes= and budget=: estimates that are right, and say how sure they are."""
import harness
from harness import case

COUNTS = ('allocations', 'frees', 'bytes_allocated', 'bytes_live')
# Half an interval is 1.96 standard deviations: five are missed once in two million tries.
FIVE_SIGMA = 5 / 1.96


def only_site(parsed, function):
    """The site that this very function allocates."""
    sites = [site for site in parsed['sites'] if harness.plain_name(site['function']) == function]
    assert len(sites) == 1, f'{function}: {len(sites)} sites'
    return sites[0]


def check_estimate(site, key, expected):
    """The interval, widened to five standard deviations, holds the truth. True when it itself does."""
    low, high = site['sampled'][f'{key}_interval']
    middle = (low + high) / 2
    assert low <= site[key] <= high + 1, f'{key} {site[key]} outside of its interval {low}..{high}'
    assert abs(middle - expected) <= FIVE_SIGMA * (high - low) / 2 + 1, (
        f'{site["function"]}: {key} {site[key]} ({low:.0f} to {high:.0f}), truth {expected}')
    return low <= expected <= high


@case
def estimates_hold_the_truth(folder):
    result = harness.run_measured([harness.PROGRAMS / 'sampled_blocks'], folder,
                                  {'sample_bytes': 2048, 'follow': 'no'})
    assert result.status == 0, result.stderr
    truth = result.json()
    parsed = result.only_profile()
    held = []
    for function, counts in truth['sites'].items():
        site = only_site(parsed, function)
        if function == 'alloc_large':
            assert 'sampled' not in site, site['sampled']
            assert {key: site[key] for key in COUNTS} == counts, site
            continue
        assert 0 < site['sampled']['picked_allocations'] < counts['allocations'] / 2, site['sampled']
        held += [check_estimate(site, key, counts[key]) for key in COUNTS]
    print(f'{sum(held)} of {len(held)} 95 % intervals hold the truth')
    assert sum(held) >= len(held) * 0.6, held  # a site's four numbers err together
    economy = parsed['economy']
    calls = sum(counts['allocations'] for counts in truth['sites'].values())
    tracked = parsed['own_cost']['allocations_tracked']
    assert economy['sample_bytes'] == economy['largest_sample_bytes'] == 2048, economy
    assert calls <= economy['not_picked'] + tracked <= calls + 10_000, (economy, tracked, calls)
    assert 'foreign_free' not in parsed['untracked_allocations'], parsed['untracked_allocations']
    assert economy['unpicked_frees'] > 100_000, economy


@case
def a_child_of_fork_frees_what_it_inherited(folder):
    result = harness.run_measured([harness.PROGRAMS / 'sampled_blocks'], folder, {'sample_bytes': 1024})
    assert result.status == 0, result.stderr
    truth = result.json()
    child = [parsed for parsed in map(harness.report, result.profiles)
             if parsed['process']['pid'] == truth['child']]
    assert len(child) == 1, result.profiles
    site = only_site(child[0], 'alloc_small')
    live = truth['live_small']
    assert site['allocations'] == 0 and site['sampled']['picked_allocations'] == 0, site
    check_estimate(site, 'frees', live / 4)
    check_estimate(site, 'bytes_live', 32 * (live - live / 4))
    assert abs(site['inherited_blocks'] / live - 1) < 0.2, site


@case
def a_report_says_that_its_numbers_are_estimates(folder):
    result = harness.run_measured([harness.PROGRAMS / 'sampled_blocks'], folder,
                                  {'sample_bytes': 1024, 'follow': 'no', 'engine': 'none'})
    for words in (['report'], ['report', '--by', 'object'], ['info']):
        text = harness.memagent(*words, result.profiles[0]).stdout.decode()
        sentence = 'blocks under 1.00 KiB were tracked by chance'
        assert ' '.join(text.split()).count(sentence) == 1, text
    site = harness.memagent('report', '--all', '--width', '150', result.profiles[0]).stdout.decode()
    assert '~' in site and 'alloc_small' in site, site
    csv = harness.memagent('report', '--format', 'csv', result.profiles[0]).stdout.decode()
    assert 'allocations_low,allocations_high' in csv.splitlines()[0], csv


@case
def without_the_option_everything_is_exact(folder):
    result = harness.run_measured([harness.PROGRAMS / 'sampled_blocks'], folder, {'follow': 'no'})
    truth = result.json()
    parsed = result.only_profile()
    assert parsed['economy'] is None, parsed['economy']
    for function, counts in truth['sites'].items():
        site = only_site(parsed, function)
        assert 'sampled' not in site, site
        assert {key: site[key] for key in COUNTS} == counts, (site, counts)


@case
def a_budget_lowers_rates_in_a_storm_and_says_so(folder):
    result = harness.run_measured([harness.PROGRAMS / 'allocation_storm', '4000'], folder, {'budget': '1%'})
    assert result.status == 0, result.stderr
    truth = result.json()
    parsed = result.only_profile()
    economy = parsed['economy']
    assert economy['budget_share'] == 0.01 and economy['budget_steps'] > 0, economy
    assert economy['largest_sample_bytes'] >= 128, economy
    steps = [event for event in parsed['events'] if event['code'] == 'budget_lowered']
    assert steps and 'lowered rates to' in steps[0]['text'], parsed['events']
    site = only_site(parsed, truth['site'])
    for key in ('allocations', 'bytes_allocated'):
        check_estimate(site, key, truth[key])
    print(f'{economy}; {site["allocations"]} allocations, in truth {truth["allocations"]}')
    text = ' '.join(harness.memagent('report', result.profiles[0]).stdout.decode().split())
    assert 'Budget 1.0 % of the program' in text, text


@case
def a_budget_that_is_no_percentage_is_ignored_and_said(folder):
    for number, (asked, used) in enumerate((('0.5', 0.005), ('much', 0), ('200%', 0), ('0', 0))):
        mine = folder / str(number)
        mine.mkdir()
        parsed = harness.run_measured([harness.PROGRAMS / 'small_blocks'], mine, {'budget': asked}).only_profile()
        assert (parsed['economy'] or {}).get('budget_share', 0) == used, (asked, parsed['economy'])
        said = [event for event in parsed['events'] if 'budget' in event['text']]
        assert bool(said) == (asked in ('much', '200%')), (asked, said)


@case
def other_sizes_are_rounded_and_said(folder):
    for asked, used in ((3000, 2048), (1 << 30, 1 << 20), (1, None)):
        mine = folder / str(asked)
        mine.mkdir()
        result = harness.run_measured([harness.PROGRAMS / 'small_blocks'], mine, {'sample_bytes': asked})
        parsed = result.only_profile()
        economy = parsed['economy']
        assert (economy and economy['sample_bytes']) == used, (asked, economy)
        said = [event for event in parsed['events'] if 'sample_bytes' in event['text']]
        assert bool(said) == (asked > 1), said


if __name__ == '__main__':
    harness.main()
