#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""trace_switch.py PROGRAM [EMULATOR]: the diagnostic trace for maintainers. With --trace AREAS or OPENPLA_TRACE, the
program writes a line for each step of these areas to stderr or to the file OPENPLA_TRACE_FILE; stdout does not
change."""
import os
import re
import tempfile

from program import EMULATOR, check, host_path, openpla_streams

LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z \d+\.\d+ ([a-z]+): .+")
COUNT = ("typeperf", r"\Memory\Available Bytes", "-sc", "1")
FILE = "OPENPLA_TRACE_FILE"


def areas_of(lines):
    found = set()
    for line in lines:
        match = LINE.fullmatch(line)
        check(match, "a line has a time, a process, a thread, an area and a message", line)
        found.add(match.group(1))
    return found


def lines_of(pattern):
    """Returns the lines of all files in the current folder that match the pattern."""
    lines = []
    for name in sorted(os.listdir(".")):
        if re.fullmatch(pattern, name):
            with open(name, encoding="utf-8") as file:
                lines += file.read().splitlines()
    return lines


def trace_into_a_file():
    os.environ[FILE] = host_path("steps.txt")
    output = openpla_streams(0, "--trace", "pdh", *COUNT)[0]
    check("Available Bytes" in output and "Z " not in output, "stdout is as without a trace", output)
    check(areas_of(lines_of(r"steps\.txt")) == {"pdh"}, "only the area that was asked for", lines_of(r"steps\.txt"))


def trace_into_a_file_for_each_process():
    os.environ[FILE] = host_path("each.%p.txt")
    os.environ["OPENPLA_TRACE"] = "pdh,logs"
    openpla_streams(0, *COUNT, "-o", "counted.csv", "-y")
    del os.environ["OPENPLA_TRACE"]
    check(areas_of(lines_of(r"each\.\d+\.txt")) == {"pdh", "logs"}, "both areas", lines_of(r"each\.\d+\.txt"))


def trace_to_stderr():
    del os.environ[FILE]
    if not EMULATOR:  # the emulator merges both streams
        errors = openpla_streams(0, "--trace", "PDH", *COUNT)[1]
        check(areas_of(errors.splitlines()) == {"pdh"}, "lines on stderr", errors)
    streams = "".join(openpla_streams(0, *COUNT))
    check(" pdh: " not in streams, "nothing without the switch", streams)


def unknown_area_is_refused():
    streams = "".join(openpla_streams(2, "--trace", "pdh,nothing", *COUNT))
    check("openpla: --trace: unknown trace area 'nothing' (areas: base, " in streams, "the areas are listed", streams)
    streams = "".join(openpla_streams(2, "--trace"))
    check("openpla: --trace: expected a list of areas" in streams, "the list is missing", streams)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        trace_into_a_file()
        trace_into_a_file_for_each_process()
        trace_to_stderr()
        unknown_area_is_refused()
        os.chdir("/")


main()
