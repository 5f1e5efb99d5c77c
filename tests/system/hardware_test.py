#!/usr/bin/env python3
"""The hardware engines, driven by the agent as users have it, on the simulated PMU: the report names the
engine and is right about nodes, levels and latencies, since what it should say is known.
"""
import json
import os
import pathlib

import guest_case
import harness
import placed
from guest_case import case

NOBODY = 65534
PARANOID = pathlib.Path('/proc/sys/kernel/perf_event_paranoid')
# A tick of the simulated counter is a nanosecond; 0.3 ms is what an emulated CPU can bear.
OPTIONS = {'period': 300_000}


def checked():
    """(exit status, what `memagent check` found)"""
    result = harness.memagent('check', '--json')
    return result.status, json.loads(result.stdout)


def check_engine(measured, engine, event):
    parsed = measured.report
    refused = {tried['kind']: tried['refused'] for tried in parsed['engines'] if tried['refused']}
    assert parsed['engine'] == engine, (parsed['engine'], refused)
    total = parsed['event_totals'][0]
    print(f'{parsed["engine"]}, {total["event"]}: {harness.evidence_text(parsed)}')
    assert total['event'].startswith(event) and not total['silent'], parsed['event_totals']
    assert total['samples'] > 0, parsed['event_totals']


def access_of(measured, function):
    """What hardware told of the one site of an allocating function."""
    sites = [site for site in measured.sites(function) if site['access']]
    assert len(sites) == 1, f'{len(sites)} sites of {function}'
    return sites[0]['access']


def check_latencies(measured, machine, issue=0):
    """Main memory takes 10 cycles for each unit of distance, and up to 15 more (simpmu/machine.c); SPE
    counts those until the issue, too.
    """
    near, far = access_of(measured, 'AllocateNear')['latency'], access_of(measured, 'AllocateFar')['latency']
    distances = [machine.distance(block['node'], block['far_node'])
                 for block in measured.truth.of('AllocateFar')]
    print(f'mean cycles near {near["mean"]:.0f}, far {far["mean"]:.0f}, distances {distances}')
    assert 100 <= near['mean'] - issue <= 115 and near['far']['samples'] == 0, near
    assert 10 * min(distances) <= far['mean'] - issue <= 10 * max(distances) + 15, far
    assert far['near']['samples'] == 0, far


def check_witnesses(measured, agree=1.0):
    witnesses = measured.report['access']['witnesses']
    print(f'witnesses: {witnesses["both_know"]} know, {witnesses["agree_share"]:.3f} agree')
    assert witnesses['both_know'] >= 100, witnesses
    allowed = 5 * (agree * (1 - agree) / witnesses['both_know']) ** 0.5
    assert abs(witnesses['agree_share'] - agree) <= allowed, witnesses


def check_all(measured, machine, engine, event, issue=0):
    check_engine(measured, engine, event)
    placed.check(measured, machine.node_count())
    check_latencies(measured, machine, issue)
    check_witnesses(measured)


def check_diff(before, after):
    """The mended run: AllocateFar went from all remote to none, AllocateNear stayed."""
    result = harness.memagent('diff', '--format', 'json', before.profile, after.profile)
    assert result.status == 0, result.stderr
    found = result.json()
    sites = {harness.plain_name(site['function']): site for site in found['sites']}
    far, near = sites['AllocateFar'], sites['AllocateNear']
    print(f'diff: AllocateFar {far["remote_share"]} {far["verdict"]}')
    assert (far['remote_share']['before'], far['remote_share']['after']) == (1, 0), far
    assert (near['remote_share']['before'], near['remote_share']['after']) == (0, 0), near
    assert far['matched_by'] == near['matched_by'] == 'call_stack', (far, near)


@case(nodes=4)
def ibs(folder):
    machine = guest_case.machine_of(ibs)
    guest_case.load_simpmu(ibs_kernel=702, pebs=0)
    status, found = checked()
    assert (status, found['engine'], found['engine_is_hardware']) == (0, 'ibs', True), found
    before = placed.run(folder / 'before', options=OPTIONS)
    check_all(before, machine, 'ibs', 'ibs_op/cnt_ctl=1,swfilt=1/')
    after = placed.run(folder / 'after', options=OPTIONS, arguments=['mended'])
    check_diff(before, after)
    guest_case.set_simpmu(wrong=20)
    disputed = placed.run(folder / 'disputed', options=OPTIONS)
    check_witnesses(disputed, agree=0.8)
    placed.check_samples(disputed)


