"""Takes Arm SPE's records apart, for tests of the simulated PMU (facts perf_abi 4.4)."""
import struct

LENGTHS = {0: '<B', 1: '<H', 2: '<I', 3: '<Q'}  # by bits 5:4 of the header
NAMES = {0xb0: 'pc', 0xb2: 'va', 0xb3: 'pa', 0x98: 'total', 0x99: 'issue', 0x9a: 'translation',
         0x48: 'other', 0x49: 'store', 0x42: 'events', 0x43: 'source', 0x71: 'timestamp'}
PAD, END, TIMESTAMP = 0x00, 0x01, 0x71
ADDRESS = (1 << 56) - 1


def records(data):
    """A dictionary of packets for each record; it ends with a timestamp or an end packet."""
    at, record = 0, {}
    while at < len(data):
        header = data[at]
        at += 1
        if header == PAD:
            continue
        if header != END:
            form = LENGTHS[header >> 4 & 3]
            (value,) = struct.unpack_from(form, data, at)
            at += struct.calcsize(form)
            # Events and data sources come in several lengths.
            name = NAMES[header & 0xcf if header & 0xcf in (0x42, 0x43) else header]
            record[name] = value & ADDRESS if name in ('pc', 'va', 'pa') else value
        if header in (END, TIMESTAMP):
            yield record
            record = {}
    assert not record, 'the last record has no end'
