#!/usr/bin/env python3
"""Stacks that are hard to walk and files that are hard to read (rows P75 to P79, P81)."""
import shutil
import subprocess

import harness
import pitfall
from harness import case

ROUNDS = 100


def walk(folder, what, allocations=ROUNDS):
    """Runs one of the program's stacks; yields the plain run and the sites below it."""
    for plain, measured in pitfall.unnoticed_program(folder, 'unwinding', what):
        assert plain.status == 0 and b'done' in plain.stdout, (plain.status, plain.stdout)
        sites = harness.sites_of(measured.only_profile(), 'alloc_below')
        assert harness.total(sites, 'allocations') == allocations, sites
        assert harness.total(sites, 'frees') == allocations
        yield plain, sites


def names(site):
    return [harness.plain_name(frame['function']) for frame in site['stack']]


@case(rows='P75')
def closed_descriptors_and_reused_numbers(folder):
    for plain, _ in walk(folder, 'descriptors', ROUNDS + 1):
        assert b'100 bytes, first number 3' in plain.stdout, plain.stdout


@case(rows='P76')
def coroutines_between_unreadable_pages(folder):
    for _, sites in walk(folder, 'coroutines'):
        for site in sites:
            assert names(site)[:2] == ['alloc_below', 'in_coroutine'], names(site)


@case(rows='P76 P77')
def nonsense_in_the_frame_pointer(folder):
    for _, sites in walk(folder, 'garbage', 9 * ROUNDS):
        assert all(names(site)[0] == 'alloc_below' for site in sites)
        # Also the two that point to words which look like a frame, above which is nothing.
        cut = harness.total([site for site in sites if site['stack_cut']], 'allocations')
        assert cut == 9 * ROUNDS, f'{cut} of {9 * ROUNDS} are marked as cut'


@case(rows='P77')
def code_without_unwind_information(folder):
    for _, sites in walk(folder, 'generated'):
        for site in sites:
            assert site['stack_cut'] or 'main' in names(site), names(site)


@case(rows='P77')
def a_stack_deeper_than_what_is_kept(folder):
    for _, sites in walk(folder, 'deep', 1):
        assert sites[0]['stack_cut'] and names(sites[0]).count('go_deeper') >= 120


@case(rows='P78')
def a_call_that_is_the_last_instruction(folder):
    for _, sites in walk(folder, 'noreturn'):
        for site in sites:
            assert 'ends_with_the_call' in names(site), names(site)
            assert 'stands_behind' not in names(site), names(site)


@case(rows='P79')
def a_handler_on_an_alternate_stack(folder):
    for _, sites in walk(folder, 'signal'):
        for site in sites:
            found = names(site)
            assert found.index('Handler') < found.index('is_interrupted') < found.index('main'), found


def binutils(*command):
    if not shutil.which(command[0]):
        harness.skip(f'{command[0]} is not installed')
    subprocess.run(command, check=True)


def changed_program(folder, change):
    """The program in the working folder, after change(path)."""
    def prepare(where):
        shutil.copy(harness.PROGRAMS / 'pitfalls/unwinding', where / 'program')
        change(str(where / 'program'))
    for plain, measured in pitfall.unnoticed(folder, ['./program', 'signal'], prepare=prepare):
        assert plain.status == 0, plain.stderr
        yield measured.only_profile()


@case(rows='P81')
def a_stripped_program_has_addresses(folder):
    for parsed in changed_program(folder, lambda path: binutils('strip', path)):
        sites = [site for site in parsed['sites'] if site['allocations'] == ROUNDS]
        assert len(sites) == 1, sites
        frame = sites[0]['stack'][0]
        assert frame['module'].endswith('/program') and frame['address'] > 0, frame


@case(rows='P81')
def compressed_debug_information_is_read(folder):
    def compress(path):
        binutils('objcopy', '--compress-debug-sections', path)
    for parsed in changed_program(folder, compress):
        sites = harness.sites_of(parsed, 'alloc_below')
        assert harness.total(sites, 'allocations') == ROUNDS
        assert sites[0]['line'] > 0, sites[0]


if __name__ == '__main__':
    harness.main()
