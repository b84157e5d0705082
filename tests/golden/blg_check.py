#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads binary performance logs (.blg) independently of the engine, and checks that they are complete and have the
expected contents.

blg_check.py FILE...         checks only the structure, and prints the contents of each file
blg_check.py --written DIR   compares the files of write_blg with its record of what it wrote

"""
import argparse
import datetime
import os
import re
import struct
import sys
import uuid

PDH_CLASS = uuid.UUID("933f3bb3-943e-490d-9ced-3cbb14c14479")
HEAD = 0x48
PART_LIMIT = 8000


class Bad(Exception):
    """The file is not as expected."""


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
        self.skipped_before = 0
        size = struct.unpack_from("<I", data)[0]
        need(size >= 1024 and size % 8 == 0, "buffer size %#x", size)
        need(len(data) % size == 0, "%d bytes are not whole buffers of %#x", len(data), size)
        self.buffer_size, self.buffers, self.events = size, len(data) // size, []
        buffers = [data[n * size:(n + 1) * size] for n in range(self.buffers)]
        self.circular = struct.unpack_from("<I", data, HEAD + 0x20 + 0x20)[0] & 2 != 0
        self.gaps = 0
        if self.circular:  # sort by sequence number; the numbers of overwritten buffers are missing
            buffers.sort(key=lambda b: struct.unpack_from("<q", b, 0x18)[0])
        before = 0
        for n, b in enumerate(buffers):
            before = self.read_buffer(b, n, before)
        need(self.gaps <= 1, "sequence numbers are missing in %d places", self.gaps)
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
        self.skipped = sequence - n if n else 0
        need(sequence >= n if self.circular else sequence == n, where + "sequence number %d", sequence)
        self.gaps += n > 0 and self.skipped != self.skipped_before
        self.skipped_before = self.skipped
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
        self.catalog, self.samples, self.names = None, [], {}
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
            if self.container.circular and self.catalog and not self.samples and not whole and part > 1:
                continue  # the beginning of the record was overwritten
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
        if self.samples and not self.container.circular:
            need(self.catalog_stamp == self.samples[0][0] - 10, "catalog stamp is not 10 before the first sample's")

    def read_record(self, where, kind, stamp, record):
        if kind == 36:
            need(self.catalog is None, where + "names behind the catalog")
            self.names_stamp = stamp
            texts = record.decode("utf-16-le").split("\0")
            need(texts.pop() == "" and len(texts) % 2 == 1, where + "a table of names of %d texts", len(texts))
            self.names.update(zip(map(int, texts[1::2]), texts[2::2]))
        elif kind == 32:
            need(self.catalog is None and not self.samples, where + "a second or late catalog")
            self.catalog_stamp, self.catalog = stamp, read_catalog(record)
        else:
            need(kind == 34 and self.catalog is not None, where + "record type %d", kind)
            need(stamp % 10000 == 0, where + "stamp is not of whole milliseconds")
            try:
                self.samples.append((stamp, read_sample(record, stamp, self.catalog, self)))
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
        need(flags in (0, 1, 0x10) and zero == 0, "catalog: flags %#x, %#x", flags, zero)
        texts = record[at + 0x34:at + length]
        names = [None if o == -1 else wide_text(texts, o) for o in (machine, instance_object, instance, parent, counter)]
        need(flags != 1 or names[2] == "*", "catalog: wildcard entry of instance %s", names[2])
        entries.append((flags, kind, base, scale, index, *names))
        at += length
    return entries


def read_object(data, stamp, bias, names, entry):
    """Reads a performance data block. It must have one object with one string counter. Returns the catalog entry and
    the values."""
    (signature, little, version, revision, total, head, objects, _) = struct.unpack_from("<8s6Ii", data)
    year, month, _, day, hour, minute, second, ms = struct.unpack_from("<8H", data, 0x24)
    name_size, name = struct.unpack_from("<II", data, 0x50)
    need(signature == "PERF".encode("utf-16-le") and (little, version, revision, objects) == (1, 1, 1, 1),
         "object: not a performance data block")
    need(total == len(data) and wide_text(data, name) == entry[5].lstrip("\\"), "object: %d bytes of %d", total, len(data))
    need(2 * len(wide_text(data, name)) + 2 == name_size, "object: the system's name has %d bytes", name_size)
    when = datetime.datetime(1601, 1, 1) + datetime.timedelta(microseconds=stamp // 10)
    need((year, month, day, hour, minute, second, ms * 1000) == (*when.timetuple()[:6], when.microsecond),
         "object: SystemTime")
    need(struct.unpack_from("<q", data, 0x48)[0] == stamp + bias * 600000000, "object: PerfTime100nSec")
    data = data[head:]
    (length, definitions, head, title, _, _, _, _, counters, _, instances) = struct.unpack_from("<9Iii", data)
    need(length == len(data) and head == 0x40 and definitions == 0x68 and counters == 1, "object: its header")
    need(names.get(title) == entry[6], "object: name %d is %s", title, names.get(title))
    (size, counter, _, _, _, _, _, kind, width, offset) = struct.unpack_from("<10I", data, head)
    need(size == 0x28 and kind == 0xB00 and offset == 8, "object: its counter")
    need((instances >= 0) == (entry[7] == "*"), "object: %d instances", instances)
    at, items = definitions, []
    for _ in range(max(instances, 0) if instances >= 0 else 1):
        instance = None
        if instances >= 0:
            size, parent, _, unique, name, name_size = struct.unpack_from("<IIIiII", data, at)
            need(parent == 0 and unique == -1 and name == 0x18 and size == (name + name_size + 7 & ~7), "object: instance")
            instance, at = wide_text(data, at + name), at + size
        size = struct.unpack_from("<I", data, at)[0]
        need(size == (8 + width + 7 & ~7), "object: block of %d bytes", size)
        items.append((instance, wide_text(data, at + 8) if width else None))
        at += size
    need(at == len(data), "object: %d bytes behind its instances", len(data) - at)
    names_of = (0xB00, 10000000, 0, 0, *entry[5:9], names.get(counter))
    if instances >= 0:
        return (1, *names_of), (0, [(name, 0, 0, 0, text) for name, text in items])
    text = items[0][1]
    return (0, *names_of), (0xC0000BBA, 0, 0, 1) if text is None else (0, 0, 0, 1, text)


def read_sample(record, stamp, catalog, log):
    need(record[:4] == b"BL\x03\x00", "head %s", record[:4].hex())
    need(struct.unpack_from("<I", record, 4)[0] == len(record), "length is not the record's %d", len(record))
    at, cells = 8, []
    for n, (flags, *_) in enumerate(catalog):
        need(at + 8 <= len(record) and record[at:at + 2] == b"BL", "no item at %#x", at)
        kind, length = struct.unpack_from("<HI", record, at + 2)
        need(length % 8 == 0 and 0x20 <= length <= len(record) - at, "item of %d bytes at %#x", length, at)
        item = record[at:at + length]
        if kind == 0x503:
            need(flags == 0x10 or catalog[n][1] == 0xB00, "an object in the place of a counter")
            # the sample has details that the catalog entry lacks
            catalog[n], cell = read_object(item[8:], stamp, log.container.bias, log.names, catalog[n])
            cells.append(cell)
            at += length
            continue
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
    """What write_blg recorded as written: one item per line, with fields separated by tabs. A NULL name is '-'."""

    def __init__(self, path):
        self.bias, self.catalog, self.samples, self.lost, last = None, [], [], False, None
        self.circular = False
        for line in open(path, encoding="utf-8", newline="\n"):
            kind, *fields = line.rstrip("\n").split("\t")
            if kind == "bias":
                self.bias = int(fields[0])
            elif kind == "counter":
                names = [None if f == "-" else f for f in fields[5:]]
                self.catalog.append((*map(int, fields[:5]), *names))
            elif kind == "circular":
                self.circular = True
            elif kind == "lost":
                self.lost = int(fields[0]) != 0
            elif kind == "sample":
                self.samples.append((int(fields[0]), []))
            elif kind == "single":
                self.samples[-1][1].append((*map(int, fields[:4]), *fields[4:]))
            elif kind == "wildcard":
                last = []
                self.samples[-1][1].append((int(fields[0]), last))
            elif kind == "item":
                name, first, second, multi = fields[0], *map(int, fields[1:4])
                last.append((name, first, second, multi if multi > 1 else 0, *fields[4:]))
            elif kind in ("remark", "error"):
                raise Bad("%s: %s" % (path, line))
            else:
                raise Bad("%s: line of kind %s" % (path, kind))

    def compare(self, log, count, at_least, complete):
        """Checks that the log has the first `count` samples; fewer are accepted, but not fewer than `at_least`."""
        need(not complete or (log.container.lost > 0) == self.lost, "header counts %d lost events", log.container.lost)
        need(log.container.bias == self.bias, "bias %d, not %d", log.container.bias, self.bias)
        same = [c == e or (c[0] == 0x10 and not log.samples) for c, e in zip(log.catalog, self.catalog, strict=True)]
        need(all(same), "catalog differs:\n%s\n%s", log.catalog, self.catalog)
        found = len(log.samples)
        first = 0
        if self.circular:  # it has the newest samples, at least 8
            at_least, first = min(count, 8), count - found
        need(at_least <= found <= count, "%d samples, not %d to %d", found, at_least, count)
        for n, ((stamp, cells), (utc, expected)) in enumerate(zip(log.samples, self.samples[first:])):
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
    """NAME.blg must have all samples in NAME.txt. NAME@7.blg was copied after 7 samples were flushed. NAME~7.blg was
    copied after sample 7 was appended without a flush, so it may have fewer samples, but only complete ones.
    NAME.samples and NAME@7.samples list what the engine's reader finds in these files; every value must be equal."""
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
            log = load(os.path.join(folder, file))
            texts[name].compare(log, count, 0 if kind == "~" else count, not kind)
            if kind != "~":
                read = Expected(os.path.join(folder, file[:-4] + ".samples"))
                read.lost = texts[name].lost
                read.compare(log, len(read.samples), len(read.samples), not kind)
        except Bad as bad:
            raise Bad("%s: %s" % (file, bad)) from None
        checked += 1
        found.add((name, kind))
    for text in (f[:-4] for f in os.listdir(folder) if f.endswith(".txt")):
        need((text, None) in found, "%s.blg was not written", text)
    need(any(kind == "@" for _, kind in found) and any(kind == "~" for _, kind in found), "%s: no copies", folder)
    print("%d logs of %d kinds are whole, hold what was written and are read so" % (checked, len(texts)))


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
