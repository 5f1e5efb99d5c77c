#!/usr/bin/env python3
"""What an attacker may try: set-uid programs, planted files, secrets, profiles made to hurt the reader."""
import json
import os
import re
import resource
import shutil
import subprocess

import harness
import hostile_profile as hostile
import pitfall
from harness import case

PITFALLS = harness.PROGRAMS / 'pitfalls'
WORKERS = [PITFALLS / 'worker_threads', 1, 100, 0.01]
NOBODY = {'user': 65534, 'group': 65534, 'extra_groups': []}
FORMATS = ('text', 'json', 'csv', 'md')


def needs_root():
    if os.geteuid() != 0:
        harness.skip('needs root')


def for_everybody(folder):
    """A folder that nobody can read, with copies of the agent and of a program."""
    folder.chmod(0o755)
    agent, program = folder / 'libmemagent.so', folder / 'program'
    shutil.copy(harness.AGENT, agent)
    shutil.copy(WORKERS[0], program)
    output = folder / 'profiles'
    output.mkdir()
    output.chmod(0o777)
    return agent, program, output


@case
def a_set_user_id_program_ignores_us(folder):
    needs_root()
    agent, program, output = for_everybody(folder)
    program.chmod(0o4755)
    command = [program, *WORKERS[1:]]
    plain = harness.run_plain(command, **NOBODY)
    for rate in pitfall.RATES_HZ:
        environment = harness.environment(
            LD_PRELOAD=str(agent), MEMAGENT_OPTIONS=harness.options_text(output, {'rate': rate, 'verbose': 1}))
        result = harness.run_plain(command, env=environment, **NOBODY)
        assert (result.status, result.stdout, result.stderr) == (plain.status, plain.stdout, plain.stderr), result.stderr
    assert not list(output.iterdir())


@case
def loaded_into_a_set_user_id_program_the_agent_stays_off(folder):
    """The loader does preload a set-uid library from a trusted folder: one of libc's is covered by the agent."""
    needs_root()
    agent, program, output = for_everybody(folder)
    program.chmod(0o4755)
    agent.chmod(0o4755)
    trusted = next((path for path in ('/lib/x86_64-linux-gnu/libBrokenLocale.so.1', '/lib64/libBrokenLocale.so.1')
                    if os.path.exists(path)), None)
    if trusted is None:
        harness.skip('no library of a trusted folder to cover')
    script = (f'mount --bind {agent} {trusted} || exit 99; '
              f'exec setpriv --reuid 65534 --regid 65534 --clear-groups env "$@"')
    options = harness.options_text(output, {'rate': 10000, 'verbose': 1})
    command = ['unshare', '-m', 'sh', '-c', script, 'sh', 'LD_PRELOAD=libBrokenLocale.so.1',
               f'MEMAGENT_OPTIONS={options}']
    ordinary = folder / 'ordinary'
    shutil.copy(WORKERS[0], ordinary)
    loaded = harness.run_plain([*command, ordinary, *WORKERS[1:]])
    if loaded.status != 3:
        harness.skip(f'cannot set this up here: {loaded.stderr.decode().strip()}')
    assert len(list(output.iterdir())) == 1, 'the trick does not load the agent'
    result = harness.run_plain([*command, program, *WORKERS[1:]])
    assert result.status == 3 and result.stderr == b'', (result.status, result.stderr)
    assert len(list(output.iterdir())) == 1, 'a set-uid program was profiled'


@case
def profiles_are_their_owners_only_whatever_the_umask(folder):
    for umask in (0o000, 0o022, 0o077, 0o777):
        for rate in pitfall.RATES_HZ:
            profiles = folder / f'{umask:o}-{rate}'
            profiles.mkdir()
            result = harness.run_measured(WORKERS, profiles, {'rate': rate}, umask=umask)
            assert result.status == 3 and len(result.profiles) == 1
            assert result.profiles[0].stat().st_mode & 0o7777 == 0o600, oct(result.profiles[0].stat().st_mode)


def planted(folder, plant):
    """`plant(path)` puts something under the names that a profile would take; nothing of it changes."""
    for name in ('x.memagent', 'x.1.memagent', 'x.2.memagent', 'x.memagent.new', 'x.memagent.new.1'):
        plant(folder / name)


