#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""logman_json.py PROGRAM EMULATOR: with --json logman prints one document on stdout for every verb and every result,
and programs find each value by its name."""
import json
import os
import re
import subprocess
import sys
import tempfile

PROGRAM, EMULATOR = os.path.abspath(sys.argv[1]), sys.argv[2:]
NAME = f"json{os.getpid()}"
PROVIDER = "{C0000000-0000-4000-8000-0000000000A1}"


def logman(*words, code=0):
    done = subprocess.run([*EMULATOR, PROGRAM, "logman", *words, "--json"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=600)
    text = done.stdout.decode("utf-8")
    assert done.returncode == code & 0xFF, (words, done)
    output = json.loads(text)
    assert output["result"] == f"0x{code:08X}" and (output["error"] is None) == (code == 0), (words, output)
    return output


def sets(folder):
    logman("create", "counter", NAME, "-c", r"\System\Threads", "\\Memory\\Available \"Bytes\"", "-si", "5", "-f", "csv",
           "-o", os.path.join(folder, "x"), "-max", "7", "-cnf", "1:00:00", "-b", "12/31/2290", "10:00:00", "-r")
    output = logman("query", NAME)["sets"]
    assert len(output) == 1, output
    one, collector = output[0], output[0]["DataCollectors"][0]
    assert (one["Name"], one["Status"], one["SegmentMaxSize"], one["SegmentMaxDuration"], one["Segment"]) == \
        (NAME, "plaStopped", 7, 3600, True), one
    assert one["Schedules"][0]["StartDate"] == "12/31/2290" and one["Schedules"][0]["Days"] == 0x7F, one
    assert collector["DataCollectorType"] == "plaPerformanceCounter" and collector["SampleInterval"] == 5, collector
    assert collector["PerformanceCounters"] == [r"\System\Threads", "\\Memory\\Available \"Bytes\""], collector
    assert collector["LogFileFormat"] == "plaCommaSeparated", collector
    row = [row for row in logman("query")["sets"] if row["Name"] == NAME]
    assert row == [{"Name": NAME, "Status": "plaStopped", "Types": ["Counter"]}], row
    assert one in logman("query", "*")["sets"]
    logman("update", NAME, "-si", "6")
    assert logman(NAME)["sets"][0]["DataCollectors"][0]["SampleInterval"] == 6


def failures():
    output = logman("create", "counter", NAME, "-c", r"\System\Threads", code=0x80300109)
    assert output["error"] == "Data Collector already exists." and NAME in output["detail"], output
    assert "sets" not in output
    assert logman("stop", NAME, code=0x80300104)["error"] == "Data Collector Set is not running."
    assert "-ets" in logman("query", "-est", code=0x80070057)["detail"]
    assert logman("-config", "none.txt", code=0x80070002)["error"] == "The system cannot find the file specified."
    assert logman("query", "providers", "no such provider", code=0x80070490)["detail"]


def every_pla_code_has_windows_message():
    source = os.environ["OPENPLA_SOURCE_DIR"]
    with open(os.path.join(source, "engine", "base", "wintypes.h"), encoding="utf-8") as f:
        codes = set(re.findall(r"#define PLA_E_\w+ +\(\(HRESULT\)(0x\w+)\)", f.read()))
    with open(os.path.join(source, "cli", "logman", "errors.def"), encoding="utf-8") as f:
        output = set(re.findall(r"CODE\((0x\w+),", f.read()))
    assert len(codes) > 20 and codes <= output, codes - output


def rejects_invalid_sessions():
    """The error is Windows' message for the code, which scripts compare; our explanation is in another field."""
    output = logman("create", "alert", NAME, "-th", r"\System\Threads>5", "-ets", code=0x80300102)
    assert output["error"] == ("The current configuration for this Data Collector Set requires that it contain exactly one "
                               "Data Collector."), output
    assert "alert" in output["detail"].lower(), output


def names_unwritable_file():
    path = os.path.join("no such folder", "x.xml")
    output = logman("export", NAME, "-xml", path, code=0x80070003)
    assert output["error"] == "The system cannot find the path specified." and path in output["detail"], output


def providers_and_traces():
    assert any(one["DisplayName"] == "Windows Kernel Trace" for one in logman("query", "providers")["providers"])
    one = logman("query", "providers", "Windows Kernel Trace")["providers"][0]
    assert one["Guid"] == "{9E814AAD-3204-11D2-9A82-006008A86939}", one
    assert {"Key": "Process Events", "Description": "Process Events", "Value": "0x1"} in one["Keywords"], one
    assert one["Levels"] and one["Processes"] == [], one
    logman("delete", NAME)
    logman("create", "trace", NAME, "-p", PROVIDER, "0xFFFFFFFFFFFFFFFF", "4")
    output = logman("query", NAME)["sets"][0]["DataCollectors"][0]["TraceDataProviders"][0]
    assert output["Guid"] == PROVIDER and output["KeywordsAny"]["Values"] == ["0xFFFFFFFFFFFFFFFF"], output
    assert output["Level"]["Values"] == ["0x4"], output
    logman("delete", NAME)
    assert logman("query", "-ets")["sets"] is not None


def main():
    with tempfile.TemporaryDirectory() as folder:
        if not EMULATOR:
            os.environ["OPENPLA_DATA"], os.environ["OPENPLA_ETW"] = os.path.join(folder, "data"), NAME
        try:
            sets(folder)
            failures()
            every_pla_code_has_windows_message()
            rejects_invalid_sessions()
            names_unwritable_file()
            providers_and_traces()
        finally:
            subprocess.run([*EMULATOR, PROGRAM, "logman", "delete", NAME], stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600, check=False)


main()
