#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""trace_stacks.py PROGRAM [EMULATOR]: `openpla trace show -stack` shows each event's stack, in all forms in which
Windows writes stacks, and the image of each frame."""
import json
import os
import subprocess
import sys
import tempfile

from stacked_trace import APP, KERNEL, OTHER, PROCESS, SAMPLES, stacked

PROGRAM, EMULATOR = sys.argv[1], sys.argv[2:]


def check(right, what, output=""):
    if not right:
        sys.exit(f"FAILED: {what}\n{output}")


def openpla(expected, *arguments):
    done = subprocess.run([*EMULATOR, PROGRAM, "trace", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env={**os.environ, "TZ": "UTC"})
    output, messages = (s.decode("utf-8").replace("\r\n", "\n") for s in (done.stdout, done.stderr))
    check(done.returncode == expected, f"trace {arguments}: exit code {done.returncode}, not {expected}", output + messages)
    return output, output + messages  # the emulator merges both streams


def events(*arguments):
    return [json.loads(line) for line in openpla(0, "show", "stacked.etl", "-stack", "--json", *arguments)[0].splitlines() if line[:1] == "{"]


def of(found, provider, opcode):
    return [e for e in found if e["providerId"] == provider and e["opcodeNumber"] == opcode]


def offsets(e):
    return [(f.get("module"), f.get("moduleOffset") or f["functionOffset"]) for f in e.get("stack", [])]


SAMPLE, THREADS, FILE = ("{ce1dbfb4-137e-4da6-87b0-3f59aa102cbc}", "{3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c}",
                         "{3d6fa8d4-fe05-11d0-9dda-00c04fd7ba7c}")
MAKER, CLR = "{11112222-3333-4444-5555-666677778888}", "{e13c0d23-ccbc-4e12-931b-d9cc2eee27e4}"


def plain_stacks(found):
    got = [offsets(e) for e in of(found, SAMPLE, 46)]
    check(len(got) == SAMPLES, "samples", got)
    check(got[0] == [("app.exe", "0x1110"), ("app.exe", "0x1080")] and got[1][0] == ("app.exe", "0x1010"), "in the program", got[:2])
    check(got[3] == [("ntoskrnl.exe", "0x500"), ("ntoskrnl.exe", "0x900"), ("ntdll.dll", "0x124"), ("app.exe", "0x1080")],
          "a system call", got[3])


def cached_stacks(found):
    switches = of(found, THREADS, 36)
    check(offsets(switches[0]) == [("ntoskrnl.exe", "0x700"), ("ntoskrnl.exe", "0x900"), ("ntdll.dll", "0x224"), ("app.exe", "0x2080")],
          "one key in both tables", switches[0])
    check(switches[0]["stackThread"] == OTHER and switches[0]["stackProcess"] == PROCESS, "whose stack", switches[0])
    check("stack" not in switches[1], "a switch without a stack", switches[1])
    user = [("ntdll.dll", "0x324"), ("Shop.dll", "0x15")]
    check(offsets(switches[2]) == [("ntoskrnl.exe", "0x800"), ("ntoskrnl.exe", "0x900"), *user], "a key used again", switches[2])
    disk = of(found, FILE, 12)
    check(offsets(disk[0]) == [("ntoskrnl.exe", "0x600"), *user], "one user part for two events", disk)


def stacks_in_the_event(found):
    own = {e["id"]: e for e in found if e["providerId"] == MAKER and e["id"]}
    check(offsets(own[7]) == [("ntdll.dll", "0x10"), ("app.exe", "0x20")], "whole", own[7])
    check(offsets(own[8]) == [("ntoskrnl.exe", "0x30"), ("app.exe", "0x40")] and "stack" not in own[9], "a stack split into two events", own)


def methods(found):
    clr = [e for e in found if e["providerId"] == CLR]
    check(len(clr) == 1 and offsets(clr[0]) == [("Shop.dll", "0x18"), ("app.exe", "0x50")], "CLRStackWalk", clr)
    check(clr[0]["stack"][0]["function"] == "Shop.Basket.Add(int32)", "a method", clr[0])


def identities(found):
    first = of(found, SAMPLE, 46)[3]["stack"]
    check(first[0]["identity"] == "00112233445566778899AABBCCDDEEFF1" and first[0]["symbols"] == "ntkrnlmp.pdb" and
          first[0]["path"] == "\\SystemRoot\\system32\\ntoskrnl.exe" and first[0]["address"] == f"0x{KERNEL + 0x500:X}",
          "the kernel's symbols", first)
    check(first[3]["identity"] == "A1B2C3D4E5F60718293A4B5C6D7E8F901a" and first[3]["address"] == f"0x{APP + 0x1080:X}" and
          "identity" not in first[2], "the program's symbols", first)


def lines():
    text, messages = openpla(0, "show", "stacked.etl", "-stack", "-text", "Shop.Basket")
    check("StackWalk" not in text and "\n    ntoskrnl.exe+0x800\n    ntoskrnl.exe+0x900\n    ntdll.dll+0x324\n"
          "    Shop.dll!Shop.Basket.Add(int32)+0x15\n" in text, "lines of frames", text)
    check(text.count("CSwitch") == 1, "the text filter also searches stacks", text)
    all_lines = openpla(0, "show", "stacked.etl")[0]
    check("StackWalk" in all_lines and "\n    " not in all_lines, "without -stack all events are shown unchanged", all_lines)
    later = events("-provider", "*", "-b", "2021-02-28", "15:33:20.150")
    check(len(of(later, THREADS, 36)) == 3 and offsets(of(later, THREADS, 36)[0]), "stacks of a time range", later)


def refusals():
    _, messages = openpla(2, "show", "stacked.etl", "-stack", "-follow")
    check("-stack: only valid for complete traces" in messages, "a growing trace", messages)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    stacked("stacked.etl")
    found = events()
    for test in (plain_stacks, cached_stacks, stacks_in_the_event, methods, identities):
        test(found)
    lines()
    refusals()
    stacked("stacked.etl", size=65536)
    check(events()[1:] == found[1:], "buffers of another size")
print("trace_stacks: passed")
