#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Scripts create a set with a trace collector, and a program that contains no code of OpenPLA writes events. The log
has exactly the events of the requested level, and after a change those of the new level. Otherwise a user's trace would
lack events or be flooded with them."""
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
STEPS = 100  # events of level 5, between two events of level 4


def run_script(script, *arguments):
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
        run_script(script, "start", name, windows_path(folder))
        write()
        run_script(script, "change", name, windows_path(folder))
        write()
        run_script(script, "stop", name, windows_path(folder))
        code, text = wine(os.path.join(BIN, "openpla.exe"), "logstat", windows_path(os.path.join(folder, name + ".etl")))
        reported = re.search(re.escape(PROVIDER) + r"\D+(\d+)", text, re.I)
        check(code == 0 and reported and int(reported.group(1)) == 2 + STEPS + 2, f"{script}: logstat: exit code {code}: {text}")
print("both logs have what was asked for")
