#!/usr/bin/env python3
"""Names of code whose file has no name any more (row P81)."""
import shutil

import harness
import pitfall
from harness import case

ROUNDS = 100


def unnamed(folder, function, module, *words, may_lack_names=False):
    """Its module and address are always there, its name where /proc lets the file be opened."""
    def prepare(where):
        shutil.copy(harness.PROGRAMS / 'pitfalls/unnamed_files', where / 'program')
    for plain, measured in pitfall.unnoticed(folder, ['./program', *words], prepare=prepare):
        assert plain.status == 0, plain.stdout
        frames = [site['stack'][0] for site in measured.only_profile()['sites']
                  if site['allocations'] == ROUNDS]
        found = [frame for frame in frames if frame['module'].endswith(module)]
        assert len(found) == 1 and found[0]['address'] > 0, frames
        name = harness.plain_name(found[0]['function'])
        assert name == function or (may_lack_names and not name), found
        print(f'{found[0]["module"]}: {name or "no name"}')


@case(rows='P81')
def a_deleted_program_has_names(folder):
    unnamed(folder, 'alloc_in_deleted', '/program', 'deleted')


@case(rows='P81')
def a_library_loaded_from_a_memfd_has_module_and_address(folder):
    """Opening its file takes CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN."""
    unnamed(folder, 'alloc_in_hidden', '/memfd:plugin', 'memfd',
            harness.PROGRAMS / 'pitfalls/hidden_plugin.so', may_lack_names=True)


if __name__ == '__main__':
    harness.main()
