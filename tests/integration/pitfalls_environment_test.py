#!/usr/bin/env python3
"""The environment, limits and name spaces that a program runs in (rows P82 to P96)."""
import harness
import pitfall
from harness import case


@case(rows='P90')
def an_environment_read_all_the_time(folder):
    for plain, measured in pitfall.unnoticed_program(folder, 'getenv_loop'):
        assert plain.status == 3 and b'found 200000' in plain.stdout
        sites = harness.sites_of(measured.only_profile(), 'alloc_between')
        assert harness.total(sites, 'allocations') == 1000
        assert harness.total(sites, 'bytes_allocated') == 64000


if __name__ == '__main__':
    harness.main()
