#!/usr/bin/env python3
"""The thread-local block stays under 256 bytes: it must fit the loader's static TLS reserve."""
import re

import gate

LIMIT_BYTES = 256


def main():
    library = gate.require_library()
    segments = gate.output_of('readelf', '-lW', library)
    match = re.search(r'^\s*TLS\s+\S+\s+\S+\s+\S+\s+\S+\s+(0x[0-9a-f]+)', segments, re.M)
    size = int(match.group(1), 16) if match else 0
    problems = [] if size < LIMIT_BYTES else [f'TLS segment: {size} bytes, {LIMIT_BYTES} are too many']
    relocations = gate.output_of('readelf', '-rW', library)
    if re.search(r'R_X86_64_DTPMOD64|R_AARCH64_TLS_DTPMOD', relocations):
        problems.append('TLS is reached through __tls_get_addr, which may allocate: use initial-exec')
    gate.finish(problems, f'TLS segment of {size} bytes, initial-exec')


main()
