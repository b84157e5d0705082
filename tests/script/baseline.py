#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""baseline.py OPENPLA WINE-RUN: examples/baseline.cmd creates a log, and in its next run a second log to compare. If it
cannot, it exits with logman's exit code. The test also checks what docs/user/command-line.md states about batch files.
Otherwise a user who copies lines from that page would get a script that does not detect failures."""
import csv
import os
import subprocess
import sys
import tempfile

OPENPLA, EMULATOR = sys.argv[1], sys.argv[2:]
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fault"))
from faults import check, windows_path  # noqa: E402

BASELINE = os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "examples", "baseline.cmd")
HEADER = [r"\Processor(_Total)\% Processor Time", r"\System\Processor Queue Length", r"\Memory\Available Bytes",
          r"\Memory\Pages/sec", r"\PhysicalDisk(_Total)\Disk Bytes/sec"]


def cmd(folder, *words):
    """Runs cmd and returns exit code and output. The exit code has only one byte on the host OS. The output goes to a
    file, because Wine would draw on a terminal."""
    with open(os.path.join(folder, "out.txt"), "w+b") as out:
        done = subprocess.run([*EMULATOR, "cmd", "/c", *words], stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                              cwd=folder, env={**os.environ, "OPENPLA": windows_path(OPENPLA)}, timeout=600, check=False)
        out.seek(0)
        return done.returncode, out.read().decode("utf-8", "replace").replace("\r\n", "\n")


def batch(folder, *lines):
    with open(os.path.join(folder, "test.cmd"), "w", encoding="ascii", newline="\r\n") as file:
        file.write("\n".join(["@echo off", *lines, ""]))
    return cmd(folder, "test.cmd")[1]


def baselines(folder):
    logs = windows_path(os.path.join(folder, "logs"))
    for name in ("baseline.csv", "now.csv"):
        code, out = cmd(folder, windows_path(BASELINE), logs, "00:00:03", "1")
        check(code == 0, f"{code}: {out}")
        with open(os.path.join(folder, "logs", name), encoding="cp1252", newline="") as file:
            rows = list(csv.reader(file))
        for name in HEADER:
            check(any(column.endswith(name) for column in rows[0]), f"{name}: {rows[0]}")
        check(len(rows) > 1 and "samples" in out.lower(), f"{rows} {out}")
    check("aligned at their starts" in out and os.path.exists(os.path.join(folder, "logs", "compare.html")), f"compared: {out}")
    code, out = cmd(folder, windows_path(BASELINE), logs, "nonsense")
    check(code == 0x57 and "The parameter is incorrect." in out and "was not made: -2147024809" in out, f"{code}: {out}")


def documented_batch_lines_work(folder):
    out = batch(folder, '"%OPENPLA%" logman query nobody >nul', "echo [%ERRORLEVEL%]", "if errorlevel 1 echo above zero",
                "if not %ERRORLEVEL%==0 echo not zero",
                '"%OPENPLA%" logman query nobody >nul && echo found || echo missing',
                '"%OPENPLA%" logman create alert x -th "\\Memory\\Available Bytes<1" "\\System\\Threads>50" -si x',
                '"%OPENPLA%" relog >nul 2>nul', "echo [%ERRORLEVEL%]")
    # Scripts read the message from the last line of stdout.
    only = batch(folder, '"%OPENPLA%" logman query nobody 2>nul', "echo [end]").splitlines()
    check(only == ["", "Error:", "Data Collector Set was not found.", "[end]"], f"our additions belong on stderr: {only}")
    check("[-2144337918]" in out and "above zero" not in out and "not zero" in out, f"the exit code must be an HRESULT: {out}")
    check("missing" in out and "found\n" not in out, f"&& and || must detect the failure: {out}")
    check("invalid time 'x'" in out and not os.path.exists(os.path.join(folder, "50")), f"> in quotes must not redirect: {out}")
    check("[2]" in out, f"a wrong command line of our own verbs must exit with 2: {out}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        try:
            baselines(folder)
            documented_batch_lines_work(folder)
        finally:
            for verb in ("stop", "delete"):
                subprocess.run([*EMULATOR, OPENPLA, "logman", verb, "Baseline"], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600, check=False)


main()
