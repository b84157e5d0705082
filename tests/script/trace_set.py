#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sets with a trace collector, created by scripts, and a program that contains no code of OpenPLA: the log has exactly
the events of the requested level, and after the change those of the other level."""
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fault"))
import cscript  # noqa: E402
from faults import check, windows_path, wine  # noqa: E402

BIN = os.environ["OPENPLA_BIN_DIR"]
PROVIDER = "{5C1D2A8E-3B6F-4E0A-9D57-1F0B6A2C8E43}"
STEPS = 100  # of level 5, between two events of level 4


def say(script, *arguments):
    for _ in range(cscript.ATTEMPTS):
        code, text = wine("cscript", "//nologo", windows_path(os.path.join(HERE, script)), *arguments)
        if not cscript.never_ran(code, text):
            break
    check(code == 0 and text.strip() == "Done.", f"{script} {arguments}: exit code {code}: {text}")


def write():
    code, text = wine(os.path.join(BIN, "write_events.exe"), str(STEPS))
    check(code == 0, f"write_events: exit code {code}: {text}")


for script in ("trace_set.vbs", "trace_set.js"):
    name = f"Traced{os.getpid()}{script[-2:]}"
    with tempfile.TemporaryDirectory(dir=os.path.join(os.environ["WINEPREFIX"], "drive_c")) as folder:
        say(script, "start", name, windows_path(folder))
        write()
        say(script, "change", name, windows_path(folder))
        write()
        say(script, "stop", name, windows_path(folder))
        code, text = wine(os.path.join(BIN, "openpla.exe"), "logstat", windows_path(os.path.join(folder, name + ".etl")))
        told = re.search(re.escape(PROVIDER) + r"\D+(\d+)", text, re.I)
        check(code == 0 and told and int(told.group(1)) == 2 + STEPS + 2, f"{script}: logstat: exit code {code}: {text}")
print("both logs have what was asked for")
