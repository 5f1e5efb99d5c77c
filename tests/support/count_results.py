#!/usr/bin/env python3
"""Counts ctest's JUnit files: prints failures and skip reasons, then 'N passed, N failed, N skipped'.

count_results.py [--skipped REASON]... JUNIT...   Exit status 1 when a test failed or none ran.
"""
import argparse
import re
import sys
import xml.etree.ElementTree as xml

OUTPUT_LINES_SHOWN = 40


def output_of(case):
    node = case.find('system-out')
    return node.text or '' if node is not None else ''


def skip_reason(output):
    """The reason a test printed: GoogleTest's GTEST_SKIP text, or our scripts' 'SKIPPED: ...'."""
    ours = re.search(r'^SKIPPED: (.*)$', output, re.M)
    if ours:
        return ours.group(1)
    google = re.search(r': Skipped\n(.*?)\n*(?:\[  SKIPPED|\Z)', output, re.S)
    if google and google.group(1).strip():
        return ' '.join(google.group(1).split())
    return 'no reason printed'


def outcome(case):
    """'passed', 'failed', 'skipped' or None for a test that was disabled or filtered out."""
    status = case.get('status')
    if case.find('failure') is not None or status in ('fail', 'notrun') and case.find('skipped') is None:
        return 'failed'
    if case.find('skipped') is not None:
        return 'skipped'
    return 'passed' if status == 'run' else None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--skipped', action='append', default=[], metavar='REASON')
    parser.add_argument('junit', nargs='+')
    arguments = parser.parse_args()
    counts = {'passed': 0, 'failed': 0, 'skipped': len(arguments.skipped)}
    reasons = list(arguments.skipped)
    for path in arguments.junit:
        for case in xml.parse(path).getroot().iter('testcase'):
            kind = outcome(case)
            if kind is None:
                continue
            counts[kind] += 1
            if kind == 'skipped':
                reason = skip_reason(output_of(case))
                reasons.append(f'{case.get("name")}: {reason}')
                if reason == 'no reason printed':  # a silent skip hides a test: not allowed
                    counts['skipped'] -= 1
                    counts['failed'] += 1
            elif kind == 'failed':
                print(f'FAILED {case.get("name")} ({path})')
                for line in output_of(case).splitlines()[-OUTPUT_LINES_SHOWN:]:
                    print(f'    {line}')
    for reason in reasons:
        print(f'skipped: {reason}')
    print(f'{counts["passed"]} passed, {counts["failed"]} failed, {counts["skipped"]} skipped')
    return 1 if counts['failed'] or not counts['passed'] else 0


if __name__ == '__main__':
    sys.exit(main())
