#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A full disk ends neither a trace session nor its writers: the existing file stays readable, lost events are counted,
and the trace continues when space is available again. Otherwise a user would lose the whole trace. The test uses the
examples, which use only Windows' interfaces, and a second reader, etl_check.py."""
import os
import re
import struct
import subprocess
import sys
import tempfile

from faults import HERE, SKIPPED, check, fill, windows_path, wine

sys.path.insert(0, os.path.join(HERE, "..", "golden"))
import etl_check  # noqa: E402

BIN = os.environ["OPENPLA_BIN_DIR"]
NAME = "fault disk"
PROVIDER = "{5C1D2A8E-3B6F-4E0A-9D57-1F0B6A2C8E43}"
NEEDED = 200 << 20  # bytes that must be free for a session without MaximumFileSize
SIZE = NEEDED + (4 << 20)
BEFORE, MEANWHILE, AFTER = 500, 40000, 500  # steps of write_events: one event each, plus one event before and one after


def run(program, *arguments):
    code, text = wine(os.path.join(BIN, program + ".exe"), *arguments)
    check(code == 0, f"{program} {' '.join(arguments)}: exit code {code}: {text}")
    return text


def write(steps):
    """Writes events. Returns how many were lost because the session's buffers were full, which can always happen."""
    code, text = wine(os.path.join(BIN, "write_events.exe"), str(steps))
    reported = re.search(r"written, (\d+) of them in vain", text)
    check(code in (0, 3) and reported, f"write_events: exit code {code}: {text}")
    return int(reported.group(1))


def lost(text):
    """Returns the lost events and buffers that the session reports."""
    return [int(n) for n in re.search(r"lost: (\d+) events, (\d+) buffers", text).groups()]


def read(path):
    """Returns the step numbers in the file by run, the lost buffers that it records, and the number of corrupt
    buffers."""
    with open(path, "rb") as file:
        data = file.read()
    log = etl_check.Log(data)
    runs = []
    for event in log.events[1:]:
        if event.kind != "manifest" or str(etl_check.uuid.UUID(bytes_le=event.provider)).upper() != PROVIDER.strip("{}"):
            continue
        if not runs or runs[-1][0] != event.process:
            runs.append((event.process, []))
        if event.id == 2:
            runs[-1][1].append(struct.unpack_from("<I", event.raw, event.data)[0])
    reported = struct.unpack_from("<I", log.first_event(data), 0x20 + 0x114)[0]
    return [steps for _, steps in runs], reported, log.remarks


def trace(folder):
    path, ballast = os.path.join(folder, "trace.etl"), os.path.join(folder, "ballast")
    run("trace_session", "start", NAME, windows_path(path), PROVIDER)
    check(write(BEFORE) == 0, "there is room in memory")
    check(lost(run("trace_session", "flush", NAME)) == [0, 0], "nothing is lost while there is room")
    fill(ballast)
    refused = write(MEANWHILE)
    check(refused < MEANWHILE // 10, f"{refused} of {MEANWHILE} events are refused: the session does not go on")
    code, text = wine(os.path.join(BIN, "trace_session.exe"), "flush", NAME)
    check(code == 1 and "error 112" in text, f"a flush says that the disk is full: {code}: {text}")
    meanwhile = lost(run("trace_session", "query", NAME))[1]
    check(meanwhile > 0, "what cannot be written is counted")
    runs, _, _ = read(path)
    check(runs and runs[0] == list(range(BEFORE)), "what was written before can be read while the disk is full")
    os.remove(ballast)
    check(write(AFTER) == 0, "there is room in memory again")
    events, buffers = lost(run("trace_session", "stop", NAME))
    runs, reported, damaged = read(path)
    check(damaged == 0, f"{damaged} places of the file are damaged")
    check(runs[0] == list(range(BEFORE)), "what was written before the disk was full is in the file")
    check(runs[-1] == list(range(AFTER)), "what was written with room again is in the file")
    kept = sum(map(len, runs[1:-1]))
    check(events == refused, f"{refused} events found no room, the session says {events}")
    check(kept < MEANWHILE - refused and buffers >= meanwhile, f"{kept} events kept, {buffers} buffers lost")
    check(reported == buffers, f"the file says {reported} lost buffers, the session {buffers}")
    print(f"{MEANWHILE} events to a full disk: {refused} found no room in memory, {MEANWHILE - refused - kept} lost in "
          f"{buffers} buffers; of {BEFORE + AFTER} before and behind none")


def main():
    os.environ["OPENPLA_ETW"] = f"disk{os.getpid()}"
    os.environ["WINEPATH"] = windows_path(BIN)
    with tempfile.TemporaryDirectory() as folder:
        mount = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", folder], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, check=False)
        if mount.returncode:
            print("skipped: a small file system cannot be mounted here:", mount.stdout.decode().strip())
            sys.exit(SKIPPED)
        try:
            trace(folder)
        finally:
            wine(os.path.join(BIN, "trace_session.exe"), "stop", NAME)
            subprocess.run(["umount", "-l", folder], check=False)


main()
