#!/usr/bin/env python3
"""memagent run --place: the kernel has another policy for the blocks of a site, and the program sees nothing else."""
import errno
import json
import os
import pathlib
import sys

import harness
from harness import case

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'system'))
import seccomp  # noqa: E402

PROGRAM = harness.PROGRAMS / 'placed_sites'
REBUILT = harness.PROGRAMS / 'placed_sites_rebuilt'
DEFAULT, PREFERRED, BIND, INTERLEAVE, LOCAL = 0, 1, 2, 3, 4  # linux/mempolicy.h
STATUS = 3  # of the program


class Placed:
    def __init__(self, finished, folder):
        self.said = json.loads(finished.stdout)
        self.lines = finished.stderr.decode().splitlines()
        self.reports = [harness.report(path) for path in harness.profiles_in(folder)]
        assert finished.status == STATUS, finished.status
        assert self.said['wrong'] == 0, self.said

    def rule(self, index=0, report=-1):
        return self.reports[report]['placements'][index]


def run(folder, rules, *command, program=PROGRAM, **arguments):
    words = [word for rule in rules for word in ('--place', rule)]
    return harness.memagent('run', '-o', folder / '%e.%p.memagent', '--engine', 'none', *words, '--',
                            program, *command, cwd=folder, **arguments)


def placed(folder, rules, *command, **arguments):
    result = Placed(run(folder, rules, *command, **arguments), folder)
    if any(rule['refused_errno'] in (errno.EPERM, errno.ENOSYS) for report in result.reports for rule in report['placements']):
        harness.skip('mbind is refused here')
    return result


@case
def function_is_placed_before_its_memory_is_touched(folder):
    plain = harness.run_plain([PROGRAM, 'once'])
    assert plain.status == STATUS and plain.json()['field'] == DEFAULT
    result = placed(folder, ['fn:AllocateField=interleave', 'fn:MapField=bind:0'], 'once')
    assert result.said == {'before_touch': INTERLEAVE, 'field': INTERLEAVE, 'other': DEFAULT,
                           'map': PREFERRED, 'wrong': 0}, result.said
    assert result.said.keys() == plain.json().keys()
    field, mapping = result.rule(0), result.rule(1)
    assert (field['blocks'], field['bytes'], field['freed_blocks']) == (1, 8 << 20, 1), field
    assert (mapping['blocks'], mapping['bytes'], mapping['sites_matched']) == (1, 8 << 20, 1), mapping
    assert field['applied'] and mapping['applied'] and field['moved_blocks'] == 0
    assert len(result.lines) == 5 and 'fn:AllocateField=interleave placed 1 block, 8.0 MiB' in result.lines[1], result.lines
    profile = harness.profiles_in(folder)[0]
    for command in ('report', 'info'):
        text = ' '.join(harness.memagent(command, profile).stdout.decode().split())
        assert 'fn:MapField=bind:0 placed 1 block, 8.0 MiB' in text, text


def site_of(folder, function, program=PROGRAM):
    """What a rule calls the site that a function allocates, of a profile in a folder of its own."""
    before = folder / 'before'
    before.mkdir()
    measured = harness.run_measured([program, 'once'], before, {'engine': 'none'})
    site = harness.sites_of(measured.only_profile(), function)
    assert len(site) == 1, site
    return f'{site[0]["id"]}@{measured.profiles[0]}'


@case
def site_of_a_profile_is_found_again(folder):
    site = site_of(folder, 'AllocateOther')
    result = placed(folder, [f'{site}=local'], 'once')
    assert (result.said['field'], result.said['other'], result.said['map']) == (DEFAULT, LOCAL, DEFAULT)
    rule = result.rule()
    assert rule['sites_matched'] == 1 and 'AllocateOther' in rule['meaning'], rule
    sites = {site['profile_site']: site for site in result.reports[-1]['sites']}
    assert 'AllocateOther' in [harness.plain_name(frame['function'])
                               for frame in sites[rule['profile_sites'][0]]['stack']], rule


@case
def site_is_found_in_a_program_that_was_built_anew(folder):
    site = site_of(folder, 'AllocateField')
    result = placed(folder, [f'{site}=interleave'], 'once', program=REBUILT)
    assert (result.said['field'], result.said['other']) == (INTERLEAVE, DEFAULT), (result.said, result.lines)


