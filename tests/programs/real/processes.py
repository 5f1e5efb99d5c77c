"""Threads, multiprocessing by each start method, subprocesses and pipes; prints what came of it.

  processes.py ROUNDS
"""
import concurrent.futures
import hashlib
import json
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from multiprocessing import shared_memory


def digest(number):
    table = {str(i): [i * number] * 5 for i in range(2000)}
    return hashlib.sha256(json.dumps(table).encode()).hexdigest()[:16]


def through_queue(numbers, results):
    for number in iter(numbers.get, None):
        results.put((number, digest(number)))


def in_threads(rounds):
    found = {}

    def work(number):
        found[number] = digest(number)
    threads = [threading.Thread(target=work, args=(number,)) for number in range(3 * rounds)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(found.items())


def in_processes(method, rounds):
    context = multiprocessing.get_context(method)
    with context.Pool(2) as pool:  # ended by terminate(): SIGTERM to the workers
        found = pool.map(digest, range(4 * rounds))
    numbers, results = context.Queue(), context.Queue()
    worker = context.Process(target=through_queue, args=(numbers, results))
    worker.start()
    for number in (*range(rounds), None):
        numbers.put(number)
    found += [results.get() for _ in range(rounds)]
    worker.join()
    killed = context.Process(target=time.sleep, args=(60,))
    killed.start()
    killed.kill()
    killed.join()
    return found, worker.exitcode, killed.exitcode


def in_an_executor(rounds):
    with concurrent.futures.ProcessPoolExecutor(2) as executor:
        return list(executor.map(digest, range(2 * rounds)))


def in_shared_memory():
    block = shared_memory.SharedMemory(create=True, size=1 << 20)
    try:
        block.buf[:5] = b'hello'
        pid = os.fork()
        if pid == 0:
            block.buf[:5] = b'HELLO'
            os._exit(7)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        return bytes(block.buf[:5]).decode(), status
    finally:
        block.close()
        block.unlink()


def in_subprocesses():
    shell = subprocess.run('echo out; echo err >&2; exit 4', shell=True, capture_output=True, check=False)
    new_session = subprocess.run(['sh', '-c', 'echo $PPID | wc -l'], start_new_session=True, close_fds=True,
                                 capture_output=True, check=True)
    try:
        subprocess.run(['sleep', '30'], timeout=0.1, check=False)
        timed_out = False
    except subprocess.TimeoutExpired:
        timed_out = True
    try:
        subprocess.run(['/nonexistent/program'], check=False)
        missing = False
    except FileNotFoundError:
        missing = True
    with subprocess.Popen(['cat'], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as cat:
        echoed = len(cat.communicate(b'x' * 300000)[0])
    return shell.returncode, shell.stdout, shell.stderr, new_session.stdout, timed_out, missing, echoed


def main():
    rounds = int(sys.argv[1])
    print('descriptors', sorted(os.listdir('/proc/self/fd')))
    print('threads', in_threads(rounds))
    for method in ('fork', 'spawn', 'forkserver'):
        print(method, in_processes(method, rounds))
    print('executor', in_an_executor(rounds))
    print('shared memory', in_shared_memory())
    print('subprocesses', in_subprocesses())
    sys.exit(3)


if __name__ == '__main__':
    main()
