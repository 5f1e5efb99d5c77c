#!/usr/bin/env python3
"""Where the profile goes, and what may not happen on the way (rows P82 to P89)."""
import os
import pathlib
import resource
import shutil
import signal
import subprocess

import harness
import pitfall
from harness import case

PITFALLS = harness.PROGRAMS / 'pitfalls'
WORKERS = [PITFALLS / 'worker_threads', 2, 100, 0.02]
RATES = (None, *pitfall.RATES_HZ)  # None: plain


def needs_root():
    if os.geteuid() != 0:
        harness.skip('needs root')


def counts(parsed, function):
    sites = harness.sites_of(parsed, function)
    return harness.total(sites, 'allocations'), harness.total(sites, 'bytes_allocated')


def agent_variables(rate, **options):
    """For a program far down a command line; {} for the plain run."""
    if rate is None:
        return {}
    return {'LD_PRELOAD': str(harness.AGENT),
            'MEMAGENT_OPTIONS': harness.options_text('.', {'rate': rate, **options})}


def with_variables(variables, command):
    return ['env', *(f'{name}={value}' for name, value in variables.items()), *map(str, command)]


def on_small_disk(folder, rate, kibibytes, command):
    """Runs in a tmpfs that only the run sees; whatever it leaves there is copied to folder/left."""
    disk, left = folder / 'disk', folder / 'left'
    disk.mkdir(parents=True)
    left.mkdir()
    script = (f'mount -t tmpfs -o size={kibibytes}k none {disk} || exit 99; cd {disk}; "$@"; status=$?; '
              f'cp -r . {left}; exit $status')
    words = ['unshare', '-m', 'sh', '-c', script, 'sh',
             *with_variables(agent_variables(rate, output=f'{disk}/x.memagent'), command)]
    result = harness.run_plain(words)
    if result.status == 99 or b'unshare failed' in result.stderr:
        harness.skip(f'cannot mount here: {result.stderr.decode().strip()}')
    result.profiles = harness.profiles_in(left)
    return result


@case(rows='P82')
def a_full_disk_stops_the_profile_not_the_program(folder):
    """64 KiB are enough for the start of a profile: that stays readable, and one line says why it ends."""
    needs_root()
    for rate in RATES:
        result = on_small_disk(folder / str(rate), rate, 64, [PITFALLS / 'full_disk'])
        if rate is None:
            plain = result
            assert plain.status == 3 and b'SIGBUS' in plain.stdout, (plain.status, plain.stdout, plain.stderr)
            continue
        assert (result.status, result.stdout) == (plain.status, plain.stdout), (plain.stdout, result.stdout)
        lines = result.stderr.decode().splitlines()
        assert len(lines) == 1 and 'x.memagent' in lines[0] and 'disk' in lines[0], lines
        allocations, _ = counts(result.only_profile(), 'alloc_on_full_disk')
        assert 100 <= allocations <= 300, allocations


@case(rows='P82')
def a_disk_too_small_for_a_profile_gets_a_whole_one_or_none(folder):
    needs_root()
    sizes = []
    for kibibytes in (4, 8, 12):
        # The folder's own file takes the first page.
        script = ['sh', '-c', 'head -c 4096 /dev/zero > taken; exec "$@"', 'sh', *map(str, WORKERS)]
        result = on_small_disk(folder / str(kibibytes), 10000, kibibytes, script)
        assert result.status == 3, (result.status, result.stderr)
        sizes.append([path.stat().st_size for path in result.profiles])
        for path in result.profiles:
            harness.report(path)
    print(f'profiles of {sizes} bytes')


