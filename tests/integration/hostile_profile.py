"""Writes profiles that no agent would write: the wire format by hand, so that anything can be said.

Field numbers are those of agent/profile/profile.proto; a message is a list of (number, value) with
int, bytes or another list as value, and Packed for columns.
"""
import struct

MAGIC = 0x544e4547414d454d
HEADER, STRINGS, MODULES, THREADS, STACKS, SITES, TOTALS, SAMPLES, EVENTS, SYMBOLS, FOOTER = range(16, 27)


class Packed(bytes):
    """A packed column of varints."""

    def __new__(cls, values):
        return super().__new__(cls, b''.join(map(varint, values)))


class Fixed64(int):
    """A number of wire type fixed64."""


def varint(value):
    encoded = bytearray()
    value &= (1 << 64) - 1
    while value > 0x7f:
        encoded.append(value & 0x7f | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def message(fields):
    encoded = []
    for number, value in fields:
        if isinstance(value, Fixed64):
            encoded += [varint(number << 3 | 1), struct.pack('<Q', value)]
        elif isinstance(value, int):
            encoded += [varint(number << 3), varint(value)]
        else:
            body = message(value) if isinstance(value, list) else value
            encoded += [varint(number << 3 | 2), varint(len(body)), body]
    return b''.join(encoded)


def _crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82f63b78 if byte & 1 else 0)  # CRC-32C, Castagnoli's polynomial reversed
        table.append(byte)
    return table


_TABLE = _crc_table()


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xff] ^ crc >> 8
    return crc ^ 0xffffffff


def profile(chunks, arguments=(b'program',)):
    """A whole file: a header, then the given (kind, fields), then a footer."""
    process = [(1, 4711), (3, arguments[0]), *((4, argument) for argument in arguments)]
    engine = [(1, 4), (2, 1), (4, 1000000), (5, b'ns')]
    header = (HEADER, [(1, Fixed64(MAGIC)), (2, 1), (4, b'1'), (6, Fixed64(1)), (7, process), (10, engine)])
    encoded = []
    for number, (kind, fields) in enumerate([header, *chunks, (FOOTER, [(1, Fixed64(10**9)), (2, b'exit')])]):
        covered = varint(2 << 3) + varint(number) + message([(kind, fields)])
        chunk = varint(1 << 3 | 5) + struct.pack('<I', crc32c(covered)) + covered
        encoded.append(message([(1, chunk)]))
    return b''.join(encoded)


def strings(texts):
    return STRINGS, [(1, text) for text in texts]


def totals(sites=(), threads=(), samples=0):
    accounting = [(1, samples), (2, samples), (5, samples)]
    return TOTALS, [(1, Fixed64(10**9)), (2, 1), (3, accounting), *((4, thread) for thread in threads),
                    *((5, site) for site in sites)]
