#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""logman.py PROGRAM EMULATOR: logman manages sets and sessions of the registered server. The output has its values
where scripts look for them, and runs have written their logs."""
import os
import shutil
import subprocess
import sys
import tempfile

PROGRAM, EMULATOR = os.path.abspath(sys.argv[1]), sys.argv[2:]
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fault"))
from faults import check, read_log, wait_for_samples, windows_path  # noqa: E402

SET, SESSION = f"logman-{os.getpid()}", f"logman-session-{os.getpid()}"
DONE = "The command completed successfully."


def logman(*words, code=0, program=PROGRAM, verb=("logman",), cwd=None):
    done = subprocess.run([*EMULATOR, program, *verb, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, timeout=600, cwd=cwd)
    text = done.stdout.decode("utf-8")
    # This system truncates exit codes to a byte.
    check(done.returncode == code & 0xFF, f"{words}: {done.returncode}, not 0x{code:08X}: {text}")
    check("\r\n" in text and "\n" not in text.replace("\r\n", ""), f"{words}: lines end with CR LF")
    # The emulator's script adds stderr to the output.
    lines = [line for line in text.split("\r\n")[:-1] if not line.startswith("Warning: ")]
    check(lines[0] == "" and (lines[-1] == DONE) == (code == 0), f"{words}: {text}")
    return lines


def error(*words, code, says):
    lines = logman(*words, code=code)
    check(lines[1:3] == ["Error:", says], f"{words}: {lines}")
    return "\n".join(lines[3:])


def row(lines, name):
    """Returns the columns of a set's row in the table, below the line of dashes; None if no row has this name."""
    head = next(i for i, line in enumerate(lines) if line.startswith("---"))
    found = [line for line in lines[head + 1:-2] if line[:40].rstrip() == name]
    return found[0][40:].split() if found else None


def counters(folder):
    logman("create", "counter", SET, "-c", r"\System\Threads", r"\Memory\Available Bytes", "-f", "csv", "-si", "1",
           "-o", windows_path(os.path.join(folder, "counts")), "-max", "10")
    check(row(logman("query"), SET) == ["Counter", "Stopped"], "it is listed")
    detail = logman("query", SET)
    for line in (f"Name:                 {SET}", "Status:               Stopped", "Segment Max Size:     10 MB",
                 "Sample Interval:      1 second(s)", r"              \System\Threads"):
        check(line in detail, f"{line}: {detail}")
    error("create", "counter", SET, "-c", r"\System\Threads", code=0x80300109, says="Data Collector already exists.")
    error("stop", SET, code=0x80300104, says="Data Collector Set is not running.")
    logman("-start", "-n", SET)
    check("Status:               Running" in logman(SET), "it runs")
    error("start", SET, code=0x8004131F, says="An instance of this task is already running.")
    error("delete", SET, code=0x803000AA,
          says="The Data Collector Set or one of its dependencies is already in use.")
    log = windows_path(os.path.join(folder, "counts_000001.csv"))
    wait_for_samples(log, 2)
    logman(SET, "stop")
    read_log(log, 2)
    logman("update", SET, "-si", "5", "-c", r"\System\Processes")
    detail = logman("query", SET)
    check("Sample Interval:      5 second(s)" in detail and r"              \System\Processes" in detail and
          r"              \System\Threads" not in detail, f"it is changed: {detail}")


def templates(folder):
    template = windows_path(os.path.join(folder, "template.xml"))
    logman("export", SET, "-xml", template)
    with open(os.path.join(folder, "template.xml"), "rb") as file:
        check(file.read(2) == b"\xff\xfe", "it is UTF-16, as perfmon's")
    error("import", SET, "-xml", template, code=0x803000B7, says="Data Collector Set already exists.")
    logman("delete", SET)
    error("delete", SET, code=0x80300002, says="Data Collector Set was not found.")
    logman("import", "-name", SET, "-xml", template)
    check(row(logman(), SET) == ["Counter", "Stopped"], "it is back")
    logman("delete", "-n", SET)


def sessions(folder):
    log = os.path.join(folder, "session.etl")
    logman("start", SESSION, "-p", "{D1A2C5B6-2B7F-4C0A-9C5F-0A4C6A1B7E11}", "0x5", "4", "-o", windows_path(log), "-ets")
    check(row(logman("-ets"), SESSION) == ["Trace", "Running"], "it is listed")
    logman("update", SESSION, "-p", "{D1A2C5B6-2B7F-4C0A-9C5F-0A4C6A1B7E12}", "-ets")
    logman("update", SESSION, "-fd", "-ets")
    detail = logman("query", SESSION, "-ets")
    check(sum(line == "Provider:" for line in detail) == 2 and "KeywordsAny:          0x5" in detail, f"{detail}")
    messages = error("stop", SESSION, code=0x80300002, says="Data Collector Set was not found.")
    check("-ets" in messages, f"the error suggests -ets: {messages}")
    error("start", SESSION, "-ets", code=0x803000B7, says="Data Collector Set already exists.")
    logman("stop", SESSION, "-ets")
    error("stop", SESSION, "-ets", code=0x80300002, says="Data Collector Set was not found.")
    check(os.path.getsize(log) > 1024, "the log is written")


def own_name(folder):
    """A copy of the program under the name logman.exe."""
    for name in os.listdir(os.path.dirname(PROGRAM)):
        if name.endswith(".dll"):
            os.symlink(os.path.join(os.path.dirname(PROGRAM), name), os.path.join(folder, name))
    program = os.path.join(folder, "logman.exe")
    shutil.copy(PROGRAM, program)
    check(row(logman("query", program=program, verb=()), "none") is None, "logman.exe lists")


def main():
    with tempfile.TemporaryDirectory() as folder:
        try:
            counters(folder)
            templates(folder)
            sessions(folder)
            own_name(folder)
        finally:
            for words in (("stop", SET), ("delete", SET), ("stop", SESSION, "-ets")):
                subprocess.run([*EMULATOR, PROGRAM, "logman", *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, timeout=600, check=False)
    print("logman manages sets and sessions")


main()
