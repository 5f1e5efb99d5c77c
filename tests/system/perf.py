"""perf_event_open, the ring, and what a sample holds: a reader of its own for tests of the simulated
PMU, so that neither is judged by the agent's. Layouts: facts perf_abi 1.1, 1.2, 1.6.
"""
import ctypes
import dataclasses
import errno
import fcntl
import mmap
import os
import struct

SYS_PERF_EVENT_OPEN = 298  # asm/unistd_64.h
ATTR_BYTES = 128  # PERF_ATTR_SIZE_VER7, known to Linux 6.1
IP, TID, TIME, ADDR, CPU, RAW = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 7, 1 << 10
WEIGHT, DATA_SRC, PHYS_ADDR, WEIGHT_STRUCT = 1 << 14, 1 << 15, 1 << 19, 1 << 24
BRANCH_STACK = 1 << 11
READ_TIMES = 3  # PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING
ENABLE, DISABLE, PERIOD = 0x2400, 0x2401, 0x40082404
RECORD_LOST, RECORD_THROTTLE, RECORD_SAMPLE, RECORD_AUX = 2, 5, 9, 11
AUX_TRUNCATED = 1
MISC_CPUMODE, CPUMODE_USER, MISC_EXACT_IP = 7, 2, 1 << 14
# The bits of attr that have no field of their own, by their number.
FLAGS = {'disabled': 0, 'exclude_user': 4, 'exclude_kernel': 5, 'exclude_hv': 6, 'exclude_idle': 7,
         'freq': 10, 'exclude_host': 19, 'exclude_guest': 20}
PAGE = mmap.PAGESIZE

_libc = ctypes.CDLL(None, use_errno=True)


def pmu_type(name):
    with open(f'/sys/bus/event_source/devices/{name}/type') as file:
        return int(file.read())


def attr_bytes(type=0, config=0, period=0, sample_type=0, config1=0, config2=0, precise=0,
               read_format=READ_TIMES, flags=('disabled',)):
    bits = sum(1 << FLAGS[flag] for flag in flags) | precise << 15
    packed = struct.pack('<IIQQQQQIIQQ', type, ATTR_BYTES, config, period, sample_type, read_format, bits,
                         0, 0, config1, config2)
    if sample_type & BRANCH_STACK:
        packed += struct.pack('<Q', 1 | 8)  # branch_sample_type: USER, ANY
    return packed.ljust(ATTR_BYTES, b'\0')


def error_name(error):
    """Linux has one number for ENOTSUP and EOPNOTSUPP; perf's pages say the latter."""
    return 'EOPNOTSUPP' if error.errno == errno.EOPNOTSUPP else errno.errorcode[error.errno]


def open_event(pid=0, cpu=-1, group=-1, **attr):
    """The event's descriptor; an OSError of its errno when the kernel refuses."""
    fd = _libc.syscall(SYS_PERF_EVENT_OPEN, attr_bytes(**attr), pid, cpu, group, 8)  # FD_CLOEXEC
    if fd < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return fd


def refusal(**arguments):
    """The name of the errno with which an event is refused; '' when it opens."""
    try:
        os.close(open_event(**arguments))
        return ''
    except OSError as error:
        return error_name(error)


def set_period(fd, period):
    """As refusal(), of PERF_EVENT_IOC_PERIOD."""
    try:
        fcntl.ioctl(fd, PERIOD, struct.pack('<Q', period))
        return ''
    except OSError as error:
        return error_name(error)


@dataclasses.dataclass
class Sample:
    misc: int
    ip: int = 0
    pid: int = 0
    tid: int = 0
    time: int = 0
    addr: int = 0
    cpu: int = 0
    raw: bytes = b''
    weight: int = 0
    data_src: int = 0
    phys: int = 0


