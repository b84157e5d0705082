#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a script with folder actions (folders.vbs). The folders of two runs contain their reports and a cabinet of all
files; files that were added later, and a foreign folder, still exist. Also runs examples/folders.vbs twice; the latest
three runs are kept. Otherwise retention would delete a user's data, or fill the disk."""
import os
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fault"))
import cscript  # noqa: E402
from faults import check, windows_path, wine  # noqa: E402

SCRIPT = os.path.join(HERE, "folders.vbs")
EXAMPLE = os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "examples", "folders.vbs")



def run_script(script, *arguments):
    for _ in range(cscript.ATTEMPTS):
        code, text = wine("cscript", "//nologo", windows_path(script), *arguments)
        if not cscript.never_ran(code, text):
            break
    check(code == 0 and ("\n" + text).endswith("\nDone.\n"), f"{script}: {code}: {text}")
    return text


with tempfile.TemporaryDirectory(dir=os.path.join(os.environ["WINEPREFIX"], "drive_c")) as top:
    os.mkdir(os.path.join(top, "mine"))
    with open(os.path.join(top, "mine", "Load.blg"), "w", encoding="ascii") as file:
        file.write("mine")
    # Under Wine a share is the folder dosdevices/unc/SERVER/SHARE.
    server = f"openpla-{os.getpid()}"
    unc = os.path.join(os.environ["WINEPREFIX"], "dosdevices", "unc")
    share = os.path.join(unc, server, "logs")
    had_unc = os.path.isdir(unc)
    os.makedirs(share)
    try:
        text = run_script(SCRIPT, windows_path(top), f"\\\\{server}\\logs")
        sent = sorted(os.listdir(share))
    finally:
        shutil.rmtree(unc if not had_unc else os.path.join(unc, server))
    check(sent == ["000001.cab", "000002.cab"], f"what was sent: {sent}")
    check("All: 0\n" in text and "One: 0\n" in text, f"nothing is wrong with either: {text}")
    for run, more in ("000001", ["late.csv"]), ("000002", []):
        found = sorted(os.listdir(os.path.join(top, run)))
        check(found == sorted([f"{run}.cab", "openpla.run", "report.html", "report.xml"] + more), f"{run}: {found}")
    check(os.listdir(os.path.join(top, "mine")) == ["Load.blg"], "what is nobody's is there")

    kept = os.path.join(top, "kept")
    os.mkdir(kept)
    check("Failed: 0" in run_script(EXAMPLE, "Folders of the example", windows_path(kept)), "the example")
    shown = run_script(EXAMPLE, "Folders of the example", windows_path(kept))
    runs = sorted(os.listdir(kept))
    serials = [int(name[-6:]) for name in runs]  # they do not begin with 1 if the set has already run in this prefix
    check(serials == list(range(serials[-1] - 2, serials[-1] + 1)), f"the latest three runs of four: {runs}")
    for name in runs:
        check(f"{name}\\{name}.cab" in shown and f"{name}\\report.xml" in shown and f"{name}\\Load.blg" not in shown,
              f"what the example shows: {shown}")
