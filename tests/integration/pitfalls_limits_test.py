#!/usr/bin/env python3
"""Limits that a process is close to: what the agent needs must not be what is missing."""
import os

import harness
import pitfall
from harness import case

ROUNDS = 20


@case(rows='P45')
def the_drain_thread_is_not_the_process_too_many(folder):
    if os.geteuid() != 0:
        harness.skip('only root can become a user without other processes')
    folder.chmod(0o755)
    for plain, measured in pitfall.unnoticed_program(folder, 'process_limit'):
        assert plain.stdout.count(b'fork 768, spawn 0, thread 0\n') == ROUNDS, plain.stdout
        reports = [harness.report(path) for path in measured.profiles if path.name.startswith('process_limit')]
        counts = [harness.total(harness.sites_of(parsed, 'alloc_round'), 'allocations') for parsed in reports]
        assert max(counts) == ROUNDS, counts


if __name__ == '__main__':
    harness.main()
