"""A program's run under `memagent run`, with where its pages lay as this test's own move_pages tells.

Which memory belongs to a site is taken from the addresses of its samples in the profile; the nodes of these
pages, by which the run is judged, are not.
"""
import bisect
import collections
import pathlib
import re
import subprocess
import time

import harness
import placement

PAGE = 4096
WINDOW = 16  # pages around a sampled one that are looked at, too: few samples show much of a block
SECONDS_BETWEEN_LOOKS = 1.5


def process_of(program):
    """The number of the process that executes this file, None when there is none yet."""
    for link in pathlib.Path('/proc').glob('[0-9]*/exe'):
        try:
            if link.resolve() == program.resolve():
                return int(link.parent.name)
        except OSError:
            continue
    return None


def anonymous_memory(pid):
    """(start, bytes) of what may hold blocks."""
    for line in pathlib.Path(f'/proc/{pid}/maps').read_text().splitlines():
        words = line.split()
        if words[1] == 'rw-p' and words[4] == '0' and (len(words) == 5 or words[5] == '[heap]'):
            start, end = (int(word, 16) for word in words[0].split('-'))
            yield start, end - start


def look(program):
    """{page number: node} of the pages that are there now."""
    nodes = {}
    pid = process_of(program)
    try:
        for start, size in anonymous_memory(pid) if pid else ():
            nodes.update((start // PAGE + index, node)
                         for index, node in enumerate(placement.nodes_of(start, size, pid)) if node >= 0)
    except OSError:
        pass  # it has ended meanwhile
    return nodes


class Run:
    """`memagent run` of an example; `options` are the command's."""

    def __init__(self, folder, name, words, *options):
        self.profile = folder / f'{name}.memagent'
        program = harness.BUILD / 'examples' / words[0]
        command = [harness.MEMAGENT, 'run', '-o', self.profile, *options, '--', program, *words[1:]]
        self._looks = []  # (when, {page number: node})
        with subprocess.Popen([str(word) for word in command], stderr=subprocess.PIPE,
                              env=harness.environment()) as running:
            while running.poll() is None:
                self._looks.append((time.monotonic_ns(), look(program)))
                time.sleep(SECONDS_BETWEEN_LOOKS)
            self.said = running.stderr.read().decode()
        print(self.said, end='')
        assert running.returncode == 0, running.returncode

    def samples(self, profile_site):
        """(time, page number, the page's node by the profile) of the site's kept samples."""
        result = harness.memagent('dump', self.profile)
        assert result.status == 0, result.stderr
        for record in re.findall(r'^  samples \{\n(.*?)^  \}', result.stdout.decode(), re.S | re.M):
            columns = collections.defaultdict(list)
            for name, value in re.findall(r'^    (\w+): (-?\d+)$', record, re.M):
                columns[name].append(int(value))
            for sample in zip(columns['time'], columns['address'], columns['memory_node'], columns['site']):
                if sample[-1] == profile_site:
                    yield sample[0], sample[1] // PAGE, sample[2]

    def looks_around(self, when):
        """What was seen before and after."""
        times = [time for time, _ in self._looks]
        after = bisect.bisect(times, when)
        return [self._looks[i][1] for i in (after - 1, after) if 0 <= i < len(times)]

    def pages(self, profile_site):
        """How many of the pages on which the site has samples lie on which node: of those that lay on one node
        before and after the sample, as other memory may have their addresses at other times. Holds
        the profile's node of each sample against that."""
        pages, held, wrong = {}, 0, []
        for when, page, told in self.samples(profile_site):
            looks = self.looks_around(when)
            nodes = {nodes.get(page) for nodes in looks}
            if len(looks) < 2 or len(nodes) > 1 or None in nodes:
                continue
            first = page - page % WINDOW
            for near in range(first, first + WINDOW):
                if near in looks[0] and looks[0][near] == looks[1].get(near):
                    pages[near] = looks[0][near]
            held += 1
            if told >= 0 and told not in nodes:
                wrong.append((hex(page * PAGE), told, nodes))
        print(f'{held} samples held against move_pages, {len(wrong)} on another node')
        assert held > 0 and not wrong, f'the profile has samples on the wrong node: {wrong}'
        return collections.Counter(pages.values())
