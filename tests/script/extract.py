#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs examples/extract.vbs. It extracts a cabinet that this test writes byte by byte, rejects a cabinet that would
write outside the folder, and overwrites no file. Otherwise a foreign cabinet could replace a user's files."""
import os
import struct
import sys
import tempfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLE = os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "examples", "extract.vbs")
sys.path.insert(0, os.path.join(HERE, "..", "fault"))
import cscript  # noqa: E402
from faults import check, windows_path, wine  # noqa: E402


def make_cabinet(path, files):
    """Writes a cabinet with one folder and one MSZIP block (MS-CAB)."""
    data = b"".join(files.values())
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = b"CK" + packer.compress(data) + packer.flush()
    rows, offset = b"", 0
    for name, content in files.items():
        rows += struct.pack("<IIHHHH", len(content), offset, 0, 0x5B77, 0x6000, 0x20) + name.encode("ascii") + b"\0"
        offset += len(content)
    at = 36 + 8 + len(rows)
    block = struct.pack("<IHH", 0, len(packed), len(data)) + packed
    head = struct.pack("<4sIIIIIBBHHHHH", b"MSCF", 0, at + len(block), 0, 44, 0, 3, 1, 1, len(files), 0, 0, 0)
    with open(path, "wb") as file:
        file.write(head + struct.pack("<IHH", at, 1, 1) + rows + block)


def extract(cabinet, folder):
    for _ in range(cscript.ATTEMPTS):
        code, text = wine("cscript", "//nologo", windows_path(EXAMPLE), windows_path(cabinet), windows_path(folder))
        if not cscript.never_ran(code, text):
            break
    return code, text


def tree(top):
    return sorted(os.path.relpath(os.path.join(folder, name), top) for folder, _, names in os.walk(top) for name in names)


with tempfile.TemporaryDirectory(dir=os.path.join(os.environ["WINEPREFIX"], "drive_c")) as top:
    right, wrong = os.path.join(top, "right.cab"), os.path.join(top, "wrong.cab")
    out = os.path.join(top, "a run")
    log = b"\r\n".join(b'"01/02/2026 00:00:%02d","%d"' % (i % 60, i) for i in range(1000))
    make_cabinet(right, {"report.xml": b"<Report/>", "sub\\Load.csv": log})
    make_cabinet(wrong, {"report.xml": b"<Report/>", "..\\up.txt": b"up"})

    code, text = extract(wrong, out)
    check(code == 1 and "0x80300113" in text and "..\\up.txt" in text, f"a hostile cabinet: {code}: {text}")
    check(tree(top) == ["right.cab", "wrong.cab"], f"nothing was written: {tree(top)}")

    code, text = extract(right, out)
    check(code == 0 and text.strip() == "Done.", f"extract.vbs: {code}: {text}")
    check(tree(out) == ["report.xml", os.path.join("sub", "Load.csv")], f"what is there: {tree(out)}")
    with open(os.path.join(out, "sub", "Load.csv"), "rb") as file:
        check(file.read() == log, "the log is the one that was packed")

    code, text = extract(right, out)
    check(code == 1 and "0x80070050" in text and "report.xml" in text, f"a second time: {code}: {text}")
