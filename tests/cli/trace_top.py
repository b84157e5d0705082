#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""trace_top.py [live] PROGRAM [EMULATOR]: `openpla trace top` shows for each process how long it ran, how long it
waited for a processor, and how much it read and wrote. Its input is a file or, with `live`, the present activity, if
the host OS permits access to its kernel events. It leaves no session behind."""
import atexit
import glob
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time

from built_trace import SECOND, START, classic, system, trace

LIVE = sys.argv[1] == "live"
PROGRAM, *EMULATOR = sys.argv[2 if LIVE else 1:]
TRACEFS = "/sys/kernel/tracing/instances"
os.environ["OPENPLA_ETW"] = f"top{os.getpid()}"  # separates this test's sessions from others
atexit.register(lambda: [os.remove(left) for left in glob.glob(f"/dev/shm/openpla-*/openetw*-{os.environ['OPENPLA_ETW']}[-.]*")])
PATIENCE = 240
READY, WAITING = 1, 5


def check(right, what, output=""):
    if not right:
        sys.exit(f"FAILED: {what}\n{output}")


def begin(*arguments):
    return subprocess.Popen([*EMULATOR, PROGRAM, "trace", "top", *arguments], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "TZ": "UTC"})


def end(process, expected):
    out, errors = process.communicate(timeout=PATIENCE)
    output = out.decode("utf-8") + errors.decode("utf-8")
    check(process.returncode == expected, f"exit code {process.returncode}, not {expected}", output)
    return out.decode("utf-8"), output


def top(expected, *arguments):
    return end(begin(*arguments), expected)


def tables(*arguments):
    return [json.loads(line) for line in top(0, "--json", *arguments)[0].splitlines()]


def time_after(seconds):
    return START + round(seconds * SECOND)


def process(kind, ident, name, when=0.0):
    data = struct.pack("<QIIIiQI", 0, ident, 4, 0, 259, 0, 0) + name.encode() + b"\0" + b"\0\0"
    return system(0x0300 | kind, data, time_after(when), version=3)


def thread(kind, ident, process_id, when=0.0):
    return system(0x0500 | kind, struct.pack("<II6QQII", process_id, ident, *[0] * 9)[:72], time_after(when), version=3)


def switch(when, new, old, state):
    return system(0x0524, struct.pack("<IIbbBbbbbbII", new, old, 8, 8, 0, 0, 0, 0, state, 0, 0, 0), time_after(when))


def ready_thread(when, ident):
    return system(0x0532, struct.pack("<I4b", ident, 0, 0, 0, 0), time_after(when))


def disk(hook, when, size, ident):
    return system(hook, struct.pack("<IIIIqQQQI", 0, 0, size, 0, 0, 0, 0, 0, ident), time_after(when), version=3)


def sent(hook, when, size, ident):
    return system(hook, struct.pack("<IIIIHHIIIQ", ident, size, 0, 0, 80, 81, 0, 0, 0, 0), time_after(when))


def received(hook, when, size, ident):
    return system(hook, struct.pack("<IIIIHHIQ", ident, size, 0, 0, 80, 81, 0, 0), time_after(when))


def make():
    trace("load.etl", [
        process(3, 100, "busy.exe"), thread(3, 200, 100), process(3, 101, "C:\\some\\disk.exe"), thread(3, 201, 101),
        switch(1.0, 200, 0, READY), switch(1.5, 201, 200, READY), switch(2.0, 200, 201, WAITING),
        disk(0x010B, 2.1, 4096, 201), disk(0x010A, 2.1, 8192, 200), ready_thread(2.2, 201),
        (1, switch(2.4, 201, 0, READY)), sent(0x060A, 2.5, 1000, 100), received(0x080B, 2.6, 2000, 101),
        received(0x060B, 2.6, 500, 101), system(0x0524, b"short", time_after(2.7)), system(0x060A, b"\1\2\3", time_after(2.7)),
        process(2, 101, "disk.exe", 2.9), (1, switch(3.0, 0, 201, WAITING)), switch(3.0, 0, 200, WAITING),
        switch(4.0, 202, 0, READY), switch(4.5, 0, 202, WAITING),
    ], processors=2)


def columns_of(row):
    return [row["process"], row["name"], round(row["cpuSeconds"], 3), round(row["readySeconds"], 3), row["switches"],
            row["read"], row["written"], row.get("received"), row.get("sent")]


def table_equals_file():
    whole, = tables("load.etl")
    check([columns_of(r) for r in whole["rows"]] == [
        [100, "busy.exe", 1.5, 0.5, 2, 8192, 0, 0, 1000],
        [101, "disk.exe", 1.1, 0.2, 2, 0, 4096, 2500, 0],
        [0, None, 0.5, 0, 1, 0, 0, 0, 0],  # a thread without a start event
    ], "processes", whole)
    check((whole["seconds"], whole["processors"], whole["switches"], round(whole["busy"], 1)) == (3.5, 2, 8, 44.3),
          "all processors", whole)
    check(whole["begin"].startswith("2021-02-28T15:33:21"), "the time", whole)
    threads, = tables("load.etl", "-threads", "-sort", "write", "-rows", "2")
    check([(r["thread"], r["written"]) for r in threads["rows"]] == [(201, 4096), (200, 0)], "threads", threads)
    check("sent" not in threads["rows"][0], "network bytes have no thread", threads)
    text = top(0, "load.etl", "-sort", "receive")[0].splitlines()
    check(text[0].startswith("2021-02-28 15:33:21  3.5 s  2 processors 44.3 % busy  2 switches/s"), "the head", text)
    check(text[2].split() == ["101", "31.4", "5.7", "1", "0.0", "1.1", "0.7", "0.0", "disk.exe"], "a line", text)


def intervals_add_up_to_total():
    parts = tables("load.etl", "-interval", "1")
    whole, = tables("load.etl")
    for row in whole["rows"]:
        own = [r for p in parts for r in p["rows"] if r["process"] == row["process"]]
        for key in ("cpuSeconds", "readySeconds", "switches", "read", "written", "received", "sent"):
            check(abs(sum(r[key] for r in own) - row[key]) < 1e-6, f"{key} of {row['process']}", parts)
    check([columns_of(r)[:5] for r in parts[0]["rows"]] == [[100, "busy.exe", 0.5, 0.5, 1], [101, "disk.exe", 0.5, 0, 1]],
          "the first second", parts)
    check(len(tables("load.etl", "-interval", "1", "-max", "1")) == 1, "-max")


def reports_errors():
    check("unknown key 'size'" in top(2, "load.etl", "-sort", "size")[1], "an unknown sort key")
    check("nowhere.etl" in top(1, "nowhere.etl")[1], "a missing file")


def rejects_trace_without_kernel_events():
    trace("none.etl", [])
    trace("program.etl", [classic("5b2c86e3-2a5b-4b4b-8f0b-5b2c86e32a5b", b"\1", START)])
    for files in (["none.etl"], ["program.etl"], ["program.etl", "none.etl"]):
        for options in ([], ["--json"], ["-threads", "-interval", "1"]):
            output = top(1, *files, *options)[1]
            check("CPU%" not in output and '"rows"' not in output and "1601" not in output,
                  f"{files} with {options} is refused", output)
            check(f"'{files[0]}'" in output and "the kernel events for a table are missing" in output and "0x10913" in output,
                  "what is missing is not said", output)
    check("and the other traces" in top(1, "program.etl", "none.etl")[1], "several traces are mentioned")


def reports_trace_without_switches():
    trace("idle.etl", [process(3, 100, "busy.exe"), process(4, 100, "busy.exe", 1.0),
                       disk(0x010B, 2.1, 4096, 201)])
    output = top(0, "idle.etl")[1]
    check("no context switches" in output and "0x10913" in output, "what is missing is not said", output)
    check("no context switches" not in top(0, "load.etl")[1], "a trace with switches", output)


def is_own_or_orphaned(name):
    """The name is openpla-HOST-STARTED-PROCESS-... Returns whether that process belongs to this test or no longer
    exists."""
    try:
        with open(f"/proc/{name.split('-')[3]}/environ", "rb") as environment:
            return f"OPENPLA_ETW={os.environ['OPENPLA_ETW']}".encode() in environment.read().split(b"\0")
    except PermissionError:
        return False
    except OSError:
        return True


def sessions():
    return {name for name in os.listdir(TRACEFS) if name.startswith("openpla")}


def new_sessions(before):
    return [name for name in sessions() - before if is_own_or_orphaned(name)]


def live_tables_leave_no_session():
    before = sessions()
    load = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        live = tables("-interval", "1", "-max", "2", "-rows", "1000")
        check(len(live) == 2, "tables", live)
        for table in live:
            check(table["seconds"] == 1 and table["switches"] > 0, "a live table", table)
        ours = [r for t in live for r in t["rows"] if r["process"] in (load.pid, 10000000 + load.pid)]
        check(sum(r["cpuSeconds"] for r in ours) > 0.05, "running processes are listed", live)
        if EMULATOR:
            return  # the test cannot send Ctrl+C to Wine's console
        watching = begin("-interval", "1")
        check(watching.stdout.readline(), "a first table")
        watching.send_signal(signal.SIGINT)
        end(watching, 0)
    finally:
        load.kill()
        load.wait()
    until = time.monotonic() + PATIENCE
    while new_sessions(before) and time.monotonic() < until:
        time.sleep(0.1)
    check(not new_sessions(before), "no session is left", new_sessions(before))


if LIVE and not os.access(TRACEFS, os.W_OK):
    print("skipped: this user has no access to tracefs")
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    if LIVE:
        live_tables_leave_no_session()
    else:
        make()
        table_equals_file()
        intervals_add_up_to_total()
        reports_errors()
        rejects_trace_without_kernel_events()
        reports_trace_without_switches()
