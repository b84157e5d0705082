#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rules_packs.py PROGRAM [EMULATOR]: each built-in rule finds its problem in a log of eight hours and reports the time.
Just below its limit, or for too short a time, it reports nothing, and no rule reports anything for a healthy day. The
values come from rules_packs.txt and rules_healthy.txt, which have a row per rule and counter."""
import datetime
import json
import os
import random
import re
import tempfile
import xml.etree.ElementTree as xml

from program import check, openpla, openpla_streams

HERE = os.path.dirname(os.path.abspath(__file__))
PARTS, SPAN = ("when", "cause", "details", "resolution"), ("first", "last")
SAMPLES, SECONDS, NOON = 480, 60, 240  # eight hours from 08:00 on
NUMBER = r"-?\d+(?:\.\d+)?"
SERIES = re.compile(f"(?P<base>{NUMBER})(?P<unit>[MR]?)"
                    rf"(?:\+(?P<hot>{NUMBER})[MR]?x(?P<minutes>\d+)|\.\.(?P<end>{NUMBER})|>(?P<step>{NUMBER})|~(?P<peak>{NUMBER}))?$")


def rows_of(name, columns):
    with open(os.path.join(HERE, name), encoding="utf-8") as f:
        for line in f.read().splitlines():
            if line and not line.startswith("#"):
                cells = line.split(" | ")
                yield cells + [""] * (columns - len(cells))


def series(text, memory):
    """Returns the samples that a cell describes."""
    m = SERIES.match(text)
    check(m, f"not a series: {text}")
    unit = {"": 1, "M": memory, "R": memory * 1048576}[m["unit"]]
    base, values = float(m["base"]), []
    for i in range(SAMPLES):
        value = base
        if m["hot"] and NOON <= i < NOON + max(int(m["minutes"]), 1):
            value = float(m["hot"])
        elif m["end"]:
            value = base + (float(m["end"]) - base) * i / (SAMPLES - 1)
        elif m["step"] and i >= NOON:
            value = float(m["step"])
        elif m["peak"] and not i % 10:
            value = float(m["peak"])
        values.append(value * unit)
    return values


def name_of(path):
    """Returns the counter without its instance."""
    return re.sub(r"\(.*?\)\\", r"\\", path, count=1)


class Case:
    """A rule, the counters of its log, and the expected warning."""

    def __init__(self, row, value, severity, memory):
        first, *others = row[2].split("; ")
        self.rule, self.value, self.severity = row[1], value, severity
        self.counters = {first: series(value, memory)}
        self.absent = {name_of(other[1:]) for other in others if other.startswith("!")}
        for other in others:
            if other.startswith("!"):
                continue
            path, number = other.rsplit(" = ", 1)
            self.counters[path] = series(number, memory)

    def can_share_log(self, counters, absent):
        """Whether the case can share a log. Rules compare all instances of a counter, so other instances would count
        too."""
        names = {name_of(path) for path in self.counters}
        if names & absent or self.absent & {name_of(path) for path in counters}:
            return False
        return all(self.counters.get(path) == values for path, values in counters.items() if name_of(path) in names)


def write_log(name, computer, counters):
    lines = [",".join(f'"{cell}"' for cell in ["(PDH-CSV 4.0) (UTC)(0)"] + [f"\\\\{computer}\\{path}" for path in counters])]
    for i in range(SAMPLES):
        at = datetime.datetime(2026, 3, 2, 8) + datetime.timedelta(seconds=SECONDS * i)
        lines.append(f'"{at:%m/%d/%Y %H:%M:%S}.000",' + ",".join(f'"{values[i]:.9g}"' for values in counters.values()))
    with open(name, "w", encoding="utf-8", newline="") as f:
        f.write("\r\n".join(lines) + "\r\n")


def share_logs(cases):
    """Combines the cases into as few logs as possible; cases with a common counter need separate logs."""
    logs = []
    for case in cases:
        log = next((log for log in logs if case.can_share_log(log[0], log[2])), None)
        if not log:
            log = ({}, [], set())
            logs.append(log)
        log[0].update(case.counters)
        log[1].append(case)
        log[2].update(case.absent)
    return logs


def findings(computer, counters):
    write_log("packs.csv", computer, counters)
    report = "packs.xml"
    openpla(0, "report", "packs.csv", "-o", report, "-y")
    text, messages = openpla_streams(None, "rules", report, "--json")
    check(not messages, messages)
    return {warning["rule"]: warning for warning in json.loads(text)["warnings"]}


def run_cases(cases, computer):
    wrong = []
    for counters, shared, _ in share_logs(cases):
        found = findings(computer, counters)
        for case in shared:
            warning = found.get(case.rule)
            severity = warning["severity"] if warning else "nothing"
            if severity != case.severity:
                wrong.append(f"{case.rule}: {case.value}: {severity} instead of {case.severity}")
            elif warning and not all(warning[part] for part in (*PARTS, *(() if "~" in case.value else SPAN))):
                wrong.append(f"{case.rule}: incomplete: {warning}")
            elif warning and "x" in case.value and not "2026-03-02T11" < warning["first"] <= "2026-03-02T12:00:00.000Z":
                wrong.append(f"{case.rule}: {case.value}: first is {warning['first']}")
    check(not wrong, f"{len(wrong)} findings", *wrong)


def own_computer():
    """Returns this computer's name, and its memory in MB, because some limits are percentages of it."""
    openpla(0, "typeperf", r"\Memory\Available MBytes", "-sc", "1", "-f", "CSV", "-o", "own.csv", "-y")
    openpla(0, "report", "own.csv", "-o", "own.xml", "-y")
    header = xml.parse("own.xml").getroot().find("Header")
    return header.find("Data[@name='computer']").text, float(header.find("Data[@name='memory']").text)


