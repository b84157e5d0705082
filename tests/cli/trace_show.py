#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""trace_show.py PROGRAM [EMULATOR]: `openpla trace show` prints a line for each selected event with its writer and its
content, and follows a growing file."""
import json
import os
import struct
import subprocess
import sys
import tempfile
import time

from built_trace import SECOND, START, event, padded, self_described, system, trace
from etl_check import buffer

PROGRAM, EMULATOR = sys.argv[1], sys.argv[2:]
OURS, THEIRS = "11112222-3333-4444-5555-666677778888", "99990000-1111-2222-3333-444455556666"
FIELDS = b"Name\0\x01Size\0\x08Point\0\x98\x02X\0\x05Y\0\x05Numbers\0\x44"


def check(right, what, output=""):
    if not right:
        sys.exit(f"FAILED: {what}\n{output}")


def show(expected, *arguments):
    done = subprocess.run([*EMULATOR, PROGRAM, "trace", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env={**os.environ, "TZ": "UTC"})
    output = done.stdout.decode("utf-8")
    check(done.returncode == expected, f"trace {arguments}: exit code {done.returncode}, not {expected}",
          output + done.stderr.decode("utf-8"))
    return output + ("" if expected == 0 else done.stderr.decode("utf-8"))


def shown(*arguments):
    """Returns the events without the log file header."""
    return [line for line in show(0, "show", *arguments).splitlines() if "EventTrace" not in line
            and line[:1] in "{2"]


def maker_event(name, size, seconds, **header):
    data = (name + "\0").encode("utf-16-le") + struct.pack("<IhhHBB", size, -3, 4, 2, 7, 8)
    return self_described(OURS, "Maker", "Made", FIELDS, data, START + seconds * SECOND, **header)


def started(ident, name):
    """Returns the kernel event of a process start, version 3, without a SID."""
    data = struct.pack("<QIIIiQI", 0, ident, 4, 0, 259, 0, 0) + name.encode() + b"\0" + b"\0\0"
    return system(0x0301, data, START, version=3)


def make():
    trace("some.etl", [
        started(44, "writer.exe"), maker_event("plain", 1, 1, process=44), maker_event("two words\n", 2, 2, process=45, level=2),
        maker_event("key", 3, 3, process=44, keyword=0x10, opcode=1),
        event(THEIRS, b"\x01\xfe", START + 4 * SECOND, ident=9, process=46),
    ])


def line_shows_event():
    lines = shown("some.etl")
    check(len(lines) == 5, "events are missing", lines)
    when = lines[1][:26]
    check(lines[1][26:] == "  writer.exe(44:42)  Maker/Made/Info  Information  Name=plain Size=1 Point={X=-3 Y=4} "
          "Numbers.Count=2 Numbers=[7 8]", "a line", lines[1])
    check(when[4] == "-" and when[10] == " " and when.endswith(".000000"), "a time", when)
    check("  45:42  Maker/Made/Info  Error  Name=\"two words\\n\" " in lines[2], "control characters are escaped, and values with spaces are quoted", lines[2])
    check(lines[4].endswith("0x01FE") and "46:42  {" + THEIRS + "}/0 #9" in lines[4] and "not decoded: " in lines[4],
          "an event without a definition", lines[4])
    check("Process/" in lines[0] and "ImageFileName=writer.exe" in lines[0], "a process", lines[0])


def json_equals_text():
    events = [json.loads(line) for line in shown("some.etl", "--json")]
    check(events[1]["fields"] == {"Name": "plain", "Size": 1, "Point": {"X": -3, "Y": 4}, "Numbers.Count": 2,
                                  "Numbers": [7, 8]}, "fields", events[1])
    check(events[1]["processName"] == "writer.exe" and events[1]["process"] == 44 and events[1]["provider"] == "Maker"
          and events[1]["event"] == "Made" and events[1]["time"] == "2021-02-28T15:33:21.0000000Z", "the header", events[1])
    check(events[2]["fields"]["Name"] == "two words\n" and events[3]["keywords"] == "0x0000000000000010", "texts", events)
    check(events[4]["undecoded"]["data"] == "01FE" and events[4]["undecoded"]["reason"], "undecoded", events[4])


def numbers_are_numbers_in_json():
    """Numbers are JSON numbers, so programs can add them up without conversion. Large integers and fractions are
    numbers too. JSON has no infinity."""
    data = struct.pack("<Qddd", 2 ** 64 - 1, 45.75, -1e300, float("inf"))
    trace("numbers.etl", [self_described(OURS, "Maker", "Counted", b"Large\0\x0ALoad\0\x0CLess\0\x0CAll\0\x0C", data, START)])
    (line,) = [json.loads(line) for line in shown("numbers.etl", "--json")]
    check(line["fields"] == {"Large": 2 ** 64 - 1, "Load": 45.75, "Less": -1e300, "All": None}, "numbers", line)


def filters_events():
    def names(*arguments):
        return [json.loads(line).get("fields", {}).get("Name", "?") for line in shown("some.etl", "--json", *arguments)]
    check(names("-level", "error") == ["?", "two words\n"], "-level", names("-level", "error"))  # level 0 always passes
    check(names("-keyword", "0x30") == ["key"], "-keyword", names("-keyword", "0x30"))
    check(names("-provider", "Mak*") == ["plain", "two words\n", "key"], "-provider", names("-provider", "Mak*"))
    check(names("-provider", "{" + THEIRS.upper() + "}", "-level", "4") == ["?"], "-provider with a GUID")
    check(names("-process", "45") == ["two words\n"] and names("-process", "WRITER*") == ["plain", "key"], "-process")
    check(names("-text", "size=3") == ["key"], "-text", names("-text", "size=3"))
    check(len(shown("some.etl", "-max", "2", "-provider", "Maker")) == 2, "-max")
    check(names("-b", "2000-01-01", "-e", "2000-01-02") == [], "-b, -e")
    for wrong in (["show"], [], ["list", "x"], ["show", "x", "-rt", "y"], ["show", "x", "-level", "loud"],
                  ["show", "some.etl", "-b", "soon"], ["show", "-rt", "s", "-b", "2020-01-01"]):
        check("See: openpla help trace" in show(2, *wrong), f"no reason for {wrong}")
    check("no such session" in show(1, "show", "-rt", "OpenPLA no such session"), "a missing session")


def follows_growing_file():
    with open("some.etl", "rb") as f:
        whole = f.read()
    with open("live.etl", "wb") as f:
        f.write(whole + whole[8192:8192 + 300])  # and an incomplete buffer
    command = [*EMULATOR, PROGRAM, "trace", "show", "live.etl", "-follow", "-max", "5", "-provider", "Maker", "--json"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    more = padded(maker_event("later", 6, 6)) + padded(maker_event("last", 7, 7))
    time.sleep(1)
    with open("live.etl", "r+b") as f:
        f.seek(2 * 8192)
        f.write(buffer(8192, 2, START, 0, 0x20, 0, more, False, False))
    output = process.communicate(timeout=600)[0].decode("utf-8")
    names = [json.loads(line)["fields"]["Name"] for line in output.splitlines() if line.startswith("{")]
    check(names == ["plain", "two words\n", "key", "later", "last"], "events that were written later", output)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make()
        line_shows_event()
        json_equals_text()
        numbers_are_numbers_in_json()
        filters_events()
        follows_growing_file()
        os.chdir("/")
    print("events are shown correctly")


main()
