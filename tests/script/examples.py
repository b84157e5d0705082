#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""examples.py WINE-RUN: the example scripts do what README says, twice in a row and identically in VBScript and
JScript. Otherwise the first thing that a user tries would fail."""
import csv
import datetime
import os
import re
import subprocess
import sys
import time

import cscript

EXAMPLES = os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "examples")
DRIVE_C = os.path.join(os.environ["WINEPREFIX"], "drive_c")
SECONDS = 3


def run(script, *arguments):
    for _ in range(cscript.ATTEMPTS):
        done = subprocess.run([sys.argv[1], "cscript", "//nologo", script, *arguments], cwd=EXAMPLES,
                              capture_output=True)
        if not cscript.never_ran(done.returncode, done.stdout):
            break
    return done.returncode, done.stdout.decode("cp437").replace("\r\n", "\n")


def expect(condition, what, output):
    if not condition:
        sys.exit(f"FAILED: {what}. The script's output:\n{output}")


def value(output, label):
    found = re.search(rf"^{label}: (.*)$", output, re.M)
    expect(found, f"no line \"{label}:\"", output)
    return found.group(1)


def unix_path(path):
    expect(path.startswith("C:\\"), f"not on drive C: {path}", "")
    return os.path.join(DRIVE_C, *path[3:].split("\\"))


def time_of_row(row):
    return datetime.datetime.strptime(row[0], "%m/%d/%Y %H:%M:%S.%f").timestamp()


def check_csv(path, output, elapsed):
    with open(path, encoding="cp1252", newline="") as f:
        rows = list(csv.reader(f))
    expect(rows[0][0].startswith("(PDH-CSV 4.0)"), f"{path}: header {rows[0][0]}", output)
    # One sample per second. On a busy machine some are late and skipped, and the run takes longer. No second has two
    # samples, so there are no more samples than seconds that the script ran.
    times = [time_of_row(row) for row in rows[1:]]
    steps = sorted(later - earlier for earlier, later in zip(times, times[1:]))
    expect(2 <= len(times) <= elapsed + 1, f"{path}: {len(times)} samples in {elapsed:.1f} s", output)
    expect(steps[0] > 0 and times[-1] - times[0] > SECONDS - 2, f"{path}: the samples are of {times}", output)
    expect(0.5 < steps[len(steps) // 2] < 1.5 or elapsed > 3 * SECONDS, f"{path}: not one sample a second: {times}", output)
    processes = [i for i, name in enumerate(rows[0]) if name.endswith("\\System\\Processes")]
    expect(len(processes) == 1, f"{path}: no column for \\System\\Processes", output)
    expect(all(float(row[processes[0]]) > 1 for row in rows[1:]), f"{path}: no processes", output)
    expect(all(len(row) == len(rows[0]) for row in rows), f"{path}: rows of different length", output)


def check_runs(script, set_name):
    """Runs a set twice. Returns the output of the second run, with its set name and dates replaced."""
    logs = []
    for _ in range(2):
        begun = time.monotonic()
        code, output = run(script, set_name, str(SECONDS))
        elapsed = time.monotonic() - begun
        expect(code == 0, f"{script}: exit code {code}", output)
        expect(output.endswith("\nDone.\n"), f"{script} did not reach its end", output)
        log, folder = value(output, "Log"), value(output, "Folder")
        expect(log == folder + "\\Counters.csv", f"{script}: the log {log} is not in the run's folder {folder}", output)
        check_csv(unix_path(log), output, elapsed)
        logs.append(log)
    expect(logs[0] != logs[1], f"{script}: both runs wrote {logs[0]}", output)
    return re.sub(r"\d{8}-", "DATE-", output.replace(set_name, "NAME"))


def main():
    pid = os.getpid()
    in_vbs, in_js = check_runs("collect.vbs", f"ExampleVbs{pid}"), check_runs("collect.js", f"ExampleJs{pid}")
    expect(in_vbs == in_js, "VBScript and JScript gave different results", in_vbs + in_js)
    for script in "collect.vbs", "collect.js":
        for form, first in ("tsv", b'"(PDH-TSV 4.0)'), ("blg", b""):
            code, output = run(script, f"Example{form}{pid}", "1", form)
            expect(code == 0, f"{script} {form}: exit code {code}", output)
            with open(unix_path(value(output, "Log")), "rb") as f:
                head = f.read(4096)
            expect(head and head.startswith(first), f"{script}: not a {form} log: {head[:40]}", output)
        # A failure has a message and an exit code. Without them it would look like a success under Wine.
        for arguments, code, words in ((["X", "1", "xml"], 2, "FAILED: the format"), (["X", "soon"], 2, "FAILED: the seconds"),
                                       (["no|name", "1"], 1, "FAILED: Commit: 0x")):
            got, output = run(script, *arguments)
            expect(got == code and words in output, f"{script} {arguments}: exit code {got}", output)
    # Without its required arguments, a script prints which ones it needs.
    for script in "trace.vbs", "trace.js", "archive_log.vbs", "extract.vbs":
        code, output = run(script)
        expect(code == 2 and f"usage: cscript {script} " in output, f"{script} without arguments: exit code {code}", output)


main()
