#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""relog_formats.py PROGRAM [EMULATOR]: other programs can read the log copies that PROGRAM (openpla.exe) writes as
relog. They find the values that a CSV copy has. These programs are promtool (Debian: prometheus) and npm's apache-arrow
(npm install apache-arrow) in the node_modules that OPENPLA_ARROW names. If one is missing, its part is skipped (exit
code 77)."""
import csv
import datetime
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from program import EMULATOR, PROGRAM, check, openpla

ARROW = os.environ.get("OPENPLA_ARROW")
ARROW = os.path.abspath(ARROW) if ARROW else None
HEADER = '"(PDH-CSV 4.0) (Zone)(-60)","\\\\BOX\\Memory\\Available MBytes","\\\\BOX\\Process(a)\\% Processor Time"'
SHOW = """const a = require(process.argv[1]), t = a.tableFromIPC(require('fs').readFileSync(process.argv[2]));
const columns = t.schema.fields.map((f, i) => ({name: f.name, type: String(f.type), values: [...t.getChildAt(i)].map(Number),
  nulls: [...t.getChildAt(i)].map(v => v === null)}));
console.log(JSON.stringify({columns, batches: t.batches.length, metadata: Object.fromEntries(t.schema.metadata)}));"""


def tool(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    check(done.returncode == 0, f"{' '.join(command)}: exit code {done.returncode}", done.stdout.decode("utf-8", "replace"))
    return done.stdout.decode("utf-8")


def read(name):
    with open(name, encoding="utf-8", newline="") as f:
        return f.read()


def write(name, lines):
    with open(name, "w", encoding="cp1252", newline="") as f:
        f.write("".join(line + "\r\n" for line in lines))


def copied(log, format_name, name, *more, code=0):
    openpla(code, "relog", log, "-f", format_name, "-o", name, "-y", *more)
    return name


def columns_of(log, *more):
    """Returns a log's CSV copy: times in seconds since 1970, and {path: values}, None for a missing value."""
    with open(copied(log, "csv", "expected.csv", *more), encoding="cp1252", newline="") as f:
        rows = list(csv.reader(f))
    bias = 60 * int(re.search(r"\((-?\d+)\)$", rows[0][0]).group(1))
    zone = datetime.timezone.utc
    times = [datetime.datetime.strptime(row[0], "%m/%d/%Y %H:%M:%S.%f").replace(tzinfo=zone).timestamp() + bias for row in rows[1:]]
    return times, {name: [float(row[i + 1]) if row[i + 1].strip() else None for row in rows[1:]] for i, name in enumerate(rows[0][1:])}


def same(a, b):
    return a is None and b is None if a is None or b is None else math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-300)


def json_lines(log, *more):
    times, columns = columns_of(log, *more)
    lines = [json.loads(line) for line in read(copied(log, "jsonl", "copy.jsonl", *more)).splitlines()]
    check(len(lines) == len(times) > 0, "a line for each sample", lines)
    for i, line in enumerate(lines):
        stamp = datetime.datetime.fromisoformat(line.pop("time").replace("Z", "+00:00")).timestamp()
        check(abs(stamp - times[i]) < 0.0015, "time", stamp, times[i])
        check(list(line) == list(columns), "the counters in their order", line)
        check(all(same(line[name], columns[name][i]) for name in columns), "values", line)


def arrow(log, *more):
    times, columns = columns_of(log, *more)
    copied(log, "arrow", "copy.arrow", *more)
    with open("copy.arrow", "rb") as f:
        bytes_of = f.read()
    check(bytes_of[:6] == bytes_of[-6:] == b"ARROW1", "the magic bytes of an Arrow file", bytes_of[:8], bytes_of[-8:])
    if not ARROW or not shutil.which("node"):
        return "npm's apache-arrow"
    table = json.loads(tool("node", "-e", SHOW, os.path.join(ARROW, "apache-arrow"), "copy.arrow"))
    stamp, *counters = table["columns"]
    check(stamp["name"] == "time" and stamp["type"] == "Timestamp<NANOSECOND, UTC>", "the time", stamp["name"], stamp["type"])
    check(all(abs(ms / 1000 - t) < 0.0015 for ms, t in zip(stamp["values"], times)) and len(stamp["values"]) == len(times), "times", stamp["values"][:3], times[:3])
    check([c["name"] for c in counters] == list(columns) and {c["type"] for c in counters} == {"Float64"}, "columns", [c["name"] for c in counters])
    for c in counters:
        values = [None if null else v for v, null in zip(c["values"], c["nulls"])]
        check(len(values) == len(times) and all(map(same, values, columns[c["name"]])), c["name"], values, columns[c["name"]])
    return table


