#!/usr/bin/env python3
"""No tracked file names the machine it was made on: neither this checkout's place nor a home folder."""
import re

import gate

# Written apart, so that this file does not find itself.
PATTERNS = [re.escape(str(gate.ROOT) + '/'), '/' + 'work/(main|shared)', '/' + 'root/(?!\\.\\.)[a-z.]',
            '/' + 'tmp/bash_jobs']
BINARY = re.compile(r'\.(memagent|bin|gz|xz|png|data)$')


def main():
    pattern = re.compile('|'.join(PATTERNS))
    problems = []
    for name in gate.tracked_files():
        if BINARY.search(name):
            continue
        for number, line in enumerate((gate.ROOT / name).read_text(errors='replace').splitlines(), 1):
            match = pattern.search(line)
            if match:
                problems.append(f'{name}:{number}: {match.group(0)}')
    gate.finish(problems, 'no path of the build machine in tracked files')


main()
