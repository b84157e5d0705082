#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""trace.py PROGRAM [EMULATOR]: the output of PROGRAM's `openpla logstat` for event traces agrees with another reader
(tests/golden/etl_check.py)."""
import collections
import datetime
import json
import os
import struct
import subprocess
import sys
import tempfile
import uuid

PROGRAM, EMULATOR = sys.argv[1], sys.argv[2:]
GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden")
sys.path.insert(0, GOLDEN)
import etl_check  # noqa: E402

GROUPS = {0x05: "3D6FA8D1-FE05-11D0-9DDA-00C04FD7BA7C", 0x0F: "CE1DBFB4-137E-4DA6-87B0-3F59AA102CBC",
          0x0B: "01853A65-418F-4F36-AEFC-DC0F1D2FD235"}
NAMES = {"3D6FA8D1-FE05-11D0-9DDA-00C04FD7BA7C": "Thread", "CE1DBFB4-137E-4DA6-87B0-3F59AA102CBC": "PerfInfo"}


def check(right, what, output=""):
    if not right:
        sys.exit(f"FAILED: {what}\n{output}")


def logstat(expected, *arguments):
    done = subprocess.run([*EMULATOR, PROGRAM, "logstat", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    output = done.stdout.decode("utf-8")
    check(done.returncode == expected, f"logstat {arguments}: exit code {done.returncode}, not {expected}", output)
    return output


def iso_time(filetime):
    at = datetime.datetime(1601, 1, 1) + datetime.timedelta(microseconds=filetime // 10)
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + "%03dZ" % (at.microsecond // 1000)


def provider(event):
    if event.kind in ("system", "performance"):
        return GROUPS[event.id >> 8]
    return str(uuid.UUID(bytes_le=event.provider)).upper()


def counts_equal_second_reader():
    names = sorted(name for name in os.listdir("made") if name.endswith(".etl"))
    check(len(names) >= 14, "at least 14 test traces", names)
    for name in names:
        path = os.path.join("made", name)
        with open(path, "rb") as f:
            log = etl_check.Log(f.read())
        events = log.events[1:]  # after the log file header
        counts = collections.Counter(provider(event) for event in events)
        stat = json.loads(logstat(3 if log.remarks else 0, path, "--json"))[0]
        by_provider = {p["guid"].strip("{}"): p["events"] for p in stat["providers"]}
        check(stat["format"] == "Event trace" and stat["events"] == len(events), f"{name}: events", stat["events"])
        check(by_provider == dict(counts), f"{name}: event providers")
        order = [p["events"] for p in stat["providers"]]
        check(order == sorted(order, reverse=True), f"{name}: sorted by the number of events")
        check(all(p["name"] == NAMES.get(p["guid"].strip("{}")) for p in stat["providers"]), f"{name}: names")
        times = [log.utc(event.stamp) for event in events]
        check(stat["firstEvent"] == iso_time(min(times)) and stat["lastEvent"] == iso_time(max(times)),
              f"{name}: times", (stat["firstEvent"], iso_time(min(times)), stat["lastEvent"], iso_time(max(times))))
        check(stat["begin"] == iso_time(log.start) and stat["end"] == iso_time(log.start + 777), f"{name}: begin, end")
        pointer = 4 if "narrow" in name else 8
        check(stat["pointerSize"] == pointer and stat["eventsLost"] == 3 and stat["buffersLost"] == 0, f"{name}: header")
        clock = {1: "performance counter", 2: "system time", 3: "processor cycles"}[log.clock]
        check(stat["clock"] == clock and stat["frequency"] == log.frequency, f"{name}: clock", stat["clock"])
        check(stat["session"] == "logger \u00e9" and stat["system"] == "10.0.19045", f"{name}: session", stat["session"])
        check(len(stat["damage"]) >= log.remarks, f"{name}: damage", stat["damage"])
    return len(names)


def prints_text_output():
    output = logstat(0, os.path.join("made", "narrow.etl"))
    for line in ("Format:     Event trace", "Session:    logger \u00e9", "Events:     900", "Lost:       3 events, 0 buffers",
                 "Clock:      performance counter, 3000000 a second", "Computer:   unknown", "32 bits"):
        check(line in output, f"no {line!r}", output)
    check("{3D6FA8D1-FE05-11D0-9DDA-00C04FD7BA7C}" in output and "  Thread\n" in output, "a kernel class", output)


def describes_running_session():
    """The file of a running session has no end time. The file of a kernel session has the computer's name."""
    with open(os.path.join("made", "one.etl"), "rb") as f:
        data = bytearray(f.read())
    struct.pack_into("<q", data, 0x48 + 0x20 + 0x10, 0)
    name = "B\u00dcRO-7\0".encode("utf-16-le")
    cpu = struct.pack("<IIIII", 2000, 1, 4096, 4096, 65536) + name + bytes(512 - len(name))
    event = struct.pack("<HBBHHIIqII", 3, 2, 0xC0, 0x20 + len(cpu), 0x0B0A, 4, 8, 5000, 0, 0) + cpu
    event += bytes(-len(event) % 8)
    used = struct.unpack_from("<I", data, 0x30)[0]
    data[used:used + len(event)] = event
    struct.pack_into("<I", data, 0x30, used + len(event))
    with open("running.etl", "wb") as f:
        f.write(data)
    stat = json.loads(logstat(0, "running.etl", "--json"))[0]
    check(stat["computer"] == "B\u00dcRO-7" and "end" not in stat and stat["events"] == 901, "running session", stat)
    check(stat["memoryMB"] == 4096, "the memory of the computer", stat)
    output = logstat(0, "running.etl")
    check("Hardware:   1 processors of 2000 MHz, 4096 MB of memory" in output, "the hardware", output)
    check("End:        unknown" in output, "the end of a running session is unknown", output)


def rejects_other_files():
    with open("empty.etl", "wb") as f:
        f.write(bytes(8192))
    output = logstat(1, "empty.etl")
    check("Event trace" not in output, "a file of zeros is not a trace", output)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        etl_check.make_all("made")
        count = counts_equal_second_reader()
        prints_text_output()
        describes_running_session()
        rejects_other_files()
        os.chdir("/")
    print(f"{count} traces are described correctly")


main()