def arrow_files():
    missing = arrow("wild.blg")
    if isinstance(missing, str):
        return missing
    check(missing["metadata"] == {"computer": "BOX", "bias_minutes": "0", "zone": "Somewhere", "interval_seconds": "1"}, "the log's metadata", missing["metadata"])
    arrow("wild.blg", "-t", "2", "-c", "\\Memory\\*")
    check(arrow("long.csv")["batches"] > 1, "a long log is written in parts")
    return None


def influx():
    times, columns = columns_of("wild.blg")
    fields = {}
    for line in read(copied("wild.blg", "influx", "copy.lp")).splitlines():
        series, values, stamp = re.fullmatch(r"((?:[^ \\]|\\.)+) ((?:[^ \\]|\\.)+) (\d+)", line).groups()
        for name, value in re.findall(r"((?:[^,=\\]|\\.)+)=([^,]+)", values):
            fields[series, name, int(stamp) / 1e9] = float(value)
    expected = {}
    for series, field, path in (("win_mem,host=BOX,objectname=Memory", "Available_MBytes", "\\\\BOX\\Memory\\Available MBytes"),
                                ("win_proc,host=BOX,instance=b#1,objectname=Process", "Percent_Processor_Time", "\\\\BOX\\Process(b#1)\\% Processor Time"),
                                ("win_proc,host=BOX,instance=b,objectname=Process", "Percent_Processor_Time", "\\\\BOX\\Process(b)\\% Processor Time"),
                                ("win_proc,host=BOX,instance=a,objectname=Process", "Percent_Processor_Time", "\\\\BOX\\Process(a)\\% Processor Time"),
                                ("win_proc,host=BOX,instance=c,objectname=Process", "Percent_Processor_Time", "\\\\BOX\\Process(c)\\% Processor Time"),
                                ("win_system,host=BOX,objectname=System", "Context_Switches_persec", "\\\\BOX\\System\\Context Switches/sec")):
        expected.update({(series, field, t): v for t, v in zip(times, columns[path]) if v is not None})
    check(fields == expected, "the fields", fields, expected)


def dumped(name):
    """Imports an OpenMetrics file with promtool. Returns {series: [(seconds, value)]} of the resulting blocks."""
    shutil.rmtree("blocks", ignore_errors=True)
    tool("promtool", "tsdb", "create-blocks-from", "openmetrics", name, "blocks")
    os.makedirs("blocks/wal", exist_ok=True)  # promtool's dump expects the folders of an opened database
    series = {}
    for line in tool("promtool", "tsdb", "dump", "blocks").splitlines():
        labels, value, stamp = re.fullmatch(r"(\{.*\}) (\S+) (\d+)", line).groups()
        series.setdefault(labels, []).append((int(stamp) / 1000, float(value)))
    return {labels: sorted(points) for labels, points in series.items()}


def openmetrics():
    text = read(copied("wild.blg", "openmetrics", "copy.om"))
    check(text.endswith("\n# EOF\n"), "the end", text[-100:])
    families = re.findall(r"^# TYPE (\S+) ", text, re.M)
    order = [name for name in re.findall(r"^(\w+?)(?:_total|_sum|_count)?(?:\{.*\})? ", text, re.M)]
    check(len(set(families)) == len(families) and [f for i, f in enumerate(order) if i == 0 or order[i - 1] != f] == families, "each family together", order)
    computed = read(copied("long.csv", "openmetrics", "long.om"))
    check("# TYPE windows_process_processor_time_ratio gauge\n" in computed, "computed values are gauges", computed[:500])
    if not shutil.which("promtool"):
        return "promtool"
    times, columns = columns_of("wild.blg")
    series = dumped("copy.om")
    check(series['{__name__="windows_memory_available_bytes", computer="BOX"}'] == [(t, v * 1048576) for t, v in
          zip(times, columns["\\\\BOX\\Memory\\Available MBytes"])], "a gauge in base units", series)
    for labels, path, unit in (('{__name__="windows_system_context_switches_total", computer="BOX"}', "\\\\BOX\\System\\Context Switches/sec", 1),
                               ('{__name__="windows_process_processor_time_seconds_total", computer="BOX", name="b"}', "\\\\BOX\\Process(b)\\% Processor Time", 0.01)):
        points, rates = series[labels], dict(zip(times, columns[path]))
        check(len(points) >= 2, "points", points)
        for (t0, v0), (t1, v1) in zip(points, points[1:]):
            check(math.isclose((v1 - v0) / (t1 - t0), rates[t1] * unit, rel_tol=1e-9), f"a rate of {path}", points, rates)
    long = dumped("long.om")
    check({len(points) for points in long.values()} == {LONG}, "all samples of a long log", {k: len(v) for k, v in long.items()})
    check(long['{__name__="windows_memory_available_bytes", computer="BOX"}'][7][1] == 7 * 1048576, "a value of a long log")
    return None


