#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""trace_live.py PROGRAM SESSION [EMULATOR]: `openpla trace show -rt` and `openpla tracerpt -rt` show each event of a
running session. They end cleanly with the session, on Ctrl+C, and when their reader closes the pipe. SESSION is
live_session."""
import csv
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time

PROGRAM, SESSION, EMULATOR = sys.argv[1], sys.argv[2], sys.argv[3:]
PROVIDER = "{3c0b1a52-6e7f-4d18-9a2b-510c7d4e93f6}"
os.environ["OPENPLA_ETW"] = f"live{os.getpid()}"  # separates this test's sessions from others
PATIENCE = 240


def check(right, what, output=""):
    if not right:
        sys.exit(f"FAILED: {what}\n{output}")


def session(*arguments):
    subprocess.run([*EMULATOR, SESSION, *arguments], stdin=subprocess.DEVNULL, check=True, timeout=PATIENCE)


def begin(*arguments):
    return subprocess.Popen([*EMULATOR, PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def end(process, expected, what):
    out, errors = process.communicate(timeout=PATIENCE)
    output = out.decode("utf-8") + errors.decode("utf-8")
    check(process.returncode == expected, f"{what}: exit code {process.returncode}, not {expected}", output)
    return output


def numbers(lines):
    """Returns the numbers in the events of `trace show --json`."""
    return [struct.unpack("<I", bytes.fromhex(e["undecoded"]["data"]))[0]
            for e in map(json.loads, lines) if e["providerId"] == PROVIDER]


def dumped(path):
    with open(path, newline="", encoding="utf-8") as f:
        return [struct.unpack("<I", bytes.fromhex(row[19][2:]))[0] for row in csv.reader(f) if row[0] == PROVIDER]


def shows_events_of_running_session():
    session("start", "Shown")
    reader = begin("trace", "show", "-rt", "Shown", "--json", "-max", "20", "-provider", PROVIDER)
    session("write", "20")
    output = end(reader, 0, "trace show")
    found = numbers(line for line in output.splitlines() if line.startswith("{"))
    check(found == list(range(20)), "events that are shown", output)
    session("stop", "Shown")


def dump_ends_with_its_sessions():
    session("start", "One")
    session("start", "Two")
    session("write", "1000")
    reader = begin("tracerpt", "-rt", "One", "Two", "-of", "csv", "-o", "ends.csv", "-summary", "ends.txt")
    wait_for_output("ends.csv.partial")
    session("write", "1000")
    session("stop", "One")
    session("stop", "Two")
    output = end(reader, 0, "tracerpt")
    check("The command completed successfully." in output and "Session(s):\n     One\n     Two\n" in output, "texts", output)
    check(sorted(dumped("ends.csv")) == sorted(list(range(1000)) * 4), "events of the dump", len(dumped("ends.csv")))
    with open("ends.txt", encoding="utf-8") as f:
        summary = f.read()
    check("Sessions Processed:\n\tOne\n\tTwo\n" in summary and "|        4000  " in summary, "the summary", summary)


def wait_for_output(path):
    """Waits until the reader has started to write the file."""
    until = time.monotonic() + PATIENCE
    while not os.path.exists(path):
        check(time.monotonic() < until, f"timeout: {path} is written")
        time.sleep(0.05)


def interrupt_leaves_complete_dump():
    session("start", "Asked")
    session("write", "5000")
    reader = begin("tracerpt", "-rt", "Asked", "-of", "csv", "-o", "asked.csv")
    until = time.monotonic() + PATIENCE
    while not (os.path.exists("asked.csv.partial") and os.path.getsize("asked.csv.partial") > 100000):
        check(time.monotonic() < until and reader.poll() is None, "timeout: an event is written")
        time.sleep(0.05)
    reader.send_signal(signal.SIGINT)
    output = end(reader, 0, "Ctrl+C")
    found = dumped("asked.csv")
    check(found == list(range(5000)) and "asked.csv.partial" not in os.listdir(), f"{len(found)} events", output)
    session("stop", "Asked")


def ends_when_pipe_is_closed():
    """SIGPIPE ends the reader, as it ends any program, and the session continues."""
    session("start", "Piped")
    session("write", "10")
    reader = begin("trace", "show", "-rt", "Piped", "--json")
    check(reader.stdout.readline(), "an event is printed")
    reader.stdout.close()
    session("write", "10")
    reader.stderr.close()
    code = reader.wait(timeout=PATIENCE)
    check(code == -signal.SIGPIPE, f"a closed pipe: exit code {code}")
    session("stop", "Piped")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            shows_events_of_running_session()
            dump_ends_with_its_sessions()
            if not EMULATOR:  # the emulator does not forward Ctrl+C, and shows output only at the end
                interrupt_leaves_complete_dump()
                ends_when_pipe_is_closed()
        finally:
            for name in ("Shown", "One", "Two", "Asked", "Piped"):  # a session outlives the program that started it
                subprocess.run([*EMULATOR, SESSION, "stop", name], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               timeout=PATIENCE)
            os.chdir("/")
    print("running sessions are read")


main()
