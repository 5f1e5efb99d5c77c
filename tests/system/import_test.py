#!/usr/bin/env python3
"""What the machine's own perf records of the simulated PMU, imported: addresses, levels and nodes are
those of the blocks that were worked on.
"""
import collections
import json
import re
import shutil
import subprocess
import time

import guest_case
import harness
import placed
from guest_case import case

# perf 6.1 knows --phys-data and --sample-cpu for ten years; both need no rights that root has not.
FIELDS = ['-d', '-W', '--phys-data', '--sample-cpu']
WANTED_SAMPLES = 1500
RECORD_SECONDS = 120


def require_perf():
    if shutil.which('perf') is None:
        harness.skip('perf is not installed')


def record(folder, event, period, *more):
    """perf.data of placed_blocks at work, and where its blocks are."""
    data = folder / 'perf.data'
    with subprocess.Popen([guest_case.PROGRAMS / 'placed_blocks'], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as program:
        truth = placed.Truth(json.loads(program.stdout.readline()), program.pid)
        command = ['perf', 'record', '-q', '-e', event, '-c', str(period), *FIELDS, *more,
                   '-p', str(program.pid), '-o', str(data)]
        with subprocess.Popen(command, stderr=subprocess.PIPE) as perf:
            end = time.monotonic() + RECORD_SECONDS
            while perf.poll() is None and time.monotonic() < end:
                if data.exists() and data.stat().st_size > WANTED_SAMPLES * 120:
                    break
                time.sleep(0.5)
            perf.send_signal(2)  # as Control-C ends it
            complaint = perf.stderr.read().decode()
        program.stdin.close()
    assert data.exists() and data.stat().st_size > 0, complaint
    return data, truth


def imported(data, folder):
    profile = folder / 'perf.memagent'
    result = harness.memagent('import', data, '-o', profile)
    assert result.status == 0, result.stderr.decode()
    print(result.stdout.decode() + result.stderr.decode())
    report = harness.report(profile)
    lines = subprocess.run([guest_case.PROGRAMS / 'raw_samples', profile], check=True,
                           capture_output=True).stdout.splitlines()
    return report, [json.loads(line) for line in lines]


def check_nodes(raw, truth):
    """Each sample in a block: the node of its page is where the page lies, by its physical address."""
    counts = collections.Counter()
    for sample in raw:
        node = truth.node_at(sample['address'])
        if node is None or node < 0:
            continue
        counts['right' if sample['memory_node'] == node else f'{node} taken for {sample["memory_node"]}'] += 1
    print(f'nodes of pages: {dict(counts)}')
    assert set(counts) == {'right'} and counts['right'] > 300, counts


def check_report(report, engine):
    assert report['engine'] == engine, report['engine']
    assert len(report['nodes']) == 4, report['nodes']
    # Blocks of 2 MiB are mappings of their own.
    blocks = [site for site in report['sites'] if site['kind'] == 'mmap' and site['samples'] > 20]
    assert len(blocks) >= 12, [(site['function'], site['samples']) for site in report['sites']]
    functions = collections.Counter()
    for site in blocks:
        for code in site['code']:
            functions[harness.plain_name(code['function'])] += code['samples']
    print(f'code: {functions.most_common(3)}')
    assert functions.most_common(1)[0][0] == 'WorkOnPages', functions


def check_against_perf(data, raw):
    """Every user-space sample is in both with the same CPU, address, data source, weight and code."""
    text = subprocess.run(['perf', 'script', '-i', data, '-F', 'cpu,addr,data_src,weight,ip'], check=True,
                          capture_output=True, text=True).stdout
    theirs = collections.Counter()
    for line in text.splitlines():
        found = re.search(r'\[(\d+)\]\s+([0-9a-f]+)\s+([0-9a-f]+) \|.*\s(\d+)\s+([0-9a-f]+)$', line)
        assert found, line
        cpu, address, source, weight, ip = found.groups()
        theirs[int(cpu), int(address, 16), int(source, 16), int(weight), int(ip, 16)] += 1
    ours = collections.Counter(
        (sample['cpu'], sample['address'], sample['data_src'], sample['latency'], sample['ip']) for sample in raw)
    # An address of the kernel's is not kept, nor that of an access by it.
    is_user = [row for row in theirs if row[1] != 0 and row[1] >> 63 == 0 and row[4] >> 63 == 0]
    wrong = [row for row in is_user if ours[row] != theirs[row]]
    print(f'{sum(theirs[row] for row in is_user)} samples of user space, {len(wrong)} differ from perf script')
    assert len(is_user) > 300 and not wrong, wrong[:5]


def check_remote(report, raw):
    """One CPU for each node, of the same number: a page of another number is another node's."""
    assert len(raw) == report['samples_seen'] - sum(report['dropped'].values()), 'not all samples were kept'
    located = [sample for sample in raw if sample['site'] != 0 and sample['memory_node'] >= 0]
    remote = sum(sample['cpu'] != sample['memory_node'] for sample in located)
    print(f'{remote} of {len(located)} samples remote')
    assert (report['located_samples'], report['remote_samples']) == (len(located), remote)
    assert 0.2 < remote / len(located) < 0.8


@case()
def ibs(folder):
    require_perf()
    guest_case.load_simpmu(pebs=0)
    data, truth = record(folder, 'ibs_op//', 200_000)
    report, raw = imported(data, folder)
    check_report(report, 'ibs')
    check_nodes(raw, truth)
    check_remote(report, raw)
    check_against_perf(data, raw)


@case(long=True)
def ibs_with_registers(folder):
    require_perf()
    guest_case.load_simpmu(pebs=0)
    data, truth = record(folder, 'ibs_op//', 200_000, '--raw-samples')
    report, raw = imported(data, folder)
    check_report(report, 'ibs')
    check_nodes(raw, truth)
    check_remote(report, raw)
    check_against_perf(data, raw)
    assert report['access']['latency']['samples'] > 0, report['access']


@case()
def pebs(folder):
    require_perf()
    guest_case.load_simpmu(ibs=0, pebs_model='skx')
    data, truth = record(folder, 'cpu/mem-loads,ldlat=3/P', 100_000)
    report, raw = imported(data, folder)
    check_report(report, 'pebs')
    check_nodes(raw, truth)
    check_remote(report, raw)
    check_against_perf(data, raw)


guest_case.main()
