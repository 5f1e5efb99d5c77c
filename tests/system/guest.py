#!/usr/bin/env python3
"""Runs a command in a guest with several NUMA nodes, over the host's own files.

  tests/system/guest.py [--nodes N] [--cpuless] [--memory MIB] [--cpu MODEL] -- COMMAND...

The guest is Debian's kernel in QEMU's emulation, so it needs neither root nor /dev/kvm and is the
same on every machine: one CPU for each node, unequal distances, the host's / read-only under a
tmpfs (what the command writes is gone afterwards). Output and exit status are the command's.
Status 125: the guest gave no result; 77: a guest can't be had here, and why is printed.
"""
import argparse
import dataclasses
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time

import kernel

SKIP = 77  # SKIP_RETURN_CODE in CMakeLists.txt
NO_RESULT = 125
PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
# clocksource, tsc: with the TSC one boot of twelve on a loaded host measured its rate 20 times too
# high. numa_balancing: pages stay where tests put them. panic, with -no-reboot: a guest whose kernel
# complains ends at once.
KERNEL_ARGUMENTS = ('console=ttyS0 quiet panic=-1 oops=panic panic_on_warn=1 clocksource=hpet tsc=unstable '
                    'numa_balancing=disable mitigations=off nokaslr nowatchdog cryptomgr.notests')


@dataclasses.dataclass(frozen=True)
class Machine:
    nodes: int = 4  # each with one CPU and `memory_mib`
    cpuless: bool = False  # one node more, of memory alone, with the highest number
    memory_mib: int = 512
    cpu: str = 'max'  # QEMU's -cpu
    timeout: float = 240  # seconds, from QEMU's start to its end

    def node_count(self):
        return self.nodes + self.cpuless

    def distance(self, one, other):
        """What the firmware tells of two nodes: 20, 24, 28; to the node without a CPU 36 to 48."""
        if one == other:
            return 10
        if max(one, other) >= self.nodes:
            return 36 + 4 * min(one, other)
        return 16 + 4 * (one ^ other)


@dataclasses.dataclass(frozen=True)
class Finished:
    status: int
    stdout: bytes
    stderr: bytes
    console: str  # the kernel's, and what init had to say
    seconds: float


def numa_arguments(machine):
    words = []
    for node in range(machine.node_count()):
        cpus = f',cpus={node}' if node < machine.nodes else ''
        words += ['-object', f'memory-backend-ram,id=memory{node},size={machine.memory_mib}M',
                  '-numa', f'node,nodeid={node},memdev=memory{node}{cpus}']
    for one in range(machine.node_count()):
        for other in range(one + 1, machine.node_count()):
            distance = machine.distance(one, other)
            words += ['-numa', f'dist,src={one},dst={other},val={distance}']
            words += ['-numa', f'dist,src={other},dst={one},val={distance}']
    return words


def shared_folder(tag, path, *options):
    # remap: / may hold several file systems, whose inode numbers must not meet.
    file_system = ','.join(['local', f'id={tag}', f'path={path}', 'security_model=none', *options])
    return ['-fsdev', file_system, '-device', f'virtio-9p-pci,fsdev={tag},mount_tag={tag}']


def qemu_command(machine, files, out):
    return [kernel.QEMU, '-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot',
            '-machine', 'q35', '-accel', 'tcg,thread=multi', '-cpu', machine.cpu,
            # A socket for each node: cores of one socket on several nodes make the scheduler complain.
            '-smp', f'{machine.nodes},sockets={machine.nodes},cores=1,threads=1',
            '-m', f'{machine.node_count() * machine.memory_mib}M', *numa_arguments(machine),
            *shared_folder('host', '/', 'readonly=on', 'multidevs=remap'), *shared_folder('out', out),
            '-serial', f'file:{out}/console', '-kernel', str(files.kernel),
            '-initrd', str(files.initramfs), '-append', KERNEL_ARGUMENTS]


def command_script(command, variables):
    """What init runs: the command in our own folder, with a plain environment."""
    words = ['exec', 'env', '-i', f'PATH={PATH}', 'HOME=/', 'TERM=dumb', 'LC_ALL=C.UTF-8',
             *(f'{name}={value}' for name, value in variables.items()), *map(str, command)]
    return f'cd {shlex.quote(os.getcwd())} || exit {NO_RESULT}\n{shlex.join(words)}\n'


def read(path):
    return path.read_bytes() if path.exists() else b''


def boot(machine, command, variables=None):
    """Runs a command in a new guest. Raises kernel.Unavailable where there can be none."""
    files = kernel.prepare()
    variables = {'SIMPMU': files.module, **(variables or {})}
    with tempfile.TemporaryDirectory(prefix='memagent-guest-') as folder:
        out = pathlib.Path(folder)
        (out / 'command').write_text(command_script(command, variables))
        start = time.monotonic()
        try:
            qemu = subprocess.run(qemu_command(machine, files, out), stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=machine.timeout)
            # Of a processor's features that are not emulated it says one line each.
            complaint = re.sub(r'.*TCG doesn.t support requested feature.*\n', '',
                               qemu.stderr.decode(errors='replace'))
        except subprocess.TimeoutExpired:
            complaint = f'guest: ended after {machine.timeout} s\n'
        seconds = time.monotonic() - start
        status = read(out / 'status').strip()
        return Finished(int(status) if status else NO_RESULT, read(out / 'stdout'), read(out / 'stderr'),
                        read(out / 'console').decode(errors='replace') + complaint, seconds)


def show(finished):
    """Passes the command's output on, and what the kernel said when it did not end well."""
    sys.stdout.buffer.write(finished.stdout)
    sys.stdout.flush()
    sys.stderr.buffer.write(finished.stderr)
    if finished.status not in (0, SKIP):
        sys.stderr.write(finished.console)
    sys.stderr.flush()


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--nodes', type=int, default=Machine.nodes)
    parser.add_argument('--cpuless', action='store_true', help='one node more, without a CPU')
    parser.add_argument('--memory', type=int, default=Machine.memory_mib, metavar='MIB', help='of each node')
    parser.add_argument('--cpu', default=Machine.cpu, metavar='MODEL', help="QEMU's -cpu")
    parser.add_argument('--timeout', type=float, default=Machine.timeout, metavar='SECONDS')
    parser.add_argument('--prepare', action='store_true', help='only fill the cache')
    parser.add_argument('command', nargs='*')
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    try:
        if arguments.prepare:
            print(f'ok: {kernel.prepare().release} in {kernel.cache_folder()}')
            return 0
        machine = Machine(arguments.nodes, arguments.cpuless, arguments.memory, arguments.cpu,
                          arguments.timeout)
        finished = boot(machine, arguments.command)
    except kernel.Unavailable as reason:
        print(f'SKIPPED: {reason}')
        return SKIP
    show(finished)
    return finished.status


if __name__ == '__main__':
    sys.exit(main())
