#!/usr/bin/env python3
"""Objects of the agent call no libc function that allocates, locks, sets errno or uses stdio.

Hooks run inside the program's own malloc and the drain thread has no glibc thread descriptor, so such
a call deadlocks or corrupts the program. Exceptions are in forbidden_calls.txt, each with its reason.

    forbidden_calls.py BUILD_FOLDER_OF_AGENT
"""
import pathlib
import re
import sys

import gate

# Archives of the agent; the profile reader is the viewer's and free.
STAGES = ['base', 'os', 'ledger', 'capture', 'decode', 'attribute', 'aggregate', 'profile_writer',
          'crc32c', 'runtime']

FORBIDDEN = re.compile('|'.join(f'(?:{pattern})' for pattern in [
    # the program's heap, which we interpose
    r'malloc', r'calloc', r'realloc', r'reallocarray', r'free', r'cfree', r'posix_memalign',
    r'aligned_alloc', r'memalign', r'strdup', r'strndup', r'getline', r'_Zn[wa].*', r'_Zd[la].*',
    # errno, and calls that set it or are cancellation points
    r'__errno_location', r'open(at)?(64)?', r'close', r'p?read(v|64)?', r'p?write(v|64)?', r'lseek(64)?',
    r'ioctl', r'poll', r'ppoll', r'select', r'fcntl(64)?', r'f?stat(at)?(64)?', r'readlink(at)?',
    r'mmap(64)?', r'munmap', r'mremap', r'mprotect', r'madvise', r'fork', r'vfork', r'clone', r'execve.*',
    r'waitpid', r'kill', r'nanosleep', r'usleep', r'sleep', r'getpid', r'gettid', r'sched_yield',
    r'syscall', r'sigaction', r'sigprocmask', r'unlink(at)?', r'rename(at)?', r'ftruncate(64)?',
    # stdio, locale, formatting
    r'f?open(64)?', r'fdopen', r'fclose', r'fread', r'fwrite', r'fputs', r'puts', r'fflush',
    r'v?(f|s|sn|as|d)?printf', r'__v?(f|s|sn|as|d)?printf_chk', r'v?(f|s)?scanf', r'__isoc\d+_.*scanf',
    r'strto(l|ll|ul|ull|d|f|ld|imax|umax)', r'__isoc\d+_strto.*', r'atoi', r'atol', r'atof',
    r'strerror(_r)?', r'setlocale', r'opendir', r'readdir(64)?', r'closedir', r'popen', r'system',
    # locks, threads, the loader, exceptions
    r'pthread_.*', r'sem_.*', r'call_once', r'thrd_.*', r'mtx_.*', r'dl_iterate_phdr', r'dlopen',
    r'dlsym', r'dlvsym', r'dladdr1?', r'dlclose', r'__cxa_.*', r'_Unwind_.*', r'__tls_get_addr',
    r'getenv', r'secure_getenv', r'setenv', r'unsetenv', r'putenv', r'atexit', r'on_exit', r'exit',
    r'abort', r'__assert_fail', r'__stack_chk_fail', r'signal', r'raise',
    r'_ZSt\d+__throw_.*', r'_ZNSt.*(stream|locale|thread|mutex|condition_variable).*',
    r'getaddrinfo', r'gethostby.*', r'getpw.*', r'qsort', r'localtime(_r)?', r'random', r'rand',
]))


def undefined_symbols(archive):
    """Yields (object, symbol) for every symbol that an object of the archive leaves undefined."""
    member = ''
    for line in gate.output_of('nm', '-u', '-P', archive).splitlines():
        header = re.fullmatch(r'.*\[(.*)\]:', line)
        if header:
            member = header.group(1)
        elif line.split():
            yield member, line.split()[0].split('@')[0]


def defined_symbols(archives):
    symbols = set()
    for archive in archives:
        for line in gate.output_of('nm', '-P', '--defined-only', archive).splitlines():
            words = line.split()
            if len(words) >= 2 and words[1] in 'TtWwVvDdBbRri':
                symbols.add(words[0])
    return symbols


def read_exceptions():
    """{(object, symbol)}: reason. '*' as the object is any."""
    exceptions = {}
    for line in (gate.ROOT / 'tests/gates/forbidden_calls.txt').read_text().splitlines():
        if line.strip() and not line.startswith('#'):
            member, symbol, reason = line.split(None, 2)
            exceptions[(member, symbol)] = reason
    return exceptions


def main():
    folder = pathlib.Path(sys.argv[1])
    archives = [str(path) for stage in STAGES for path in folder.rglob(f'libmemagent_{stage}.a')]
    # The runtime stage is linked from objects, not from an archive.
    archives += [str(path) for path in folder.rglob('memagent_so.dir/**/*.o')]
    if not archives:
        sys.exit('no stage of the agent is built')
    exceptions, used, problems = read_exceptions(), set(), []
    ours = defined_symbols(archives)
    for archive in archives:
        for member, symbol in undefined_symbols(archive):
            member = member or pathlib.Path(archive).name
            if not FORBIDDEN.fullmatch(symbol) or (symbol in ours and not is_interposed(symbol)):
                continue
            matching = [key for key in ((member, symbol), ('*', symbol)) if key in exceptions]
            used.update(matching)
            if not matching:
                problems.append(f'{member}: calls {symbol}')
    complete = (folder / 'libmemagent.so').exists()
    if complete:  # earlier, the object that needs the exception may not be there yet
        problems += [f'exception {" ".join(key)} is not used any more' for key in exceptions if key not in used]
    gate.finish(problems, f'{len(archives)} archives and objects checked, {len(used)} exceptions used')


def is_interposed(symbol):
    """Defined by us, but as the hook: our own code must not enter it."""
    return symbol in gate.golden('exports.txt')


main()
