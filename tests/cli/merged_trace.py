# SPDX-License-Identifier: MIT
"""Builds what trace mergers (xperf, WPR, PerfView, Visual Studio) add to a trace, byte for byte, written only from a
description of the formats: event and map definitions, image identities, and the computer's configuration."""
import struct
import uuid

from built_trace import SECOND, START, classic, event, padded, system

EVENT_METADATA = "bbccf6c1-6cd1-48c4-80ff-839482e37671"
IMAGE_ID = "b3e675d7-2554-4f18-830b-2762732560de"
SYSTEM_CONFIG_EX = "9b79ee91-b5fd-41c0-a243-4248e266e9d0"
WIN_SAT = "ed54dff8-c409-4cf6-bf83-05e1e61a09c4"
RUNTIME = "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4"
NOTHING = "763fd754-7086-4dfe-95eb-c01a46faf4ca"

UNICODE, UINT8, UINT16, UINT32, UINT64, POINTER = 1, 4, 6, 8, 10, 16
STRUCT, LENGTH, COUNT = 1, 2, 4


def z(text):
    return (text + "\0").encode("utf-16-le")


def field(name, kind, out=0, length=0, count=1, flags=0, map_name=None):
    """Returns (name, map, the property's bytes with room for its two offsets). For a struct, kind and out are its
    members."""
    return name, map_name, flags, kind, out, count, length


def event_info(provider, ident, version, fields, top=None, level=4, opcode=0, task=0, keyword=0, source=0, flags=1,
               provider_name="Microsoft-Windows-DotNETRuntime", task_name=None, opcode_name=None, keywords=(),
               message=None, channel=0, task_guid=None):
    """Returns the payload of an event of type 32, a TRACE_EVENT_INFO."""
    texts = bytearray()
    fixed = 112 + 24 * len(fields)

    def append_string(text):
        if text is None:
            return 0
        at = fixed + len(texts)
        texts.extend(z(text))
        return at

    names = [append_string(provider_name), append_string("Information "), 0]
    if keywords:
        names.append(append_string(keywords[0] + " "))
        for word in keywords[1:]:
            append_string(word + " ")
        texts.extend(b"\0\0")
    else:
        names.append(0)
    names += [append_string(task_name), append_string(opcode_name), append_string(message + " " if message else None), 0, 0, 0, 0, 0]
    rows = b""
    for name, map_name, bits, kind, out, count, length in fields:
        rows += struct.pack("<IIHHIHHI", bits, append_string(name), kind, out, append_string(map_name), count, length, 0)
    head = uuid.UUID(provider).bytes_le + (uuid.UUID(task_guid).bytes_le if task_guid else bytes(16))
    head += struct.pack("<HBBBBHQ", ident, version, channel, level, opcode, task, keyword)
    head += struct.pack("<I", source) + struct.pack("<12I", *names)
    head += struct.pack("<III", len(fields), len(fields) if top is None else top, flags)
    assert len(head) == 112
    return head + rows + bytes(texts)


def map_info(provider, name, entries, bits=False):
    """Returns the payload of an event of type 33: a GUID and an EVENT_MAP_INFO with one unused entry."""
    texts = bytearray()
    fixed = 24 + 8 * len(entries)
    texts.extend(z(name))
    rows = b""
    for value, text in entries:
        rows += struct.pack("<II", fixed + len(texts), value)
        texts.extend(z(text + " "))
    return (uuid.UUID(provider).bytes_le + struct.pack("<IIII", fixed, 2 if bits else 1, len(entries), 0) + rows +
            bytes(8) + bytes(texts))


def definition(payload, stamp, kind=32, narrow=False):
    raw = classic(EVENT_METADATA, payload, stamp, kind=kind)
    return raw[:2] + (b"\x0a" if narrow else b"\x14") + raw[3:]


def image(stamp, base=0x7FF600000000, process=44, name="app.exe", pdb="app.pdb"):
    """Returns the events that a merger puts before an Image event, and that event."""
    head = struct.pack("<QI", base, process)
    ids = dict(process=process, thread=0xFFFFFFFF)
    signature = uuid.UUID("00112233-4455-6677-8899-aabbccddeeff").bytes_le
    version = b"".join(z(t) for t in ("app.exe", "An application", "1.2.3.4", "1.2.3.4", "English", "App", "Example",
                                      "1.2", "f1", "p1"))
    return [
        classic(IMAGE_ID, struct.pack("<II", 0x10000, 0x5F000000) + version, stamp, 64, 0, **ids),
        classic(IMAGE_ID, struct.pack("<QQII", base, 0x10000, process, 0x5F000000) + z(name), stamp, 0, 2, **ids),
        classic(IMAGE_ID, head + signature + struct.pack("<I", 3) + pdb.encode() + b"\0", stamp, 36, 2, **ids),
        classic(IMAGE_ID, head + signature + struct.pack("<I", 1) + b"app.ni.pdb\0", stamp, 37, 2, **ids),
        classic(IMAGE_ID, head + struct.pack("<IHH", 0x5F000000, 0x100, 0x504D), stamp, 38, 2, **ids),
        classic(IMAGE_ID, head + struct.pack("<HH", 0x100, 0x100) + signature + struct.pack("<I", 1), stamp, 39, 1,
                **ids),
        classic(IMAGE_ID, head, stamp, 40, 1, **ids),
        classic(IMAGE_ID, head, stamp, 32, 2, **ids),
        classic(IMAGE_ID, head + struct.pack("<III", 7, 0x40000000, 0x8000) + z("old.dbg"), stamp, 34, 2, **ids),
        classic(IMAGE_ID, z(r"C:\x.sys failure: CreateFile failed: 2"), stamp, 41, 1, **ids),
        system(0x1402, struct.pack("<QQIIIIQIIII", base, 0x10000, process, 0, 0x5F000000, 0, base, 0, 0, 0, 0) +
               z("\\Device\\HarddiskVolume3\\" + name), stamp, version=3, process=process),
    ]


