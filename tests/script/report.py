#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""report.py [SECONDS]: the report of a run agrees with the run's logs. Otherwise a user would read wrong numbers. Runs
examples/report.vbs, and a set with counters, a trace and a configuration under a known load. The test computes the
statistics from the logs as CSV, and knows the events because the load wrote them."""
import csv
import glob
import os
import re
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fault"))
import cscript  # noqa: E402
from faults import check, host_path, windows_path, wine  # noqa: E402

BIN = os.environ["OPENPLA_BIN_DIR"]
OPENPLA = os.path.join(BIN, "openpla.exe")
EXAMPLE = os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "examples", "report.vbs")
EVENTS = 1000


def run_script(script, *arguments):
    """Runs a script and returns its output lines "key: value" as a dictionary."""
    for _ in range(cscript.ATTEMPTS):
        code, text = wine("cscript", "//nologo", windows_path(script), *arguments)
        if not cscript.never_ran(code, text):
            break
    check(code == 0 and ("\n" + text).endswith("\nDone.\n"), f"{script} {arguments}: exit code {code}: {text}")
    return {key: value for key, value in re.findall(r"^(\w+): (.*)$", text, re.M)}


def log_values(log, folder):
    """Returns the log's columns as {(instance, counter) in lower case: lists of values}. Empty cells and columns are
    skipped."""
    out = os.path.join(folder, "log.csv")
    code, text = wine(OPENPLA, "relog", windows_path(log), "-f", "csv", "-o", windows_path(out))
    check(code == 0, f"relog: {code}: {text}")
    with open(out, encoding="utf-8-sig", newline="") as file:
        table = list(csv.reader(file))
    found = {}
    for at, path in enumerate(table[0][1:], 1):
        match = re.match(r"^\\\\[^\\]+\\[^\\(]+(?:\((.*)\))?\\(.*)$", path)
        check(match, f"a path: {path}")
        values = [float(row[at]) for row in table[1:] if row[at].strip()]
        if values:
            found.setdefault(tuple((part or "").lower() for part in match.groups()), []).append(values)
    return found


def rows(report, table="Table"):
    """Returns the Items of all sections, or of one table, as {column: text}."""
    return [{data.get("name"): data.text or "" for data in item.findall("Data")}
            for item in report.findall(f"Section/{table}/Item")]


def check_counters(report, log):
    """Checks mean, minimum and maximum of every counter row against the log. Returns the number of these rows."""
    found = [row for row in rows(report) if "counter" in row and row.get("mean")]
    for row in found:
        series = log.get((row.get("instance", "").lower(), row["counter"].lower()), [])
        reported = [float(row[column]) for column in ("mean", "min", "max")]
        expected = [[sum(values) / len(values), min(values), max(values)] for values in series]
        check(any(all(abs(a - b) <= 1e-6 * max(1, abs(b)) for a, b in zip(reported, statistics)) for statistics in expected),
              f"{row}: the log has {expected}")
    return len(found)


def check_logs(path, log):
    report = ElementTree.parse(path).getroot()
    with tempfile.TemporaryDirectory() as folder:
        count = check_counters(report, log_values(glob.glob(os.path.join(os.path.dirname(path), log + ".*"))[0], folder))
    check(count >= 5, f"rows of counters: {count}")
    return report, count


def example():
    name = f"Report{os.getpid()}"
    output = run_script(EXAMPLE, name, "4")
    path = host_path(output["Report"])
    check(os.path.isfile(path), f"the report does not exist: {output}")
    check(output["Failed"] == "0", f"Run did not create the report again: {output}")
    report, count = check_logs(path, "Load")
    sections = [section.get("name") for section in report.findall("Section")]
    check(sections == ["summarySection", "cpuSection"], f"the sections of the schema: {sections}")
    code, text = wine(OPENPLA, "events", "-set", name)
    check(re.search(r"\b1012\b", text) and re.search(r"\b9022\b", text), f"events: {code}: {text}")
    return count


def load(seconds):
    name, script = f"Load{os.getpid()}", os.path.join(HERE, "report_load.vbs")
    with tempfile.TemporaryDirectory(dir=os.path.join(os.environ["WINEPREFIX"], "drive_c")) as root:
        run_script(script, "start", name, windows_path(root))
        code, text = wine(os.path.join(BIN, "write_described.exe"), str(EVENTS))
        check(code == 0, f"write_described: {code}: {text}")
        until = time.monotonic() + seconds
        while time.monotonic() < until:  # keeps a processor busy
            sum(range(10000))
        output = run_script(script, "stop", name)
        check(output["Result"] == "0x00000000", f"the run has its report: {output}")
        report, count = check_logs(os.path.join(root, "run", "report.xml"), "counters")
        check(rows(report, "Table[@name='sales']") ==
              [{"article": "Apple", "sold": str(EVENTS), "total": str(EVENTS * (EVENTS + 1) // 2),
                "average": str((EVENTS + 1) / 2)}], f"what was sold: {rows(report, 'Table[@name=' + repr('sales') + ']')}")
        providers = {row["provider"]: row["count"] for row in rows(report, "Table[@name='eventsByProvider']")}
        check(providers.get("Example.Shop") == str(EVENTS), f"events by provider: {providers}")
        with open(os.path.join(root, "run", "events.xml"), encoding="utf-8") as file:
            written = len(re.findall(r"Guid=\"\{7d4c9e11-52a0-4e5b-8c1f-6a2b0d9e3f77\}\"", file.read(), re.I))
        check(written == EVENTS, f"EventsFileName has each event: {written}")
        keys = [row for row in rows(report) if row.get("name", "").lower() == "currentversion"]
        check(keys, "the configuration's registry values are in the report")
    return count


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3
    print(f"{example()} and {load(seconds)} rows of counters, {EVENTS} events and a configuration agree with the logs")


main()
