#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gate.py FOLDER [BIN]: runs the benchmarks that compare with another tool or a lower limit, and prints the rows that
got worse by more than 15 % since the ratios in gate.json were recorded. FOLDER is on a tmpfs (/dev/shm) and needs some
500 MB for a minute; BIN is the benchmarks' folder (default build/native-bench/bin). gate.py --record FOLDER [BIN]
records instead.

Each row is a ratio of two measurements in one run (lower is better), so it is valid on another machine and under other
load. Each benchmark runs three times; the median counts. A row without another tool ("per calibration") is divided by
the processor time that expat needs for a fixed document. Exit codes: 0 nothing got worse, 1 a row got worse or a
benchmark failed, 2 wrong arguments."""
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import xml.parsers.expat

import arguments

RECORD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gate.json")
NATIVE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "native-bench", "bin")
RUNS, WORSE = 3, 1.15
NUMBER = r"([0-9.]+)"
# Benchmark, its arguments after the folder, and its rows: a name and the pattern of its line. "rate" means events per
# second, which are converted to seconds per million events and divided by the calibration.
BENCHMARKS = (
    ("bench_model", [], (
        ("SetXml + Xml / libxml2", rf"SetXml \+ Xml / parse \+ write to memory +{NUMBER}"),
        ("SetXml + Commit + Query / libxml2, plain write", rf"SetXml \+ Commit \+ Query / parse \+ plain write +{NUMBER}"),
        ("SetXml + Commit + Query / libxml2, safe write", rf"SetXml \+ Commit \+ Query / parse \+ safe write +{NUMBER}"),
        ("list of 1,000 sets / parsing their files", rf"listing / parsing +{NUMBER}"))),
    ("bench_store", ["1000"], (
        ("commit with the access check / without", rf"commit through the gate .*: {NUMBER}"),
        ("list with the access check / without", rf"list of all through the gate .*: {NUMBER}"),
        ("list of all / reading the files", rf"list of all +[0-9.]+ ms, reading .*: {NUMBER}"))),
    ("bench_log", [], tuple((f"{name} / raw", rf"{name} +[0-9].*time/raw {NUMBER}")
                            for name in ("CSV", "binary", "binary, each flushed", "CSV, read", "binary, read"))),
    ("bench_log_read", ["100"], (
        ("binary log of 100 MB, written / raw", rf"binary, written .*time/raw {NUMBER}"),
        ("binary log of 100 MB, read / raw", rf"binary, read .*time/raw {NUMBER}"))),
    ("bench_consumer", ["128"], (("ProcessTrace / plain read", rf"ProcessTrace takes {NUMBER}"),)),
    ("bench_dump", ["50"], (("trace as CSV / reading the file", rf"{NUMBER} times the reading of the file"),)),
    ("bench_export", ["50"], tuple((f"trace export -{name} per calibration", rf"{name} +([0-9]+) events a second", "rate")
                                   for name in ("folded", "pprof", "speedscope", "firefox", "chrome"))),
)


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def calibrate():
    document = b"<a>" + b"<Counter name='x'>\\Process(program#1)\\% Processor Time</Counter>\n" * 40000 + b"</a>"
    spans = []
    for _ in range(5):
        begun = processor_seconds()
        xml.parsers.expat.ParserCreate().Parse(document, True)
        spans.append(processor_seconds() - begun)
    return min(spans)


def measure(program, folder, more, rows):
    """Returns the rows of one run of a benchmark: name -> ratio. If several lines match, the last one counts."""
    unit = calibrate()
    target = os.path.join(folder, "trace.etl") if program.endswith("bench_consumer") else folder
    done = subprocess.run([program, target, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        print(f"{os.path.basename(program)}: ended with {done.returncode}: {done.stderr.strip()[-300:]}", file=sys.stderr)
        return None
    found = {}
    for name, pattern, *kind in rows:
        values = [float(value) for value in re.findall("^ *" + pattern if not kind else pattern, done.stdout, re.M)]
        values = values or [float(value) for value in re.findall(pattern, done.stdout)]
        if values:
            found[name] = 1e6 / values[-1] / unit if kind else statistics.median(values)
    return found


def measure_all(where, folder):
    """Returns row name -> median, and the failed benchmarks."""
    ratios, failed = {}, []
    for name, more, rows in BENCHMARKS:
        print(f"{name} ...", file=sys.stderr, flush=True)
        runs = []
        for _ in range(RUNS):
            with tempfile.TemporaryDirectory(dir=folder) as scratch:
                found = measure(os.path.join(where, name), scratch, more, rows)
            if found is None:
                break
            runs.append(found)
        missing = [row[0] for row in rows if len(runs) < RUNS or any(row[0] not in run for run in runs)]
        failed += missing
        for row in rows:
            if row[0] not in missing:
                ratios[row[0]] = statistics.median(run[row[0]] for run in runs)
    return ratios, failed


def compare(recorded, ratios, failed):
    width = max(len(name) for name in {*recorded, *ratios})
    worse = 0
    print(f"{'row':{width}} recorded      now   change")
    for name in [*ratios, *failed]:
        if name not in ratios:
            print(f"{name:{width}} {recorded.get(name, 0):8.2f}        -   FAILED: the benchmark did not print it")
        elif name not in recorded:
            print(f"{name:{width}}        - {ratios[name]:8.2f}   not recorded yet")
        else:
            change = ratios[name] / recorded[name]
            worse += change > WORSE
            print(f"{name:{width}} {recorded[name]:8.2f} {ratios[name]:8.2f} {100 * (change - 1):+7.0f} %"
                  + ("   WORSE" if change > WORSE else ""))
    for name in sorted(set(recorded) - set(ratios) - set(failed)):
        print(f"{name:{width}} {recorded[name]:8.2f}        -   no benchmark has this row (remove it from gate.json)")
    print(f"{worse} of {len(ratios)} rows got worse by more than {100 * (WORSE - 1):.0f} %, {len(failed)} failed; load "
          + " ".join(f"{load:.1f}" for load in os.getloadavg()))
    return 1 if worse or failed else 0


def main():
    record = "--record" in sys.argv[1:]
    if record:
        sys.argv.remove("--record")
    folder, where = arguments.parse_arguments(__doc__, ("FOLDER", arguments.folder), ("BIN", arguments.folder, NATIVE))
    for name, *_ in BENCHMARKS:
        if not shutil.which(os.path.join(where, name)):
            arguments.reject("BIN", where, f"{name} is missing, build it first: cmake --build --preset native-bench")
    ratios, failed = measure_all(where, folder)
    if not record:
        recorded = {}
        if os.path.exists(RECORD):
            with open(RECORD, encoding="utf-8") as file:
                recorded = json.load(file)
        return compare(recorded, ratios, failed)
    if failed:
        print("not recorded, these rows failed: " + ", ".join(failed), file=sys.stderr)
        return 1
    with open(RECORD, "w", encoding="utf-8") as file:
        json.dump({name: round(ratio, 3) for name, ratio in ratios.items()}, file, indent=2)
        file.write("\n")
    print(f"{len(ratios)} rows are in {RECORD}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
