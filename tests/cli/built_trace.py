# SPDX-License-Identifier: MIT
"""Builds traces (.etl) from a test's events, byte for byte, written only from a description of the format."""
import os
import struct
import sys
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))
from etl_check import buffer, header_event  # noqa: E402

START = 132590000000000000  # 2021-02-28T15:33:20Z, FILETIME
SECOND = 10 ** 7


def padded(data):
    return data + bytes(-len(data) % 8)


def item(kind, data, more):
    return struct.pack("<HHHH", 8 + len(padded(data)), kind, int(more), len(data)) + padded(data)


def event(provider, data, stamp, ident=0, version=0, channel=0, level=4, opcode=0, task=0, keyword=0, process=41,
          thread=42, items=(), activity=bytes(16), narrow=False, flags=0):
    """Returns an event with the header of manifest and TraceLogging events. `items`: (type, data) pairs of extended
    data."""
    extended = b"".join(item(kind, bytes_, i + 1 < len(items)) for i, (kind, bytes_) in enumerate(items))
    return struct.pack("<HBBHHIIq16sHBBBBHQII16s", 0x50 + len(extended) + len(data), 0x12 if narrow else 0x13, 0xC0,
                       flags | int(bool(items)), 0, thread, process, stamp, uuid.UUID(provider).bytes_le, ident, version,
                       channel, level, opcode, task, keyword, 2, 3, activity) + extended + data


def self_described(provider, provider_name, name, fields, data, stamp, **header):
    """Returns a TraceLogging event. `fields`: the metadata after the event's name."""
    traits = provider_name.encode() + b"\0"
    metadata = b"\0" + name.encode() + b"\0" + fields
    items = [(0xC, struct.pack("<H", 2 + len(traits)) + traits), (0xB, struct.pack("<H", 2 + len(metadata)) + metadata)]
    return event(provider, data, stamp, channel=11, items=items, **header)


def classic(provider, data, stamp, kind=0, version=0, process=21, thread=22):
    return struct.pack("<HBBBBHIIq16sII", 0x30 + len(data), 0x14, 0xC0, kind, 0, version, thread, process, stamp,
                       uuid.UUID(provider).bytes_le, 0, 0) + data


def system(hook, data, stamp, version=2, process=21, thread=22):
    return struct.pack("<HBBHHIIqII", version, 2, 0xC0, 0x20 + len(data), hook, thread, process, stamp, 0, 0) + data


def performance(hook, data, stamp, version=2):
    """Returns a kernel event whose header has only a time."""
    return struct.pack("<HBBHHq", version, 0x11, 0xC0, 0x10 + len(data), hook, stamp) + data


def message(guid, number, data, stamp, sequence=1, process=21, thread=22):
    """Returns an event as TraceMessage writes it in a 64-bit program, with sequence number, GUID, time and ids."""
    parts = struct.pack("<I16sqII", sequence, uuid.UUID(guid).bytes_le, stamp, thread, process)
    return struct.pack("<HBBHH", 8 + len(parts) + len(data), 0, 0x90, number, 0x01 | 0x02 | 0x08 | 0x20 | 0x80) + parts + data


def unknown(data):
    """Returns an event with an unknown header type."""
    return struct.pack("<HBB", 0x30 + len(data), 0x0D, 0xC0) + bytes(44) + data


def trace(path, events, clock=2, processors=1, size=8192, frequency=SECOND):
    """Writes a trace. `events`: the bytes of each event, or (processor, bytes)."""
    first = padded(header_event(8, 1, clock, frequency, processors, size, START))
    out = [buffer(size, 0, 0, 0, 0x21, 4, first, False, False)]
    bodies = {}

    def close(processor):
        body = bodies.pop(processor, b"")
        if body:
            out.append(buffer(size, len(out), START, processor, 0x20, 0, body, False, False))

    for one in events:
        processor, raw = one if isinstance(one, tuple) else (0, one)
        if 0x48 + len(bodies.get(processor, b"")) + len(padded(raw)) > size:
            close(processor)
        bodies[processor] = bodies.get(processor, b"") + padded(raw)
    for processor in sorted(bodies):
        close(processor)
    with open(path, "wb") as f:
        f.write(b"".join(out))
