#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""For a busy processor, the log shows the same load as the kernel, both in the processor's instance and in _Total.
Otherwise a user would overlook an overloaded processor, or search for one although none is overloaded."""
import datetime
import os
import shutil
import subprocess
import sys
import tempfile
import time

from faults import check, clean, read_log, run_client, samples_in, windows_path

NAME = "test-fault-busy"
SPAN, SAMPLES = 6, 5  # the minimum number of seconds, and of samples
POINTS = 10


def kernel_times():
    """Returns processor (None: all) -> (busy ticks, ticks). Waiting for a disk counts as idle."""
    times = {}
    with open("/proc/stat", encoding="ascii") as stat:
        for line in stat:
            words = line.split()
            if words[0].startswith("cpu"):
                ticks = [int(word) for word in words[1:9]]
                times[words[0][3:] or None] = (sum(ticks) - ticks[3] - ticks[4], sum(ticks))
    return times


def times_at(snapshots, processor, when):
    """Interpolates linearly between the snapshots before and after the time."""
    for (t0, before), (t1, after) in zip(snapshots, snapshots[1:]):
        if t0 <= when <= t1:
            part = (when - t0) / (t1 - t0)
            return [a + (b - a) * part for a, b in zip(before[processor], after[processor])]
    raise ValueError("outside of the snapshots")


def percentage(snapshots, processor, begin, end):
    """Returns the kernel's busy percentage for the time span."""
    one, two = (times_at(snapshots, processor, when) for when in (begin, end))
    return 100 * (two[0] - one[0]) / (two[1] - one[1])


def main():
    clean(NAME)
    processor = max(os.sched_getaffinity(0))
    root = tempfile.mkdtemp()
    snapshots = []
    try:
        first = run_client("start", NAME, windows_path(root), r"\Processor(*)\% Processor Time")
        loop = subprocess.Popen(["taskset", "-c", str(processor), sys.executable, "-c", "while True: pass"])
        try:
            end, least = time.monotonic() + SPAN, samples_in(first["file"]) + SAMPLES
            # A busy machine delays samples.
            while time.monotonic() < end or samples_in(first["file"]) < least:
                snapshots.append((time.time(), kernel_times()))
                time.sleep(0.1)
                check(loop.poll() is None, "the loop runs")
                check(time.monotonic() < end + 240, f"{SAMPLES} samples while the loop runs")
        finally:
            loop.kill()
            loop.wait()
        run_client("stop", NAME)
        rows = read_log(first["file"], 5)
        run_client("delete", NAME)
    finally:
        shutil.rmtree(root)
    columns = {name.rsplit("(", 1)[1].split(")")[0]: at for at, name in enumerate(rows[0]) if at}
    samples = []
    for row in rows[1:]:
        when = datetime.datetime.strptime(row[0], "%m/%d/%Y %H:%M:%S.%f").timestamp()
        if snapshots[0][0] <= when <= snapshots[-1][0]:
            samples.append((when, row))
    check(len(samples) >= 3, f"{len(samples)} samples while the loop ran")
    begin, end = samples[0][0], samples[-1][0]
    for instance, kernel in ((str(processor), str(processor)), ("_Total", None)):
        # A sample covers the time since the previous one: a second, or longer on a busy machine.
        shown = sum(float(row[columns[instance]]) * (when - before)
                    for (before, _), (when, row) in zip(samples, samples[1:]))
        logged, real = shown / (end - begin), percentage(snapshots, kernel, begin, end)
        print(f"{instance}: log {logged:.1f} %, kernel {real:.1f} %")
        check(abs(logged - real) <= POINTS, f"{instance}: log {logged:.1f} %, kernel {real:.1f} %")
    check(percentage(snapshots, str(processor), begin, end) > 50, "the loop kept its processor busy")


main()