@case(rows='P83')
def a_limit_on_file_sizes_raises_no_signal_and_leaves_no_ruin(folder):
    """Every limit around the first chunks: a profile that can be read, or none."""
    for limit in (0, 1, 500, 2500, 4000, 8000, 1 << 20):
        (folder / str(limit)).mkdir()
        found = []
        for plain, measured in pitfall.unnoticed_program(folder / str(limit), 'limits', 'fsize', limit):
            assert plain.status == 3 and f'soft {limit}'.encode() in plain.stdout, plain.stdout
            for path in measured.profiles:
                parsed = harness.report(path)
                found.append(path.stat().st_size)
                assert found[-1] <= limit
                if limit == 1 << 20:
                    assert counts(parsed, 'alloc_limited') == (200, 200000)
        assert len(found) == (2 if limit >= 4000 else len(found)), (limit, found)
        print(f'limit {limit}: profiles of {found} bytes')


@case(rows='P83')
def a_limit_set_before_the_start_raises_no_signal(folder):
    for limit in (0, 3000):
        (folder / str(limit)).mkdir()
        steps = pitfall.unnoticed(
            folder / str(limit), ['sh', '-c', 'echo "$0"; exec "$@"', 'text', *WORKERS],
            preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        for plain, measured in steps:
            assert plain.status == 3, plain.stderr
            for path in measured.profiles:
                harness.report(path)


@case(rows='P83')
def outputs_that_are_no_files_are_refused_in_one_line(folder):
    os.mkfifo(folder / 'fifo')
    (folder / 'folder').mkdir()
    for output in ('/dev/full', '/dev/null', '/dev/stdout', folder / 'fifo', folder / 'folder'):
        plain = harness.run_plain(WORKERS)
        for rate in pitfall.RATES_HZ:
            result = harness.run_measured(WORKERS, folder, {'rate': rate, 'output': output})
            assert (result.status, result.stdout) == (plain.status, plain.stdout), (output, result.stdout)
            lines = result.stderr.decode().splitlines()
            assert len(lines) == 1 and str(output) in lines[0], (output, lines)
            assert not result.profiles
        print(lines[0])


def with_dead_reader(words, **arguments):
    """stderr is a pipe that nobody reads any more."""
    read_end, write_end = os.pipe()
    os.close(read_end)
    finished = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=write_end,
                              stdin=subprocess.DEVNULL, timeout=60, restore_signals=True, **arguments)
    os.close(write_end)
    return finished.returncode, finished.stdout


@case(rows='P83 P89')
def a_line_to_a_stderr_that_nobody_reads_kills_nobody(folder):
    """The output folder is not there, so the agent would have something to say."""
    plain = with_dead_reader([PITFALLS / 'standard_streams', 'quiet'])
    assert plain == (3, b'')
    for options in ({'output': folder / 'none/x.memagent'}, {'frobnicate': 1}, {'verbose': 1}):
        for rate in pitfall.RATES_HZ:
            environment = harness.environment(
                LD_PRELOAD=str(harness.AGENT),
                MEMAGENT_OPTIONS=harness.options_text(folder, {'rate': rate, **options}))
            assert with_dead_reader([PITFALLS / 'standard_streams', 'quiet'], env=environment) == plain, options


@case(rows='P83 P89')
def a_full_stderr_blocks_nobody(folder):
    for rate in pitfall.RATES_HZ:
        read_end, write_end = os.pipe()
        environment = harness.environment(
            LD_PRELOAD=str(harness.AGENT),
            MEMAGENT_OPTIONS=harness.options_text(folder, {'rate': rate, 'verbose': 1}))
        finished = subprocess.run([PITFALLS / 'standard_streams', 'full'], stderr=write_end, env=environment,
                                  timeout=20)
        assert finished.returncode == 3
        os.close(write_end)
        with os.fdopen(read_end, 'rb') as pipe:
            assert set(pipe.read()) == {ord('e')}, 'the agent wrote into the program\'s pipe'
    assert len(harness.profiles_in(folder)) == 2