@case
def memory_that_is_given_back_has_no_policy(folder):
    result = placed(folder, ['fn:AllocateField=interleave'], 'reuse')
    assert (result.said['field'], result.said['other'], result.said['again']) == (INTERLEAVE, DEFAULT, INTERLEAVE)
    rule = result.rule()
    assert rule['blocks'] == rule['freed_blocks'] == 2, rule
    if result.said['same_place']:
        assert rule['moved_blocks'] == 1, rule


@case
def grown_block_is_placed_again(folder):
    result = placed(folder, ['fn:AllocateField=interleave', 'fn:Realloc=local'], 'realloc')
    assert (result.said['field'], result.said['grown']) == (INTERLEAVE, LOCAL), result.said
    assert result.said['after_failure'] == LOCAL, result.said


@case
def mapping_is_not_cut_into_parts(folder):
    result = placed(folder, ['fn:MapField=block:0+0+0'], 'remap')
    rule = result.rule()
    assert (rule['blocks'], rule['uncut_mappings'], rule['refused_calls']) == (0, 1, 0), rule
    assert not rule['applied'], rule
    assert any('warning' in line and '1 mapping of mmap stayed' in line for line in result.lines), result.lines


@case
def rule_goes_before_what_the_program_places_itself(folder):
    plain = harness.run_plain([PROGRAM, 'own'])
    if plain.json()['field'] != BIND:
        harness.skip('mbind is refused here')
    assert plain.json()['map'] == BIND, plain.stdout
    huge = 'hg' in plain.json()['field_flags']
    result = placed(folder, ['fn:AllocateField=interleave', 'fn:MapField=local', 'fn:AllocateOther=nohuge'], 'own')
    assert (result.said['field'], result.said['map']) == (INTERLEAVE, LOCAL), result.said
    assert ('hg' in result.said['field_flags'].split()) == huge, result.said
    assert not huge or 'nh' in result.said['other_flags'].split(), result.said
    assert [result.rule(i)['overruled_calls'] for i in range(3)] == [1, 1, 2 if huge else 0], result.reports
    assert any('made way for the rule' in line for line in result.lines), result.lines


@case
def threads_lose_nothing(folder):
    result = placed(folder, ['fn:AllocateField=interleave'], 'threads')
    rule = result.rule()
    assert rule['blocks'] == rule['freed_blocks'] == 2000, rule


@case
def number_of_placed_blocks_is_bounded(folder):
    result = placed(folder, ['fn:AllocateField=interleave'], 'many')
    rule = result.rule()
    assert rule['blocks'] == rule['freed_blocks'] and rule['blocks'] + rule['over_limit_blocks'] == 12000, rule
    assert 7000 < rule['blocks'] <= 8192, rule
    assert any('warning' in line and 'too many' in line for line in result.lines), result.lines


@case
def children_follow_the_same_rules(folder):
    result = placed(folder, ['fn:AllocateField=interleave'], 'child')
    assert result.said['field'] == INTERLEAVE, result.said
    blocks = sorted(report['placements'][0]['blocks'] for report in result.reports)
    assert blocks == [0, 1], blocks


@case
def program_that_a_shell_starts_is_placed(folder):
    shell = harness.memagent('run', '-o', folder / '%e.%p.memagent', '--engine', 'none', '--place',
                             f'fn:AllocateField@{PROGRAM}=interleave', '--', 'sh', '-c', f'{PROGRAM} once; exit 3',
                             cwd=folder)
    result = Placed(shell, folder)
    assert result.said['field'] in (INTERLEAVE, DEFAULT), result.said
    if result.said['field'] == DEFAULT:
        assert 'refused' in ' '.join(result.lines) or any(
            report['placements'][0]['refused_calls'] for report in result.reports), result.reports


@case
def rule_that_matches_nothing_is_a_warning(folder):
    result = placed(folder, ['fn:NeverCalled=interleave'], 'once')
    assert result.said['field'] == DEFAULT
    assert result.rule()['sites_matched'] == 0 and not result.rule()['applied']
    assert any('warning: fn:NeverCalled=interleave matched no allocation' in line for line in result.lines), result.lines