@case(nodes=4)
def an_example(folder):
    """As a user has it: memagent run, no options, and the report of the known fault."""
    guest_case.load_simpmu(ibs_kernel=702, pebs=0)
    profile = folder / 'example.memagent'
    program = harness.BUILD / 'examples/one_thread_first_touch'
    result = harness.memagent('run', '--output', profile, '--', program, '1')
    print(result.stderr.decode(), end='')
    parsed = harness.report(profile)
    site = parsed['sites'][0]
    assert result.status == 0 and parsed['engine'] == 'ibs', (result.status, parsed['engine'])
    assert harness.plain_name(site['function']) == 'AllocateField', site['function']
    pages = {entry['node']: entry['pages'] for entry in site['pages']['by_node']}
    touched = {touch['node'] for touch in site['first_touch']}
    print(f'{site["samples"]} samples, pages {pages}, first touched on {touched}, '
          f'remote {site["remote_share"]:.3f}, {site["access"]["latency"]}')
    # All on the node of the main thread; four threads on four nodes use it.
    assert set(pages) <= touched and site['remote_share'] > 0.5, site
    assert site['access']['latency']['far']['mean'] > 1.5 * site['access']['latency']['near']['mean'], site


@case(long=True, nodes=2)
def ibs_with_kernel_samples(folder):
    """Before swfilt (Linux 6.14) nothing can be excluded: the kernel is sampled, too, and thrown away."""
    guest_case.load_simpmu(ibs_kernel=612, pebs=0)
    measured = placed.run(folder, options=OPTIONS)
    check_all(measured, guest_case.machine_of(ibs_with_kernel_samples), 'ibs', 'ibs_op/cnt_ctl=1/')


def as_nobody():
    """A preexec_fn: no rights but those that kernel.perf_event_paranoid gives."""
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


@case(nodes=2)
def without_rights(folder):
    """A user without capabilities at paranoid 2, the kernel's default, and 3, Debian's."""
    guest_case.load_simpmu(ibs_kernel=702, pebs=0)
    PARANOID.write_text('2')
    measured = placed.run(folder, options=OPTIONS, preexec=as_nobody)
    check_all(measured, guest_case.machine_of(without_rights), 'ibs', 'ibs_op/cnt_ctl=1,swfilt=1/')
    assert 'exclude_kernel' in measured.report['event_totals'][0]['attr'], measured.report['event_totals']
    PARANOID.write_text('3')
    parsed = placed.run(folder / 'refused', preexec=as_nobody).report
    refused = {engine['kind']: engine['refused'] for engine in parsed['engines']}
    print(f'paranoid 3: {refused["ibs"]}')
    assert parsed['engine'] == 'none' and parsed['samples_seen'] == 0, parsed['engine']
    assert 'kernel.perf_event_paranoid is above 2' in refused['ibs'] == refused['software'], refused
    assert harness.total(parsed['sites'], 'allocations') > 0, 'allocations are recorded all the same'


@case(long=True, nodes=2)
def ibs_of_cpus(folder):
    """Before Linux 6.2 IBS is no PMU of threads: whole CPUs are sampled, other programs left out."""
    guest_case.load_simpmu(ibs_kernel=601, pebs=0)
    status, found = checked()
    assert (status, found['engine']) == (0, 'ibs'), found
    measured = placed.run(folder, options=OPTIONS)
    check_all(measured, guest_case.machine_of(ibs_of_cpus), 'ibs', 'ibs_op/')


@case(long=True, nodes=2)
def events_that_never_run(folder):
    """They open and count nothing: check and report say so."""
    guest_case.load_simpmu(silent=1, pebs=0)
    _, found = checked()
    events = {engine['name']: engine['events'] for engine in found['engines']}['ibs']
    assert events[0]['opens'] and events[0]['ran'] == 'no' and found['engine'] != 'ibs', found['engines']
    parsed = placed.run(folder, options={'engine': 'ibs', **OPTIONS}).report
    print(parsed['event_totals'][0], parsed['quality'])
    total = parsed['event_totals'][0]
    assert total['silent'] and total['running_ns'] == total['samples'] == 0 < total['enabled_ns'], total
    assert any('never ran' in reason for reason in parsed['quality']['reasons']), parsed['quality']


@case(long=True, nodes=4, cpu='Skylake-Server-v4')
def pebs(folder):
    guest_case.load_simpmu(ibs=0, pebs_model='skx')
    status, found = checked()
    assert (status, found['engine']) == (0, 'pebs'), found
    measured = placed.run(folder, options=OPTIONS)
    check_all(measured, guest_case.machine_of(pebs), 'pebs', 'cpu/mem-loads')
    assert len(measured.report['event_totals']) == 2, measured.report['event_totals']


@case(nodes=2, cpu='Icelake-Server-v5')
def pebs_with_auxiliary_event(folder):
    guest_case.load_simpmu(ibs=0, pebs_model='spr')
    measured = placed.run(folder, options=OPTIONS)
    check_all(measured, guest_case.machine_of(pebs_with_auxiliary_event), 'pebs', 'cpu/mem-loads')


@case(nodes=4)
def spe(folder):
    """The AUX area is the kernel's own; only what fills it is simulated."""
    guest_case.load_simpmu(ibs=0, pebs=0, spe=1)
    status, found = checked()
    assert (status, found['engine']) == (0, 'spe'), found
    measured = placed.run(folder, options=OPTIONS)
    check_all(measured, guest_case.machine_of(spe), 'spe', 'arm_spe_0/', issue=12)


if __name__ == '__main__':
    guest_case.main()
