"""Runs placed_blocks under the agent until there is enough to judge, and holds what the report says
of nodes against where the pages are.
"""
import collections
import json
import os
import subprocess
import time

import guest_case
import harness
import perf
import placement

ENOUGH_SECONDS = 150  # a crowded host makes a guest slow: wait for samples, but not for ever
PAGE = 4096
FUNCTIONS = ('AllocateNear', 'AllocateFar', 'AllocateSpread', 'AllocateHalf')


class Truth:
    """Where placed_blocks put its blocks, asked from outside before it ends."""

    def __init__(self, blocks, pid):
        self.blocks = blocks
        self.node_of_page = {}
        for block in blocks:
            block['nodes'] = placement.nodes_of(block['start'], block['bytes'], pid)
            for index, node in enumerate(block['nodes']):
                self.node_of_page[block['start'] + index * PAGE] = node

    def node_at(self, address):
        """None outside the blocks; negative where there is no page."""
        return self.node_of_page.get(address // PAGE * PAGE)

    def of(self, function):
        return [block for block in self.blocks if block['function'] == function]


class Measured:
    def __init__(self, truth, profile):
        self.truth = truth
        self.profile = profile
        self.report = harness.report(profile)
        lines = subprocess.run([guest_case.PROGRAMS / 'raw_samples', profile], check=True,
                               capture_output=True).stdout.splitlines()
        self.raw = [json.loads(line) for line in lines]

    def sites(self, function):
        return harness.sites_of(self.report, function)


class Pace:
    """Counts a clock's ticks in threads as the agent's own event must: an emulated CPU takes 10 to 1,000
    a second, by how busy the host is. It also keeps perf's hooks patched into the kernel, which opening
    the first event of all takes an emulated machine a second for.
    """

    def __init__(self, tids):
        self.events = [perf.Event(pid=tid, type=1, config=0, period=1_000_000, sample_type=perf.IP,
                                  flags=('exclude_kernel',)) for tid in tids]

    def slowest(self):
        """Samples of the thread that has the fewest; one takes 16 bytes."""
        return min(event.head() // 16 for event in self.events)

    def close(self):
        for event in self.events:
            event.close()


def run(folder, ticks=250, options=None, preexec=None, arguments=()):
    """A Measured of a run of at least so many clock ticks in each thread; its profile is in `folder`."""
    folder.mkdir(exist_ok=True)
    folder.chmod(0o777)  # the program may be another user's
    profile = folder / 'placed_blocks.memagent'
    options = {'output': profile, 'raw_samples': 100000, **(options or {})}
    environment = harness.environment(LD_PRELOAD=str(harness.AGENT),
                                      MEMAGENT_OPTIONS=harness.options_text(folder, options))
    with subprocess.Popen([guest_case.PROGRAMS / 'placed_blocks', *arguments], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, env=environment, preexec_fn=preexec) as program:
        blocks = json.loads(program.stdout.readline())
        pace = Pace({block['tid'] for block in blocks})
        end = time.monotonic() + ENOUGH_SECONDS
        while pace.slowest() < ticks and time.monotonic() < end:
            time.sleep(0.2)
        truth = Truth(blocks, program.pid)
        pace.close()
        program.stdin.close()
        assert program.wait(60) == 0, program.returncode
    return Measured(truth, profile)


def check_samples(measured, can_be_unknown=()):
    """Each sampled page was found on the node where it lies: none wrong, and none unknown but those of
    blocks of these functions.
    """
    counts = collections.Counter()
    allowed = {page for function in can_be_unknown for block in measured.truth.of(function)
               for page in range(block['start'], block['start'] + block['bytes'], PAGE)}
    for sample in measured.raw:
        node = measured.truth.node_at(sample['address'])
        if node is None:
            continue
        assert node >= 0, f'a sample at {sample["address"]:#x}, where there is no page'
        found = sample['memory_node']
        counts['right' if found == node else 'unknown' if found == -1 else 'wrong'] += 1
        assert found == node or (found == -1 and sample['address'] // PAGE * PAGE in allowed), (sample, node)
    print(f'look-ups of sampled pages against move_pages: {dict(counts)}')
    assert counts['right'] >= 100, counts


def check_uses(measured, function, memory_nodes):
    """Who used the site from where; memory_nodes(block) are those that its pages may lie on."""
    tids = {thread['id']: thread['tid'] for thread in measured.report['threads']}
    allowed = {block['tid']: (block['node'], memory_nodes(block)) for block in measured.truth.of(function)}
    for site in measured.sites(function):
        for use in site['uses']:
            node, memory = allowed[tids[use['thread']]]
            assert use['cpu_node'] == node and use['memory_node'] in memory, (function, use)


def check_pages(measured, function):
    """Pages that the site is said to have on a node: no more than there are."""
    truth = collections.Counter(node for block in measured.truth.of(function) for node in block['nodes'])
    for site in measured.sites(function):
        for entry in site['pages']['by_node']:
            assert entry['pages'] <= truth[entry['node']], (function, entry, truth)


def remote_share(measured, function):
    """(share, located samples) of all sites of an allocating function."""
    sites = measured.sites(function)
    count = harness.total(sites, 'located_samples')
    return harness.total(sites, 'remote_samples') / count, count


def check_remote(measured, spread_nodes):
    """Remote shares: nothing, everything, and for the interleaved block all nodes but the own one."""
    expected = {'AllocateNear': 0, 'AllocateFar': 1, 'AllocateHalf': 0,
                'AllocateSpread': (spread_nodes - 1) / spread_nodes}
    for function, share in expected.items():
        measured_share, count = remote_share(measured, function)
        print(f'{function}: {100 * measured_share:.1f} % of {count} remote, truth {100 * share:.1f} %')
        assert count >= 20, f'{function}: {count} located samples'
        allowed = 5 * (share * (1 - share) / count) ** 0.5  # standard deviations
        assert abs(measured_share - share) <= allowed, function


def check(measured, node_count, rung='move_pages'):
    assert measured.report['own_cost']['page_node_rung'] == rung, measured.report['own_cost']
    print(harness.evidence_text(measured.report))
    check_samples(measured)
    check_remote(measured, node_count)
    check_uses(measured, 'AllocateNear', lambda block: {block['node']})
    check_uses(measured, 'AllocateHalf', lambda block: {block['node']})
    check_uses(measured, 'AllocateFar', lambda block: {block['far_node']})
    check_uses(measured, 'AllocateSpread', lambda block: set(range(node_count)))
    for function in FUNCTIONS:
        check_pages(measured, function)
