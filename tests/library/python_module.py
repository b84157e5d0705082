#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""python_module.py PROGRAM WRITE_WILDCARD_LOG: without pandas, the Python module openpla reads the same values as relog
and the same events as `trace show`, and raises an exception that names the file if it cannot. Otherwise an analyst
would compute with wrong numbers."""
import csv
import datetime
import json
import math
import os
import struct
import subprocess
import sys
import tempfile
import warnings

import pythons
from pythons import check

if not pythons.is_inside():
    pythons.run_again()
import openpla  # noqa: E402
from built_trace import SECOND, START, classic, event, message, self_described, system, trace  # noqa: E402

PROGRAM, WRITE_LOG = sys.argv[1:3]
OURS, THEIRS = "11112222-3333-4444-5555-666677778888", "99990000-1111-2222-3333-444455556666"


def program(*arguments):
    done = subprocess.run([PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False,
                          env=pythons.outside())
    check(done.returncode in (0, 3), f"{arguments}: exit code {done.returncode}", done.stdout)
    return done.stdout.decode()


def expect_exception(kind, function, *arguments, **more):
    try:
        function(*arguments, **more)
    except kind as error:
        return error
    return sys.exit(f"{function.__name__}{arguments}: no {kind.__name__}")


def same(a, b):
    return math.isnan(a) and math.isnan(b) or abs(a - b) <= 1e-9 * max(abs(a), abs(b))


def columns_of_csv(path):
    with open(path, encoding="utf-8", newline="") as f:
        rows = list(csv.reader(f))
    return {name: [float(row[at]) if row[at].strip() else math.nan for row in rows[1:]]
            for at, name in enumerate(rows[0]) if at > 0}


def values_equal_relog():
    subprocess.run([WRITE_LOG, "a.blg"], env=pythons.outside(), check=True)
    program("relog", "a.blg", "-f", "CSV", "-o", "a.csv", "-y")
    expected = columns_of_csv("a.csv")
    for name in ("a.blg", "a.csv"):
        table = openpla.read(name, pandas=False)
        check(len(table) == 4 and set(table.columns) == set(expected), f"{name}: columns", list(table.columns), list(expected))
        check(table.times[0] == 1614526400 * 10 ** 9 and table.times[3] - table.times[0] == 3 * 10 ** 9,
              f"{name}: times", table.times)
        for path, values in expected.items():
            check(all(same(a, b) for a, b in zip(values, table.columns[path])), f"{name}: {path}", values,
                  table.columns[path])
    check([counter["path"] for counter in openpla.counters("a.blg")] == list(expected), "order of the counters")
    (rate,) = openpla.counters("a.blg", "\\System\\*")
    check((rate["object"], rate["counter"], rate["type"], rate["instance"]) ==
          ("System", "Context Switches/sec", 0x10410400, None), "a counter", rate)


def parts_can_be_selected():
    table = openpla.read("a.blg", counters=["\\Memory\\*"], begin="2021-02-28T15:33:21",
                         end=datetime.datetime(2021, 2, 28, 15, 33, 22), pandas=False)
    check(len(table) == 2 and list(table.columns) == ["\\\\BOX\\Memory\\Available MBytes"], "a part", table.columns)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = openpla.read("a.blg", counters="\\Nothing\\*", pandas=False)
    check(not table.columns and any("matches no counter" in str(w.message) for w in caught), "nothing", caught)
    check(len(openpla.read("a.blg", begin="1999-01-01", end="1999-01-02", pandas=False)) == 0, "another time")


def a_log_describes_itself():
    info = openpla.info("a.blg")
    check(info["format"] == "Binary" and info["samples"] == 4 and info["path"] == "a.blg", "info", info)
    check(info["begin"] == datetime.datetime(2021, 2, 28, 15, 33, 20, tzinfo=datetime.timezone.utc), "begin", info)
    check(openpla.version() == pythons.version(), "version", openpla.version())


def failures_are_exceptions_that_name_the_file():
    error = expect_exception(FileNotFoundError, openpla.read, "none.blg")
    check(isinstance(error, openpla.Error) and error.code == 0x80070002 and "'none.blg'" in str(error), "none", error)
    with open("letter.txt", "w", encoding="ascii") as f:
        f.write("Dear all")
    check("letter.txt" in str(expect_exception(openpla.Error, openpla.read, "letter.txt")), "not a log")
    check("letter.txt" in str(expect_exception(openpla.Error, openpla.events, "letter.txt")), "not a trace")
    check("more than 3 values" in str(expect_exception(openpla.Error, openpla.read, "a.blg", max_values=3, pandas=False)), "a limit")
    expect_exception(FileNotFoundError, openpla.events, "some.etl", manifests="none.man")
    with open("a.csv", "rb") as f:
        data = f.read()
    with open("cut.csv", "wb") as f:
        f.write(data[:-9])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = openpla.read("cut.csv", pandas=False)
    check(len(table) == 3 and len(caught) == 1 and caught[0].category is openpla.LogWarning and
          "cut.csv" in str(caught[0].message) and caught[0].filename == __file__, "a cut log", len(table), caught)


def create_events():
    fields = b"Name\0\x01Size\0\x08Point\0\x98\x02X\0\x05Y\0\x05Numbers\0\x44"
    data = "two words\0".encode("utf-16-le") + struct.pack("<IhhHBB", 7, -3, 4, 2, 7, 8)
    numbers = struct.pack("<Qddd", 2 ** 64 - 1, 45.75, -1e300, 2.0)
    started = struct.pack("<QIIIiQI", 0, 44, 4, 0, 259, 0, 0) + b"writer.exe\0\0\0"
    return [system(0x0301, started, START, version=3),
            self_described(OURS, "Maker", "Made", fields, data, START + SECOND, level=2, opcode=1, process=45),
            self_described(OURS, "Maker", "Counted", b"Large\0\x0ALoad\0\x0CLess\0\x0CAll\0\x0C", numbers, START + 2 * SECOND),
            self_described(OURS, "Maker", "Short", fields, data[:-5], START + 3 * SECOND),
            event(THEIRS, b"\x01\xfe", START + 4 * SECOND, ident=9, process=46, keyword=0x8000000000000010),
            classic(THEIRS, b"abc", START + 5 * SECOND, kind=3),
            message(THEIRS, 10, b"xyz", START + 6 * SECOND)]


def events_equal_trace_show():
    trace("some.etl", create_events())
    expected = [json.loads(line) for line in program("trace", "show", "some.etl", "--json").splitlines()]
    found = list(openpla.events("some.etl"))
    check(len(found) == len(expected) == 8, "number of events", len(found), len(expected))
    for one, other in zip(found, expected):
        check(one["time"].strftime("%Y-%m-%dT%H:%M:%S.%f") == other["time"][:26], "time", one, other)
        for name, key in (("process", "process"), ("thread", "thread"), ("provider", "provider"), ("event", "event"),
                          ("provider_id", "providerId"), ("id", "id"), ("version", "version"), ("task", "task"),
                          ("opcode", "opcode"), ("opcode_number", "opcodeNumber"), ("level", "level"),
                          ("activity", "activity")):
            check(one[name] == other[key], name, one, other)
        check(f'0x{one["keywords"]:016X}' == other["keywords"], "keywords", one, other)
        check(one["fields"] == other.get("fields", {}), "fields", one, other)
        check(("undecoded" in one) == ("undecoded" in other), "decoded", one, other)
        if "undecoded" in one:
            check(one["undecoded"]["reason"] == other["undecoded"]["reason"], "reason", one, other)
            check(one["undecoded"]["data"].hex().upper() == other["undecoded"]["data"], "data", one, other)
    check(found[2]["fields"]["Point"] == {"X": -3, "Y": 4} and found[2]["fields"]["Numbers"] == [7, 8], "parts", found[2])
    late = list(openpla.events("some.etl", begin="2021-02-28T15:33:25"))[1:]  # without the header event
    check([one["time"].second for one in late] == [25, 26], "a time", late)


def many_traces_can_be_open():
    first, second = openpla.events("some.etl"), openpla.events("some.etl")
    check([next(first)["task"] for _ in range(2)] == [next(second)["task"] for _ in range(2)], "two at once")
    first.close()
    check(list(first) == [] and len(list(second)) == 6, "the other goes on")
    del first, second
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        openpla.events("some.etl")  # no event is read from it
        with openpla.events("some.etl") as few:
            next(few)
    check(len(os.listdir("/proc/self/fd")) == before, "traces stay open")


def without_numpy():
    """Runs in a separate process, because this process has already loaded numpy if it is installed."""
    code = ("import sys; sys.modules['numpy'] = None; sys.modules['pandas'] = None; import openpla; "
            "t = openpla.read('a.blg'); import array; v = list(t.columns.values())[0]; "
            "assert isinstance(v, array.array) and isinstance(t.times, array.array); "
            "print([*t.times], [list(c) for c in t.columns.values()])")
    plain = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True, text=True).stdout
    table = openpla.read("a.blg", pandas=False)
    expected = f"{[int(t) for t in table.times]} {[[float(v) for v in c] for c in table.columns.values()]}\n"
    check(plain == expected, "without numpy", plain, expected)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        values_equal_relog()
        parts_can_be_selected()
        a_log_describes_itself()
        events_equal_trace_show()
        many_traces_can_be_open()
        failures_are_exceptions_that_name_the_file()
        without_numpy()


main()
