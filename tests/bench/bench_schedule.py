#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_schedule.py [SETS]: measures how late the service starts sets that are scheduled for the same second: when
their host processes appear (polled every 5 ms), and when their first samples are written. Needs WINEPREFIX with OpenPLA
registered, OPENPLA_SOURCE_DIR and OPENPLA_BIN_DIR, as ctest sets them."""
import datetime
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import arguments

arguments.environment("OPENPLA_SOURCE_DIR", "OPENPLA_BIN_DIR", "WINEPREFIX")
sys.path.insert(0, os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "tests", "fault"))
from faults import PREFIX, processes, windows_path  # noqa: E402

STORE = os.path.join(PREFIX, "drive_c", "ProgramData", "OpenPLA", "sets", "Service")
RUNNER = os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "cmake/wine-run.sh")
SETS, = arguments.parse_arguments(__doc__, ("SETS", arguments.number, 1))


def wine(*command):
    subprocess.call(["sh", RUNNER, *command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def commit(name, root, due):
    when = time.strftime("%H:%M:%S", time.localtime(due))
    with open(os.path.join(STORE, name + ".xml"), "w", encoding="utf-8") as file:
        file.write(f"<DataCollectorSet><Duration>3</Duration><RootPath>{windows_path(root)}</RootPath>"
                   f"<PerformanceCounterDataCollector><Name>{name}</Name><LogFileFormat>0</LogFileFormat>"
                   "<SampleInterval>1</SampleInterval><Counter>\\Memory\\Available Bytes</Counter>"
                   "</PerformanceCounterDataCollector><Schedule><StartDate>1/1/2020</StartDate>"
                   f"<StartTime>{when}</StartTime><Days>127</Days></Schedule></DataCollectorSet>")


def show(what, seconds):
    seconds = sorted(seconds)
    print(f"{what}: first {seconds[0] * 1000:.0f} ms, median {statistics.median(seconds) * 1000:.0f} ms, last "
          f"{seconds[-1] * 1000:.0f} ms after the second that was due")


def main():
    os.makedirs(STORE, exist_ok=True)
    root = tempfile.mkdtemp()
    names = [f"bench-schedule-{i}" for i in range(SETS)]
    try:
        wine("net", "start", "OpenPLA")
        due = int(time.time()) + 12
        for name in names:
            commit(name, root, due)
        time.sleep(due - time.time() - 0.2)
        seen = {}
        while len(seen) < SETS and time.time() < due + 60:
            for pid in processes("openplahost"):
                seen.setdefault(pid, time.time() - due)
            time.sleep(0.005)
        time.sleep(6)
        samples = []
        for name in names:
            with open(os.path.join(root, name + ".csv"), encoding="cp1252") as file:
                row = list(file)[1]
            samples.append(datetime.datetime.strptime(row[1:24], "%m/%d/%Y %H:%M:%S.%f").timestamp() - due)
        show(f"{len(seen)} host processes", seen.values())
        show(f"{len(samples)} first samples", samples)
    finally:
        for folder, _, files in os.walk(STORE):
            for name in files:
                if name.startswith("bench-schedule-"):
                    os.remove(os.path.join(folder, name))
        shutil.rmtree(root)


main()
