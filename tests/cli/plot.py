#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""plot.py PROGRAM [EMULATOR]: examples/plot_log.py draws the values of a log that relog has written."""
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

PROGRAM, EMULATOR = sys.argv[1], sys.argv[2:]
EXAMPLE = os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "examples", "plot_log.py")
BLUE = (31, 119, 180)


def check(right, what):
    if not right:
        sys.exit("FAILED: " + what)


def chunks(png):
    check(png[:8] == b"\x89PNG\r\n\x1a\n", "no PNG")
    at = 8
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        data = png[at + 8:at + 8 + size]
        check(struct.unpack(">I", png[at + 8 + size:at + 12 + size])[0] == zlib.crc32(kind + data), f"{kind}: checksum")
        yield kind, data
        at += 12 + size


def dots(path, colour):
    """Returns, for each column of pixels, the position of the lowest dot of this colour above the legend."""
    with open(path, "rb") as f:
        parts = dict(chunks(f.read()))
    width, height, depth, kind = struct.unpack(">IIBB", parts[b"IHDR"][:10])
    check((depth, kind) == (8, 2) and b"IEND" in parts, "not 8 bits of red, green, blue")
    rows = zlib.decompress(parts[b"IDAT"])
    check(len(rows) == height * (width * 3 + 1), "size")
    found = {}
    for y in range(height - 45):
        row = rows[y * (width * 3 + 1) + 1:(y + 1) * (width * 3 + 1)]
        for x in range(width):
            if tuple(row[3 * x:3 * x + 3]) == colour:
                found[x] = y
    return found


def main():
    work = tempfile.mkdtemp(prefix="openpla-plot.", dir=os.environ.get("WINEPREFIX"))
    os.chdir(work)
    with open("rising.tsv", "w", encoding="ascii", newline="") as f:
        f.write('"(PDH-TSV 4.0) (UTC)(0)"\t"\\\\BOX\\Memory\\Pages/sec"\t"\\\\BOX\\System\\Threads"\r\n')
        for i in range(11):
            value = " " if i == 5 else str(i * 10)
            f.write(f'"02/28/2021 03:13:{20 + i}.000"\t"{value}"\t"7"\r\n')
    relog = [*EMULATOR, PROGRAM, "relog", "rising.tsv", "-f", "csv", "-o", "rising.csv"]
    done = subprocess.run(relog, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    check(done.returncode == 0, done.stdout.decode("utf-8", "replace"))
    for log in ("rising.tsv", "rising.csv"):
        done = subprocess.run([sys.executable, EXAMPLE, log, "rising.png", "memory"], stdout=subprocess.PIPE)
        check(done.returncode == 0 and b"11 samples, 1 counters" in done.stdout, f"{log}: {done.stdout}")
        line = dots("rising.png", BLUE)
        columns = sorted(line)
        check(line[columns[0]] > 450 and line[columns[-1]] < 60, f"from {line[columns[0]]} to {line[columns[-1]]}")
        check(all(line[a] >= line[b] for a, b in zip(columns, columns[1:])), "not rising")
        check(columns[0] == 90 and columns[-1] == 980, f"columns {columns[0]} to {columns[-1]}")
        gap = [b - a for a, b in zip(columns, columns[1:]) if b - a > 1]
        check(len(gap) == 1 and 150 < gap[0] < 200, f"the missing sample shows as {gap}")
    for arguments in (["rising.csv", "x.png", "nothing"], [EXAMPLE, "x.png"], []):
        done = subprocess.run([sys.executable, EXAMPLE, *arguments], stderr=subprocess.PIPE)
        check(done.returncode == 1 and done.stderr and not os.path.exists("x.png"), f"{arguments}: {done.stderr}")
    os.chdir("/")
    shutil.rmtree(work)


main()
