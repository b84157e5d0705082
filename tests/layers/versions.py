#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""versions.py VERSION FILES...: the version resource of every installed program and DLL, including those for 32-bit
programs, has the project's version, the product OpenPLA, a description and the copyright. Installers replace a file
only by a newer version, and users identify a file by its properties. The resource is found through the resource tree,
as Windows does it."""
import os
import struct
import sys

RT_VERSION = 16
MACHINES = {0x8664: 64, 0x14c: 32}
FIXED = 0xfeef04bd  # VS_FIXEDFILEINFO.dwSignature
VFT_APP, VFT_DLL = 1, 2


class Image:
    """A PE file: machine, sections, and the bytes of its first resource of a type."""

    def __init__(self, data):
        self.data = data
        start = struct.unpack_from("<I", data, 0x3c)[0]
        assert data[start:start + 4] == b"PE\0\0"
        self.machine, count = struct.unpack_from("<HH", data, start + 4)
        size = struct.unpack_from("<H", data, start + 20)[0]
        optional = start + 24
        wide = struct.unpack_from("<H", data, optional)[0] == 0x20b
        self.resources = struct.unpack_from("<I", data, optional + (112 if wide else 96) + 2 * 8)[0]
        self.sections = [struct.unpack_from("<IIII", data, optional + size + 40 * i + 8) for i in range(count)]

    def file_offset(self, address):
        for size, virtual, raw_size, raw in self.sections:
            if virtual <= address < virtual + max(size, raw_size):
                return raw + address - virtual
        raise ValueError(f"no section has {address:#x}")

    def resource(self, kind):
        """Returns the resource's bytes, or None."""
        if not self.resources:
            return None
        top = node = self.file_offset(self.resources)
        for level in range(3):
            named, numbered = struct.unpack_from("<HH", self.data, node + 12)
            entries = [struct.unpack_from("<II", self.data, node + 16 + 8 * i) for i in range(named + numbered)]
            entries = [below for name, below in entries if level or name == kind]
            if not entries:
                return None
            node = top + (entries[0] & 0x7fffffff)
        address, size = struct.unpack_from("<II", self.data, node)
        return self.data[self.file_offset(address):self.file_offset(address) + size]


def aligned(offset):
    return (offset + 3) & ~3


def blocks(data, start, end):
    """Yields each block of a version resource: key, position and length of its value, and begin and end of its
    children."""
    while start + 6 < end:
        length, value_length, is_text = struct.unpack_from("<HHH", data, start)
        assert length > 6
        stop = start + 6
        while data[stop:stop + 2] != b"\0\0":
            stop += 2
        key = data[start + 6:stop].decode("utf-16-le")
        value = aligned(stop + 2)
        value_size = value_length * (2 if is_text else 1)
        yield key, value, value_size, aligned(value + value_size), start + length
        start = aligned(start + length)


def strings(resource):
    """Returns the resource's strings by name; '' is the tuple of VS_FIXEDFILEINFO."""
    found = {}
    for key, value, _, inner, end in blocks(resource, 0, len(resource)):
        assert key == "VS_VERSION_INFO"
        found[""] = struct.unpack_from("<13I", resource, value)
        for part, _, _, tables, tables_end in blocks(resource, inner, end):
            if part != "StringFileInfo":
                continue
            for _, _, _, rows, rows_end in blocks(resource, tables, tables_end):
                for name, text, size, _, _ in blocks(resource, rows, rows_end):
                    found[name] = resource[text:text + size].decode("utf-16-le").rstrip("\0")
    return found


def faults(path, version, bits):
    with open(path, "rb") as file:
        image = Image(file.read())
    if MACHINES.get(image.machine) != bits:
        yield f"is not for {bits} bits"
    resource = image.resource(RT_VERSION)
    if resource is None:
        yield "has no version resource"
        return
    texts = strings(resource)
    major, minor, patch = (int(part) for part in version.split("."))
    fixed = texts.get("", (0,) * 13)
    if fixed[0] != FIXED or fixed[2:4] != (major << 16 | minor, patch << 16) or fixed[4:6] != fixed[2:4]:
        yield f"its numbers are not {version}"
    if fixed[9] != (VFT_DLL if path.endswith(".dll") else VFT_APP):
        yield "it says another type of file"
    for name, value in (("FileVersion", version), ("ProductVersion", version), ("ProductName", "OpenPLA"),
                        ("CompanyName", "The OpenPLA authors"), ("InternalName", os.path.splitext(os.path.basename(path))[0]),
                        ("OriginalFilename", os.path.basename(path))):
        if texts.get(name) != value:
            yield f"its {name} is {texts.get(name)!r} and not {value!r}"
    if not texts.get("FileDescription", "").startswith("OpenPLA: ") or len(texts["FileDescription"]) < 15:
        yield f"its FileDescription tells nothing: {texts.get('FileDescription')!r}"
    if "Copyright" not in texts.get("LegalCopyright", "") or "MIT" not in texts["LegalCopyright"]:
        yield f"its LegalCopyright is {texts.get('LegalCopyright')!r}"


def main():
    version, *files = sys.argv[1:]
    found = 0
    assert files
    for path in files:
        for fault in faults(path, version, 32 if "/x86/" in path else 64):
            print(f"{path}: {fault}")
            found += 1
    return bool(found)


sys.exit(main())
