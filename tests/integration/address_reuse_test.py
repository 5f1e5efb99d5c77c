#!/usr/bin/env python3
"""Two sites that reuse one address: a sample belongs to the block that lived at its time."""
import harness
from harness import case


def check(folder, rate):
    result = harness.run_measured([harness.PROGRAMS / 'address_reuse', '3'], folder, {'rate': rate})
    truth = result.json()
    parsed = result.only_profile()
    assert truth['same_address'] > 0.9 * truth['turns'], f'the address was not reused: {truth}'
    other = {'site_a': truth['code']['site_b'], 'site_b': truth['code']['site_a']}
    wrong = 0
    for site_function, wrong_code in other.items():
        sites = harness.sites_of(parsed, site_function)
        assert sites, f'no site of {site_function}'
        wrong += sum(code['samples'] for site in sites for code in site['code']
                     if harness.plain_name(code['function']) == wrong_code)
    print(f'{truth["turns"]} turns, {wrong} samples on the wrong site, '
          f'{parsed["unattributed"].get("ambiguous_time", 0)} ambiguous in time')
    harness.check_shares(parsed, truth['shares'])
    assert wrong == 0, f'{wrong} samples on the wrong site'


@case(serial=True)
def no_sample_on_the_wrong_site_at_1_khz(folder):
    check(folder, 1000)


@case(serial=True)
def no_sample_on_the_wrong_site_at_4_khz(folder):
    check(folder, 4000)


if __name__ == '__main__':
    harness.main()
