"""A redis-server of our own on a Unix socket, and a connection to it."""
import pathlib
import socket
import subprocess
import sys
import time

import process

START_SECONDS = 60  # under valgrind too


def free_port():
    """A TCP port of the loopback that nobody uses at this moment."""
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


class Server:
    def __init__(self, folder, environment, prefix=(), port=0):
        folder.mkdir()
        self.socket_path = str(folder / 'redis.sock')
        self.process = subprocess.Popen(
            [*prefix, 'redis-server', '--port', str(port), '--bind', '127.0.0.1', '--unixsocket', self.socket_path,
             '--dir', str(folder), '--save', '', '--appendonly', 'no'],
            env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.connection = None
        deadline = time.monotonic() + START_SECONDS
        while self.connection is None:
            try:
                self.connect()
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    self.stop()
                    raise
                time.sleep(0.05)

    def connect(self):
        fresh = socket.socket(socket.AF_UNIX)
        fresh.connect(self.socket_path)
        if self.connection:
            self.connection.close()
        self.connection = fresh

    def run(self, commands):
        """Sends commands and returns their replies, one line or bulk for each, as they came."""
        self.connection.sendall(b''.join(commands))
        wanted, data = len(commands), b''
        while count_replies(data) < wanted:
            received = self.connection.recv(1 << 20)
            if not received:
                sys.exit('redis-server closed the connection')
            data += received
        return data

    def resident_kib(self):
        for line in pathlib.Path(f'/proc/{self.process.pid}/status').read_text().splitlines():
            if line.startswith('VmRSS:'):
                return int(line.split()[1])
        return 0

    def cpu_seconds(self):
        return process.cpu_seconds(self.process.pid)

    def stop(self):
        """Ends it as an init system does; returns its exit status."""
        self.process.terminate()
        return self.process.wait(timeout=60)


def count_replies(data):
    """Whole replies at the front of RESP data; the load asks for none that are nested."""
    count = at = 0
    while (end := data.find(b'\r\n', at)) >= 0:
        if data[at:at + 1] == b'$' and data[at + 1:at + 2] != b'-':
            end += int(data[at + 1:end]) + 2
            if end + 2 > len(data):
                break
        at = end + 2
        count += 1
    return count


def encode(*words):
    parts = [b'*%d\r\n' % len(words)]
    for word in words:
        word = word if isinstance(word, bytes) else str(word).encode()
        parts.append(b'$%d\r\n%s\r\n' % (len(word), word))
    return b''.join(parts)
