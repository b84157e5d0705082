#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""python_pandas.py PROGRAM: openpla.read returns a pandas.DataFrame with the log's times and values. Otherwise an
analyst would compute with wrong numbers. Exit code 77: no Python on this system has pandas."""
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile

import pythons
from pythons import check

if not pythons.is_inside():
    python = pythons.with_pandas()
    if python is None:
        print("pandas is missing (Debian package python3-pandas)")
        sys.exit(77)
    pythons.run_again(python)
import openpla  # noqa: E402
import pandas  # noqa: E402
from built_trace import SECOND, START, event, trace  # noqa: E402

PROGRAM = sys.argv[1]
FREE, READS = "\\\\BOX\\Memory\\Free", "\\\\BOX\\Disk(C:)\\Reads/sec"


def write_logs():
    with open("a.csv", "w", encoding="ascii", newline="") as f:
        f.write(f'"(PDH-CSV 4.0) (UTC)(0)","{FREE}","{READS}"\r\n')
        for i in range(1000):
            f.write(f'"02/28/2021 15:{33 + i // 60:02}:{i % 60:02}.250","{100 + i}","{i / 2 if i else " "}"\r\n')
    subprocess.run([PROGRAM, "relog", "a.csv", "-f", "BIN", "-o", "a.blg", "-y"], stdout=subprocess.DEVNULL,
                   env=pythons.outside(), check=True)


def a_frame_has_times_and_values():
    for name in ("a.csv", "a.blg"):
        frame = openpla.read(name)
        check(isinstance(frame, pandas.DataFrame) and frame.shape == (1000, 2), "shape", frame)
        check(list(frame.columns) == [FREE, READS] and frame.index.name == "time", "names", frame.columns)
        check(frame.index[0] == pandas.Timestamp("2021-02-28T15:33:00.25Z") and str(frame.index.tz) == "UTC", "times",
              frame.index)
        check(frame[FREE].tolist() == [100.0 + i for i in range(1000)], "values", frame[FREE])
        check(frame[READS].isna().sum() == 1 and frame[READS].iloc[-1] == 499.5, "a missing value", frame[READS])
        check(frame.resample("1min").mean().shape == (17, 2), "resampling")
        frame[READS] = frame[READS].fillna(0) * 2  # the frame must be writable
        check(frame[READS].iloc[3] == 3.0, "a change")


def frame_outlives_its_source():
    frame = openpla.read("a.blg")
    part = frame[[FREE]]
    column = frame[READS]
    del frame
    openpla.read("a.csv")
    check(part[FREE].sum() == 599500.0 and column.sum() == 249750.0, "values", part, column)


def options():
    frame = openpla.read("a.blg", counters=FREE, begin=pandas.Timestamp("2021-02-28T15:34:00Z"), pandas=True)
    check(frame.shape == (940, 1), "a part", frame)
    check(isinstance(openpla.read("a.blg", pandas=False), openpla.Table), "a table")
    empty = openpla.read("a.blg", begin="2031-01-01", pandas=True)
    check(empty.shape == (0, 2) and str(empty.index.tz) == "UTC", "an empty one", empty)


def documented_example_works():
    """Runs the Python example in docs/user/library.md."""
    with open(os.path.join(pythons.SOURCE, "docs", "user", "library.md"), encoding="utf-8") as f:
        (example,) = re.findall(r"^```python\n(.*?)^```$", f.read(), re.M | re.S)
    os.replace("a.blg", "load.blg")
    trace("trace.etl", [event("99990000-1111-2222-3333-444455556666", b"\x01", START + SECOND, ident=9)])
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(example, "library.md", "exec"), {})  # pylint: disable=exec-used
    check("2021-02-28 15:49:00+00:00" in output.getvalue() and "EventTrace" not in output.getvalue().split("MSNT")[0],
          "the page's example", output.getvalue())


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_logs()
        a_frame_has_times_and_values()
        frame_outlives_its_source()
        options()
        documented_example_works()


main()
