#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_scripts.py [SETS]: measures four steps of a VBScript with SETS sets (default 3,000): it creates and commits
them, lists them and reads their statuses, queries each, and queries and deletes each. Prints elapsed seconds and the
processor time of all programs of the prefix, which other load changes less. Needs WINEPREFIX with OpenPLA registered,
and OPENPLA_SOURCE_DIR, as ctest sets them."""
import os
import subprocess
import sys

import arguments

arguments.environment("OPENPLA_SOURCE_DIR", "WINEPREFIX")
RUNNER = os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "cmake/wine-run.sh")
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bench_scripts.vbs")
SETS, = arguments.parse_arguments(__doc__, ("SETS", arguments.number, 3000))
TICKS = os.sysconf("SC_CLK_TCK")


def prefix_seconds():
    """Returns the processor time of each process of the prefix, including wineserver, by process id."""
    used = {}
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/environ", "rb") as file:
                if f"WINEPREFIX={os.environ['WINEPREFIX']}\0".encode() not in file.read() + b"\0":
                    continue
            with open(f"/proc/{process}/stat", encoding="utf-8") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        used[process] = (int(fields[11]) + int(fields[12])) / TICKS
    return used


def main():
    wine = ["sh", RUNNER, "cscript", "//nologo", "Z:" + SCRIPT.replace("/", "\\"), str(SETS)]
    process = subprocess.Popen(wine, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                               env=dict(os.environ, OPENPLA_WINE_RUN="through"))
    done, before = False, prefix_seconds()
    for line in process.stdout:
        what, _, number = line.strip().rpartition(" ")
        done = done or line.strip() == "Done."
        if what == "failures" and number != "0":
            print(f"{number} calls failed", file=sys.stderr)
            done = False
            break
        if not what or what == "failures":
            continue
        now = prefix_seconds()
        used = sum(seconds - before.get(one, 0) for one, seconds in now.items())
        print(f"{SETS} sets {what:9} {int(number) / 1000:8.2f} s, {int(number) / SETS:7.3f} ms each, "
              f"{used * 1000 / SETS:7.3f} ms of processor time each", flush=True)
        before = now
    process.wait()
    return 0 if done else 1


sys.exit(main())
