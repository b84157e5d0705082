#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""relog_events.py PROGRAM EMULATOR: examples/relog_events.c, which uses only relogger.h, copies the events of one
process from two logs into a third log. Another reader finds these events unchanged."""
import os
import struct
import subprocess
import sys
import tempfile

from built_trace import SECOND, START, classic, event, self_described, system, trace
import etl_check
from merged_trace import method, method_definition

PROGRAM, EMULATOR = sys.argv[1], sys.argv[2:]
OURS = "11112222-3333-4444-5555-666677778888"


def check(right, what, output=""):
    if not right:
        sys.exit(f"FAILED: {what}\n{output}")


def relog(expected, *arguments):
    done = subprocess.run([*EMULATOR, PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    output = done.stdout.decode("utf-8")
    check(done.returncode == expected, f"relog_events {arguments}: {done.returncode}, not {expected}", output)
    return output


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        wanted = [self_described(OURS, "Maker", "Made", b"A\0\x08", b"\x01\0\0\0", START + 2 * SECOND, process=44),
                  classic(OURS, b"abc", START + 3 * SECOND, kind=5, version=2, process=44),
                  system(0x0501, b"12345678", START + 4 * SECOND, process=44),
                  event(OURS, b"xyz", START + 5 * SECOND, ident=9, level=2, keyword=1 << 60, process=44, narrow=True,
                        activity=bytes(range(16)))]
        trace("one.etl", [(0, wanted[0]), (0, wanted[2]), (1, classic(OURS, b"no", START, process=45))], processors=2)
        trace("two.etl", [(1, wanted[1]), (0, wanted[3])], processors=2)
        output = relog(0, "one.etl", "two.etl", "out.etl", "44")
        check("4 of 5 events" in output, "the counts", output)
        with open("out.etl", "rb") as f:
            log = etl_check.Log(f.read())
        check(log.remarks == 0, "the log is not corrupt", log.remarks)
        found = [e.raw[:len(raw)] for e, raw in zip(log.events[1:], wanted)]
        check(found == wanted, "events are unchanged", [f.hex() for f in found])
        check([e.processor for e in log.events[1:]] == [0, 1, 0, 0], "processors", [e.processor for e in log.events])
        merged = [*method_definition(START + SECOND, narrow=True), method(START + SECOND, 1, narrow=True)]
        trace("merged.etl", [*merged, method(START + SECOND, 2)[:8] + struct.pack("<II", 1, 45) +
                             method(START + SECOND, 2)[16:]])
        relog(0, "merged.etl", "defined.etl", "44")
        with open("defined.etl", "rb") as f:
            log = etl_check.Log(f.read())
        found = [e.raw[:len(raw)] for e, raw in zip(log.events[1:], merged)]
        check(found == merged and len(log.events) == 4, "definitions are kept", [f.hex() for f in found])
        output = relog(1, "none.etl", "out2.etl", "44")
        check("none.etl cannot be read" in output and not os.path.exists("out2.etl"), "a missing file", output)
        os.chdir("/")
    print("4 events were copied into a separate log")


main()
