#!/usr/bin/env python3
"""memagent run --place on a machine with four nodes: where the pages lie, asked by this test with
move_pages, and what the report then says of remote accesses."""
import collections
import json
import subprocess
import time

import guest_case
import harness
import placement
from guest_case import case

PAGE = 4096
ENOUGH_SECONDS = 60
ENOUGH_SAMPLES = 150


class Measured:
    """A run of first_touch_field under `memagent run`."""

    def __init__(self, folder, name, *rules, samples=ENOUGH_SAMPLES):
        self.profile = folder / f'{name}.memagent'
        words = [word for rule in rules for word in ('--place', rule)]
        command = [harness.MEMAGENT, 'run', '-o', self.profile, '--checkpoint', '2', *words, '--',
                   guest_case.PROGRAMS / 'first_touch_field']
        with subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=harness.environment()) as program:
            said = program.stdout.readline()
            assert said, program.stderr.read().decode()
            truth = json.loads(said)
            self.parts = truth['parts']
            self.wait(samples)
            for part in self.parts:
                part['pages'] = placement.nodes_of(part['start'], part['bytes'], truth['pid'])
            _, errors = program.communicate(b'', timeout=60)
            print(errors.decode())
            assert program.returncode == 0, program.returncode
        self.report = harness.report(self.profile)
        (self.site,) = harness.sites_of(self.report, 'AllocateField')
        print(f'{name}: {self.site["remote_samples"]} of {self.site["located_samples"]} samples remote, '
              f'pages {dict(self.pages())}')

    def wait(self, samples):
        """Until the profile on disk has enough samples on the field."""
        end = time.monotonic() + ENOUGH_SECONDS
        while samples and time.monotonic() < end:
            time.sleep(2)
            if not self.profile.exists():
                continue
            sites = harness.sites_of(harness.report(self.profile), 'AllocateField')
            if sites and sites[0]['located_samples'] >= samples:
                return

    def pages(self):
        return collections.Counter(node for part in self.parts for node in part['pages'])

    def remote(self):
        return self.site['remote_samples'] / self.site['located_samples']

    def rule(self):
        return self.report['placements'][0]


@case()
def field_that_one_thread_touched_goes_where_the_rule_says(folder):
    before = Measured(folder, 'before')
    assert set(before.pages()) == {0} and before.report['placements'] == [], before.pages()
    assert 0.6 < before.remote() < 0.9, before.remote()
    site = f'{before.site["id"]}@{before.profile}'

    spread = Measured(folder, 'spread', f'{site}=interleave', samples=0)
    total = sum(spread.pages().values())
    for node in range(4):
        assert abs(spread.pages()[node] / total - 0.25) < 0.02, spread.pages()
    assert spread.rule()['applied'] and spread.rule()['blocks'] == 1, spread.rule()

    block = Measured(folder, 'block', f'{site}=block')
    for part in block.parts:  # the cut is between pages, one to the left or right of the program's
        assert part['pages'].count(part['node']) >= len(part['pages']) - 2, (part['node'], part['pages'])
    assert block.remote() < 0.05, block.remote()

    bound = Measured(folder, 'bound', f'{site}=bind:2', samples=0)
    assert set(bound.pages()) == {2}, bound.pages()


@case()
def mapping_of_the_program_can_still_be_moved(folder):
    """It is not cut into parts, which mremap would refuse."""
    finished = harness.memagent('run', '-o', folder / 'remap.memagent', '--engine', 'none', '--place',
                                'fn:MapField=block:0+1+2', '--', harness.PROGRAMS / 'placed_sites', 'remap')
    assert finished.status == 3, finished.stderr.decode()
    assert finished.json() == {'wrong': 0}, finished.stdout
    (rule,) = harness.report(folder / 'remap.memagent')['placements']
    assert not rule['applied'] and rule['blocks'] == 0, rule


if __name__ == '__main__':
    guest_case.main()
