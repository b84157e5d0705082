#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""system_names.py TREE NM COMPILER | --self-test: Windows' DLL exports every function that the PDH and ETW tables
import from it by name, according to MinGW's import libraries. A wrong name would disable counters or traces on Windows,
and no test under Wine would notice, because the tables use our own functions there."""
import re
import subprocess
import sys

from tree import read

# For each table: its macro, and the DLL of the rows that do not name one.
TABLES = {"engine/logs/pdh_types.h": ("PDH_API_LIST", "pdh"), "engine/etw/etw_api.h": ("ETW_API_LIST", None)}
# Functions that host_etw_api.c imports in addition to its table.
BESIDE = {("advapi32", "OpenTraceW")}


def rows(text, macro, dll):
    """Returns {(DLL, function)} of the table's rows: X(function, (...)) or X(DLL, function, (...))."""
    found = re.search(rf"#define {macro}\(X\)(.*?[^\\])\n", text, re.S)
    names = re.findall(r"X\((\w+),\s*(?:\\\s*)?(\w+|\()", found.group(1)) if found else []
    return {(dll, first) if dll else (first, second) for first, second in names}


def exported(listing):
    """Returns the functions that nm lists for an import library."""
    return set(re.findall(r" [TI] (?:__imp_)?(\w+)$", listing, re.M))


def complaints(expected, libraries):
    return [f"{dll}.dll has no function {name}" for dll, name in sorted(expected) if name not in libraries[dll]]


def check(top, nm, compiler):
    expected = set(BESIDE)
    for path, (macro, dll) in TABLES.items():
        of_table = rows(read(top, path), macro, dll)
        if len(of_table) < 5:
            return [f"{path}: no rows of {macro} are found"]
        expected |= of_table
    libraries = {}
    for dll in {dll for dll, _ in expected}:
        file = subprocess.run([compiler, f"-print-file-name=lib{dll}.a"], stdout=subprocess.PIPE, check=True).stdout
        symbols = subprocess.run([nm, file.decode().strip()], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
        libraries[dll] = exported(symbols.stdout.decode())
    return complaints(expected, libraries)


def self_test():
    text = "#define LIST(X)  \\\n    X(a, First, (int))  \\\n    X(b,      \\\n      Second, (X))\n\nX(c, Third)\n"
    one = "#define LIST(X)  \\\n    X(Only, (int))  \\\n    X(Other,  \\\n      (int))\n\n"
    libraries = {"a": exported("00 T First\n00 I __imp_First\n"), "b": exported("00 T Third\n")}
    wrong = []
    if rows(text, "LIST", None) != {("a", "First"), ("b", "Second")}:
        wrong.append(f"rows: {rows(text, 'LIST', None)}")
    if rows(one, "LIST", "a") != {("a", "Only"), ("a", "Other")}:
        wrong.append(f"rows: {rows(one, 'LIST', 'a')}")
    if complaints({("a", "First"), ("b", "Second")}, libraries) != ["b.dll has no function Second"]:
        wrong.append("a function that is not there is not told")
    print("\n".join(wrong))
    return 1 if wrong else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    reported = check(*sys.argv[1:])
    print("\n".join(reported))
    return 1 if reported else 0


sys.exit(main())
