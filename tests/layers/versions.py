#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""versions.py VERSION FILES...: every program and DLL that is installed says OpenPLA, the project's version and its own
name in its version resource. An installer replaces a file only for a newer one, and by its properties people tell which they have."""
import os
import sys


def text(name, value):
    """Of a String in VS_VERSIONINFO: the key, NUL and padding to four bytes, the value."""
    key = name.encode("utf-16-le") + b"\0\0"
    return [key + pad + value.encode("utf-16-le") + b"\0\0" for pad in (b"", b"\0\0")]


def main():
    version, *files = sys.argv[1:]
    missing = 0
    for path in files:
        with open(path, "rb") as file:
            data = file.read()
        for name, value in (("FileVersion", version), ("ProductName", "OpenPLA"), ("OriginalFilename", os.path.basename(path))):
            if not any(form in data for form in text(name, value)):
                print(f"{path}: its {name} is not {value}")
                missing += 1
    assert files
    return bool(missing)


sys.exit(main())
