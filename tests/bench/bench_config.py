#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_config.py PROGRAM [ROWS [EMULATOR...]]: measures processor time and peak memory of "openpla config" on
configurations of ROWS rows (default: a million), compared with a plain parse of the same file by expat in the same run.
With an emulator, the memory includes the emulator but not its other processes. Needs three times the size of the files,
a gigabyte for a million rows, in the folder for temporary files."""
import os
import subprocess
import sys
import tempfile

import arguments

PARSE = "import sys, xml.parsers.expat as e; p = e.ParserCreate(); p.ParseFile(open(sys.argv[1], 'rb'))"
STEP = 7919  # stride of the second file's row order; prime


def write(name, rows, order, changed):
    with open(name, "w", encoding="utf-8", newline="") as f:
        f.write('<?xml version="1.0" encoding="UTF-8"?>\n<Report name="configuration" version="1" complete="1">'
                '<Section name="registry"><Table name="registryKeys" source="HKEY_LOCAL_MACHINE\\Software\\\\"><Header>'
                '<Data name="key" key="1"/><Data name="name" key="1"/><Data name="type"/><Data name="value"/>'
                '<Data name="error"/><Data name="result"/></Header>\n')
        for i in range(rows):
            row = i * order % rows
            value = row if row % changed else row + 1
            f.write(f'<Item><Data name="key">HKEY_LOCAL_MACHINE\\Software\\Vendor\\Product\\Key{row // 50}</Data><Data name="name">'
                    f'Value{row % 50}</Data><Data name="type">REG_SZ</Data><Data name="value">{value:060}</Data>'
                    '<Data name="error"></Data><Data name="result"></Data></Item>\n')
        f.write("</Table></Section></Report>\n")


def measure(what, command, expected):
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != expected:
        sys.exit(f"{what}: exit code {process.returncode}")
    seconds = usage.ru_utime + usage.ru_stime
    print(f"{what:22} {seconds:7.2f} s {usage.ru_maxrss / 1024:8.1f} MB", flush=True)
    return seconds


def main():
    program, rows, emulator = arguments.parse_arguments(__doc__, ("PROGRAM", arguments.program), ("ROWS", arguments.number, 1000000),
                                                        rest=("EMULATOR", arguments.text))
    openpla = [*emulator, program, "config"]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write("a.xml", rows, 1, rows + 1)
        write("b.xml", rows, STEP, 1000)
        print(f"{rows} rows, {os.path.getsize('a.xml') >> 20} MB")
        plain = measure("expat", [sys.executable, "-c", PARSE, "a.xml"], 0)
        for what, line, code in (("shown", ["a.xml"], 0), ("as JSON", ["a.xml", "--json"], 0),
                                      ("compared, 2 files", ["diff", "a.xml", "b.xml"], 1)):
            print(f"{'':22} {measure(what, openpla + line, code) / plain:7.1f} times the parse")


main()
