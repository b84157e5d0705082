#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Folder actions as a script has them (folders.vbs): the folders of two runs hold their reports and a cabinet of all;
what came later, and a folder that is nobody's, are there still."""
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fault"))
import cscript  # noqa: E402
from faults import check, windows_path, wine  # noqa: E402

SCRIPT = os.path.join(HERE, "folders.vbs")

with tempfile.TemporaryDirectory(dir=os.path.join(os.environ["WINEPREFIX"], "drive_c")) as top:
    os.mkdir(os.path.join(top, "mine"))
    with open(os.path.join(top, "mine", "Load.blg"), "w", encoding="ascii") as file:
        file.write("mine")
    for attempt in range(cscript.ATTEMPTS):
        code, text = wine("cscript", "//nologo", windows_path(SCRIPT), windows_path(top))
        if not cscript.never_ran(code, text):
            break
    check(code == 0 and ("\n" + text).endswith("\nDone.\n"), f"folders.vbs: {code}: {text}")
    check("All: 1 80300113 " in text and "000001" in text, f"late.csv is in no cabinet: {text}")
    check("One: 0\n" in text, f"nothing is wrong with the other: {text}")
    for run, more in ("000001", ["late.csv"]), ("000002", []):
        found = sorted(os.listdir(os.path.join(top, run)))
        check(found == sorted([f"{run}.cab", "openpla.run", "report.html", "report.xml"] + more), f"{run}: {found}")
    check(os.listdir(os.path.join(top, "mine")) == ["Load.blg"], "what is nobody's is there")
