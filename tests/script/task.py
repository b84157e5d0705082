#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the example of a set with a task. Each segment's log is archived exactly once; a task that hangs or does not
exist is reported, and does not affect the set. Otherwise a user would lose archived logs, or the whole run."""
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "examples")
sys.path.insert(0, os.path.join(HERE, "..", "fault"))
import cscript  # noqa: E402
from faults import check, windows_path, wine  # noqa: E402

OPENPLA = os.path.join(os.environ["OPENPLA_BIN_DIR"], "openpla.exe")


def task(*arguments):
    code, text = wine(OPENPLA, "task", *arguments)
    check(code == 0, f"openpla task {arguments}: exit code {code}: {text}")


def example(set_name, task_name, archive):
    for _ in range(cscript.ATTEMPTS):
        code, text = wine("cscript", "//nologo", windows_path(os.path.join(EXAMPLES, "task.vbs")), set_name, task_name,
                          windows_path(archive))
        if not cscript.never_ran(code, text):
            break
    check(code == 0 and text.strip().endswith("Done."), f"task.vbs {task_name}: exit code {code}: {text}")
    check("Status: 0" in text and "Result: 0x00000000" in text, f"task.vbs {task_name}: the set has not ended: {text}")
    return text


pid = os.getpid()
names = [f"{what}{pid}" for what in ("Folder\\Archive", "Hang")]
with tempfile.TemporaryDirectory(dir=os.path.join(os.environ["WINEPREFIX"], "drive_c")) as folder:
    archive = os.path.join(folder, "the archive")
    try:
        task("add", names[0], "cscript.exe", "//nologo", windows_path(os.path.join(EXAMPLES, "archive_log.vbs")),
             "$(Arg0)")
        task("add", names[1], "ping.exe", "-n", "60", "127.0.0.1")
        text = example(f"Archived{pid}", "\\" + names[0], archive)
        check("task" not in text.split("Message:")[1], f"no task has failed: {text}")
        lines = []
        for note in sorted(os.listdir(archive)):
            if note.endswith(".txt"):
                with open(os.path.join(archive, note), encoding="cp1252") as f:
                    lines.append(f.read().strip())
        logs = [re.fullmatch(r"([01]) .*\\(Counters_\d{6}\.csv) \(a \"user's\" text\)", line) for line in lines]
        check(all(logs) and len(logs) >= 3, f"a note for each segment: {lines}")
        check([log.group(1) for log in logs] == ["1"] * (len(logs) - 1) + ["0"], f"the last one is the stop's: {lines}")
        found = [log.group(2) for log in logs]
        check(sorted(os.listdir(archive)) == sorted(found + [name + ".txt" for name in found]), f"{os.listdir(archive)}")
        code, events = wine(OPENPLA, "events", "-set", f"Archived{pid}", "-id", "1007")
        check(code == 0 and events.count("  1007 information") == len(found), f"each segment has its task once: {events}")
        text = example(f"Hung{pid}", names[1], archive)
        check(f"task '{names[1]}': still running after 30 s" in text, f"a task that hangs: {text}")
        text = example(f"Missed{pid}", "None", archive)
        check("the task 'None' does not exist" in text, f"a task that is not there: {text}")
        code, events = wine(OPENPLA, "events", "-set", f"Missed{pid}", "-id", "1008")
        check(code == 0 and "TaskName=None" in events and "0x80070002" in events, f"its event: {events}")
    finally:
        for name in names:
            wine(OPENPLA, "task", "remove", name)
print("tasks are as they were asked for")
