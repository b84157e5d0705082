#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""api_trace.py TARGET: a 32-bit program that `openpla run -apis` or a set traces behaves as if untraced, and its calls
are logged. Otherwise a user would see a program that behaves differently, or a log without its calls."""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fault"))
from faults import check, processes, wait_for, windows_path, wine  # noqa: E402

TARGET = windows_path(os.path.abspath(sys.argv[1]))
OPENPLA = os.path.join(os.environ["OPENPLA_BIN_DIR"], "openpla.exe")
RIGHT = 40  # the program's exit code if its calls had the same results as without a trace
DEEP = ["-recursive", "-mods", "kernel32,kernelbase,ntdll,msvcrt,user32,gdi32"]
MODES = {"names": ["-ano"], "arguments": [], "names_deep": ["-ano", *DEEP], "arguments_deep": DEEP}
WORK = {"known": "25", "byname": "20", "odd": "20", "values": "20", "unwind": "20", "threads": "100", "unload": "20"}
CREATE = r'''Api=kernel32!CreateFileW Arguments="L"C:\\no such folder\\a.txt", 0x80000000, 0x0, NULL, 3, 0x0, NULL" Result=0xffffffff LastError=3 '''


def openpla(expected, *arguments):
    code, text = wine(OPENPLA, *arguments)
    check(code == expected, f"{' '.join(arguments)}: exit code {code}, not {expected}: {text}")
    return text


def calls_of(log):
    done = json.loads(openpla(0, "trace", "api-summary", windows_path(log), "-rows", "20000", "--json"))
    return {row["name"]: row["calls"] for row in done["functions"]}


def show(log, text):
    return openpla(0, "trace", "show", windows_path(log), "-text", text)


def every_mode_runs_as_untraced(folder):
    for what, count in WORK.items():
        code, text = wine(TARGET, what, count)
        check(code == RIGHT, f"{what} untraced: exit code {code}: {text}")
        for mode, options in MODES.items():
            log = os.path.join(folder, f"{what}_{mode}.etl")
            openpla(RIGHT, "run", "-apis", windows_path(log), *options, TARGET, what, count)
            calls = calls_of(log)
            check(sum(calls.values()) > 0, f"{what}, {mode}: no calls: {calls}")


def calls_are_logged_with_their_values(folder):
    def log(name):
        return os.path.join(folder, name + ".etl")
    calls = calls_of(log("known_arguments"))
    check(calls.get("kernel32!CreateFileW") == 25 and calls.get("kernel32!MulDiv") == 1, f"calls: {calls}")
    check(show(log("known_arguments"), "CreateFileW").count(CREATE) == 25, show(log("known_arguments"), "CreateFileW"))
    check('Api=kernel32!MulDiv Arguments="6, 7, 1" Result=42 ' in show(log("known_arguments"), "MulDiv"), "a number of 32 bits")
    for mode in ("names", "arguments"):
        check(calls_of(log(f"byname_{mode}")).get("kernel32!MulDiv") == 20, f"GetProcAddress, {mode}")
    check('0, 0, 0, 0, 0, L"Arial"" Result=0x' in show(log("odd_arguments"), "CreateFontW"), "14 arguments")
    check(calls_of(log("odd_arguments")).get("user32!wsprintfA") == 20, "a variadic function")
    values = show(log("values_arguments_deep"), "msvcrt!pow")
    check('Arguments="2, 11" Result=2048 ' in values and 'Arguments="2, 10" Result=1024 ' in values, values)
    check('Arguments=""-2.25"" Result=-2.25 ' in show(log("values_arguments_deep"), "msvcrt!atof"), "a floating point result")
    check("Arguments=0xfffffff0 Result=0 " in show(log("values_arguments"), "lstrlenA"), "an invalid string")
    ticks = re.findall(r'GetTickCount64 Arguments="" Result=(\d+) ', show(log("values_arguments"), "GetTickCount64"))
    check(len(ticks) == 21 and max(map(int, ticks)) - min(map(int, ticks)) < 3600000, f"results of 64 bits: {ticks}")


def a_set_traces_each_start(folder):
    log = os.path.join(folder, "set.etl")
    openpla(0, "logman", "create", "api", "narrow", "-exe", TARGET, "-o", windows_path(log), "-f", "bin")
    os.environ["API_TARGET_AWAITS"] = "1"
    try:
        openpla(0, "logman", "start", "narrow")
        for _ in range(3):
            code, text = wine(TARGET, "known", "5")
            check(code == RIGHT, f"traced by a set: exit code {code}: {text}")
        openpla(0, "logman", "stop", "narrow")
    finally:
        del os.environ["API_TARGET_AWAITS"]
        wine(OPENPLA, "logman", "stop", "narrow")
        wine(OPENPLA, "logman", "delete", "narrow")
    check(calls_of(log).get("kernel32!CreateFileW") == 15, f"calls of three processes: {calls_of(log)}")


def running_process_is_traced(folder):
    """The XML of an imported set requests that API tracing attaches to running programs."""
    log, xml, end = (os.path.join(folder, name) for name in ("attach.etl", "attach.xml", "end"))
    openpla(0, "logman", "create", "api", "narrow", "-exe", TARGET, "-o", windows_path(log), "-f", "bin")
    openpla(0, "logman", "export", "narrow", "-xml", windows_path(xml))
    openpla(0, "logman", "delete", "narrow")
    with open(xml, encoding="utf-16") as file:
        text = file.read()
    with open(xml, "w", encoding="utf-16") as file:
        file.write(text.replace("</DataCollectorSet>", '<Value name="OpenPLA.ApiAttach">yes</Value></DataCollectorSet>'))
    openpla(0, "logman", "import", "narrow", "-xml", windows_path(xml))
    runner = os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "cmake/wine-run.sh")
    process = subprocess.Popen(["sh", runner, TARGET, "until"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, env={**os.environ, "API_TARGET_FILE": windows_path(end)})
    try:
        wait_for("the program runs", lambda: processes("api_target"))
        openpla(0, "logman", "start", "narrow")
        wait_for("calls in the log", lambda: os.path.exists(log) and os.path.getsize(log) > 1 << 20)
    finally:
        with open(end, "w", encoding="ascii"):
            pass
        code = process.wait(240)
        wine(OPENPLA, "logman", "stop", "narrow")
        wine(OPENPLA, "logman", "delete", "narrow")
    check(code == RIGHT, f"attached to: exit code {code}")
    check(calls_of(log).get("kernel32!MulDiv", 0) > 1000, f"attached to: {calls_of(log)}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        every_mode_runs_as_untraced(folder)
        calls_are_logged_with_their_values(folder)
        a_set_traces_each_start(folder)
        running_process_is_traced(folder)
    print("ok")


main()