def interface(alias, description, mac=b"\x02\x00\x00\x00\x00\x01", speed=10 ** 9):
    """Returns a MIB_IF_ROW2 of a 64-bit computer: 1352 bytes."""
    row = struct.pack("<QI16s", 0x6008001000000, 7, uuid.UUID("11112222-3333-4444-5555-666677778888").bytes_le)
    row += z(alias).ljust(514, b"\0") + z(description).ljust(514, b"\0")
    row += struct.pack("<I32s32sI", len(mac), mac, mac, 1500) + struct.pack("<6I", 6, 0, 0, 14, 2, 3)
    row += b"\x05\0\0\0" + struct.pack("<III", 1, 1, 1) + bytes(16) + struct.pack("<II", 1, 0)
    row += struct.pack("<20Q", speed, speed, *range(18))
    assert len(row) == 1352
    return row


def computer(stamp):
    """Returns a SysConfigEx event of every type."""
    return [
        classic(SYSTEM_CONFIG_EX, z("C:\\Windows\\system32") + z("C:\\Windows\\"), stamp, 33, process=0, thread=0),
        classic(SYSTEM_CONFIG_EX, z("\\Device\\Mup\\"), stamp, 34, process=0, thread=0),
        classic(SYSTEM_CONFIG_EX, z("\\??\\") + z(""), stamp, 35, process=0, thread=0),
        classic(SYSTEM_CONFIG_EX, z("\\Device\\HarddiskVolume3\\") + z("C:\\"), stamp, 35, process=0, thread=0),
    ]


def computer_at_end(stamp):
    return [
        classic(SYSTEM_CONFIG_EX, struct.pack("<q", START) + z("26100.1.amd64fre.ge_release.240331-1435") +
                z("Windows 11 Pro"), stamp, 32, process=0, thread=0),
        classic(SYSTEM_CONFIG_EX, interface("Ethernet", "Example Adapter"), stamp, 36, process=0, thread=0),
        classic(SYSTEM_CONFIG_EX, struct.pack("<IHHII", 0x65F3A1B2, 0, 10, 3, 0), stamp, 37, process=0, thread=0),
        classic(WIN_SAT, struct.pack("<II", 1, 1064) + b"\x03\xb0abcd", stamp, 33, process=0, thread=0),
    ]


METHOD_FIELDS = [field("MethodID", UINT64, length=8), field("MethodFlags", UINT32, length=4, map_name="FlagsMap"),
                 field("MethodNamespace", UNICODE), field("MethodName", UNICODE), field("Entry", POINTER, length=8)]
METHOD_MAP = [(1, "dynamic"), (2, "generic"), (8, "jitted")]
BULK_FIELDS = [field("Count", UINT32, length=4), field("Values", 2, 2, count=0, flags=STRUCT | COUNT),
               field("TypeID", UINT64, length=8), field("TypeName", UNICODE)]


def method(stamp, number, narrow=False, **header):
    data = struct.pack("<QI", number, 9) + z("Space") + z(f"Method{number}")
    data += struct.pack("<I" if narrow else "<Q", 0x400000 + number)
    return event(RUNTIME, data, stamp, ident=143, version=2, process=44, narrow=narrow, opcode=37, task=9, **header)


def method_definition(stamp, narrow=False, **more):
    info = event_info(RUNTIME, 143, 2, METHOD_FIELDS, opcode=37, task=9, flags=2, task_name="CLRMethod ",
                      opcode_name="MethodLoadVerbose ", keywords=("JitKeyword", "NGenKeyword"),
                      message="MethodID=%1;%nName=%4", **more)
    return [definition(info, stamp, narrow=narrow),
            definition(map_info(RUNTIME, "FlagsMap", METHOD_MAP, bits=True), stamp, kind=33, narrow=narrow)]


def bulk(stamp, names):
    data = struct.pack("<I", len(names)) + b"".join(struct.pack("<Q", i) + z(n) for i, n in enumerate(names))
    return event(RUNTIME, data, stamp, ident=15, version=0, process=44)


def merged(events=50):
    """Returns the events of a complete merged trace. All decode except the last; the merging computer did not know its
    provider."""
    out = [*computer(START)]
    for i in range(5):
        out += image(START + (1 + i) * SECOND // 100, 0x7FF600000000 + i * 0x100000, name=f"app{i}.exe")
    at = START + SECOND
    out += [*method_definition(at), method(at, 1)]
    out += [method(at + i, i + 1) for i in range(1, events)]
    later = at + SECOND
    out += [definition(event_info(RUNTIME, 15, 0, BULK_FIELDS, top=2), later), bulk(later, ["A", "B"])]
    out.append(event(NOTHING, b"\x01\x02" + z("plain text") + b"\xff", later + 1, ident=7, version=3, process=44))
    return out + computer_at_end(later + 2)


__all__ = [name for name in dir() if not name.startswith("_") and name not in ("padded",)]