@case
def links_at_the_output_name_are_not_written_through(folder):
    """The profile takes the next number, and what the links lead to stays as it was."""
    precious = folder / 'precious'
    for kind in ('symbolic', 'dangling', 'hard'):
        for rate in pitfall.RATES_HZ:
            where = folder / f'{kind}-{rate}'
            where.mkdir()
            precious.write_text('precious')
            target = where / 'created-by-us' if kind == 'dangling' else precious
            planted(where, lambda path: os.link(target, path) if kind == 'hard' else path.symlink_to(target))
            result = harness.run_measured(WORKERS, where, {'rate': rate, 'output': where / 'x.memagent'})
            assert result.status == 3 and result.stderr == b'', result.stderr
            assert precious.read_text() == 'precious' and not (where / 'created-by-us').exists()
            harness.report(where / 'x.3.memagent')


@case
def another_user_cannot_lead_a_profile_astray_in_a_sticky_folder(folder):
    """As in /tmp: nobody plants links to root's file; root runs a program with a name that can be guessed."""
    needs_root()
    folder.chmod(0o755)
    shared, precious = folder / 'shared', folder / 'precious'
    shared.mkdir()
    shared.chmod(0o1777)
    precious.write_text('precious')
    attack = 'import os, sys\nfor name in sys.argv[2:]: os.symlink(sys.argv[1], name)'
    names = [shared / name for name in ('a.memagent', 'a.1.memagent', 'a.memagent.new')]
    subprocess.run(['/usr/bin/python3', '-c', attack, precious, *names], check=True, **NOBODY)
    for rate in pitfall.RATES_HZ:
        result = harness.run_measured(WORKERS, shared, {'rate': rate, 'output': shared / 'a.memagent'})
        assert result.status == 3 and precious.read_text() == 'precious', result.stderr
    own = [path for path in shared.iterdir() if not path.is_symlink()]
    assert len(own) == 2, own
    for path in own:
        assert path.stat().st_uid == 0 and path.stat().st_mode & 0o777 == 0o600
        harness.report(path)


@case
def no_environment_is_in_the_profile(folder):
    """Arguments are (docs/JSON.md says so); variables, file contents and the agent's other inputs are not."""
    secrets = {'SECRET': 'hunter2-in-a-variable', 'AWS_SECRET_ACCESS_KEY': 'wJalrXUtnFEMI/K7MDENG', 'PWD_': 'pw-in-env'}
    for rate in pitfall.RATES_HZ:
        profiles = folder / str(rate)
        profiles.mkdir()
        result = harness.run_measured([*WORKERS, 'argument-of-the-program'], profiles, {'rate': rate}, secrets)
        assert result.status == 3
        raw = result.profiles[0].read_bytes()
        for secret in secrets.values():
            assert secret.encode() not in raw, f'{secret} is in the profile'
        assert b'argument-of-the-program' in raw


def run_viewer(*words, memory=4 << 30, seconds=60):
    limits = lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    finished = subprocess.run([str(word) for word in (harness.MEMAGENT, *words)], capture_output=True,
                              env=harness.environment(LANG='C.UTF-8', LC_ALL='C.UTF-8'), preexec_fn=limits,
                              timeout=seconds)
    assert finished.returncode in (0, 2), f'{words}: status {finished.returncode}, {finished.stderr[-500:]}'
    assert b'please report this' not in finished.stderr, f'{words}: {finished.stderr[-500:]}'
    return finished


def survives(path):
    """Every command takes a bounded time and memory, and says what it can't show."""
    for words in (['info'], ['report', '--all'], *(['report', '--format', name] for name in FORMATS),
                  *(['report', '--by', by] for by in ('object', 'code', 'thread', 'node')), ['dump']):
        run_viewer(*words, path)
    run_viewer('diff', path, path)


ONE_STACK = (hostile.STACKS, [(1, hostile.Packed([0])), (2, hostile.Packed([1])),
                              (3, hostile.Packed([0])), (4, hostile.Packed([1]))])


def stacks(count):
    numbers = range(1, count + 1)
    return hostile.STACKS, [(1, hostile.Packed([0] * count)), (2, hostile.Packed(numbers)),
                            (3, hostile.Packed(range(count))), (4, hostile.Packed(numbers))]


def symbols(count, name=1):
    return hostile.SYMBOLS, [(1, hostile.Packed(range(1, count + 1))), (2, hostile.Packed([name] * count))]


def sites(count, stack=1):
    return hostile.SITES, [(1, [(1, i), (2, 1), (3, stack)]) for i in range(1, count + 1)]


def site_totals(count):
    return hostile.totals([[(1, i), (2, 5), (4, 100), (7, 1)] for i in range(1, count + 1)], samples=count)


