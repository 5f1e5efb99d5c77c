#!/usr/bin/env python3
"""libmemagent.so needs nothing but what needed.txt names: it must load wherever the program does."""
import re

import gate


def main():
    library = gate.require_library()
    dynamic = gate.output_of('readelf', '-dW', library)
    needed = set(re.findall(r'\(NEEDED\).*\[(.*)\]', dynamic))
    allowed = set(gate.golden('needed.txt'))
    problems = [f'{name}: NEEDED, but not in tests/gates/needed.txt' for name in sorted(needed - allowed)]
    problems += [f'{tag}: a search path would let another library in'
                 for tag in ('RPATH', 'RUNPATH') if f'({tag})' in dynamic]
    if '(TEXTREL)' in dynamic:
        problems.append('TEXTREL: code that is not position-independent is in the library')
    gate.finish(problems, f'NEEDED is {", ".join(sorted(needed)) or "empty"}')


main()