def parse_sample(body, misc, sample_type):
    """Fields in the order of the kernel's perf_output_sample, which is not that of the bits."""
    sample, at = Sample(misc), 0

    def take(form):
        nonlocal at
        values = struct.unpack_from(form, body, at)
        at += struct.calcsize(form)
        return values

    for bit, form, names in ((IP, '<Q', ('ip',)), (TID, '<II', ('pid', 'tid')), (TIME, '<Q', ('time',)),
                             (ADDR, '<Q', ('addr',)), (CPU, '<IxxxxI'[:6], ('cpu',))):
        if sample_type & bit:
            for name, value in zip(names, take(form)):
                setattr(sample, name, value)
    if sample_type & RAW:
        (size,) = take('<I')
        sample.raw = body[at:at + size]
        at += size
    for bit, name in ((WEIGHT | WEIGHT_STRUCT, 'weight'), (DATA_SRC, 'data_src'), (PHYS_ADDR, 'phys')):
        if sample_type & bit:
            (value,) = take('<Q')
            setattr(sample, name, value)
    assert at == len(body), f'{len(body)} bytes in the sample, {at} of them known'
    return sample


class Event:
    """An event of the calling thread (pid 0) or of a CPU, with a ring of its own."""

    def __init__(self, pages=64, pid=0, cpu=-1, group=-1, **attr):
        self.sample_type = attr['sample_type']
        self.fd = open_event(pid=pid, cpu=cpu, group=group, **attr)
        self.size = pages * PAGE
        self.ring = mmap.mmap(self.fd, PAGE + self.size)
        self.lost = self.throttled = 0

    def enable(self):
        fcntl.ioctl(self.fd, ENABLE, 0)

    def disable(self):
        fcntl.ioctl(self.fd, DISABLE, 0)

    def head(self):
        return struct.unpack_from('<Q', self.ring, 1024)[0]

    def times(self):
        """(count, time enabled, time running)"""
        return struct.unpack('<QQQ', os.read(self.fd, 24))

    def records(self):
        """Takes everything out of the ring: (type, misc, body) of each record."""
        head, tail = struct.unpack_from('<QQ', self.ring, 1024)
        data = self.ring[PAGE:]
        first = tail % self.size
        unread = (data[first:] + data[:first])[:head - tail]
        struct.pack_into('<Q', self.ring, 1032, head)
        at = 0
        while at < len(unread):
            kind, misc, size = struct.unpack_from('<IHH', unread, at)
            assert size >= 8 and at + size <= len(unread), f'a record of {size} bytes'
            yield kind, misc, unread[at + 8:at + size]
            at += size

    def drain(self):
        """Takes everything out of the ring; the samples."""
        samples = []
        for kind, misc, body in self.records():
            if kind == RECORD_SAMPLE:
                samples.append(parse_sample(body, misc, self.sample_type))
            elif kind == RECORD_LOST:
                self.lost += struct.unpack_from('<QQ', body)[1]
            elif kind == RECORD_THROTTLE:
                self.throttled += 1
        return samples

    def close(self):
        self.ring.close()
        os.close(self.fd)


class AuxEvent(Event):
    """An event whose samples lie in an AUX area (facts perf_abi 4.3)."""

    def __init__(self, aux_pages=16, **attr):
        super().__init__(pages=4, **attr)
        self.area_size = aux_pages * PAGE
        struct.pack_into('<QQ', self.ring, 1072, PAGE + self.size, self.area_size)  # aux_offset, aux_size
        self.area = mmap.mmap(self.fd, self.area_size, offset=PAGE + self.size)
        self.flags = 0

    def drain_area(self):
        """The bytes that were announced; their flags are collected in `flags`."""
        found = b''
        for kind, _, body in self.records():
            if kind == RECORD_AUX:
                offset, size, flags = struct.unpack_from('<QQQ', body)
                first = offset % self.area_size
                found += (self.area[first:] + self.area[:first])[:size]
                self.flags |= flags
                struct.pack_into('<Q', self.ring, 1064, offset + size)  # aux_tail
        return found

    def close(self):
        self.area.close()
        super().close()