@case
def small_blocks_are_counted(folder):
    rules = folder / 'rules'
    rules.write_text('# of all that the threads themselves allocate\nfn:main=local\n')
    for program in (PROGRAM, REBUILT):
        (folder / program.name).mkdir()
        result = placed(folder / program.name, [f'@{rules}'], 'threads', program=program)
        rule = result.rule()
        assert rule['sites_matched'] > 0 and rule['too_small_blocks'] > 0, (program, rule)


@case
def refusal_is_told_and_changes_nothing(folder):
    if os.uname().machine != 'x86_64':
        harness.skip('the number of mbind is that of x86-64')
    result = Placed(run(folder, ['fn:AllocateField=interleave'], 'once', preexec_fn=seccomp.refuse('mbind')), folder)
    assert result.said['field'] == DEFAULT
    rule = result.rule()
    assert rule['refused_calls'] == 1 and rule['refused_errno'] == errno.EPERM and rule['blocks'] == 0, rule
    assert any('warning' in line and 'Operation not permitted' in line for line in result.lines), result.lines


@case(rows='P68')
def filter_that_kills_for_placing_kills_nobody(folder):
    """systemd's SystemCallFilter=~@resources is there before the program starts."""
    if os.uname().machine != 'x86_64':
        harness.skip('the number of mbind is that of x86-64')
    result = Placed(run(folder, ['fn:AllocateField=interleave'], 'once',
                        preexec_fn=seccomp.kill('mbind')), folder)
    assert result.said['field'] == DEFAULT, result.said
    assert result.reports[-1]['placements'] == [], result.reports[-1]['placements']
    assert any('warning' in line and 'would kill the program' in line for line in result.lines), result.lines


@case
def what_makes_no_sense_is_refused_before_the_program_runs(folder):
    site = site_of(folder, 'AllocateField')
    profile = site.split('@', 1)[1]
    for rule, words in ((f'S999@{profile}=local', 'no site S999'),
                        ('S1@/no/such.memagent=local', '/no/such.memagent'),
                        ('S1=local', 'S3@PROFILE'),
                        ('fn:NoSuchFunction=local', 'no function NoSuchFunction'),
                        ('fn:AllocateField@/no/such.so=local', '/no/such.so'),
                        ('fn:AllocateField=bind:977', 'no memory on node 977'),
                        ('fn:AllocateField=spread', 'a placement is'),
                        ('fn:AllocateField', 'expected SITE=PLACEMENT'),
                        ('@/no/such/rules', '/no/such/rules')):
        result = run(folder, [rule], 'once')
        text = result.stderr.decode()
        assert result.status == 125 and result.stdout == b'', (rule, result.status)
        assert words in text and text.count('\n') == 1, (rule, text)
    assert harness.profiles_in(folder) == []


@case
def program_that_can_not_be_measured_is_not_run_unplaced(folder):
    static = harness.PROGRAMS / 'pitfalls/hello_static'
    for program, variables, words in ((static, {}, 'statically linked'), (PROGRAM, {'MEMAGENT': 'off'}, 'MEMAGENT=off'),
                                      (PROGRAM, {'MEMAGENT': '0'}, 'MEMAGENT=off')):
        result = run(folder, ['fn:main=local'], 'once', program=program, env=harness.environment(**variables))
        text = result.stderr.decode()
        assert result.status == 125 and result.stdout == b'', (words, result.status)
        assert words in text and text.count('\n') == 1, (words, text)


@case
def rules_are_gone_when_the_run_is_over(folder):
    variables = harness.environment(TMPDIR=str(folder))
    placed(folder, ['fn:AllocateField=interleave'], 'once', env=variables)
    assert [path.name for path in folder.iterdir() if not path.name.endswith('.memagent')] == []


@case
def file_of_rules_that_is_not_there_is_a_warning(folder):
    result = harness.run_measured([PROGRAM, 'once'], folder, {'engine': 'none', 'place': '/no/such/file'})
    assert result.status == STATUS and result.json()['field'] == DEFAULT
    events = result.only_profile()['events']
    assert any('place' in event['text'] and "can't be read" in event['text'] for event in events), events


if __name__ == '__main__':
    harness.main()
