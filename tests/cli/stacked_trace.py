# SPDX-License-Identifier: MIT
"""Builds a merged trace of a computer with two processors, byte for byte, written only from a description of the
format: samples, switches and disk requests with stacks of every form, images with symbol identities, and .NET
methods."""
import struct
import uuid

from built_trace import SECOND, START, classic, event, performance, self_described, system, trace

IMAGE_ID = "b3e675d7-2554-4f18-830b-2762732560de"
CLR, RUNDOWN = "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4", "a669021c-c450-4609-a035-5af59af4df18"
MAKER = "11112222-3333-4444-5555-666677778888"
KERNEL, NTDLL, APP, JIT = 0xFFFFF80000000000, 0x7FF800000000, 0x140000000, 0x7FF900000000
PROCESS, THREAD, OTHER = 100, 101, 102
KERNEL_PDB = uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")
APP_PDB = uuid.UUID("a1b2c3d4-e5f6-0718-293a-4b5c6d7e8f90")
MS = SECOND // 1000
SAMPLES = 40


def z(text):
    return (text + "\0").encode("utf-16-le")


def process_event(ident, parent, name, kind=3):
    data = struct.pack("<QIIIiQI", 0, ident, parent, 0, 259, 0, 0) + name.encode() + b"\0" + z(name + " -go")
    return system(0x0300 + kind, data, START, version=3)


def thread(process, ident, name="", kind=3):
    return system(0x0500 + kind, struct.pack("<II", process, ident) + bytes(64) + (z(name) if name else b""), START, version=3)


def image(hook, base, size, process, stamp, path, at):
    data = struct.pack("<QQIIIIQIIII", base, size, process, 0, stamp, 0, base, 0, 0, 0, 0) + z(path)
    return system(hook, data, at, version=3, process=process)


def identified(base, size, process, stamp, name, pdb, age, at):
    """Returns the events that a merger puts before an image event, with the same time."""
    info = struct.pack("<QQII", base, size, process, stamp) + z(name)
    symbols = struct.pack("<QI16sI", base, process, pdb.bytes_le, age) + ("c:\\build\\" + name[:-4] + ".pdb").encode() + b"\0"
    return [classic(IMAGE_ID, info, at, 0, 2, process, 0xFFFFFFFF), classic(IMAGE_ID, symbols, at, 36, 2, process, 0xFFFFFFFF)]


def stack(of, process, ident, addresses, at):
    return performance(0x1820, struct.pack(f"<qII{len(addresses)}Q", of, process, ident, *addresses), at)


def key(hook, of, process, ident, number, at):
    return performance(hook, struct.pack("<qIIQ", of, process, ident, number), at)


def definition(hook, number, addresses, at):
    return performance(hook, struct.pack(f"<{1 + len(addresses)}Q", number, *addresses), at)


def sample(address, ident, at):
    return performance(0x0F2E, struct.pack("<QIHBB", address, ident, 1, 0, 0), at)


def switch(new, old, state, reason, at):
    return performance(0x0524, struct.pack("<IIbbBbbbbbII", new, old, 8, 8, 0, 0, reason, 0, state, 0, 0, 0), at)


def method(ident, start, size, name, at):
    data = struct.pack("<QQQIII", ident, 77, start, size, 0x6000001, 8) + z("Shop.Basket") + z(name) + z("void  (int32)")
    return event(RUNDOWN, data + struct.pack("<HQ", 5, 0), at, ident=144, version=2, process=PROCESS, thread=THREAD)


def module(at):
    data = struct.pack("<QQII", 77, 1, 0, 0) + z("C:\\shop\\Shop.dll") + z("") + struct.pack("<H", 5)
    return event(RUNDOWN, data + bytes(20) + z("") + bytes(20) + z(""), at, ident=154, version=2, process=PROCESS)


def walk(items, at, ident=7):
    return event(MAKER, struct.pack("<I", 1), at, ident=ident, process=PROCESS, thread=THREAD, items=items)


def load_events():
    out = [process_event(0, 0, "Idle"), process_event(4, 0, "System"), process_event(PROCESS, 4, "app.exe")]
    out += [thread(4, 8), thread(PROCESS, THREAD, "main"), thread(PROCESS, OTHER, "worker")]
    out += identified(KERNEL, 0x100000, 0, 0x5000, "ntkrnlmp.exe", KERNEL_PDB, 1, START)
    out += [image(0x1403, KERNEL, 0x100000, 0, 0x5000, "\\SystemRoot\\system32\\ntoskrnl.exe", START)]
    out += [image(0x1403, NTDLL, 0x20000, PROCESS, 0x6000, "\\Device\\HarddiskVolume1\\Windows\\System32\\ntdll.dll", START)]
    out += identified(APP, 0x10000, PROCESS, 0x7000, "app.exe", APP_PDB, 0x1A, START)
    return out + [image(0x1403, APP, 0x10000, PROCESS, 0x7000, "\\Device\\HarddiskVolume1\\app.exe", START)]


