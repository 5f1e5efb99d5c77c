#!/usr/bin/env python3
"""Signals, timers and handlers of the program's own (rows P46 to P51)."""
import os

import harness
import pitfall
from harness import case


def run(folder, what, said, **arguments):
    """Yields the report at each rate; the program's last 1,000 blocks are in each."""
    for plain, measured in pitfall.unnoticed_program(folder, 'signal_uses', what, **arguments):
        assert plain.status == 6 and said in plain.stdout, plain.stdout
        parsed = measured.only_profile()
        about = parsed['file']
        assert about['end'] == '_exit' and about['chunks_damaged'] == 0 and not about['truncated'], about
        yield parsed


def total(parsed, function, key='allocations'):
    return harness.total(harness.sites_of(parsed, function), key)


@case(rows='P46')
def signals_that_sigwait_takes(folder):
    for parsed in run(folder, 'wait', b'received 200'):
        assert total(parsed, 'alloc_outside') == 1000


@case(rows='P29 P47')
def calls_that_signals_interrupt(folder):
    for parsed in run(folder, 'calls', b'interrupted 0 times by nobody'):
        assert total(parsed, 'alloc_outside') == 1000


@case(rows='P48')
def timers_and_their_signals_are_the_programs_own(folder):
    for parsed in run(folder, 'timers', b'wrote 1, SIGIO 1'):
        assert total(parsed, 'alloc_outside') >= 1300


@case(rows='P49')
def handlers_on_an_alternate_stack(folder):
    for parsed in run(folder, 'stacks', b'faults 100'):
        assert (total(parsed, 'alloc_in_handler'), total(parsed, 'alloc_outside')) == (150, 1000)


@case(rows='P50')
def a_handler_that_allocates(folder):
    for parsed in run(folder, 'allocate', b'handled enough'):
        # The program allocates once more for each signal that it handled.
        handled = total(parsed, 'alloc_outside') - 1000
        assert total(parsed, 'alloc_in_handler') == handled >= 200
        assert total(parsed, 'alloc_in_handler', 'frees') == handled


@case(rows='P50')
def a_handler_that_maps_memory_inside_malloc(folder):
    for parsed in run(folder, 'map', b'handled enough'):
        # The stack of what the handler maps goes on into what it interrupted.
        blocks = [site for site in harness.sites_of(parsed, 'alloc_outside') if site['kind'] == 'heap']
        assert harness.total(blocks, 'allocations') % 1000000 == 1000
        assert harness.total(blocks, 'bytes_live') == 0
        # A mapping made while the hook was at work is a counted loss.
        lost = parsed['untracked_allocations'].get('reentrant', 0)
        maps = [site for site in parsed['sites'] if site['kind'] == 'mmap']
        mapped = harness.total(maps, 'allocations')
        assert mapped + lost >= 300, f'{mapped} mapped, {lost} lost'


@case(rows='P51')
def a_storm_of_signals_while_the_profile_is_written(folder):
    for parsed in run(folder, 'children', b'100 children, 100 signals', options={'checkpoint': 1}):
        assert total(parsed, 'alloc_outside') == 6000
        assert parsed['own_cost']['checkpoints'] >= 2


@case(rows='P34')
def the_first_process_of_a_name_space_stays_protected(folder):
    if os.geteuid() != 0:
        harness.skip('only root can make a pid name space')
    for plain, measured in pitfall.unnoticed_program(folder, 'first_process'):
        assert b"process 1 lives, sleep 0" in plain.stdout and b"child's status 600" in plain.stdout, plain.stdout
        first = [parsed for parsed in map(harness.report, measured.profiles) if parsed['process']['pid'] == 1]
        assert len(first) == 1 and first[0]['file']['end'] == 'exit', measured.profiles
        assert total(first[0], 'alloc_in_first') == 54


if __name__ == '__main__':
    harness.main()
