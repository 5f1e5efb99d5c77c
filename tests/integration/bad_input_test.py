#!/usr/bin/env python3
"""Whatever is wrong, the program runs unharmed, and one sentence says what is wrong."""
import ctypes
import os
import platform
import shutil
import struct

import harness
from harness import case

PROGRAM = [harness.PROGRAMS / 'exit_ways', 'return', '0.1']
STATUS = 7
OUTPUT = b'{"way": "return", "site": "alloc_work"}\n'


def unharmed(result):
    assert (result.status, result.stdout) == (STATUS, OUTPUT), f'{result.status} {result.stdout} {result.stderr}'


def warning(result, *words):
    """Exactly one line on stderr, holding all of the words."""
    lines = result.stderr.decode().splitlines()
    assert len(lines) == 1, f'expected one line on stderr: {lines}'
    for word in words:
        assert word in lines[0], f'"{word}" is not in "{lines[0]}"'
    print(lines[0])


@case
def unknown_option_warns_once(folder):
    result = harness.run_measured(PROGRAM, folder, {'frobnicate': 1})
    unharmed(result)
    warning(result, 'frobnicate', 'no such option')
    result.only_profile()


@case
def bad_value_keeps_the_default(folder):
    result = harness.run_measured(PROGRAM, folder, {'rate': 'fast'})
    unharmed(result)
    warning(result, 'rate=fast', 'decimal number')
    used = [engine for engine in result.only_profile()['engines'] if engine['in_use']]
    assert used[0]['rate_hz'] == 1000, used


@case
def missing_output_folder(folder):
    result = harness.run_measured(PROGRAM, folder, {'output': folder / 'no/such/folder/x.memagent'})
    unharmed(result)
    warning(result, str(folder / 'no/such/folder'))


@case
def missing_output_folder_of_a_program_that_closes_stderr(folder):
    """coreutils close stderr before the profile would be written."""
    result = harness.run_measured(['/bin/echo', 'hi'], folder, {'output': folder / 'no/such/folder/x.memagent'})
    assert (result.status, result.stdout) == (0, b'hi\n'), result.stdout
    warning(result, str(folder / 'no/such/folder'))


@case
def output_folder_that_is_a_file(folder):
    (folder / 'file').write_text('')
    result = harness.run_measured(PROGRAM, folder, {'output': folder / 'file/x.memagent'})
    unharmed(result)
    warning(result, str(folder / 'file'))


@case
def full_disk(folder):
    mount = folder / 'disk'
    mount.mkdir()
    if os.geteuid() != 0 or shutil.which('unshare') is None:
        harness.skip('needs root and unshare to mount a tiny file system')
    script = (f'mount -t tmpfs -o size=16k tmpfs {mount} || exit 99; '
              f'head -c 15000 /dev/zero > {mount}/filler; exec "$0" "$@"')
    variables = harness.environment(MEMAGENT_OPTIONS=f'output={mount}/x.memagent')
    # The agent is loaded by the last program only.
    command = ['unshare', '-m', 'sh', '-c', script, 'env', f'LD_PRELOAD={harness.AGENT}', *PROGRAM]
    result = harness.run_plain(command, env=variables)
    if result.status in (1, 99):
        harness.skip(f'cannot mount here: {result.stderr.decode().strip()}')
    unharmed(result)
    warning(result, 'x.memagent')


@case
def never_overwrites(folder):
    for _ in range(3):
        unharmed(harness.run_measured(PROGRAM, folder, {'output': folder / 'same.memagent'}))
    assert len(harness.profiles_in(folder)) == 3, harness.profiles_in(folder)


@case
def switched_off(folder):
    result = harness.run_measured(PROGRAM, folder, variables={'MEMAGENT': 'off'})
    unharmed(result)
    assert result.stderr == b'' and not result.profiles


@case
def silent_by_default_and_told_when_verbose(folder):
    assert harness.run_measured(PROGRAM, folder).stderr == b''
    verbose = harness.run_measured(PROGRAM, folder, {'verbose': 1})
    unharmed(verbose)
    assert b'.memagent' in verbose.stderr, verbose.stderr