def requires_format_for_other_extensions():
    for name, word in (("u.arrow", "ARROW"), ("u.jsonl", "JSONL"), ("u.lp", "INFLUX"), ("u.om", "OPENMETRICS"), ("u.feather", "ARROW"), ("u.ndjson", "JSONL")):
        output = openpla(2, "relog", "wild.blg", "-o", name)
        check(f"-o '{name}': the default format is BIN (use -f {word}, or the extension .blg)" in output and not os.path.exists(name), f"{name}: the format is required", output)
    output = openpla(2, "relog", "wild.blg", "-f", "arrow", "-o", "u.arrow", "-a")
    check("-a: cannot append to a file of the format ARROW" in output, "appending", output)
    output = openpla(2, "relog", "wild.blg", "-f", "parquet", "-o", "u.parquet")
    check("expected one of bin, csv, tsv, sql, arrow, jsonl, influx, openmetrics" in output, "all formats", output)
    output = openpla(2, "typeperf", "\\Memory\\*", "-f", "jsonl", "-o", "u.jsonl")
    check("-f: only relog can write 'jsonl': expected one of bin, csv, tsv, sql (use openpla relog -f JSONL)" in output, "typeperf", output)


def translates_names_to_english():
    write("german.csv", ['"(PDH-CSV 4.0) (Zone)(0)","\\\\BOX\\Prozessor(_Total)\\Prozessorzeit (%)"', '"02/28/2021 03:13:20.000","12.5"'])
    output = openpla(0, "relog", "german.csv", "-f", "openmetrics", "-o", "german.om")
    check("1 of 1 counter" in output and "German" in output, "a message", output)
    check('windows_processor_processor_time_ratio{computer="BOX",name="_Total"} 0.125 1614482000.000\n' in read("german.om"), "OpenMetrics", read("german.om"))
    check(read(copied("german.csv", "influx", "german.lp")) ==
          "win_cpu,host=BOX,instance=_Total,objectname=Processor Percent_Processor_Time=12.5 1614482000000000000\n", "Influx", read("german.lp"))
    check("Prozessorzeit" in read(copied("german.csv", "jsonl", "german.jsonl")), "columns have the log's names")


def interrupt_leaves_no_part():
    """OpenMetrics is written only after the last sample was read."""
    with open("err.txt", "wb") as err:
        running = subprocess.Popen([PROGRAM, "relog", "long.csv", "-f", "openmetrics", "-o", "cut.om"], stdin=subprocess.DEVNULL, stdout=err, stderr=err)
        while not (os.path.exists("cut.om.partial") and os.path.getsize("cut.om.partial") > 0):
            check(running.poll() is None, "the program is interrupted before it is done", read("err.txt"))
            time.sleep(0.001)
        running.send_signal(signal.SIGINT)
        code = running.wait()
    check(code == 1 and not os.path.exists("cut.om") and not os.path.exists("cut.om.partial"), f"exit code {code}", read("err.txt"))
    check("interrupted by the user" in read("err.txt"), "the reason", read("err.txt"))


LONG = 70000
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    subprocess.run([*EMULATOR, os.path.join(os.path.dirname(PROGRAM), "write_wildcard_log" + os.path.splitext(PROGRAM)[1]), "wild.blg"], check=True)
    write("long.csv", [HEADER] + ['"02/%02d/2021 %02d:%02d:%02d.000","%d","12.5"' % (1 + i // 86400, i // 3600 % 24, i // 60 % 60, i % 60, i) for i in range(LONG)])
    requires_format_for_other_extensions()
    json_lines("wild.blg")
    json_lines("wild.blg", "-t", "2", "-c", "\\Process(*)\\*", "-b", "2021-02-28 02:13:21")
    influx()
    translates_names_to_english()
    if not EMULATOR:
        interrupt_leaves_no_part()
    missing = [name for name in (arrow_files(), openmetrics()) if name]
    os.chdir("/")
if missing:
    print(f"skipped: needs {', '.join(missing)} for a part")
    sys.exit(77)
print("relog_formats: passed")
