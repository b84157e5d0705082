#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""trace_apis.py PROGRAM [EMULATOR]: `openpla trace api-summary` sums up calls, time and errors of API traces, and their
events are decoded as sentences without a manifest."""
import json
import os
import struct
import tempfile
from xml.etree import ElementTree

from built_trace import SECOND, START, event, trace
from program import check, openpla

API = "4d1c64a7-6f3b-4f0e-9a3c-5f5f0c6b8e21"


def text(value):
    return value.encode() + b"\0"


def module(base, size, path, process=41):
    return event(API, struct.pack("<QI", base, size) + path.encode("utf-16-le") + b"\0\0", START, ident=2, task=2,
                 keyword=1, process=process)


def call(api, caller, process=41):
    return event(API, text(api) + struct.pack("<Q", caller), START + SECOND, ident=3, task=3, keyword=2,
                 process=process)


def call_event(api, arguments, result, error, duration, caller, failed, process=41):
    return event(API, text(api) + text(arguments) + text(result) + struct.pack("<IQQB", error, duration, caller, failed),
                 START + SECOND, ident=4, task=3, keyword=2, process=process)


def make():
    started = "C:\\a.exe\0".encode("utf-16-le") + "a 1\0".encode("utf-16-le") + struct.pack("<IIB", 3168, 21, 8)
    trace("calls.etl", [
        event(API, started, START, ident=1, opcode=1, task=1, keyword=1),
        module(0x1000, 0x1000, "C:\\dir\\a.exe"), module(0x5000, 0x1000, "C:\\dir\\b.dll"),
        module(0x1000, 0x1000, "C:\\dir\\other.exe", process=43),
        call_event("kernel32!CreateFileW", 'L"C:\\\\x.txt", 0x80000000', "0x54", 0, 12000, 0x1234, 0),
        call_event("kernel32!CreateFileW", 'L"C:\\\\y.txt", 0x80000000', "0xffffffffffffffff", 2, 4000, 0x5678, 1),
        call_event("user32!IsWindow", "0x10", "0", 0, 500, 0x1234, 1, process=43),
        call("msvcrt!exit", 0x9999999),
        event(API, text("kernel32!RaiseIt") + text("") + struct.pack("<Q", 0x1000), START + SECOND, ident=5, task=3,
              keyword=2),
    ])
    trace("corrupt.etl", [event(API, b"no end", START, ident=3), event(API, b"", START, ident=4),
                          event(API, b"\0" * 12, START, ident=2), call("a!b", 1)])
    trace("many.etl", [call(f"m!f{i}", 1) for i in range(70)])


def sums_are_correct():
    done = json.loads(openpla(0, "trace", "api-summary", "calls.etl", "--json"))
    check(done["processes"] == 1 and done["calls"] == 5, "totals", done)
    rows = {row["name"]: row for row in done["functions"]}
    check(rows["kernel32!CreateFileW"] == {"name": "kernel32!CreateFileW", "calls": 2, "timeNs": 16000,
                                           "longestNs": 12000, "errors": 1, "unwound": 0}, "a function", rows)
    check(rows["kernel32!RaiseIt"]["unwound"] == 1, "a call that an exception left", rows)
    callers = {row["name"]: (row["calls"], row["errors"]) for row in done["callers"]}
    check(callers == {"a.exe": (2, 0), "b.dll": (1, 1), "other.exe": (1, 1), "(unknown)": (1, 0)}, "callers", callers)
    shown = openpla(0, "trace", "api-summary", "calls.etl")
    check(shown.startswith("5 calls of 4 functions in 1 processes"), "the first line", shown)
    check(shown.index("kernel32!CreateFileW") < shown.index("user32!IsWindow"), "sorted by time, longest first", shown)


def rows_are_sorted_and_limited():
    shown = json.loads(openpla(0, "trace", "api-summary", "calls.etl", "-sort", "errors", "-rows", "1", "--json"))
    check([row["name"] for row in shown["functions"]] == ["kernel32!CreateFileW"], "one row", shown)
    check(len(json.loads(openpla(0, "trace", "api-summary", "many.etl", "--json"))["functions"]) == 50, "50 rows")
    check("20 more rows" in openpla(0, "trace", "api-summary", "many.etl"), "omitted rows are counted")
    check("unknown key 'x'" in openpla(2, "trace", "api-summary", "calls.etl", "-sort", "x"), "an unknown key")
    check("missing trace" in openpla(2, "trace", "api-summary"), "no trace")


def corrupt_events_are_counted():
    shown = openpla(3, "trace", "api-summary", "corrupt.etl")
    check("1 calls of 1 functions" in shown and "3 events of API tracing are corrupt" in shown, "corrupt events", shown)


def decodes_events():
    shown = openpla(0, "trace", "show", "calls.etl", "-text", "y.txt")
    check("Api=kernel32!CreateFileW" in shown and "LastError=2" in shown and "Failed=1" in shown, "a line", shown)
    openpla(0, "tracerpt", "calls.etl", "-o", "calls.xml", "-of", "XML", "-y")
    with open("calls.xml", encoding="utf-8-sig", errors="replace") as file:
        dump = file.read()
    check('kernel32!CreateFileW(L"C:\\\\x.txt", 0x80000000) = 0x54, error 0, 12000 ns' in dump.replace("&quot;", '"'),
          "the message of a call", dump[-3000:])


def a_report_has_tables():
    openpla(0, "report", "calls.etl", "-schema", "Report.Api.xml", "-o", "report.xml", "-html", "-y", "-rules", "none")
    root = ElementTree.parse("report.xml").getroot()
    tables = {table.get("name"): [[cell.text for cell in row.iter() if cell.text and cell.text.strip()]
                                  for row in table.iter() if row.tag.endswith("Item")]
              for table in root.iter() if table.tag.endswith("Table") and table.get("name")}
    check(any("kernel32!CreateFileW" in row and "16000" in row for row in tables["apiByFunction"]), "functions", tables)
    check(any("2" in row and "kernel32!CreateFileW" in row for row in tables["apiByError"]), "errors", tables)
    check(any("msvcrt!exit" in row for row in tables["apiNames"]), "names", tables)
    check(any("a 1" in row and "3168" in row for row in tables["apiProcesses"]), "processes", tables)
    with open("report.html", encoding="utf-8") as file:
        check("Calls by function" in file.read(), "the page has a table of calls")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    make()
    sums_are_correct()
    rows_are_sorted_and_limited()
    corrupt_events_are_counted()
    decodes_events()
    a_report_has_tables()
    os.chdir("/")
print("ok")