def samples(first):
    """Samples alternately in two functions of the program, then in a system call, whose kernel part comes first."""
    out = []
    for i in range(SAMPLES):
        at = first + i * MS
        if i % 4 == 3:
            out += [(0, sample(KERNEL + 0x500, THREAD, at)), (0, stack(at, PROCESS, THREAD, [KERNEL + 0x500, KERNEL + 0x900], at + 1)),
                    (0, stack(at, PROCESS, THREAD, [NTDLL + 0x124, APP + 0x1080], at + 2))]
        else:
            inner = APP + (0x1010 if i % 4 else 0x1110)
            out += [(0, sample(inner, THREAD, at)), (0, stack(at, PROCESS, THREAD, [inner, APP + 0x1080], at + 1))]
    return out


def stacked(path, size=8192):
    at = START + 100 * MS
    out = [(0, e) for e in load_events()] + samples(at)
    # Cached stacks: the definitions come later. Key 7 is in both tables, and is reused for another stack after its
    # deletion.
    at += 100 * MS
    out += [(1, switch(OTHER, 0, 1, 0, at)), (1, key(0x1825, at, PROCESS, OTHER, 7, at + 1)),
            (1, key(0x1826, at, PROCESS, OTHER, 7, at + 2))]
    out += [(1, definition(0x1823, 7, [KERNEL + 0x700, KERNEL + 0x900], at + 3))]
    out += [(1, switch(0, OTHER, 5, 6, at + 2 * MS)), (1, performance(0x0532, struct.pack("<Ibbbb", OTHER, 1, 0, 0, 0), at + 4 * MS)),
            (1, switch(OTHER, 0, 1, 0, at + 5 * MS)), (1, key(0x1825, at + 5 * MS, PROCESS, OTHER, 7, at + 5 * MS + 1))]
    # Another event of the same thread, in the kernel. Both events wait for the user part of the stack, which is logged
    # on another processor.
    out += [(1, system(0x010C, struct.pack("<QQ", 1, OTHER), at + 6 * MS, process=PROCESS, thread=OTHER)),
            (1, stack(at + 6 * MS, PROCESS, OTHER, [KERNEL + 0x600], at + 6 * MS + 1)),
            (0, key(0x1826, at + 6 * MS, PROCESS, OTHER, 9, at + 7 * MS))]
    out += [(0, definition(0x1824, 7, [KERNEL + 0x800, KERNEL + 0x900], at + 8 * MS)),
            (0, definition(0x1824, 7, [NTDLL + 0x224, APP + 0x2080], at + 8 * MS)),
            (0, definition(0x1824, 9, [NTDLL + 0x324, JIT + 0x15], at + 8 * MS))]
    at += 10 * MS
    # Stacks in the event itself: complete, and split into two events.
    out += [(0, walk([(6, struct.pack("<QQQ", 0, NTDLL + 0x10, APP + 0x20))], at)),
            (0, walk([(6, struct.pack("<QQ", 99, KERNEL + 0x30))], at + 1, ident=8)),
            (0, walk([(6, struct.pack("<QQ", 99, APP + 0x40))], at + 2, ident=9))]
    # A .NET event, with its stack in a separate event.
    out += [(0, event(CLR, b"\1", at + 3, ident=80, process=PROCESS, thread=THREAD)),
            (0, event(CLR, struct.pack("<HBBI2Q", 5, 0, 0, 2, JIT + 0x18, APP + 0x50), at + 4, ident=82, process=PROCESS, thread=THREAD))]
    out += [(0, system(0x010A, struct.pack("<IIIIQQQQI", 0, 0, 8192, 0, 4096, 0, 0, 0, THREAD), at + 5, version=3, process=PROCESS,
                       thread=THREAD))]
    out += [(0, self_described(MAKER, "Maker", "Sold", b"Name\0\x01Count\0\x08Price\0\x0C", z("pencil; red") +
                               struct.pack("<Id", 3, 1.25), at + 6 + i, process=PROCESS, thread=THREAD)) for i in range(3)]
    out += [(0, method(1, JIT, 0x100, "Add", at + 10)), (0, module(at + 11))]
    trace(path, out, processors=2, size=size)
