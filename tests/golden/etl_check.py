#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the engine's reader of .etl and .blg containers. This is a second, small reader, written only from a
description of the format, and a generator of containers in many forms.

etl_check.py FILE...         prints the events, as read_logs does
etl_check.py --make DIR      writes containers (several processors, both pointer sizes, compressed, circular, cut)
etl_check.py --compare DIR   compares NAME.events of read_logs with what this reader finds in NAME.etl or NAME.blg

"""
import argparse
import os
import random
import struct
import sys
import uuid
import zlib

HEAD = 0x48
KINDS = {1: "system", 2: "system", 3: "system", 4: "system", 0x0A: "classic", 0x14: "classic", 0x0B: "instance",
         0x15: "instance", 0x10: "performance", 0x11: "performance", 0x12: "manifest", 0x13: "manifest"}


def unpack_xpress(data, size):
    """Decompresses plain LZ77 (MS-XCA). 32 flag bits, the most significant first, precede 32 items. A match has 16
    bits; a long match has more bits for its length."""
    out, at, flags, left, half = bytearray(), 0, 0, 0, None
    while len(out) < size:
        if left == 0:
            flags, at, left = struct.unpack_from("<I", data, at)[0], at + 4, 32
        left -= 1
        if not flags >> left & 1:
            out.append(data[at])
            at += 1
            continue
        word, at = struct.unpack_from("<H", data, at)[0], at + 2
        length, distance = word & 7, (word >> 3) + 1
        if length == 7:
            if half is None:
                half, length, at = at, data[at] & 15, at + 1
            else:
                length, half = data[half] >> 4, None
            if length == 15:
                length, at = data[at], at + 1
                if length == 255:
                    length, at = struct.unpack_from("<H", data, at)[0], at + 2
                    if length == 0:
                        length, at = struct.unpack_from("<I", data, at)[0], at + 4
                    length -= 15 + 7
                length += 15
            length += 7
        for _ in range(min(length + 3, size - len(out))):
            out.append(out[-distance])
    return bytes(out)


def pack_xpress(data):
    """Compresses to the same format, greedily. Creates matches with each form of length."""
    items, at, last = [], 0, {}
    while at < len(data):
        key, best = data[at:at + 4], 0
        before = last.get(key)
        if len(key) == 4 and before is not None and at - before <= 8192:
            while at + best < len(data) and data[before + best] == data[at + best]:
                best += 1
        last[key] = at
        if best >= 4:
            items.append((best, at - before))
            at += best
        else:
            items.append(data[at])
            at += 1
    out, half = bytearray(), None
    for begin in range(0, len(items), 32):
        group = items[begin:begin + 32]
        flags = sum(1 << 31 - i for i, item in enumerate(group) if isinstance(item, tuple))
        flags |= (1 << 32 - len(group)) - 1
        out += struct.pack("<I", flags)
        for item in group:
            if not isinstance(item, tuple):
                out.append(item)
                continue
            length, distance = item[0] - 3, item[1] - 1
            out += struct.pack("<H", distance << 3 | min(length, 7))
            if length < 7:
                continue
            length -= 7
            if half is None:
                half = len(out)
                out.append(min(length, 15))
            else:
                out[half] |= min(length, 15) << 4
                half = None
            if length >= 15:
                length -= 15
                out.append(min(length, 255))
                if length >= 255:
                    out += struct.pack("<H", length + 22) if length + 22 < 65536 else struct.pack("<HI", 0, length + 22)
    return bytes(out)


def wide(data, at):
    end = at
    while end + 2 <= len(data) and data[end:end + 2] != b"\0\0":
        end += 2
    return data[at:end].decode("utf-16-le"), end + 2


class Event:
    def __init__(self, raw, processor, stamp_before):
        self.raw, self.processor, kind = raw, processor, raw[2]
        self.process = self.thread = self.id = self.version = self.channel = self.level = self.opcode = self.task = 0
        self.keyword = self.extended = self.pointer = 0
        self.provider = self.activity = bytes(16)
        self.stamp = stamp_before
        if raw[3] == 0x90:
            self.kind = "message"
            self.read_message(raw)
            return
        self.kind = KINDS[kind]
        if self.kind == "system":
            (self.version, self.opcode, self.id, self.thread, self.process, self.stamp) = (
                struct.unpack_from("<H", raw)[0], raw[6], *struct.unpack_from("<HIIq", raw, 6))
            self.pointer, self.data = 4 if kind & 1 else 8, 0x20 if kind < 3 else 0x18
        elif self.kind == "performance":
            self.version, self.id, self.stamp = struct.unpack_from("<H4xHq", raw)
            self.opcode, self.pointer = raw[6], 4 if kind == 0x10 else 8
            self.data = min(0x10 + 8 * (self.version >> 8 & 7), len(raw))
        elif self.kind == "manifest":
            (flags, _, self.thread, self.process, self.stamp, self.provider, self.id, self.version, self.channel,
             self.level, self.opcode, self.task, self.keyword) = struct.unpack_from("<HHIIq16sHBBBBHQ", raw, 4)
            self.activity, self.pointer, self.data = raw[0x40:0x50], 4 if kind == 0x12 else 8, 0x50
            more = flags & 1
            while more:
                total, _, linkage = struct.unpack_from("<HHH", raw, self.data)
                self.data, self.extended, more = self.data + total, self.extended + total, linkage & 1
        else:
            (self.opcode, self.level, self.version, self.thread, self.process, self.stamp,
             self.provider) = struct.unpack_from("<BBHIIq16s", raw, 4)
            self.pointer, self.data = 4 if kind < 0x10 else 8, 0x30
            if self.kind == "instance":
                self.activity, self.data = raw[0x38:0x48], 0x48

    def read_message(self, raw):
        self.id, self.version = struct.unpack_from("<HH", raw, 4)
        at, flags = 8, self.version
        self.pointer = 4 if flags & 0x40 else 8 if flags & 0x80 else 0
        at += 4 if flags & 1 else 0
        if flags & 2:
            self.provider, at = raw[at:at + 16], at + 16
        elif flags & 4:
            at += 4
        if flags & 0x18:
            self.stamp, at = struct.unpack_from("<q", raw, at)[0], at + 8
        if flags & 0x20:
            self.thread, self.process = struct.unpack_from("<II", raw, at)
            at += 8
        self.data = at

    def line(self, log):
        guids = ["{%s}" % str(uuid.UUID(bytes_le=g)).upper() for g in (self.provider, self.activity)]
        fields = (log.utc(self.stamp), self.stamp, self.processor, self.kind, len(self.raw), len(self.raw) - self.data,
                  "%08x" % zlib.adler32(self.raw), self.process, self.thread, self.id, self.version, self.channel,
                  self.level, self.opcode, self.task, self.keyword, self.extended, self.pointer, *guids)
        return "event\t" + "\t".join(map(str, fields))


class Log:
    """All events of a file, merged in their order."""

    def __init__(self, data):
        first = self.first_event(data)
        head = first[0x20:]
        (self.buffer_size, *version, build, processors, end, _, _, self.mode, written, _, pointer, lost,
         self.mhz) = struct.unpack_from("<IBBBBIIqIIIIIIII", head)
        rest = 8 if pointer == 4 else 0
        bias = struct.unpack_from("<i", head, 0x48 - rest)[0]
        boot, self.frequency, self.start, self.clock = struct.unpack_from("<qqqI", head, 0xF8 - rest)
        self.private = struct.unpack_from("<H", first)[0] == 0  # version of the header event
        self.start_stamp = struct.unpack_from("<q", first, 0x10)[0]
        name, at = wide(head, 0x118 - rest)
        path, _ = wide(head, at)
        self.line = "log\t" + "\t".join(map(str, (
            self.buffer_size, ".".join(map(str, version)), build, processors, pointer, self.mode, written, lost, bias,
            self.start, end, boot, self.frequency, self.clock, name, path)))
        self.remarks, streams, at = 0, {}, 0
        while at < len(data):
            at = self.read_buffer(data, at, streams)
        self.events = []
        for _, buffers in sorted(streams.items()):
            stamp = 0
            stream = []
            for _, _, time, processor, raw in sorted(buffers, key=lambda b: b[:2]):
                stamp = self.read_events(raw, processor, time, stamp, stream)
            self.events.append(stream)
        self.events = self.merge(self.events)

    @staticmethod
    def first_event(data):
        size = struct.unpack_from("<H", data, HEAD + 4)[0]
        return data[HEAD:HEAD + size]

    def utc(self, stamp):
        if self.clock == 2:
            return stamp
        ticks = self.frequency if self.clock == 1 else self.mhz * 1000000
        passed = abs(stamp - self.start_stamp)
        whole, rest = divmod(passed, ticks)
        tenths = whole * 10000000 + rest * 10000000 // ticks
        return self.start + (tenths if stamp >= self.start_stamp else -tenths)

    def read_buffer(self, data, at, streams):
        if len(data) - at < HEAD:
            self.remarks += 1
            return len(data)
        size, _, _, _, time, sequence = struct.unpack_from("<IIIiqq", data, at)
        used, flags, kind = struct.unpack_from("<IHH", data, at + 0x30)
        whole = self.buffer_size if at else size
        if used < HEAD or size < HEAD or kind > 15 or (not flags & 0x40 and at and size != whole):
            self.remarks += any(data[at:at + HEAD])
            return at + whole
        processor = struct.unpack_from("<H", data, at + 0x28)[0] if flags & 0x20 else data[at + 0x28]
        if self.mode & 0x10000000:
            processor = 0
        if self.clock != 2 and (self.private or self.mode & 0x10000):
            ticks = self.frequency if self.clock == 1 else self.mhz * 1000000
            time = self.start_stamp + (time - self.start) * ticks // 10000000
        raw = data[at:at + min(size, used)]
        if flags & 0x40:
            raw = raw[:HEAD] + unpack_xpress(data[at + HEAD:at + size], used - HEAD)
        self.remarks += len(raw) < used
        streams.setdefault(processor, []).append((sequence, at, time, processor, raw))
        return at + size

    def read_events(self, raw, processor, time, stamp, stream):
        at = HEAD
        while at + 8 <= len(raw):
            marks, kind = raw[at + 3], raw[at + 2]
            where = at + 4 if marks != 0x90 and kind in (1, 2, 3, 4, 0x10, 0x11) else at
            length = struct.unpack_from("<H", raw, where)[0]
            if marks != 0x90 and marks & 0xC0 != 0xC0 or length < 8 or at + length > len(raw):
                break
            event = Event(raw[at:at + length], processor, time if at == HEAD else stamp)
            stream.append(event)
            stamp = event.stamp
            at += length + 7 & ~7
        return stamp

    @staticmethod
    def merge(streams):
        places, merged = [0] * len(streams), []
        while True:
            best = None
            for i, stream in enumerate(streams):
                if places[i] < len(stream):
                    event = stream[places[i]]
                    order = event.kind != "system" or event.id != 0, event.stamp  # the log file header comes first
                    if best is None or order < best[0]:
                        best = order, i
            if best is None:
                return merged
            merged.append(streams[best[1]][places[best[1]]])
            places[best[1]] += 1

    def lines(self):
        return [self.line] + [event.line(self) for event in self.events]


# Functions that create containers.

def header_event(pointer, mode, clock, frequency, processors, size, start):
    narrow = pointer == 4
    head = struct.pack("<IBBBBIIqIIIIIIII", size, 10, 0, 2 if mode & 0x04000000 else 1, 0 if mode & 0x04000000 else 5,
                       19045, processors, start + 777, 156250, 0, mode, 0, 1, pointer, 3, 2000)
    head += bytes(8 if narrow else 16) + struct.pack("<i", -330) + bytes(168) + bytes(4)
    head += struct.pack("<qqqII", start - 10 ** 9, frequency, start, clock, 0)
    head += "logger \u00e9\0".encode("utf-16-le") + "C:\\logs\\made.etl\0".encode("utf-16-le")
    return struct.pack("<HBBHHIIqII", 2, 1 if narrow else 2, 0xC0, 0x20 + len(head), 0, 4, 8,
                       start if clock == 2 else 5000, 0, 0) + head


def random_event(rng, stamp, narrow):
    data = bytes(rng.choice(b"abcd\0") for _ in range(rng.choice((0, 1, 7, 8, 60, 300, 1500))))
    guid, kind = rng.randbytes(16), rng.randrange(7)
    wide_kind = 0 if narrow else 1
    if kind == 0:
        return struct.pack("<HBBHHIIqII", 2, 1 + wide_kind, 0xC0, 0x20 + len(data), 0x0501, 11, 12, stamp, 1, 2) + data
    if kind == 1:
        counts = rng.randrange(3)
        data = bytes(8 * counts) + data
        return struct.pack("<HBBHHq", counts << 8 | 2, 0x10 + wide_kind, 0xC0, 0x10 + len(data), 0x0F12, stamp) + data
    if kind == 2:
        return struct.pack("<HBBBBHIIq16sII", 0x30 + len(data), 0x14 if wide_kind else 0x0A, 0xC0, 36, 4, 60, 21, 22,
                           stamp, guid, 5, 6) + data
    if kind == 3:
        return struct.pack("<HBBBBHIIq16sIIII16s", 0x48 + len(data), 0x15 if wide_kind else 0x0B, 0xC0, 1, 2, 3, 21, 22,
                           stamp, guid, 5, 6, 7, 8, guid[::-1]) + data
    if kind == 4:
        flags = rng.choice((0x08, 0x09, 0x2A, 0xA3, 0x3F & ~4))
        parts = b"seq." * (flags & 1) + guid * (flags >> 1 & 1)
        parts += struct.pack("<q", stamp) * (flags >> 3 & 1) + struct.pack("<II", 31, 32) * (flags >> 5 & 1)
        return struct.pack("<HBBHH", 8 + len(parts) + len(data), 0, 0x90, 17, flags) + parts + data
    if kind == 5:
        return struct.pack("<HBBHHIIq", 2, 3 + wide_kind, 0xC0, 0x18 + len(data), 0x0502, 13, 14, stamp) + data
    items, extended = rng.randrange(3), b""
    for i in range(items):
        size = rng.choice((5, 8, 16))
        extended += struct.pack("<HHHH", 8 + (size + 7 & ~7), 11, int(i + 1 < items), size) + bytes(size + 7 & ~7)
    return struct.pack("<HBBHHIIq16sHBBBBHQII16s", 0x50 + len(extended) + len(data), 0x12 + wide_kind, 0xC0,
                       int(items > 0), 0, 41, 42, stamp, guid, 7, 1, 11, 4, 5, 6, 1 << 63, 1, 2,
                       guid[::-1]) + extended + data


def buffer(size, sequence, time, processor, flags, kind, body, packed, old):
    used = HEAD + len(body)
    stored = pack_xpress(body) if packed else body + b"\xff" * (size - used)
    state = 3
    head = struct.pack("<IIIiqqQHHIIHH16s", HEAD + len(stored), used, used, 0, time, sequence, 0,
                       processor | 0x0800 if old else processor, 1, state, used, flags, kind, bytes(16))
    return head + stored


def make(rng, pointer, processors, clock=1, packed=False, circular=False, one_stream=False, size=8192, count=900):
    start, frequency = 132590000000000000, 3000000
    mode = (0x04000000 if packed else 0) | (2 if circular else 1) | (0x10000000 if one_stream else 0)
    first = header_event(pointer, mode, clock, frequency, processors, size, start)
    first += bytes(-len(first) % 8)
    old = pointer == 4
    out = [buffer(HEAD + len(first) if packed else size, 0, 0, 0, 0x01 if old else 0x21, 4, first, False, old)]
    if packed:
        out = [struct.pack("<I", HEAD + len(first)) + out[0][4:]]
    stamp, sequence, bodies = (start if clock == 2 else 5000), 0, [b""] * processors
    data = []

    def close(p):
        nonlocal sequence
        sequence += 1
        flags = (0 if old else 0x20) | (0x40 if packed else 0)
        data.append(buffer(size, sequence, stamp, p, flags, 0, bodies[p], packed, old))
        bodies[p] = b""

    for _ in range(count):
        stamp += rng.choice((0, 1, 50, 100000))
        p = rng.randrange(processors)
        event = random_event(rng, stamp, old)
        event += bytes(-len(event) % 8)
        if HEAD + len(bodies[p]) + len(event) > size:
            close(p)
        bodies[p] += event
    for p in range(processors):
        if bodies[p]:
            close(p)
    if circular:  # the oldest buffers are overwritten; the newest precede the remaining old ones
        kept = data[len(data) // 3:]
        turn = len(kept) // 2
        data = kept[turn:] + kept[:turn]
    elif not one_stream and not packed:  # swap neighbouring buffers of different processors
        for i in range(0, len(data) - 1, 2):
            if data[i][0x28:0x2A] != data[i + 1][0x28:0x2A]:
                data[i], data[i + 1] = data[i + 1], data[i]
    return b"".join(out + data)


def make_all(folder):
    os.makedirs(folder, exist_ok=True)
    rng = random.Random(20260101)
    files = {
        "one": make(rng, 8, 1),
        "four": make(rng, 8, 4),
        "many": make(rng, 8, 23, size=4096, count=3000),
        "narrow": make(rng, 4, 2),
        "system": make(rng, 8, 3, clock=2),
        "cycles": make(rng, 8, 3, clock=3),
        "packed": make(rng, 8, 4, packed=True, size=65536, count=4000),
        "narrowpacked": make(rng, 4, 2, packed=True),
        "circular": make(rng, 8, 3, circular=True, count=2000),
        "stream": make(rng, 8, 1, one_stream=True, clock=2),
    }
    whole = files["four"]
    files["cut"] = whole[:8192 * 5 + 4321]
    files["cuthead"] = whole[:8192 * 6 + 33]
    files["zeros"] = whole + bytes(3 * 8192)
    files["hole"] = whole[:8192 * 3] + b"\x55" * 8192 + whole[8192 * 4:]
    for name, data in files.items():
        with open(os.path.join(folder, name + ".etl"), "wb") as f:
            f.write(data)


def compare(folder):
    checked = events = remarks = 0
    for name in sorted(os.listdir(folder)):
        base, ending = os.path.splitext(name)
        if ending not in (".etl", ".blg"):
            continue
        with open(os.path.join(folder, name), "rb") as f:
            log = Log(f.read())
        with open(os.path.join(folder, base + ".events"), encoding="utf-8", newline="\n") as f:
            theirs = f.read().splitlines()
        remarked = [line for line in theirs if line.startswith("remark\t")]
        theirs = [line for line in theirs if not line.startswith("remark\t")]
        for n, (ours, read) in enumerate(zip(log.lines(), theirs)):
            if ours != read:
                sys.exit("%s: line %d is\n%s\nnot\n%s" % (name, n, read, ours))
        if len(log.events) + 1 != len(theirs) or len(remarked) != log.remarks:
            sys.exit("%s: %d events and %d remarks, not %d and %d" % (name, len(theirs) - 1, len(remarked),
                                                                    len(log.events), log.remarks))
        checked, events, remarks = checked + 1, events + len(log.events), remarks + log.remarks
    if checked == 0:
        sys.exit("%s: no logs" % folder)
    print("%d containers with %d events and %d damaged places are read alike" % (checked, events, remarks))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--make", metavar="DIR")
    parser.add_argument("--compare", metavar="DIR")
    parser.add_argument("files", nargs="*", metavar="FILE")
    arguments = parser.parse_args()
    if arguments.make:
        make_all(arguments.make)
    if arguments.compare:
        compare(arguments.compare)
    for file in arguments.files:
        with open(file, "rb") as f:
            print("\n".join(Log(f.read()).lines()))


if __name__ == "__main__":
    main()