def forbid_perf_event_open():
    """A seccomp filter as a container has it: perf_event_open gives EPERM, all else is allowed."""
    number = {'x86_64': 298, 'aarch64': 241}[platform.machine()]
    load, jump_equal, give = 0x20, 0x15, 0x06
    allow, error = 0x7fff0000, 0x00050000 | 1
    rows = [(load, 0, 0, 0), (jump_equal, 0, 1, number), (give, 0, 0, error), (give, 0, 0, allow)]
    code = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *row) for row in rows))
    program = struct.pack('HxxxxxxP', len(rows), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, program, 0, 0) != 0:  # NO_NEW_PRIVS, SECCOMP
        os._exit(99)


@case
def no_permission_for_perf_events(folder):
    result = harness.run_measured(PROGRAM, folder, preexec_fn=forbid_perf_event_open)
    if result.status == 99:
        harness.skip('this kernel takes no seccomp filter')
    unharmed(result)
    parsed = result.only_profile()
    assert parsed['engine'] == 'none' and parsed['samples_seen'] == 0, parsed['engine']
    software = [engine for engine in parsed['engines'] if engine['kind'] == 'software'][0]
    assert software['refused_errno'] == 1 and software['refused'] and software['remedy'], software
    assert harness.total(harness.sites_of(parsed, 'alloc_work'), 'allocations') == 1
    check = harness.memagent('check', preexec_fn=forbid_perf_event_open)
    assert check.status == 3 and b'EPERM' in check.stdout, check.stdout


@case
def engine_none_still_tracks_allocations(folder):
    result = harness.run_measured(PROGRAM, folder, {'engine': 'none'})
    unharmed(result)
    parsed = result.only_profile()
    assert parsed['samples_seen'] == 0
    assert harness.total(harness.sites_of(parsed, 'alloc_work'), 'allocations') == 1


def refused(path, *words):
    for command in ('report', 'info'):
        result = harness.memagent(command, path)
        text = result.stderr.decode()
        assert result.status == 2, f'{command}: status {result.status}, {text}'
        assert len(text.splitlines()) == 1, f'{command}: {text}'
        for word in words:
            assert word in text, f'{command}: "{word}" is not in "{text}"'
    print(text, end='')


@case
def unreadable_profiles(folder):
    refused(folder / 'missing.memagent', 'missing.memagent')
    (folder / 'empty.memagent').write_bytes(b'')
    refused(folder / 'empty.memagent', 'empty')
    (folder / 'text.memagent').write_bytes(b'this is a text and not a profile\n' * 100)
    refused(folder / 'text.memagent', 'text.memagent')
    refused(folder, str(folder))


@case
def truncated_profile_is_read_up_to_there(folder):
    unharmed(harness.run_measured(PROGRAM, folder, {'output': folder / 'whole.memagent'}))
    whole = (folder / 'whole.memagent').read_bytes()
    readable = 0
    step = max(1, len(whole) // 60)
    for size in [*range(1, len(whole), step), len(whole) - 1]:
        (folder / 'part').write_bytes(whole[:size])
        result = harness.memagent('report', folder / 'part')
        assert result.status in (0, 2), f'{size} bytes: status {result.status}, {result.stderr}'
        if not result.stderr.strip():  # cut where a chunk ends: as whole as a checkpoint's file
            file = harness.report(folder / 'part')['file']
            assert not file['truncated'] and file['end'] is None, f'{size} bytes: {file}'
        readable += result.status == 0
    print(f'{readable} of {len(whole) // step} prefixes of {len(whole)} bytes are readable')
    assert readable > 0


@case
def wrong_usage_of_the_viewer(_):
    for words in (['report', '--frobnicate'], ['frobnicate'], ['report', '--by', 'moon'],
                  ['diff', 'one'], ['check', '--frobnicate']):
        result = harness.memagent(*words)
        assert result.status == 2, f'{words}: status {result.status}'
        assert result.stderr.strip() and not result.stdout, f'{words}: {result.stdout}'


@case
def rings_that_overflow_are_counted(folder):
    """A tiny ring that is emptied seldom: lost samples are reported, and with them the sum is right."""
    result = harness.run_measured([harness.PROGRAMS / 'accuracy_interleaved', '2'], folder,
                                  {'ring_pages': 1, 'drain_interval': 500, 'rate': 4000})
    parsed = result.only_profile()
    print(harness.evidence_text(parsed))
    assert parsed['dropped'].get('ring_lost', 0) > 0, parsed['dropped']
    expected = 4000 * result.json()['cpu_seconds']
    assert 0.9 * expected <= parsed['samples_seen'] <= 1.25 * expected, (
        f'{parsed["samples_seen"]} seen, about {expected:.0f} expected')


if __name__ == '__main__':
    harness.main()
