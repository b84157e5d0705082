#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""normalise-typelib.py FILE: replaces the time stamps in a type library with the epoch. widl writes the time of day
once as text and once as a DWORD; without them, two builds of the same source are identical."""
import re
import struct
import sys
import time


def main(path):
    data = bytearray(open(path, "rb").read())
    stamp = re.search(rb"Created by WIDL version [\d.]+ at (\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4})", data)
    if not stamp:
        sys.exit(f"{path}: no widl stamp")
    when = int(time.mktime(time.strptime(stamp.group(1).decode(), "%a %b %d %H:%M:%S %Y")))
    data[stamp.start(1):stamp.end(1)] = b"Thu Jan  1 00:00:00 1970"
    for guess in (when, when + 1, when - 1):
        at = data.find(struct.pack("<I", guess), stamp.end())
        if at > 0:
            data[at:at + 4] = b"\0\0\0\0"
            break
    else:
        sys.exit(f"{path}: no time stamp after the text")
    open(path, "wb").write(data)


main(sys.argv[1])
