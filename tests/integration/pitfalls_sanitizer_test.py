#!/usr/bin/env python3
"""Programs built with a sanitizer, which must come first among the libraries (row P59)."""
import harness
import pitfall
from harness import case


def sanitized_program():
    program = harness.PROGRAMS / 'pitfalls/sanitized_asan'
    if not program.exists():
        harness.skip('the compiler links no shared AddressSanitizer')
    return program


def child(folder, way):
    for plain, measured in pitfall.unnoticed_program(folder, 'sanitized', way, sanitized_program()):
        assert plain.stdout == b'in the program\nchild\'s status 1280\n', plain.stdout
        parsed = measured.only_profile()
        assert harness.total(harness.sites_of(parsed, 'alloc_here'), 'allocations') == 1
        assert 'child_without_agent' in [event['code'] for event in parsed['events']], parsed['events']


@case(rows='P59')
def a_child_with_address_sanitizer_runs_without_us(folder):
    child(folder, 'run')


@case(rows='P59')
def a_spawned_child_with_address_sanitizer_runs_without_us(folder):
    child(folder, 'spawn')


@case(rows='P59')
def memagent_run_says_why_it_measured_nothing(folder):
    result = harness.memagent('run', sanitized_program(), cwd=folder)
    assert b'sanitizer' in result.stderr and not harness.profiles_in(folder), result.stderr


if __name__ == '__main__':
    harness.main()