def written(folder, name, *chunks):
    path = folder / f'{name}.memagent'
    path.write_bytes(hostile.profile(chunks))
    return path


def repeated_name(folder):
    """1 MB that says the same 1 MiB name in 200 stacks of 256 frames."""
    return written(folder, 'names', hostile.strings([b'A' * (1 << 20)]), stacks(256), symbols(256),
                   sites(200, 256), site_totals(200))


@case
def one_long_name_in_many_stacks_takes_bounded_memory(folder):
    result = run_viewer('report', repeated_name(folder))
    assert b'longer than 16 KiB' in result.stderr and b'rows are left out' in result.stdout, result.stdout[:1000]


@case(long=True)
def one_long_name_in_many_stacks_in_every_output(folder):
    survives(repeated_name(folder))


@case
def one_long_name_of_many_modules_and_threads(folder):
    survives(written(folder, 'modules', hostile.strings([b'M' * (1 << 18)]),
                     (hostile.MODULES, [(1, [(1, 1)])] * 200),
                     (hostile.THREADS, [(1, [(1, 1), (2, 1)])] * 200),
                     (hostile.STACKS, [(1, hostile.Packed(range(1, 201))), (2, hostile.Packed(range(1, 201))),
                                       (3, hostile.Packed([0] * 200)), (4, hostile.Packed(range(1, 201)))]),
                     (hostile.SITES, [(1, [(1, i), (2, 1), (3, i)]) for i in range(1, 201)]), site_totals(200)))


def doubling_symbol(levels):
    """Each parameter is a pair of the one before."""
    digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'
    return ('_Z1f1BSt4pairIS_S_E' + ''.join(f'S0_IS{digits[i]}_S{digits[i]}_E' for i in range(1, levels))).encode()


@case
def symbols_that_explode_when_demangled(folder):
    """300 bytes that stand for 30 GB."""
    names = [doubling_symbol(30), b'_Z' + b'N' * 100000, b'_Z' + b'P' * 4000 + b'i',
             b'_Z1fIJ' + b'i' * 500 + b'EEvDpSt4pairIT_DpSt4pairIT_DpT_EE']
    count = len(names)
    path = written(folder, 'symbols', hostile.strings(names), stacks(count),
                   (hostile.SYMBOLS, [(1, hostile.Packed(range(1, count + 1))), (2, hostile.Packed(range(1, count + 1)))]),
                   (hostile.SITES, [(1, [(1, i), (2, 1), (3, i)]) for i in range(1, count + 1)]), site_totals(count))
    survives(path)


@case
def stacks_that_run_in_circles_end(folder):
    count = 1000
    parents = [i % count + 1 for i in range(1, count + 1)]  # each one's parent is the next, the last one's the first
    circle = (hostile.STACKS, [(1, hostile.Packed([0])), (2, hostile.Packed([1])),
                               (3, hostile.Packed(parents)), (4, hostile.Packed([1] * count))])
    itself = (hostile.STACKS, [(3, hostile.Packed([count + 1])), (4, hostile.Packed([1]))])
    path = written(folder, 'circle', hostile.strings([b'f']), circle, itself, symbols(1),
                   (hostile.SITES, [(1, [(1, i), (2, 1), (3, i)]) for i in (1, count, count + 1)]), site_totals(3))
    survives(path)
    report = run_viewer('report', '--format', 'json', path)
    assert json.loads(report.stdout)['file']['bad_references'] > 0


@case
def deep_stacks_and_huge_numbers(folder):
    most = (1 << 64) - 1
    total = [(1, 1), *((field, most) for field in range(2, 11)),
             *((field, hostile.Packed([most])) for field in range(11, 18)), (19, hostile.Packed([most])),
             (20, hostile.Packed([most])), (21, most), (18, [(1, most), (2, most), (3, most), (4, most), (5, most)])]
    accounting = [(field, most) for field in (1, 2, 5, 6, 7, 8, 9, 10)]
    totals = (hostile.TOTALS, [(1, hostile.Fixed64(most)), (2, 1), (3, accounting), (5, total)])
    ids = (hostile.STRINGS, [(1, b'far'), (2, most)])
    path = written(folder, 'deep', hostile.strings([b'f']), ids, stacks(100000), symbols(1), sites(1, 100000), totals,
                   (hostile.EVENTS, [(1, [(1, hostile.Fixed64(most)), (3, b'code'), (4, b'text')])] * 2000),
                   (hostile.SAMPLES, [(1, hostile.Packed([most] * 1000))]))
    survives(path)


