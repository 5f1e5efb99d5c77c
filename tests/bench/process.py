"""Runs one program to its end and says what it used and what came of it."""
import dataclasses
import hashlib
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time

TIMEOUT_SECONDS = 900


@dataclasses.dataclass(frozen=True)
class Usage:
    """What a program used, its waited-for children included."""
    wall_seconds: float
    cpu_seconds: float
    peak_kib: int
    status: int       # 128+N when signal N ended it
    stdout: bytes
    ended_at: float   # time.monotonic()

    def outcome(self, *files):
        """Digest of what others see of the program: status, stdout, the files it made."""
        digest = hashlib.sha256(f'{self.status}\n'.encode() + self.stdout)
        for file in files:
            digest.update(pathlib.Path(file).read_bytes() if os.path.exists(file) else b'missing')
        return digest.hexdigest()


class Failed(Exception):
    """A program that did not do its work under a tool."""


def run(command, environment):
    with tempfile.TemporaryFile() as output, open(os.devnull, 'r+b') as null:
        start = time.monotonic()
        process = subprocess.Popen([str(word) for word in command], env=environment, stdin=null, stdout=output,
                                   stderr=null, start_new_session=True)
        timer = threading.Timer(TIMEOUT_SECONDS, os.killpg, (process.pid, signal.SIGKILL))
        timer.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:  # interrupted: leave nothing behind
            os.killpg(process.pid, signal.SIGKILL)
            raise
        finally:
            timer.cancel()
        end = time.monotonic()
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        return Usage(end - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss,
                     process.returncode if process.returncode >= 0 else 128 - process.returncode,
                     output.read(), end)


def run_well(command, environment):
    """As run; a program that does not end with status 0 has failed."""
    usage = run(command, environment)
    if usage.status != 0:
        raise Failed(f'{os.path.basename(str(command[0]))} ended with status {usage.status}')
    return usage


def cpu_seconds(pid):
    """CPU time of a running process, all its threads, the ended ones too.

    The clock id is the one clock_getcpuclockid(3) makes; /proc counts in ticks of 10 ms only.
    """
    return time.clock_gettime((~pid << 3) | 2)
