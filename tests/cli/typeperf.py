#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""typeperf.py PROGRAM [EMULATOR]: typeperf of PROGRAM (openpla.exe) does what its help says. Bugs would miss samples,
log other counters than those listed, or truncate a file."""
import csv
import datetime
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM, EMULATOR = sys.argv[1], sys.argv[2:]
os.environ["OPENPLA_SAMPLE_LIMIT"] = "0"  # on a busy machine a sample is slow
IDLE, LIMIT = r"\Processor(_Total)\% Idle Time", r"\Memory\Commit Limit"


def start(*arguments):
    command = [*EMULATOR, PROGRAM, *arguments]
    out, err = open("out.txt", "wb"), open("err.txt", "wb")  # services keep a pipe open
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)


def texts():
    with open("out.txt", encoding="utf-8", newline="") as out, open("err.txt", encoding="utf-8") as err:
        given, messages = out.read(), err.read()
    return given, given + messages  # the emulator merges both streams


def check(right, what, *more):
    if not right:
        sys.exit("\n".join(["FAILED: " + what, *map(str, more)]))


def typeperf(expected, *arguments):
    code = start("typeperf", *arguments).wait()
    out, err = texts()
    check(code == expected, f"typeperf {' '.join(arguments)}: exit code {code}, not {expected}", out, err)
    return out, err


def rows_of(text, delimiter=","):
    lines = [line for line in text.splitlines() if line.startswith('"')]
    return list(csv.reader(lines, delimiter=delimiter))


def shows_counters():
    begun = time.monotonic()
    rows = rows_of(typeperf(0, IDLE, LIMIT, "-sc", "3", "-si", "0.3")[0])
    check(time.monotonic() - begun >= 0.9, "3 samples take at least 2 intervals")
    check(rows[0][0] == "(PDH-CSV 4.0)" and rows[0][1].endswith(IDLE) and rows[0][1].startswith("\\\\"), "header", rows[0])
    check(len(rows) == 4 and all(len(row) == 3 for row in rows), "3 rows of 2 values", rows)
    for row in rows[1:]:
        check(re.fullmatch(r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d\.\d{3}", row[0]), "time", row)
        check(0 <= float(row[1]) <= 101 and float(row[2]) > 1e6, "values", row)
    out = typeperf(0, LIMIT, "-sc", "1", "-si", "0.1", "-f", "TSV")[0]
    check(len(rows_of(out, "\t")[1]) == 2, "TSV", out)
    lines = typeperf(0, IDLE, "-sc", "2", "-si", "0.1", "--json")[0].splitlines()
    samples = [json.loads(line) for line in lines]
    check(len(samples) == 2 and samples[0]["time"].endswith("Z"), "JSON", lines)
    check(samples[1]["values"][0]["counter"].endswith(IDLE) and samples[1]["values"][0]["value"] >= 0, "JSON", lines)


def wildcards_and_files():
    with open("counters.txt", "w", encoding="utf-8") as f:
        f.write(f"; what is watched\n\n{LIMIT}\n\\Processor(*)\\% Idle Time\n")
    rows = rows_of(typeperf(0, "-cf", "counters.txt", "-sc", "1", "-si", "0.1")[0])
    check(len(rows[0]) >= 4 and rows[0][-1].endswith(IDLE), "columns", rows)
    check(all(value != " " for value in rows[1]), "all values are present", rows)
    rows = rows_of(typeperf(0, IDLE, IDLE.lower(), r"\Processor(_T*)\% Idle Time", "-sc", "1", "-si", "0.1")[0])
    check(len(rows[0]) == 2, "a repeated counter has one column", rows)


def reports_errors():
    out, err = typeperf(3, LIMIT, r"\No Such Object\X", "-sc", "1", "-si", "0.1")
    check("No Such Object" in err and len(rows_of(out)[1]) == 2, "the other counters are collected", out, err)
    check(out.replace("\r", "").startswith('\n"(PDH-CSV 4.0)"'), "the header is still in the second line", out)
    out = typeperf(1, r"\Memory\Nothing", "-sc", "1")[0]
    check("the object has no such counter" in out, "the reason", out)
    check(out.replace("\r", "").startswith("\nError: No valid counters.\n"), "the message of Windows' typeperf", out)
    for path in (r"\Process(no such program)\Thread Count", r"\Process\Thread Count"):
        check("the instance does not exist" in typeperf(1, path, "-sc", "1")[1], f"{path}: a missing instance is an error")
    typeperf(1, r"\\not-this-one\Memory\Commit Limit", "-sc", "1")
    typeperf(1, "-cf", "no such file")
    for wrong in ([], [LIMIT, "-si", "1:2:3:4"], [LIMIT, "-si", "x"], [LIMIT, "-f", "XLS"],
                  [LIMIT, "-f", "BIN"], [LIMIT, "-sc", "0"], [LIMIT, "-o", "a", "-f", "SQL"], [LIMIT, "-nonsense"]):
        typeperf(2, *wrong)


def keeps_stderr_empty():
    """npm's perfmon gives up if there is any output on stderr; Windows' typeperf writes nothing there. Only in native
    builds, because Wine itself writes to stderr."""
    for code, arguments in ((0, [LIMIT, "-sc", "1"]), (3, [LIMIT, r"\No Such Object\X", "-sc", "1"]),
                            (1, [r"\Memory\Nothing"]), (1, ["-cf", "no such file"]), (2, [LIMIT, "-nonsense"]),
                            (1, ["-q", "Nothing"]), (0, [LIMIT, "-sc", "1", "-o", "quiet.csv"]),
                            (1, [LIMIT, "-sc", "1", "-o", "quiet.csv"])):
        out, both = typeperf(code, *arguments)
        check(out == both and ("\r\nError: " in out) == (code in (1, 2)), f"{arguments}: stderr", out, both)
    out, both = typeperf(3, LIMIT, r"\Memory\Nothing", "-sc", "1", "--json")
    check(json.loads(out) and "no such counter" in both, "stdout has only JSON", out, both)


def suggests_names_for_mistyped_counters():
    for wrong, right in ((r"\Memroy\Commit Limit", LIMIT), (r"\Memory\Comit Limit", LIMIT),
                         (r"\Procesor(_Total)\% Idle Tme", IDLE), (r"\Processor(_Total)\Idle Time", IDLE)):
        out = typeperf(1, wrong, "-sc", "1")[0]
        check(f" (did you mean '{right}'?) (0x" in out, f"{wrong}: {right} is not offered", out)
    check(" (did you mean the object 'Memory'?) (0x" in typeperf(1, r"\Memry\Zzzzzzz", "-sc", "1")[0], "a suggested object")
    check("nearest" not in typeperf(1, r"\Zzzzzzz\X", "-sc", "1")[0], "no suggestion for an unrelated name")
    check(" (did you mean 'Processor'?) (0x" in typeperf(1, "-q", "Procesor")[0], "a suggested object with -q")


def skips_late_samples():
    """After a process was stopped for a while, for example because the computer was suspended, it does not make up for
    missed samples: two samples at the same time would count events twice. Only in native builds, where the test can
    stop a process."""
    running = start("typeperf", LIMIT, "-si", "0.05", "-sc", "40", "--json")
    while len(samples := texts()[0].splitlines()) < 5:
        time.sleep(0.02)
        check(running.poll() is None, "it ended by itself", *texts())
    running.send_signal(signal.SIGSTOP)
    time.sleep(1)  # twenty samples are missed
    running.send_signal(signal.SIGCONT)
    check(running.wait() == 0, "exit code", *texts())
    samples = [json.loads(line)["time"] for line in texts()[0].splitlines()]
    times = [datetime.datetime.fromisoformat(text.replace("Z", "+00:00")) for text in samples]
    distances = [(b - a).total_seconds() for a, b in zip(times, times[1:])]
    check(len(samples) == 40 and min(distances) >= 0.01 and max(distances) >= 1, "missed samples are not made up for", sorted(distances)[:5])
    times = [json.loads(line)["time"] for line in typeperf(0, LIMIT, "-si", "0", "-sc", "30", "--json")[0].splitlines()]
    times = [datetime.datetime.fromisoformat(text.replace("Z", "+00:00")) for text in times]
    check(min((b - a).total_seconds() for a, b in zip(times, times[1:])) >= 0.01, "-si 0 keeps at least 10 ms between samples", samples)


def accepts_command_lines_of_scripts():
    """-c before the counters, -si 0, the lines after the rows, and a list that -cf accepts."""
    out = typeperf(0, "-c", LIMIT, IDLE, "-si", "0", "-sc", "2")[0]
    check(len(rows_of(out)) == 3 and len(rows_of(out)[0]) == 3, "-c and -si 0", out)
    lines = out.replace("\r", "").split("\n")
    check(lines[0] == "" and lines[4:] == ["", "Exiting, please wait..." + " " * 25, "The command completed successfully.", ""],
          "the rows begin in the third line, and the final lines are those that scripts expect", lines)
    out = typeperf(0, "-q", "Memory", "-o", "list.txt")[0]
    check(LIMIT not in out and "The command completed successfully." in out, "the list goes to the file", out)
    with open("list.txt", encoding="utf-8", newline="") as f:
        check(LIMIT + "\r\n" in f.read(), "its lines")
    check("exists" in typeperf(1, "-q", "-o", "list.txt")[1], "an existing file is not overwritten without -y")
    check(len(rows_of(typeperf(0, "-cf", "list.txt", "-sc", "1", "-si", "0")[0])[0]) > 5, "what -q lists -cf takes")


def writes_logs():
    for name, form in (("a.csv", "CSV"), ("a.tsv", "TSV"), ("a.blg", "BIN")):
        typeperf(0, IDLE, LIMIT, "-sc", "3", "-si", "0.1", "-o", name, "-f", form)
        check(start("relog", name, "-f", "CSV", "-o", "copy.csv", "-y").wait() == 0, f"relog {name}", *texts())
        with open("copy.csv", encoding="cp1252", newline="") as f:
            rows = list(csv.reader(f))
        check(len(rows) == 4 and rows[0][1].endswith(IDLE), name, rows)
        check(all(float(row[2]) > 1e6 for row in rows[1:]) and float(rows[2][1]) >= 0, name, rows)
    out, err = typeperf(1, LIMIT, "-sc", "1", "-o", "a.csv")
    check("exists" in err, "an existing log is not overwritten without -y", err)
    typeperf(0, LIMIT, "-sc", "1", "-o", "a.csv", "-y")
    typeperf(1, LIMIT, "-sc", "1", "-o", os.path.join("no such folder", "a.csv"))


def lists_counters():
    paths = typeperf(0, "-q")[0].split("\r\n")
    check(LIMIT in paths and r"\Processor(*)\% Idle Time" in paths, "-q", paths[:20])
    paths = typeperf(0, "-qx", "processor")[0].split("\r\n")
    check(r"\Processor(0)\% Idle Time" in paths and IDLE in paths, "-qx", paths[:20])
    check(not any(path.startswith(r"\Memory") for path in paths), "-qx of one object", paths[:20])
    rows = {row["path"]: row for row in json.loads(typeperf(0, "-q", "Memory", "--json")[0])}
    check(rows[LIMIT] == {"path": LIMIT, "object": "Memory", "counter": "Commit Limit",
                          "type": "PERF_COUNTER_LARGE_RAWCOUNT", "unit": "bytes", "help": rows[LIMIT]["help"],
                          "source": "meminfo.CommitLimit * 1024"} and "in bytes" in rows[LIMIT]["help"],
          "-q --json", rows[LIMIT])
    units = {row["counter"]: row["unit"] for row in rows.values()}
    check(units["Available MBytes"] == "MiB" and units["Pages/sec"] == "1/s" and units["% Committed Bytes In Use"] == "%",
          "units", units)
    out = typeperf(1, "-q", "Nothing")[0]
    check("no such object" in out and "\r\nError: The specified object was not found on the computer.\r\n" in out, "-q of nothing", out)
    if EMULATOR:
        return  # under Wine the same takes seconds
    # Other programs may provide counters at the same time. In a native build, other tests do.
    with open(os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "docs", "reference", "counters.md"), encoding="utf-8") as f:
        ours = {line[3:].strip() for line in f if line.startswith("## ")}
    every = [row for row in json.loads(typeperf(0, "-q", "--json")[0]) if row["object"] in ours]
    check(len(every) > 100 and all(row["type"] and row["help"] and row["source"] for row in every),
          "all our counters have a source", [row for row in every if not row["source"]][:3])


def interrupt_leaves_complete_file():
    """Only in native builds: under Wine, a signal to the loader does not reach the program as Ctrl+C in a terminal
    does."""
    running = start("typeperf", LIMIT, "-si", "0.1", "-o", "i.blg", "-f", "BIN")
    while not os.path.exists("i.blg") or os.path.getsize("i.blg") < 1000:
        time.sleep(0.1)
        check(running.poll() is None, "it ended by itself", *texts())
    time.sleep(0.5)
    running.send_signal(signal.SIGINT)
    check(running.wait(240) == 0, "exit code", *texts())
    check(start("relog", "i.blg", "-f", "CSV", "-o", "i.csv").wait() == 0, "the log is readable after Ctrl+C", *texts())


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    shows_counters()
    wildcards_and_files()
    reports_errors()
    writes_logs()
    lists_counters()
    accepts_command_lines_of_scripts()
    suggests_names_for_mistyped_counters()
    if not EMULATOR:
        keeps_stderr_empty()
        skips_late_samples()
        interrupt_leaves_complete_file()
    os.chdir("/")
print("typeperf does what its help says")
