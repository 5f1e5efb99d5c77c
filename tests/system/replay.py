"""A program's run under `memagent run`, with where its pages lay as this test's own move_pages tells.

Which memory belongs to a site is taken from the addresses of its samples in the profile; the nodes of these
pages, by which the run is judged, are not.
"""
import collections
import pathlib
import re
import subprocess
import time

import harness
import placement

PAGE = 4096
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


def look(program, nodes):
    """Writes the node of each page that is there into `nodes`."""
    pid = process_of(program)
    if pid is None:
        return
    try:
        for start, size in anonymous_memory(pid):
            for index, node in enumerate(placement.nodes_of(start, size, pid)):
                if node >= 0:
                    nodes[start // PAGE + index] = node
    except OSError:
        return  # it has ended meanwhile


class Run:
    """`memagent run` of an example; `options` are the command's."""

    def __init__(self, folder, name, words, *options):
        self.profile = folder / f'{name}.memagent'
        program = harness.BUILD / 'examples' / words[0]
        command = [harness.MEMAGENT, 'run', '-o', self.profile, *options, '--', program, *words[1:]]
        self._nodes = {}  # page number -> node
        with subprocess.Popen([str(word) for word in command], stderr=subprocess.PIPE,
                              env=harness.environment()) as running:
            while running.poll() is None:
                look(program, self._nodes)
                time.sleep(SECONDS_BETWEEN_LOOKS)
            self.said = running.stderr.read().decode()
        print(self.said, end='')
        assert running.returncode == 0, running.returncode

    def samples(self, profile_site):
        """(page number, the page's node by the profile) of the site's kept samples."""
        result = harness.memagent('dump', self.profile)
        assert result.status == 0, result.stderr
        for record in re.findall(r'^  samples \{\n(.*?)^  \}', result.stdout.decode(), re.S | re.M):
            columns = collections.defaultdict(list)
            for name, value in re.findall(r'^    (\w+): (-?\d+)$', record, re.M):
                columns[name].append(int(value))
            for site, address, node in zip(columns['site'], columns['address'], columns['memory_node']):
                if site == profile_site:
                    yield address // PAGE, node

    def pages(self, profile_site):
        """How many of the pages that the site's samples show lie on which node. Holds the profile's node of
        each sample against them."""
        pages, wrong = {}, 0
        for page, told in self.samples(profile_site):
            if page in self._nodes:
                pages[page] = self._nodes[page]
                wrong += told >= 0 and told != self._nodes[page]
        assert wrong == 0, f'the profile has {wrong} samples on the wrong node'
        return collections.Counter(pages.values())
