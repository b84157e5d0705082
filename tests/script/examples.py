#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""examples.py WINE-RUN: the example scripts do what README says, twice in a row and the same in both languages.
A user would lose the first thing that is tried."""
import csv
import os
import re
import subprocess
import sys

EXAMPLES = os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "examples")
DRIVE_C = os.path.join(os.environ["WINEPREFIX"], "drive_c")
SECONDS = 3


def run(script, *arguments):
    done = subprocess.run([sys.argv[1], "cscript", "//nologo", script, *arguments], cwd=EXAMPLES, capture_output=True)
    return done.returncode, done.stdout.decode("cp437").replace("\r\n", "\n")


def expect(condition, what, output):
    if not condition:
        sys.exit(f"{what}. The script's output:\n{output}")


def value(output, label):
    found = re.search(rf"^{label}: (.*)$", output, re.M)
    expect(found, f"no line \"{label}:\"", output)
    return found.group(1)


def unix_path(path):
    expect(path.startswith("C:\\"), f"not on drive C: {path}", "")
    return os.path.join(DRIVE_C, *path[3:].split("\\"))


def check_csv(path, output):
    with open(path, encoding="cp1252", newline="") as f:
        rows = list(csv.reader(f))
    expect(rows[0][0].startswith("(PDH-CSV 4.0)"), f"{path}: header {rows[0][0]}", output)
    expect(SECONDS <= len(rows) - 1 <= SECONDS + 3, f"{path}: {len(rows) - 1} samples in {SECONDS} s", output)
    processes = [i for i, name in enumerate(rows[0]) if name.endswith("\\System\\Processes")]
    expect(len(processes) == 1, f"{path}: no column for \\System\\Processes", output)
    expect(all(float(row[processes[0]]) > 1 for row in rows[1:]), f"{path}: no processes", output)
    expect(all(len(row) == len(rows[0]) for row in rows), f"{path}: rows of different length", output)


def check_runs(script, set_name):
    """Two runs of one set; the result of the second, with its own names taken out."""
    logs = []
    for _ in range(2):
        code, output = run(script, set_name, str(SECONDS))
        expect(code == 0, f"{script}: exit code {code}", output)
        expect(output.endswith("\nDone.\n"), f"{script} did not reach its end", output)
        log, folder = value(output, "Log"), value(output, "Folder")
        expect(log == folder + "\\Counters.csv", f"{script}: the log {log} is not in the run's folder {folder}", output)
        check_csv(unix_path(log), output)
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
        # Failures have words and an exit code: under Wine they would pass for success otherwise.
        for arguments, code, words in ((["X", "1", "xml"], 2, "FAILED: the format"), (["X", "soon"], 2, "FAILED: the seconds"),
                                       (["no|name", "1"], 1, "FAILED: Commit: 0x")):
            got, output = run(script, *arguments)
            expect(got == code and words in output, f"{script} {arguments}: exit code {got}", output)


main()
