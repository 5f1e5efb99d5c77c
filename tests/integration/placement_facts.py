"""What a profile says of where memory and threads were put (tests/system/programs/placement_facts.cc)."""
import json
import subprocess

import harness


class Facts:
    def __init__(self, profile):
        lines = subprocess.run([harness.BUILD / 'tests/system/placement_facts', profile], check=True,
                               capture_output=True, text=True).stdout.splitlines()
        rows = [json.loads(line) for line in lines]
        self._all_sites = [row for row in rows if isinstance(row.get('site'), list) and 'call' not in row]
        self.calls = [row for row in rows if 'call' in row]
        self.node_changes = {row['thread']: row['node_changes'] for row in rows if 'node_changes' in row}
        self.nodes = {row['node']: row for row in rows if 'node' in row}
        self.left_out = next(row['left_out'] for row in rows if 'left_out' in row)

    def sites(self, function):
        """Those that `function` allocated, or variables of that name."""
        return [site for site in self._all_sites if any(function in name for name in site['site'])]

    def site(self, function):
        """The only one."""
        found = self.sites(function)
        assert len(found) == 1, f'{len(found)} sites of {function}'
        return found[0]

    def calls_of(self, name):
        return [call for call in self.calls if call['call'] == name]
