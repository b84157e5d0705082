#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run_apis.py PROGRAM TARGET EMULATOR: `openpla run -apis` logs all calls of a program. The program behaves as without
`openpla run`."""
import json
import os
import sys
import tempfile

TARGET = sys.argv.pop(2)
from program import check, host_path, openpla  # noqa: E402


def calls_of(log):
    done = json.loads(openpla(0, "trace", "api-summary", log, "-rows", "10000", "--json"))
    return {row["name"]: row["calls"] for row in done["functions"]}


def behaves_as_untraced():
    openpla(40, "run", "-apis", "known.etl", host_path(TARGET), "known", "25")
    check(calls_of("known.etl")["kernel32!CreateFileW"] == 25, "calls are missing", calls_of("known.etl"))
    openpla(40, "run", "--apis", "odd.etl", "-ano", "--", host_path(TARGET), "odd", "10")
    check(calls_of("odd.etl")["user32!wsprintfA"] == 10, "calls are missing", calls_of("odd.etl"))
    openpla(2, "run", "-apis", "other.etl", host_path(TARGET), "no such thing")


def lists_select_calls():
    openpla(40, "run", "-apis", "lists.etl", "-mods", "user32.dll", "-inapis", "gdi32!DeleteObject,kernel32!MulDiv",
            "-exapis", "user32!wsprintfA", host_path(TARGET), "odd", "3")
    calls = calls_of("lists.etl")
    check(calls.get("gdi32!DeleteObject") == 3 and "gdi32!CreateFontW" not in calls
          and "user32!wsprintfA" not in calls, "the lists", calls)
    openpla(40, "run", "-apis", "deep.etl", "-ano", "-recursive", "-mods", "ntdll", host_path(TARGET), "known", "2")
    check(calls_of("deep.etl").get("ntdll!NtCreateFile", 0) >= 2, "calls between modules")


def rejects_wrong_arguments():
    check("already exists" in openpla(1, "run", "-apis", "known.etl", host_path(TARGET), "known"), "an existing log")
    check("require -apis" in openpla(2, "run", "-ano", host_path(TARGET)), "-ano alone")
    check("value is missing" in openpla(2, "run", "-apis"), "a missing log argument")
    check("cannot be combined" in openpla(2, "run", "-apis", "x.etl", "--children", host_path(TARGET)), "--children")
    check("expected <module>!<function>" in openpla(1, "run", "-apis", "x.etl", "-inapis", "Sleep", host_path(TARGET)),
          "a function without a module")
    check(not os.path.exists("x.etl"), "a failed start leaves no log")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    behaves_as_untraced()
    lists_select_calls()
    rejects_wrong_arguments()
    os.chdir("/")
print("ok")
