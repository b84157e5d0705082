#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs examples/api_trace.vbs. The traced program exits with its usual exit code, and the log that the script names
contains its calls except the excluded ones. Otherwise a user would trace a program that behaves differently, or would
not see its calls."""
import json
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fault"))
import cscript  # noqa: E402
from faults import check, windows_path, wine  # noqa: E402

BIN = os.environ["OPENPLA_BIN_DIR"]
EXAMPLE = os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "examples", "api_trace.vbs")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(cscript.ATTEMPTS):
            code, text = wine("cscript", "//nologo", windows_path(EXAMPLE), windows_path(folder),
                              windows_path(os.path.join(BIN, "api_target.exe")), "known", "3")
            if not cscript.never_ran(code, text):
                break
        check(code == 0 and text.endswith("\nDone.\n"), f"exit code {code}: {text}")
        output = dict(re.findall(r"^(exit code|message|log) (.*)$", text, re.M))
        check(output["exit code"] == "40", f"the program's exit code: {text}")
        code, shown = wine(os.path.join(BIN, "openpla.exe"), "trace", "api-summary", output["log"], "--json")
        check(code == 0, f"api-summary: exit code {code}: {shown}")
        calls = {row["name"]: row["calls"] for row in json.loads(shown)["functions"]}
        check(calls.get("kernel32!CreateFileW") == 3 and calls.get("kernel32!MulDiv") == 1, f"calls: {calls}")
        check("kernel32!GetTickCount" not in calls, f"an excluded function: {calls}")
    print("ok")


main()
