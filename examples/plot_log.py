#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""plot_log.py LOG.csv PICTURE.png [PATTERN ...]: draws a performance log's counters over time.

Needs only Python. LOG is CSV or TSV; `openpla relog LOG.blg -f csv -o LOG.csv` converts other logs.
PATTERN selects counters by a part of their path, with the wildcards * and ?. At most 12 counters are drawn."""
import codecs
import csv
import datetime
import fnmatch
import math
import struct
import sys
import zlib

WIDTH, HEIGHT = 1000, 600
LEFT, RIGHT, TOP = 90, 20, 30
AXIS, GRID, TEXT = (90, 90, 90), (225, 225, 225), (40, 40, 40)
COLOURS = [(31, 119, 180), (214, 39, 40), (44, 160, 44), (148, 103, 189), (255, 127, 14), (23, 150, 170), (140, 86, 75),
           (227, 119, 194), (127, 127, 127), (160, 160, 30), (0, 60, 120), (120, 0, 60)]


def glyphs():
    """Returns the bitmap of each letter: 35 dots, row by row."""
    drawn = """
0 .###.#...##..###.#.###..##...#.###.|1 ..#...##....#....#....#....#...###.|2 .###.#...#....#...#...#...#...#####
3 #####...#...#.....#.....##...#.###.|4 ...#...##..#.#.#..#.#####...#....#.|5 ######....####.....#....##...#.###.
6 ..##..#...#....####.#...##...#.###.|7 #####....#...#...#...#....#....#...|8 .###.#...##...#.###.#...##...#.###.
9 .###.#...##...#.####....#...#..##..|A .###.#...##...#######...##...##...#|B ####.#...##...#####.#...##...#####.
C .###.#...##....#....#....#...#.###.|D ###..#..#.#...##...##...##..#.###..|E ######....#....####.#....#....#####
F ######....#....####.#....#....#....|G .###.#...##....#.####...##...#.####|H #...##...##...#######...##...##...#
I .###...#....#....#....#....#...###.|J ..###...#....#....#....#.#..#..##..|K #...##..#.#.#..##...#.#..#..#.#...#
L #....#....#....#....#....#....#####|M #...###.###.#.##.#.##...##...##...#|N #...##...###..##.#.##..###...##...#
O .###.#...##...##...##...##...#.###.|P ####.#...##...#####.#....#....#....|Q .###.#...##...##...##.#.##..#..##.#
R ####.#...##...#####.#.#..#..#.#...#|S .#####....#.....###.....#....#####.|T #####..#....#....#....#....#....#..
U #...##...##...##...##...##...#.###.|V #...##...##...##...##...#.#.#...#..|W #...##...##...##.#.##.#.##.#.#.#.#.
X #...##...#.#.#...#...#.#.#...##...#|Y #...##...##...#.#.#...#....#....#..|Z #####....#...#...#...#...#....#####
. ..........................##...##..|, .....................##....#...#...|: ......##...##........##...##.......
- ...............#####...............|+ .......#....#..#####..#....#.......|_ ..............................#####
/ .........#...#...#...#...#.........|\\ .....#.....#.....#.....#.....#.....|( ...#...#...#....#....#.....#.....#.
) .#.....#.....#....#....#...#...#...|# .#.#..#.#.#####.#.#.#####.#.#..#.#.|% ##..###..#...#...#...#...#..###..##
* .......#..#.#.#.###.#.#.#..#.......|= ..........#####.....#####..........|? .###.#...#....#...#...#.........#..
"""
    return {cell[0]: cell[2:] for line in drawn.strip().split("\n") for cell in line.split("|")}


FONT = glyphs()


class Picture:
    def __init__(self, width, height):
        self.width, self.height = width, height
        self.dots = bytearray(b"\xff" * (width * height * 3))

    def dot(self, x, y, colour):
        if 0 <= x < self.width and 0 <= y < self.height:
            at = (y * self.width + x) * 3
            self.dots[at:at + 3] = bytes(colour)

    def line(self, x0, y0, x1, y1, colour, thick=1):
        steps = max(abs(x1 - x0), abs(y1 - y0), 1)
        for i in range(steps + 1):
            x, y = round(x0 + (x1 - x0) * i / steps), round(y0 + (y1 - y0) * i / steps)
            for k in range(thick):
                self.dot(x, y + k, colour)

    def text(self, x, y, text, colour):
        for letter in text.upper():
            for i, spot in enumerate(FONT.get(letter, "." * 35)):
                if spot == "#":
                    self.dot(x + i % 5, y + i // 5, colour)
            x += 6

    def save(self, path):
        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        rows = b"".join(b"\0" + bytes(self.dots[y * self.width * 3:(y + 1) * self.width * 3]) for y in range(self.height))
        with open(path, "wb") as f:
            f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", self.width, self.height, 8, 2, 0, 0, 0)) +
                    chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def read_log(path):
    """Returns the counter names, and rows of a time and the values (None: missing)."""
    with open(path, "rb") as f:
        data = f.read()
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = data.decode("utf-16")
    else:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = data.decode("cp1252", "replace")
    lines = text.lstrip().splitlines()
    if not lines or "(PDH-" not in lines[0]:
        sys.exit(f"{path} is no CSV or TSV log; openpla relog makes one of it")
    rows = csv.reader(lines, delimiter="\t" if "\t" in lines[0] else ",")
    names, samples = next(rows)[1:], []
    for row in rows:
        try:
            time = datetime.datetime.strptime(row[0], "%m/%d/%Y %H:%M:%S.%f")
            values = [float(cell) if cell.strip() else None for cell in row[1:]]
        except (ValueError, IndexError):
            continue
        if len(values) == len(names):
            samples.append((time, values))
    return names, samples


def step_of(span, most):
    """Returns 1, 2 or 5 times a power of ten such that `span` has at most `most` steps."""
    power = 10.0 ** math.floor(math.log10(span / most))
    return next(power * m for m in (1, 2, 5, 10) if span / (power * m) <= most)


def draw(names, samples, chosen, path):
    bottom = HEIGHT - 40 - 12 * len(chosen)
    values = [row[i] for _, row in samples for i in chosen if row[i] is not None]
    low, high = min(values + [0]), max(values + [0])
    high = high if high > low else low + 1
    first, last = samples[0][0], samples[-1][0]
    span = (last - first).total_seconds() or 1
    picture = Picture(WIDTH, HEIGHT)

    def place(time, value):
        return (round(LEFT + (WIDTH - LEFT - RIGHT) * (time - first).total_seconds() / span),
                round(bottom - (bottom - TOP) * (value - low) / (high - low)))

    step = step_of(high - low, 8)
    for i in range(math.ceil(low / step), math.floor(high / step) + 1):
        y = place(first, i * step)[1]
        label = f"{i * step:.10g}"
        picture.line(LEFT, y, WIDTH - RIGHT, y, GRID)
        picture.text(LEFT - 6 - 6 * len(label), y - 3, label, TEXT)
    for i in range(6):
        time = first + (last - first) * i / 5
        x = place(time, low)[0]
        picture.line(x, TOP, x, bottom, GRID)
        picture.text(min(x - 24, WIDTH - 50), bottom + 6, time.strftime("%H:%M:%S"), TEXT)
    picture.line(LEFT, TOP, LEFT, bottom, AXIS)
    picture.line(LEFT, bottom, WIDTH - RIGHT, bottom, AXIS)
    picture.text(LEFT, 10, f"{first:%Y-%m-%d %H:%M:%S} - {last:%Y-%m-%d %H:%M:%S}", TEXT)
    for n, i in enumerate(chosen):
        colour, before = COLOURS[n % len(COLOURS)], None
        for time, row in samples:
            here = place(time, row[i]) if row[i] is not None else None
            if here:
                picture.line(*(before or here), *here, colour, 2)
            before = here
        y = bottom + 24 + 12 * n
        picture.line(LEFT, y + 3, LEFT + 20, y + 3, colour, 2)
        picture.text(LEFT + 28, y, names[i], TEXT)
    picture.save(path)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    names, samples = read_log(sys.argv[1])
    patterns = [f"*{p.lower()}*" for p in sys.argv[3:]] or ["*"]
    chosen = [i for i, name in enumerate(names) if any(fnmatch.fnmatchcase(name.lower(), p) for p in patterns)]
    if not samples or not chosen:
        sys.exit(f"{sys.argv[1]}: nothing to draw: {len(samples)} samples, {len(chosen)} counters that match")
    if len(chosen) > len(COLOURS):
        print(f"the first {len(COLOURS)} of {len(chosen)} counters are drawn")
    draw(names, samples, chosen[:len(COLOURS)], sys.argv[2])
    print(f"{sys.argv[2]}: {len(samples)} samples, {min(len(chosen), len(COLOURS))} counters")


main()
