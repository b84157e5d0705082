#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""first_run.py WINE-RUN: first-run.vbs reports in about forty lines what works. Under Wine everything works, and the
script leaves nothing behind. It reports missing programs. Otherwise a report from a Windows computer would be
useless."""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TEMPORARY = os.path.join(os.environ["WINEPREFIX"], "drive_c", "users")


def run(folder):
    path = "Z:" + os.path.abspath(folder).replace("/", "\\")
    for _ in range(3):  # Wine's cscript sometimes ends before it runs anything
        done = subprocess.run([sys.argv[1], "cscript", "//nologo", "first-run.vbs", path, "1"], cwd=HERE, capture_output=True,
                              timeout=600, check=False)
        if done.stdout:
            break
    return done.returncode, done.stdout.decode("cp437").replace("\r\n", "\n")


def folders():
    return {name for place, found, _ in os.walk(TEMPORARY) for name in found if name.startswith("openpla-first-run")}


def main():
    before = folders()  # left by runs that were killed
    code, output = run(os.environ["OPENPLA_BIN_DIR"])
    lines = output.splitlines()
    assert not code and "FAILED" not in output.replace(" 0 FAILED", ""), output
    assert 30 < len(lines) < 46 and lines[-1] == "Done." and folders() == before, (output, folders())
    assert re.fullmatch(r"\d\d ok, 0 FAILED, \d none", lines[-2]), lines[-2]
    for expected in ("counters shown", "log as BLG", "report of a log", "trace session started", "trace as CSV"):
        assert re.search(rf"^ok +{expected} ", output, re.M), output
    assert re.search(r"^ok +PLA\.DataCollectorSet +creates sets$", output, re.M), output
    with tempfile.TemporaryDirectory() as empty:
        code, output = run(empty)
    assert code == 1 and re.search(r"^FAILED +openpla\.exe +does not exist$", output, re.M) and output.endswith("Done.\n"), output
    assert folders() == before, folders()


main()