def each_rule_has_a_row(listed, rows):
    names = [(rule["pack"].removeprefix("Rules.").removesuffix(".xml"), rule["rule"]) for rule in listed]
    check(len(names) == len({rule for _, rule in names}), "two rules have one name", names)
    check(sorted(names) == sorted((row[0], row[1]) for row in rows), "rules and rows differ",
          set(names) ^ {(row[0], row[1]) for row in rows})
    check(len(names) >= 110, "rules", len(names))
    for rule in listed:
        check(rule["source"] and rule["limits"].startswith("\\") and rule["enabled"], "a rule without source or limits", rule)


def each_rule_finds_its_problem(listed, rows, computer, memory):
    severities = {rule["rule"]: rule["severity"].split(", ") for rule in listed}
    cases = [Case(row, row[4], severities[row[1]][0], memory) for row in rows]
    cases += [Case(row, row[5], "error", memory) for row in rows if row[5]]
    run_cases(cases, computer)


def finds_nothing_below_limit(rows, computer, memory):
    run_cases([Case(row, value, "nothing", memory) for row in rows for value in row[3].split(" or ")], computer)


def a_healthy_day_reports_nothing(rows, computer, memory):
    """The log has all counters of all rules, with noise."""
    chance, counters = random.Random(1), {}
    for path, least, most in rows_of("rules_healthy.txt", 3):
        counters[path] = [chance.uniform(a, b) for a, b in zip(series(least, memory), series(most, memory))]
    named = {name_of(path) for row in rows for path in Case(row, row[4], "", memory).counters}
    healthy = {name_of(path) for path in counters}
    check(not named - healthy, "counters that a healthy day lacks", named - healthy)
    found = findings(computer, counters)
    check(not found, "a healthy day", *found.values())


def main():
    rows = list(rows_of("rules_packs.txt", 6))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        listed = json.loads(openpla(0, "rules", "-list", "--json"))["rules"]
        each_rule_has_a_row(listed, rows)
        computer, memory = own_computer()
        each_rule_finds_its_problem(listed, rows, computer, memory)
        finds_nothing_below_limit(rows, computer, memory)
        a_healthy_day_reports_nothing(rows, computer, memory)
        os.chdir("/")


if __name__ == "__main__":
    main()