@case(rows='P84 P89')
def data_where_stderr_was_gets_no_line_of_ours(folder):
    """The output folder is not there, and descriptor 2 is a file of the program's."""
    for options in ({'output': folder / 'none/%p/x.memagent'}, {'verbose': 1}, {}):
        where = folder / '-'.join(options or ['none'])
        where.mkdir()
        for plain, measured in pitfall.unnoticed_program(where, 'standard_streams', 'reuse', options=options):
            assert plain.status == 3, plain.status
            if 'output' not in options:
                assert counts(measured.only_profile(), 'alloc_quietly') == (100, 70000)


@case(rows='P84')
def a_program_that_takes_every_descriptor_keeps_its_files(folder):
    for how in ('closefrom', 'close_range', 'dup2', 'loop'):
        (folder / how).mkdir()
        for plain, measured in pitfall.unnoticed_program(folder / how, 'own_descriptors', how):
            assert plain.status == 3 and b'host3' in plain.stdout, plain.stdout
            parsed = measured.only_profile()
            assert counts(parsed, 'alloc_between_closes') == (300, 300 * 123)
            assert parsed['file']['end'] == 'exit', parsed['file']


@case(rows='P85')
def an_output_folder_that_cannot_be_written(folder):
    needs_root()
    folder.chmod(0o755)
    closed = folder / 'closed'
    closed.mkdir()
    closed.chmod(0o500)
    as_nobody = {'user': 65534, 'group': 65534, 'extra_groups': []}
    plain = harness.run_plain(WORKERS, **as_nobody)
    for output in (closed / 'x.memagent', closed / '%p/x.memagent', '/proc/x.memagent', '/no/such/x.memagent'):
        for rate in pitfall.RATES_HZ:
            result = harness.run_measured(WORKERS, folder, {'rate': rate, 'output': output}, **as_nobody)
            assert (result.status, result.stdout) == (plain.status, plain.stdout), (output, result.stderr)
            lines = result.stderr.decode().splitlines()
            assert len(lines) == 1 and 'Cannot write the profile' in lines[0], (output, lines)
        print(lines[0])
    assert not list(closed.iterdir())


@case(rows='P86')
def odd_file_systems_hold_a_profile(folder):
    """Only open, write and rename are needed: what overlay, tmpfs and ramfs have, others have too."""
    needs_root()
    disk = folder / 'disk'
    for name in ('disk', 'lower', 'left'):
        (folder / name).mkdir()
    tried = 0
    mounts = {'ramfs': 'mount -t ramfs none DISK',
              'tmpfs': 'mount -t tmpfs none DISK',
              'overlay': 'mount -t tmpfs none FOLDER/lower; mkdir FOLDER/lower/up FOLDER/lower/work FOLDER/lower/low; '
                         'mount -t overlay -o lowerdir=FOLDER/lower/low,upperdir=FOLDER/lower/up,'
                         'workdir=FOLDER/lower/work none DISK'}
    for name, mount in mounts.items():
        mount = mount.replace('DISK', str(disk)).replace('FOLDER', str(folder))
        script = f'{mount} || exit 99; "$@"; status=$?; cp {disk}/*.memagent {folder}/left; exit $status'
        result = harness.run_plain(['unshare', '-m', 'sh', '-c', script, 'sh',
                                    *with_variables(agent_variables(1000, output=f'{disk}/{name}.memagent'), WORKERS)])
        if result.status == 99 or b'unshare failed' in result.stderr:
            print(f'{name} cannot be mounted here: {result.stderr.decode().strip()}')
            continue
        assert result.status == 3, (name, result.status, result.stderr)
        assert counts(harness.report(folder / f'left/{name}.memagent'), 'alloc_in_worker') == (200, 20000)
        tried += 1
    if tried == 0:
        harness.skip('no file system can be mounted here')


