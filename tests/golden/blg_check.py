#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads binary performance logs (.blg) on its own and says whether they are whole and hold what they should.

blg_check.py FILE...         structure only; prints what each file holds
blg_check.py --written DIR   the files of write_blg, each against the text of what was written
"""
import argparse
import os
import re
import struct
import sys
import uuid

PDH_CLASS = uuid.UUID("933f3bb3-943e-490d-9ced-3cbb14c14479")
HEAD = 0x48
PART_LIMIT = 8000


class Bad(Exception):
    """The file is not what it should be."""


def need(condition, text, *values):
    if not condition:
        raise Bad(text % values)


def wide_text(data, at):
    end = at
    while True:
        need(end + 2 <= len(data), "text at %#x runs out of its block", at)
        if data[end:end + 2] == b"\0\0":
            return data[at:end].decode("utf-16-le")
        end += 2


class Container:
    """The .etl file: buffers, the log file header, events in file order."""

    def __init__(self, data):
        need(len(data) >= HEAD, "shorter than one buffer header")
        size = struct.unpack_from("<I", data)[0]
        need(size >= 1024 and size % 8 == 0, "buffer size %#x", size)
        need(len(data) % size == 0, "%d bytes are not whole buffers of %#x", len(data), size)
        self.buffer_size, self.buffers, self.events = size, len(data) // size, []
        before = 0
        for n in range(self.buffers):
            before = self.read_buffer(data[n * size:(n + 1) * size], n, before)
        need(self.buffers_written == self.buffers, "header counts %d buffers, file has %d", self.buffers_written,
             self.buffers)

    def read_buffer(self, b, n, before):
        size, saved, _, references, time, sequence = struct.unpack_from("<IIIiqq", b)
        used, flags, kind = struct.unpack_from("<IHH", b, 0x30)
        where = "buffer %d: " % n
        need(size == self.buffer_size, where + "size %#x", size)
        need(saved == used, where + "saved offset %#x, offset %#x", saved, used)
        need(HEAD <= used <= size and used % 8 == 0, where + "offset %#x", used)
        need(references == 0, where + "reference count %d", references)
        need(sequence == n, where + "sequence number %d", sequence)
        need(kind == (0 if n else 4), where + "type %d", kind)
        last = n == self.buffers - 1
        need(flags == (0x21 if last else 0x20) if n else flags in (0x01, 0x21), where + "flags %#x", flags)
        need(n == 0 or time >= before, where + "time goes back")
        need(b[used:] == b"\xff" * (size - used), where + "unused bytes are not all FF")
        at = HEAD
        while at < used:
            length = self.read_event(b, at, used, n)
            end, at = at + length, at + (length + 7 & ~7)
            need(b[end:at] == bytes(at - end), where + "padding at %#x is not zero", end)
        need(at == used, where + "last event ends at %#x, not %#x", at, used)
        return time if n else before

    def read_event(self, b, at, used, n):
        where = "buffer %d, event at %#x: " % (n, at)
        need(at + 8 <= used and b[at + 3] == 0xC0, where + "no event header")
        if b[at + 2] == 0x02:
            need(n == 0 and at == HEAD, where + "a second log file header")
            length = struct.unpack_from("<H", b, at + 4)[0]
            need(at + length <= used, where + "too long")
            self.read_header(b[at:at + length])
            return length
        need(b[at + 2] == 0x14 and n > 0, where + "header type %#x", b[at + 2])
        length = struct.unpack_from("<H", b, at)[0]
        need(length >= 72 and at + length <= used, where + "size %d", length)
        self.events.append((where, b[at:at + length]))
        return length

    def read_header(self, event):
        need(struct.unpack_from("<H", event, 6)[0] == 0, "log file header: hook %#x", event[6])
        h = event[0x20:]
        (size, _, _, _, _, self.processors, self.end, self.resolution, self.maximum_mb, self.mode,
         self.buffers_written, start_buffers, pointer, self.lost) = struct.unpack_from("<IBBBBxxxxIqIIIIIII", h)
        need(size == self.buffer_size, "log file header: buffer size %#x", size)
        need(start_buffers == 1 and pointer == 8, "log file header: StartBuffers %d, PointerSize %d", start_buffers,
             pointer)
        self.bias = struct.unpack_from("<i", h, 0x48)[0]
        self.boot, self.frequency, self.start, self.clock, self.buffers_lost = struct.unpack_from("<qqqII", h, 0xF8)
        self.logger = wide_text(h, 0x118)
        self.path = wide_text(h, 0x118 + len(self.logger.encode("utf-16-le")) + 2)
        names = len(self.logger.encode("utf-16-le")) + len(self.path.encode("utf-16-le")) + 4
        need(len(h) == 0x118 + names, "log file header: %d bytes behind the names", len(h) - 0x118 - names)
        need(self.clock == 2, "log file header: clock %d, not system time", self.clock)
        need(self.end >= self.start > 0 and self.boot > 0, "log file header: times out of order")
        need(self.frequency > 0, "log file header: frequency %d", self.frequency)


class Log:
    """The records in the container."""

    def __init__(self, data):
        self.container = Container(data)
        self.catalog, self.samples = None, []
        stamp_before, parts, whole = 0, 0, b""
        for where, event in self.container.events:
            kind, level, version = struct.unpack_from("<BBH", event, 4)
            stamp = struct.unpack_from("<q", event, 0x10)[0]
            part, count = struct.unpack_from("<II", event, 0x40)
            need(uuid.UUID(bytes_le=event[0x18:0x28]) == PDH_CLASS, where + "not PDH's class")
            need(version == 60 and level == 0, where + "class version %d, level %d", version, level)
            need(str(uuid.UUID(bytes_le=event[0x30:0x40])) == self.container.logger.strip("{}").lower(),
                 where + "not of instance %s", self.container.logger)
            need(stamp >= stamp_before, where + "stamp goes back")
            need(part == parts + 1 and part <= count, where + "part %d of %d after %d", part, count, parts)
            chunk = event[0x48:]
            need(len(chunk) == PART_LIMIT if part < count else 0 < len(chunk) <= PART_LIMIT,
                 where + "part of %d bytes", len(chunk))
            need(part == 1 or stamp == stamp_before, where + "stamps differ in a record")
            stamp_before, parts, whole = stamp, part, whole + chunk
            if part == count:
                self.read_record(where, kind, stamp, whole)
                parts, whole = 0, b""
        need(parts == 0, "the last record has %d parts only", parts)
        need(self.catalog is not None, "no catalog")
        if self.samples:
            need(self.catalog_stamp == self.samples[0][0] - 10, "catalog stamp is not 10 before the first sample's")

    def read_record(self, where, kind, stamp, record):
        if kind == 32:
            need(self.catalog is None and not self.samples, where + "a second or late catalog")
            self.catalog_stamp, self.catalog = stamp, read_catalog(record)
        else:
            need(kind == 34 and self.catalog is not None, where + "record type %d", kind)
            need(stamp % 10000 == 0, where + "stamp is not of whole milliseconds")
            try:
                self.samples.append((stamp, read_sample(record, stamp, self.catalog)))
            except Bad as bad:
                raise Bad(where + "sample %d: %s" % (len(self.samples), bad)) from None


def read_catalog(record):
    need(record[:8] == struct.pack("<II", 0x6FF, 0x20008), "catalog: head %s", record[:8].hex())
    at, entries = 8, []
    while at < len(record):
        need(at + 0x34 <= len(record), "catalog: entry at %#x is cut", at)
        (length, flags, zero, kind, base, scale, machine, instance_object, instance, parent, index,
         counter) = struct.unpack_from("<IIIIqiiiiiIi", record, at)
        need(length % 8 == 0 and 0x34 < length <= len(record) - at, "catalog: entry of %d bytes", length)
        need(flags in (0, 1) and zero == 0, "catalog: flags %#x, %#x", flags, zero)
        texts = record[at + 0x34:at + length]
        names = [None if o == -1 else wide_text(texts, o) for o in (machine, instance_object, instance, parent, counter)]
        need(flags == 0 or names[2] == "*", "catalog: wildcard entry of instance %s", names[2])
        entries.append((flags, kind, base, scale, index, *names))
        at += length
    return entries


def read_sample(record, stamp, catalog):
    need(record[:4] == b"BL\x03\x00", "head %s", record[:4].hex())
    need(struct.unpack_from("<I", record, 4)[0] == len(record), "length is not the record's %d", len(record))
    at, cells = 8, []
    for flags, *_ in catalog:
        need(at + 8 <= len(record) and record[at:at + 2] == b"BL", "no item at %#x", at)
        kind, length = struct.unpack_from("<HI", record, at + 2)
        need(length % 8 == 0 and 0x20 <= length <= len(record) - at, "item of %d bytes at %#x", length, at)
        item = record[at:at + length]
        if flags == 0:
            need(kind == 0x103 and length == 0x30, "single counter: kind %#x, %d bytes", kind, length)
            status, time, zero1, first, second, multi, zero2 = struct.unpack_from("<IqIqqII", item, 8)
            need(zero1 == 0 and zero2 == 0, "single counter: reserved words are not zero")
            cells.append((status, first, second, multi))
        else:
            need(kind == 0x203, "wildcard counter: kind %#x", kind)
            time, cell = read_instances(item[8:])
            cells.append(cell)
        need(time == stamp, "item time is not the sample's")
        at += length
    need(at == len(record), "%d bytes behind the items", len(record) - at)
    return cells


def read_instances(block):
    length, count, status, zero, time = struct.unpack_from("<IIIIq", block)
    need(length == len(block) and zero == 0, "wildcard counter: block of %d bytes says %d", len(block), length)
    need(0x18 + 0x18 * count <= length, "wildcard counter: %d instances do not fit", count)
    name_at, room, items = 0x18 + 0x18 * count, 0x18 + 0x18 * count, []
    for n in range(count):
        offset, multi, first, second = struct.unpack_from("<IIqq", block, 0x18 + 0x18 * n)
        need(offset == name_at, "wildcard counter: name %d at %#x, not %#x", n, offset, name_at)
        name = wide_text(block, offset)
        bytes_of_name = len(name.encode("utf-16-le")) + 2
        name_at, room = name_at + bytes_of_name, room + (bytes_of_name + 7 & ~7)
        items.append((name, first, second, multi))
    need(room == length, "wildcard counter: room for names ends at %#x of %#x", room, length)
    need(block[name_at:] == bytes(length - name_at), "wildcard counter: bytes behind the names are not zero")
    return time, (status, items)


class Expected:
    """What write_blg says it wrote: one line per thing, fields between tabs, NULL names as a lone '-'."""

    def __init__(self, path):
        self.bias, self.catalog, self.samples, self.lost, last = None, [], [], False, None
        for line in open(path, encoding="utf-8", newline="\n"):
            kind, *fields = line.rstrip("\n").split("\t")
            if kind == "bias":
                self.bias = int(fields[0])
            elif kind == "counter":
                names = [None if f == "-" else f for f in fields[5:]]
                self.catalog.append((*map(int, fields[:5]), *names))
            elif kind == "lost":
                self.lost = int(fields[0]) != 0
            elif kind == "sample":
                self.samples.append((int(fields[0]), []))
            elif kind == "single":
                self.samples[-1][1].append(tuple(map(int, fields)))
            elif kind == "wildcard":
                last = []
                self.samples[-1][1].append((int(fields[0]), last))
            elif kind == "item":
                last.append((fields[0], *map(int, fields[1:])))
            else:
                raise Bad("%s: line of kind %s" % (path, kind))

    def compare(self, log, count, at_least, complete):
        """The log holds the first `count` samples, or fewer down to `at_least`."""
        need(not complete or (log.container.lost > 0) == self.lost, "header counts %d lost events", log.container.lost)
        need(log.container.bias == self.bias, "bias %d, not %d", log.container.bias, self.bias)
        need(log.catalog == self.catalog, "catalog differs:\n%s\n%s", log.catalog, self.catalog)
        found = len(log.samples)
        need(at_least <= found <= count, "%d samples, not %d to %d", found, at_least, count)
        for n, ((stamp, cells), (utc, expected)) in enumerate(zip(log.samples, self.samples)):
            local = utc - self.bias * 600000000
            need(stamp == local - local % 10000, "sample %d: stamp %d, not %d", n, stamp, local)
            for i, (cell, wanted) in enumerate(zip(cells, expected, strict=True)):
                need(cell == wanted, "sample %d, counter %d: %s, not %s", n, i, cell, wanted)
        if found:
            need(log.container.end >= log.samples[-1][0] + self.bias * 600000000, "EndTime before the last sample")


def load(path):
    with open(path, "rb") as f:
        return Log(f.read())


def describe(path):
    log = load(path)
    c = log.container
    values = sum(len(cell[1]) if flags else 1 for _, cells in log.samples
                 for (flags, *_), cell in zip(log.catalog, cells))
    print("%s: %d buffers, %d events, %d paths, %d samples, %d values, bias %d, mode %#x, lost %d" %
          (path, c.buffers, len(c.events) + 1, len(log.catalog), len(log.samples), values, c.bias, c.mode, c.lost))


def check_written(folder):
    """NAME.blg: all of NAME.txt. NAME@7.blg: copied after a flush of 7 samples. NAME~7.blg: copied after the append
    of sample 7 without a flush, so it may hold fewer, whole ones."""
    checked, texts, found = 0, {}, set()
    for file in sorted(os.listdir(folder)):
        match = re.fullmatch(r"(\w+)(?:([@~])(\d+))?\.blg", file)
        if not match:
            continue
        name, kind, number = match.groups()
        if name not in texts:
            texts[name] = Expected(os.path.join(folder, name + ".txt"))
        count = int(number) if kind else len(texts[name].samples)
        try:
            texts[name].compare(load(os.path.join(folder, file)), count, 0 if kind == "~" else count, not kind)
        except Bad as bad:
            raise Bad("%s: %s" % (file, bad)) from None
        checked += 1
        found.add((name, kind))
    for text in (f[:-4] for f in os.listdir(folder) if f.endswith(".txt")):
        need((text, None) in found, "%s.blg was not written", text)
    need(any(kind == "@" for _, kind in found) and any(kind == "~" for _, kind in found), "%s: no copies", folder)
    print("%d logs of %d kinds are whole and hold what was written" % (checked, len(texts)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--written", metavar="DIR")
    parser.add_argument("files", nargs="*", metavar="FILE")
    arguments = parser.parse_args()
    try:
        if arguments.written:
            check_written(arguments.written)
        for file in arguments.files:
            try:
                describe(file)
            except Bad as bad:
                raise Bad("%s: %s" % (file, bad)) from None
    except (Bad, OSError) as problem:
        print("blg_check: %s" % problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
