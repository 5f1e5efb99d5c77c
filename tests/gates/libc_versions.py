#!/usr/bin/env python3
"""libmemagent.so loads on every libc since 2012, and where a function is missing on another libc.

A symbol of a newer version than the host's libc has, or one that it lacks, kills every program that
the agent is preloaded into, before main (pitfalls P07, P08, P16).
"""
import re

import gate

NEWEST = (2, 17)  # the first glibc for AArch64; CentOS 7's
# Besides the plain C functions, which every libc has: what musl has as well.
STRONG = {'__cxa_atexit', '__environ', 'environ', '__errno_location', 'dl_iterate_phdr', 'getauxval',
          'memchr', 'memcmp', 'memcpy', 'memmove', 'memset', 'strlen', 'strnlen'}


def main():
    library = gate.require_library()
    problems, newest = [], (0, 0)
    for version in re.findall(r'Name: (\S+)', gate.output_of('readelf', '-VW', library)):
        number = re.fullmatch(r'GLIBC_(\d+)\.(\d+)(\.\d+)?', version)
        if not number:
            problems.append(f'{version}: needed, but no public version of glibc')
            continue
        needed = (int(number.group(1)), int(number.group(2)))
        newest = max(newest, needed)
        if needed > NEWEST:
            problems.append(f'{version}: needed, newer than {NEWEST[0]}.{NEWEST[1]}; look it up by name instead')
    for line in gate.output_of('nm', '-D', '--undefined-only', '-P', library).splitlines():
        symbol, kind = line.split()[:2]
        name = symbol.split('@')[0]
        if kind == 'U' and name not in STRONG:
            problems.append(f'{name}: needed, but not every libc has it; make it weak or look it up by name')
    gate.finish(problems, f'the newest version of glibc needed is {newest[0]}.{newest[1]}')


main()
