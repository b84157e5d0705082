#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the alert examples. A real load of the processors causes an event, a row in the alert log and the start of the
second set; without load nothing happens. Otherwise a user would miss an alert, or get false ones."""
import csv
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fault"))
import cscript  # noqa: E402
from faults import check, windows_path, wine  # noqa: E402

BIN = os.environ["OPENPLA_BIN_DIR"]
EXAMPLES = os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "examples")
DRIVE_C = os.path.join(os.environ["WINEPREFIX"], "drive_c")
LOAD, SECONDS = "3", "240"  # percent; one busy process exceeds it on up to 33 processors


def run(script, *arguments):
    for _ in range(cscript.ATTEMPTS):
        code, text = wine("cscript", "//nologo", windows_path(os.path.join(EXAMPLES, script)), *arguments)
        if not cscript.never_ran(code, text):
            break
    check(code == 0 and text.strip().endswith("Done."), f"{script} {arguments}: exit code {code}: {text}")
    return text.replace("\r", "")


def rows(text, label, encoding):
    path = re.search(rf"^{label}: C:\\(.*)$", text, re.M)
    check(path, f"no line \"{label}:\" in {text}")
    with open(os.path.join(DRIVE_C, *path.group(1).split("\\")), encoding=encoding, newline="") as f:
        return list(csv.reader(f))


for script in "alert.vbs", "alert.js":
    name = f"Alert{script[-2:]}{os.getpid()}"
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(max(1, (os.cpu_count() or 1) // 8))]
    try:
        text = run(script, name, LOAD, SECONDS)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    log = rows(text, "Log of alerts", "utf-8-sig")
    check(log[0] == ["Time", "Counter", "Value", "Operator", "Threshold", "Kind", "Message"], f"{script}: {log[0]}")
    first = log[1]
    check(first[1] == "\\Processor(_Total)\\% Processor Time" and float(first[2]) > float(LOAD) and
          first[3:6] == [">", LOAD, "alert"], f"{script}: {first}")
    check(first[6] == f"Load: the processors are busy to {first[2]} %", f"{script}: {first[6]}")
    check(len(rows(text, "Details", "cp1252")) >= 2, f"{script}: the second set has no sample")
    code, events = wine(os.path.join(BIN, "openpla.exe"), "events", "-set", name)
    reported = re.findall(r"\b2031\b", events)
    check(code == 0 and len(reported) == sum(row[5] == "alert" for row in log[1:]), f"{script}: events: {events}")

text = run("alert.vbs", f"Quiet{os.getpid()}", "101", "3")
check("There was no such load." in text and len(rows(text, "Log of alerts", "utf-8-sig")) == 1, text)
print("a load is told, written and looked into; none is not")