@case
def a_module_that_is_a_device_or_a_kernel_file_is_not_read(folder):
    """Reading /proc/kmsg waits for the kernel's next message, a fifo for a writer, /dev/zero never ends."""
    os.mkfifo(folder / 'fifo')
    for name in ('/proc/kmsg', str(folder / 'fifo'), '/dev/zero', '/dev/stdin', '/sys/kernel/debug/tracing/trace_pipe'):
        path = written(folder, 'module', hostile.strings([name.encode()]),
                       (hostile.MODULES, [(1, [(1, 1), (2, b'0123456789abcdef0123')])]),
                       (hostile.STACKS, [(1, hostile.Packed([1])), (2, hostile.Packed([4096])),
                                         (3, hostile.Packed([0])), (4, hostile.Packed([1]))]),
                       sites(1), site_totals(1))
        assert run_viewer('report', path, seconds=10).returncode == 0


ATTACKS = [b'\x1b]0;owned\x07\x1b[2J\x1b[31mred', b'\xc2\x9b31mC1', b'\xe2\x80\xaertl', b'<script>alert(1)</script>',
           b'=cmd|\' /C calc\'!A0', b'+1+1', b'-1+1', b'@SUM(A1)', b'a|b](http://evil)`*_', b'new\nline,"quoted"', b'\xff\xfe\x00']


def attack_profile(folder):
    """Every attack as function, module, thread, argument, event and option."""
    count = len(ATTACKS)
    numbers = hostile.Packed(range(1, count + 1))
    process = [(hostile.strings(ATTACKS)),
               (hostile.MODULES, [(1, [(1, i)]) for i in range(1, count + 1)]),
               (hostile.THREADS, [(1, [(1, i), (2, i)]) for i in range(1, count + 1)]),
               (hostile.STACKS, [(1, numbers), (2, numbers), (3, hostile.Packed([0] * count)), (4, numbers)]),
               (hostile.SYMBOLS, [(1, numbers), (2, numbers)]),
               (hostile.SITES, [(1, [(1, i), (2, 1 + i % 8), (3, i), (4, i)]) for i in range(1, count + 1)]),
               (hostile.EVENTS, [(1, [(2, 1), (3, text), (4, text)]) for text in ATTACKS[:8]]),
               hostile.totals([[(1, i), (2, 5), (4, 100), (7, 1), (11, hostile.Packed([i])), (12, hostile.Packed([0])),
                                (13, hostile.Packed([0])), (14, hostile.Packed([1])), (15, hostile.Packed([i])),
                                (16, hostile.Packed([1])), (17, hostile.Packed([0]))] for i in range(1, count + 1)],
                              [[(1, i), (8, i)] for i in range(1, count + 1)], samples=count)]
    path = folder / 'attack.memagent'
    path.write_bytes(hostile.profile(process, arguments=ATTACKS))
    return path


@case
def names_act_on_no_terminal_page_or_spreadsheet(folder):
    path = attack_profile(folder)
    for words in (['info'], ['report', '--all'], ['dump'], ['diff', path],
                  *(['report', '--by', by, '--format', name] for name in FORMATS
                    for by in ('site', 'object', 'code', 'thread', 'node'))):
        output = run_viewer(*words, path)
        text = (output.stdout + output.stderr).decode()  # UTF-8, or this fails
        harmful = re.findall('[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]', text)
        assert not harmful, f'{words}: {harmful}'
        if 'csv' in words:
            for field in re.split(r'[,\n]', output.stdout.decode()):
                assert not re.match(r'"?[=+@]|"?-[^0-9]', field), f'{words}: {field}'
        if 'md' in words:
            assert '<script>' not in text.replace('\\<', ''), text
            assert len({line.replace('\\|', '').count('|') for line in output.stdout.decode().splitlines()}) == 1, text


@case
def a_running_program_cannot_attack_through_its_names(folder):
    """The same for a real profile: program, argument and thread names are the attacker's."""
    program = folder / '\x1b[31m=evil\n'
    shutil.copy(WORKERS[0], program)
    result = harness.run_measured([program, '1', '10', '0.01', '\x1b]0;owned\x07'], folder, {'output': folder / 'x.memagent'})
    assert result.status == 3
    for words in (['info'], ['report', '--all'], *(['report', '--format', name] for name in FORMATS)):
        text = run_viewer(*words, folder / 'x.memagent').stdout
        assert b'\x1b' not in text and b'\x07' not in text, (words, text)


if __name__ == '__main__':
    harness.main()
