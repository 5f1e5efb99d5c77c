#!/usr/bin/env python3
"""An include may only point to a stage on the left (docs/ARCHITECTURE.md), never back."""
import re

import gate

# Stage: what it may include besides itself. Left to right as in agent/CMakeLists.txt.
ALLOWED = {
    'agent/base': [],
    'agent/os': ['agent/base'],
    'agent/ledger': ['agent/base', 'agent/os'],
    'agent/capture': ['agent/base', 'agent/os', 'agent/ledger'],
    'agent/decode': ['agent/base', 'agent/os'],
    'agent/attribute': ['agent/base', 'agent/os', 'agent/ledger', 'agent/decode'],
    'agent/aggregate': ['agent/base', 'agent/os', 'agent/ledger', 'agent/decode', 'agent/attribute'],
    'agent/profile': ['agent/base', 'agent/os', 'agent/ledger', 'agent/decode', 'agent/attribute',
                      'agent/aggregate'],
    'agent/runtime': ['agent/'],
    # The viewer knows a profile and nothing of how it came to be; it names perf's bits for people.
    'viewer': ['agent/base', 'agent/decode/data_source_bits.h', 'agent/profile/reader.h',
               'agent/profile/reader_placement.h', 'agent/profile/profile.pb.h', 'inject/commands.h'],
    # Only the import decodes and writes, with the agent's stages.
    'viewer/import': ['agent/base', 'agent/os', 'agent/decode', 'agent/aggregate', 'agent/profile',
                      'viewer'],
    # The launcher has the option table, and asks what the agent would choose on this machine.
    'inject': ['agent/base', 'agent/os', 'agent/profile/reader.h',
               'agent/profile/reader_placement.h', 'agent/capture/engine_errors.h',
               'agent/capture/event_selection.h', 'agent/capture/skid_calibration.h'],
}
# The reader is ordinary code that only shares the schema and the checksum with the writer.
READER = re.compile(r'agent/profile/reader[^/]*$')
READER_ALLOWED = re.compile(r'agent/(base/|profile/(reader|crc32c|profile\.pb\.h|format))')
OURS = re.compile(r'^\s*#\s*include\s*"((?:agent|viewer|inject)/[^"]+)"', re.M)


def stage_of(path):
    return '/'.join(path.split('/')[:2]) if path.startswith(('agent/', 'viewer/import/')) else path.split('/')[0]


def is_allowed(path, included):
    if READER.match(path):
        return bool(READER_ALLOWED.match(included))
    stage = stage_of(path)
    if included.startswith('viewer/import/'):
        return stage == 'viewer/import' or path == 'viewer/main.cc'
    if included.startswith(stage + '/'):
        return True
    return any(included == prefix or included.startswith(prefix.rstrip('/') + '/')
               for prefix in ALLOWED[stage])


def main():
    problems = []
    for path in map(str, gate.source_files('agent', 'viewer', 'inject')):
        if stage_of(path) not in ALLOWED:
            problems.append(f'{path}: stage {stage_of(path)} is not in the table of this script')
            continue
        for included in OURS.findall((gate.ROOT / path).read_text()):
            if not is_allowed(path, included):
                problems.append(f'{path}: must not include {included}')
    gate.finish(problems, 'includes point to the left only')


main()
