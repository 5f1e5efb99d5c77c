"""Memory on a given node, threads on a given CPU, and where pages really lie."""
import ctypes
import mmap
import os
import struct

SYS_MBIND, SYS_MOVE_PAGES = 237, 279  # asm/unistd_64.h
MPOL_BIND = 2
MADV_DONTNEED, MADV_NOHUGEPAGE = 4, 15

_libc = ctypes.CDLL(None, use_errno=True)


def check(result, what):
    if result != 0:
        raise OSError(ctypes.get_errno(), f'{what}: {os.strerror(ctypes.get_errno())}')


class Block:
    """Touched small pages on one node."""

    def __init__(self, node, size):
        self.memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.size = size
        self.first = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        address, length = ctypes.c_void_p(self.first), ctypes.c_size_t(size)
        check(_libc.madvise(address, length, MADV_NOHUGEPAGE), 'madvise')
        mask = ctypes.c_ulong(1 << node)
        check(_libc.syscall(SYS_MBIND, address, length, MPOL_BIND, ctypes.byref(mask), 64, 0), 'mbind')
        # Before madvise took effect, a thread that touched the neighbouring memory may have got a huge
        # page that reaches into ours, on its own node (seen in 1 of 60 runs).
        check(_libc.madvise(address, length, MADV_DONTNEED), 'madvise')
        self.fill(1)

    def __contains__(self, address):
        return self.first <= address < self.first + self.size

    def fill(self, byte):
        """Stores to every byte."""
        _libc.memset(ctypes.c_void_p(self.first), byte, ctypes.c_size_t(self.size))

    def search(self):
        """Loads every byte, in libc: other threads run meanwhile."""
        _libc.memchr(ctypes.c_void_p(self.first), 0xff, ctypes.c_size_t(self.size))

    def nodes(self):
        """The node of each page."""
        return nodes_of(self.first, self.size)


def nodes_of(first, size, pid=0):
    """The node of each page of a process, or a negative errno where there is none, as move_pages tells."""
    count = size // mmap.PAGESIZE
    pages = (ctypes.c_void_p * count)(*(first + i * mmap.PAGESIZE for i in range(count)))
    status = (ctypes.c_int * count)()
    check(_libc.syscall(SYS_MOVE_PAGES, pid, ctypes.c_ulong(count), pages, None, status, 0), 'move_pages')
    return list(status)


def physical_address(address):
    """By /proc/self/pagemap; needs CAP_SYS_ADMIN."""
    with open('/proc/self/pagemap', 'rb') as file:
        file.seek(address // mmap.PAGESIZE * 8)
        (entry,) = struct.unpack('<Q', file.read(8))
    assert entry >> 63, f'no page at {address:#x}'
    return (entry & (1 << 55) - 1) * mmap.PAGESIZE + address % mmap.PAGESIZE
