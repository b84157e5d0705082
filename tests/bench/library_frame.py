#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the time to read a day of 82 counters as a pandas.DataFrame with the time in which a C program reads it.

library_frame.py BENCH_LIBRARY LIBOPENPLA_LOGS [FOLDER [SAMPLES [COUNTERS]]]

There are five rounds. In each, bench_library reads the log sample by sample and as a table, then openpla.read creates a
DataFrame in a process that has already loaded its modules. Times are processor times. Prints the medians and their
ratios."""
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 5


def main():
    bench, library = sys.argv[1:3]
    folder = sys.argv[3] if len(sys.argv) > 3 else tempfile.gettempdir()
    os.environ["OPENPLA_LOGS_LIBRARY"] = library
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "library", "python"))
    import openpla
    path = os.path.join(folder, "library_frame.blg")
    subprocess.run([bench, "write", path, *sys.argv[4:]], check=True)
    try:
        shape = openpla.read(path, pandas=True).shape  # loads pandas
        samples, tables, frames = [], [], []
        for _ in range(ROUNDS):
            done = subprocess.run([bench, "read", path], stdout=subprocess.PIPE, check=True, text=True)
            for seconds, all_of_them in zip(done.stdout.split(), (samples, tables)):
                all_of_them.append(float(seconds))
            begin = time.process_time()
            frame = openpla.read(path, pandas=True)
            frames.append(time.process_time() - begin)
            del frame
    finally:
        size = os.path.getsize(path)
        os.remove(path)
    c, table, frame = (statistics.median(times) for times in (samples, tables, frames))
    print(f"{shape[0]} samples x {shape[1]} counters, {size / 1e6:.0f} MB: C, by sample {c:.3f} s; C, table {table:.3f} s "
          f"({table / c:.2f}); Python, DataFrame {frame:.3f} s ({min(frames):.3f}-{max(frames):.3f}): ratio {frame / c:.2f}")


main()
