# SPDX-License-Identifier: MIT
"""Reads event log files (.evtx) as XML elements. The reader is written from the description of the format and checks
every length, checksum and list. An error raises AssertionError."""
import struct
import uuid
import xml.etree.ElementTree as ElementTree
import zlib
from datetime import datetime, timedelta

CHUNK, HEADER = 65536, 4096


def number(data, at, kind):
    return struct.unpack_from("<" + kind, data, at)[0]


def time_of(raw):
    ticks = number(raw, 0, "Q")
    return (datetime(1601, 1, 1) + timedelta(microseconds=ticks // 10)).strftime("%Y-%m-%dT%H:%M:%S.%f") + f"{ticks % 10}00Z"


def text_of(kind, raw):
    """Formats a value of the given type."""
    if kind == 1:
        return raw.decode("utf-16-le")
    if kind in (4, 6, 8, 10):
        return str(int.from_bytes(raw, "little"))
    if kind == 13:
        return "true" if number(raw, 0, "I") else "false"
    if kind == 14:
        return raw.hex().upper()
    if kind == 15:
        return "{" + str(uuid.UUID(bytes_le=raw)) + "}"
    if kind == 17:
        return time_of(raw)
    assert kind in (20, 21), f"a value of the type {kind}"
    return "0x%X" % int.from_bytes(raw, "little")


def parts(raw):
    """Splits an array value into its strings."""
    assert raw.endswith(b"\0\0")
    return raw.decode("utf-16-le")[:-1].split("\0")


class Elements:
    """Reads the binary XML of one template between `at` and `end`, with `values` in place of the substitutions."""

    def __init__(self, chunk, at, end, values):
        self.chunk, self.at, self.end, self.values = chunk, at, end, values
        self.used = 0
        assert chunk[at:at + 4] == b"\x0f\x01\x01\x00", "a fragment's header"
        self.at += 4

    def read_number(self, kind):
        value = number(self.chunk, self.at, kind)
        self.at += struct.calcsize("<" + kind)
        return value

    def name(self):
        where = self.read_number("I")
        _, hash_, count = struct.unpack_from("<IHH", self.chunk, where)
        raw = self.chunk[where + 8:where + 8 + 2 * count]
        name_hash = 0
        for unit in struct.unpack(f"<{count}H", raw):
            name_hash = (name_hash * 65599 + unit) & 0xFFFF
        assert name_hash == hash_ and self.chunk[where + 8 + 2 * count:where + 10 + 2 * count] == b"\0\0", "a name"
        if where == self.at:
            self.at += 10 + 2 * count
        listed, found = number(self.chunk, 128 + 4 * (hash_ % 64), "I"), False
        while listed and not found:
            found, listed = listed == where, number(self.chunk, listed, "I")
        assert found, "a name is missing in its hash list"
        return raw.decode("utf-16-le")

    def content(self):
        """Returns a string, or a list of strings for an array value."""
        token = self.read_number("B")
        if token == 5:
            assert self.read_number("B") == 1
            count = self.read_number("H")
            self.at += 2 * count
            return self.chunk[self.at - 2 * count:self.at].decode("utf-16-le")
        assert token == 0x0D, f"a token {token}"
        which, kind = self.read_number("H"), self.read_number("B")
        assert which == self.used and self.values[which][0] == kind, "a substitution"
        self.used += 1
        raw = self.values[which][1]
        return parts(raw) if kind == 0x81 else text_of(kind, raw)

    def element(self):
        """Returns a list of elements: one, or one per item if the value is an array."""
        token = self.read_number("B")
        assert token in (0x01, 0x41) and self.read_number("H") == 0xFFFF
        end = self.read_number("I") + self.at
        one = ElementTree.Element(self.name())
        if token == 0x41:
            stop = self.read_number("I") + self.at
            more = True
            while more:
                attribute = self.read_number("B")
                assert attribute in (0x06, 0x46)
                more = attribute == 0x46
                name = self.name()
                one.set(name, self.content())
            assert self.at == stop, "the size of attributes"
        many, texts = None, []
        token = self.read_number("B")
        assert token in (0x02, 0x03)
        while token == 0x02 and self.chunk[self.at] != 0x04:
            if self.chunk[self.at] in (0x01, 0x41):
                one.extend(self.element())
            else:
                value = self.content()
                if isinstance(value, list):
                    many = value
                else:
                    texts.append(value)
        if token == 0x02:
            self.at += 1
        assert self.at == end, "the size of an element"
        one.text = "".join(texts)
        if many is None:
            return [one]
        return [self.copy(one, text) for text in many]

    @staticmethod
    def copy(one, text):
        other = ElementTree.Element(one.tag, one.attrib)
        other.text = text
        return other

    def read_document(self):
        root = self.element()[0]
        assert self.chunk[self.at] == 0 and self.at + 1 == self.end, "the end of a template"
        assert self.used == len(self.values), "unused values"
        return root


def record(chunk, at, ident):
    size = number(chunk, at + 4, "I")
    assert chunk[at:at + 4] == b"\x2a\x2a\0\0" and number(chunk, at + 8, "Q") == ident and size % 8 == 0
    assert number(chunk, at + size - 4, "I") == size, "the second size of a record"
    assert chunk[at + 24:at + 30] == b"\x0f\x01\x01\x00\x0c\x01"
    shape = number(chunk, at + 34, "I")
    values = at + 38
    length = number(chunk, shape + 20, "I")
    assert number(chunk, shape + 4, "I") == number(chunk, at + 30, "I"), "the template's id"
    if shape == values:
        values += 24 + length
    listed, found = number(chunk, 384 + 4 * (number(chunk, shape + 4, "I") % 32), "I"), False
    while listed and not found:
        found, listed = listed == shape, number(chunk, listed, "I")
    assert found, "a template is missing in its hash list"
    count = number(chunk, values, "I")
    raw, found = values + 4 + 4 * count, []
    for i in range(count):
        bytes_, kind = struct.unpack_from("<HH", chunk, values + 4 + 4 * i)
        found.append((kind, chunk[raw:raw + bytes_]))
        raw += bytes_
    assert chunk[raw] == 0 and not any(chunk[raw:at + size - 4]), "data after the values"
    event = Elements(chunk, shape + 24, shape + 24 + length, found).read_document()
    return event, number(chunk, at + 16, "Q"), at + size


def read(path):
    """Returns (event element, FILETIME) for each record. XML namespaces stay attributes, as in the file."""
    with open(path, "rb") as f:
        data = f.read()
    head = data[:HEADER]
    assert head[:8] == b"ElfFile\0" and struct.unpack_from("<IHHH", head, 32) == (128, 1, 3, HEADER)
    assert number(head, 120, "I") == 0 and number(head, 124, "I") == zlib.crc32(head[:120]), "the file's checksum"
    chunks = number(head, 42, "H")
    assert len(data) == HEADER + chunks * CHUNK and number(head, 16, "Q") == chunks - 1, "the number of chunks"
    events = []
    for i in range(chunks):
        chunk = data[HEADER + i * CHUNK:HEADER + (i + 1) * CHUNK]
        assert chunk[:8] == b"ElfChnk\0" and number(chunk, 40, "I") == 128
        last, free = number(chunk, 44, "I"), number(chunk, 48, "I")
        assert number(chunk, 52, "I") == zlib.crc32(chunk[512:free]), "the checksum of records"
        assert number(chunk, 124, "I") == zlib.crc32(chunk[:120] + chunk[128:512]), "the chunk's checksum"
        assert free < CHUNK and not any(chunk[free:])
        numbers, at, before = struct.unpack_from("<QQQQ", chunk, 8), 512, 0
        first = len(events) + 1
        while at < free:
            before = at
            event, time, at = record(chunk, at, len(events) + 1)
            events.append((event, time))
        assert at == free and last == before, "the end of a chunk"
        end = len(events) if len(events) >= first else 2 ** 64 - 1
        assert numbers == (first, end) * 2, "the numbers of a chunk's records"
    assert number(head, 24, "Q") == len(events) + 1
    return events