def elsewhere(folder, what, *when, **arguments):
    (folder / what).mkdir(exist_ok=True)
    (folder / what).chmod(0o755)
    where = folder / what / ('-'.join(when) or 'at once')
    where.mkdir()
    folder.chmod(0o755)
    steps = pitfall.unnoticed_program(where, 'other_place', what, *when,
                                      prepare=lambda work: work.chmod(0o777), **arguments)
    for plain, measured in steps:
        assert plain.status == 3 and b'errno' not in plain.stdout, plain.stdout
        parsed = measured.only_profile()
        assert counts(parsed, 'alloc_at_home') == (50, 50000)
        assert counts(parsed, 'alloc_elsewhere') == (50, 150000)
        assert parsed['file']['end'] == 'exit', parsed['file']
        assert measured.profiles[0].stat().st_mode & 0o777 == 0o600


@case(rows='P87')
def a_program_that_moves_still_writes_its_profile(folder):
    for what in ('chdir', 'gone', 'umask', 'dumpable'):
        elsewhere(folder, what)
        elsewhere(folder, what, 'late')


@case(rows='P87')
def a_program_that_locks_itself_in_still_writes_its_profile(folder):
    needs_root()
    for what in ('nobody', 'chroot', 'daemon', 'namespace'):
        elsewhere(folder, what)
        elsewhere(folder, what, 'late')


@case(rows='P87')
def a_relative_output_is_in_the_folder_of_the_start(folder):
    for rate in pitfall.RATES_HZ:
        work = folder / str(rate)
        work.mkdir()
        result = harness.run_measured([PITFALLS / 'other_place', 'chdir'], folder,
                                      {'rate': rate, 'output': '%e.memagent'}, cwd=work)
        assert result.status == 3 and result.stderr == b'', result.stderr
        assert counts(harness.report(work / 'other_place.memagent'), 'alloc_elsewhere') == (50, 150000)


@case(rows='P88')
def the_same_pid_twice_gives_two_profiles(folder):
    needs_root()
    command = ['unshare', '--pid', '--fork', *map(str, WORKERS)]
    if harness.run_plain(command).status != 3:
        harness.skip('this machine allows no pid namespace')
    for rate in pitfall.RATES_HZ:
        profiles = folder / str(rate)
        profiles.mkdir()
        for _ in range(3):
            result = harness.run_measured(command, profiles, {'rate': rate, 'output': f'{profiles}/%e.%p.memagent'})
            assert result.status == 3 and result.stderr == b'', result.stderr
        names = sorted(path.name for path in profiles.glob('worker_threads*'))
        assert names == ['worker_threads.1.1.memagent', 'worker_threads.1.2.memagent', 'worker_threads.1.memagent'], names
        for name in names:
            assert counts(harness.report(profiles / name), 'alloc_in_worker') == (200, 20000)


@case(rows='P88')
def many_at_once_with_one_name_give_many_profiles(folder):
    environment = harness.environment(LD_PRELOAD=str(harness.AGENT),
                                      MEMAGENT_OPTIONS=f'rate=10000,output={folder}/same.memagent')
    running = [subprocess.Popen([str(word) for word in WORKERS], env=environment, stdout=subprocess.DEVNULL)
               for _ in range(12)]
    assert [process.wait(60) for process in running] == [3] * 12
    profiles = harness.profiles_in(folder)
    pids = {harness.report(path)['process']['pid'] for path in profiles}
    assert len(profiles) == 12 and pids == {process.pid for process in running}, profiles


@case(rows='P89')
def nothing_is_said_on_the_programs_streams(folder):
    """Pipelines, captures and streams that are closed from the start."""
    commands = [['sh', '-c', 'echo out; echo err >&2; printf %s "$(ls /)" | sort | head -3'],
                ['sh', '-ec', 'true | cat; { echo a; } 2>&1'],
                ['sh', '-c', 'exec 2>&-; echo "$0" >&2; exit 5'],
                ['sh', '-c', 'exec <&- >&- 2>&-; "$0" 2 10 0.01; exit 6', str(WORKERS[0])]]
    for number, command in enumerate(commands):
        (folder / str(number)).mkdir()
        for _, measured in pitfall.unnoticed(folder / str(number), command):
            assert measured.profiles
            for path in measured.profiles:
                harness.report(path)


if __name__ == '__main__':
    harness.main()
