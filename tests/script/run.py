#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run.py [--32] SCRIPT EXPECTED [COPIES]: runs COPIES of a script with cscript (or of a program) simultaneously, each
with a separate set, and compares the output of each with the file EXPECTED. Otherwise a user's script could fail or get
other results. Under Wine an unhandled error ends a script silently with exit code 0, so the last line must be "Done."

Parts that differ from run to run are replaced: the set's name, process IDs, libxml2's messages; a line "log PATH" is
replaced with the contents of the log.
`run.py --write SCRIPT EXPECTED` writes the file; check it before you commit it. --32: the cscript for 32-bit
programs."""
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile

import cscript

WINDOWS = os.name == "nt"
CSCRIPT = ["cscript", "//nologo"]
CSCRIPT_32 = [r"C:\windows\syswow64\cscript.exe", "//nologo"]
LATE = r"(\d+) samples lost: their time passed while an earlier sample was taken\n"


def host_path(path):
    """Returns the path on the host OS of a path that a script uses."""
    if WINDOWS:
        return path
    drive, rest = path[0].lower(), path[2:].replace("\\", "/")
    return rest if drive == "z" else os.path.join(os.environ["WINEPREFIX"], "drive_" + drive) + rest


def log_summary(path, late):
    """Describes the log in words that are the same for every correct run. `late`: the number of samples that the run
    reported as lost, which happens on a busy machine."""
    path = host_path(path)
    if not os.path.isfile(path):
        return "the log does not exist: " + path
    with open(path, newline="", encoding="cp1252") as lines:
        rows = list(csv.reader(lines))
    head, samples = rows[0], rows[1:]
    if not head[0].startswith("(PDH-CSV 4.0)"):
        return "the log has no header: " + str(head)
    columns = []
    for column, counter in enumerate(head[1:], 1):
        try:
            numbers = [float(row[column]) for row in samples]
        except (ValueError, IndexError) as error:
            return f"log {path}: {counter}: {error}"
        last = counter.rsplit("\\", 1)[1]
        columns.append(last + (" above 0" if numbers and min(numbers) > 0 else f" {numbers}"))
    return ("log with 3 samples or more: " if samples and len(samples) + late >= 3 else f"log with {len(samples)} samples: ") + ", ".join(
        columns)


def normalised(raw, name):
    lines = []
    text = raw.decode("cp437").replace("\r\n", "\n").rstrip("\n")
    late = sum(map(int, re.findall(LATE, text)))
    for line in re.sub(LATE, "", text).split("\n"):
        if line.startswith("log "):
            line = log_summary(line[4:], late)
        line = re.sub(re.escape(name), "<set>", line, flags=re.IGNORECASE)
        line = re.sub(r"(invalid XML: line \d+): .*", r"\1: <what libxml2 says>", line)
        lines.append(re.sub(r"process \d+", "process <id>", line))
    return "\n".join(lines) + "\n"


def start(script, name, output):
    if WINDOWS:
        command = [script, name] if script.endswith(".exe") else [*CSCRIPT, script, name]
    else:
        top = os.environ["OPENPLA_SOURCE_DIR"]
        path = "Z:" + os.path.abspath(script).replace("/", "\\")
        program = [path] if script.endswith(".exe") else [*CSCRIPT, path]
        command = ["sh", os.path.join(top, "cmake/wine-run.sh"), *program, name]
    return subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)


def finish(script, name, path, process):
    """Returns exit code and output of a copy. If several are started at the same time, about 2 % of Wine's cscript
    processes exit before they run anything. Such a copy is started again."""
    for attempt in range(1, cscript.ATTEMPTS + 1):
        code = process.wait(timeout=600)
        with open(path, "rb") as output:
            raw = output.read()
        if WINDOWS or attempt == cscript.ATTEMPTS or not cscript.never_ran(code, raw):
            return code, raw
        print(f"{name}: cscript did not run its script; trying again")
        with open(path, "wb") as output:
            process = start(script, name, output)


def run(script, copies):
    """Returns the normalised output of each copy."""
    stem, kind = os.path.splitext(os.path.basename(script))
    # 64-bit and 32-bit scripts can run at the same time and share the store, so their set names must differ.
    bits = "32-" if CSCRIPT == CSCRIPT_32 else ""
    names = [f"test-script-{bits}{stem}-{kind[1:]}-{copies}{chr(ord('a') + copy)}" for copy in range(copies)]
    outputs = []
    with tempfile.TemporaryDirectory() as folder:
        running = []
        for name in names:
            shutil.rmtree(host_path("C:\\PerfLogs\\Admin\\" + name), ignore_errors=True)
            with open(os.path.join(folder, name), "wb") as output:
                running.append(start(script, name, output))
        for name, process in zip(names, running):
            code, raw = finish(script, name, os.path.join(folder, name), process)
            text = normalised(raw, name)
            shutil.rmtree(host_path("C:\\PerfLogs\\Admin\\" + name), ignore_errors=True)
            outputs.append(text if not code else text + f"exit code {code}\n")
    return outputs


def main():
    arguments = sys.argv[1:]
    if arguments[0] == "--32":
        CSCRIPT[:] = CSCRIPT_32
        del arguments[0]
    if arguments[0] == "--write":
        with open(arguments[2], "w", encoding="utf-8") as expected:
            expected.write(run(arguments[1], 1)[0])
        return 0
    with open(arguments[1], encoding="utf-8") as expected:
        wanted = expected.read()
    if not wanted.endswith("\nDone.\n"):
        sys.exit(f"{arguments[1]} does not end with Done.")
    bad = 0
    for text in run(arguments[0], int(arguments[2]) if len(arguments) > 2 else 1):
        if text != wanted:
            bad += 1
            print(f"--- said\n{text}--- expected\n{wanted}---")
    return 1 if bad else 0


sys.exit(main())
