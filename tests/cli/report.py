#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""report.py PROGRAM [EMULATOR]: "openpla report" of PROGRAM (openpla.exe) creates a report from a folder of logs,
traces and configurations. The test compares its numbers with sums computed here from the same data."""
import json
import os
import random
import struct
import tempfile
import xml.etree.ElementTree as xml

import built_trace
from program import check, openpla_streams

PROVIDER = "5b3f6bb0-1d1c-4f0a-9f5e-0c1c37a1f0a1"
NAMESPACE = 'xmlns="http://schemas.microsoft.com/diagnostics/2007/02/tracerpt"'
SCHEMA = f"""<Report {NAMESPACE} name="demo" version="1"><Sections><Section name="load" key="1" note="of a test">
<CounterTable name="processor" topic="counters" key="1" object="Processor" columns="sum count p95" chart="/% *User*/">
<Exclude column="machine"/><Include instance="i/_total/"/></CounterTable>
<EventTable name="writers" topic="events" key="2"><Column name="pid" groupby="true" sort="primary" order="ascending">
<EventField field="sys:PID" payloadGuid="{{{PROVIDER}}}" payloadId="*"/></Column>
<Column name="bytes" summary="total"><EventField field="Bytes" aggregate="total" payloadGuid="{{{PROVIDER}}}" payloadId="*"/>
</Column></EventTable></Section></Sections><StringTable><String ID="load">Load</String></StringTable>
<StringTable xml:lang="de"><String ID="load">Last</String></StringTable></Report>"""
CONFIGURATION = """<Report name="configuration" version="1"><Header><Data name="computer">HOST</Data></Header>
<Section name="network"><Table name="networkInformation"><Header><Data name="name" key="1"/></Header>
<Item><Data name="name">eth0</Data></Item></Table></Section></Report>"""


def report(expected, *arguments):
    """Returns stdout, and the whole output; an emulator merges both streams."""
    output, messages = openpla_streams(expected, "report", *arguments)
    return output, output + messages


def write(name, text):
    with open(name, "w", encoding="utf-8", newline="") as f:
        f.write(text)


def write_log(name, samples):
    lines = ['"(PDH-CSV 4.0) (UTC)(0)","\\\\HOST\\Processor(_Total)\\% User Time","\\\\HOST\\Processor(0)\\% User Time"']
    for i, value in enumerate(samples):
        shown = " " if value is None else repr(value)
        lines.append(f'"02/28/2021 15:{33 + i // 60:02}:{i % 60:02}.000","{shown}","1"')
    write(name, "\r\n".join(lines) + "\r\n")


def write_trace(name, written):
    """Writes events of one provider: (process, bytes)."""
    fields = b"Bytes\0\x08"  # UINT32
    built_trace.trace(name, [built_trace.self_described(PROVIDER, "Test.Report", "Write", fields, struct.pack("<I", size),
                                                      built_trace.START + i * built_trace.SECOND // 100, process=process)
                            for i, (process, size) in enumerate(written)])


def table(root, name):
    """Returns the rows as dictionaries; the footer, if any, is last."""
    found = [t for t in root.iter("Table") if t.get("name") == name]
    check(len(found) == 1, f"{len(found)} tables {name}", xml.tostring(root, "unicode"))
    return [{d.get("name"): d.text or "" for d in row.findall("Data")} for row in found[0] if row.tag in ("Item", "Footer")]


def header_values(root):
    return {d.get("name"): d.text for d in root.find("Header")}


def is_close(text, number):
    return abs(float(text) - number) <= 1e-9 * max(1, abs(number))


def numbers_equal_logs():
    values = [None] + [round(random.uniform(0, 100), 6) for _ in range(89)]
    values[40] = None
    written = [(random.randrange(5) * 4, random.randrange(1 << 20)) for _ in range(500)]
    os.mkdir("run")
    write("schema.xml", SCHEMA)
    write_log("run/a.csv", values)
    write_trace("run/b.etl", written)
    write("run/c.xml", CONFIGURATION)
    output, messages = report(0, "run", "-schema", "schema.xml", "-set", "Nightly")
    check(output.strip().replace("\\", "/").endswith("run/report.xml"), "the report's path is printed", output)
    check(messages.count("\n") == 1, "no warnings are printed", messages)
    root = xml.parse("run/report.xml").getroot()
    there = [v for v in values if v is not None]
    (row,) = table(root, "processor")
    check(row["counter"] == "% User Time" and row["instance"] == "_Total", "row", row)
    check(is_close(row["mean"], sum(there) / len(there)) and is_close(row["min"], min(there)) and is_close(row["max"], max(there)) and
          is_close(row["sum"], sum(there)) and row["count"] == str(len(there)) and
          is_close(row["p95"], sorted(there)[-(-95 * len(there) // 100) - 1]), "figures", row, there)
    series = root.find(".//Chart/Series").text.split()
    check(len(series) >= 80 and any(float(p.split(":")[-1]) > max(there) - 0.01 for p in series if p != "-"), "chart", series)
    (lost,) = table(root, "remarks")
    check("3 events and 0 buffers were lost" in lost["remark"], "lost events", lost)
    sums = {}
    for process, size in written:
        sums[process] = sums.get(process, 0) + size
    rows = table(root, "writers")
    check([(int(r["pid"]), float(r["bytes"])) for r in rows[:-1]] == sorted(sums.items()), "sums by process", rows, sums)
    check(float(rows[-1]["bytes"]) == sum(sums.values()), "footer", rows[-1])
    check(table(root, "networkInformation") == [{"name": "eth0"}], "configuration")
    header = header_values(root)
    check(header["set"] == "Nightly" and header["computer"] == "HOST" and header["samples"] == "90" and header["events"] == "500"
          and header["eventsLost"] == "3" and header["gaps"] == "0", "header", header)
    check(root.find(".//String[@ID='load']").text == "Load", "string")
    # A second report does not read the first one; then another language; then JSON.
    output, _ = report(0, "run", "-schema", "schema.xml", "-language", "de", "--json")
    root = xml.parse("run/report.xml").getroot()
    check(root.find(".//String[@ID='load']").text == "Last" and header_values(root)["samples"] == "90", "again")
    reported = json.loads(output)
    check(reported["name"] == "demo" and reported["facts"]["samples"] == 90 and reported["facts"]["duration"] == float(header_values(root)["duration"]),
          "JSON", output)
    tables = {table["name"]: table["rows"] for section in reported["sections"] for table in section["tables"]}
    (row,) = tables["processor"]
    check(row["counter"] == "% User Time" and is_close(row["mean"], sum(there) / len(there)) and isinstance(row["mean"], float) and
          row["count"] == len(there), "numbers are numbers in JSON", row)
    check(sum(row["bytes"] for row in tables["writers"][:-1]) == sum(sums.values()), "event numbers are JSON numbers too", tables["writers"])


def groups_rows_by_counter():
    """Logs group columns by counter or by instance; the report's rows are always grouped by counter."""
    names = [f"\\\\HOST\\Wide({i})\\{counter}" for i in range(300) for counter in ("Writes", "Idle", f"Only {i}")]
    write("wide.csv", "\r\n".join(['"(PDH-CSV 4.0) (UTC)(0)",' + ",".join(f'"{n}"' for n in names)] +
                                  [f'"02/28/2021 15:33:0{s}.000",' + ",".join(f'"{i}"' for i in range(900)) for s in (1, 2)]) +
          "\r\n")
    report(0, "wide.csv", "-o", "wide.xml")
    rows = [(r["counter"], r["instance"]) for r in table(xml.parse("wide.xml").getroot(), "Wide")]
    right = [(c, str(i)) for c in ("Writes", "Idle") for i in range(300)] + [(f"Only {i}", str(i)) for i in range(300)]
    check(rows == right, "order of rows", rows[:5], rows[298:302], rows[598:])


def writes_files_and_uses_general_schema():
    output, _ = report(0, "run/a.csv", "-o", "other.xml")
    check(output.strip().endswith("other.xml"), "output", output)
    rows = table(xml.parse("other.xml").getroot(), "Processor")
    check([r["instance"] for r in rows] == ["0", "_Total"], "general", rows)
    report(0, "run", "-schema", "schema.xml", "-events", "all.xml", "-o", "third.xml")
    with open("all.xml", encoding="utf-8") as f:
        check(f.read().count("<EventData") >= 500, "all events")
    # Without -y existing files are kept. Report and events cannot be written to the same file. Without traces, no event
    # file is written.
    write("kept.xml", "mine")
    report(1, "run", "-schema", "schema.xml", "-events", "kept.xml", "-o", "fifth.xml")
    with open("kept.xml", encoding="utf-8") as f:
        check(f.read() == "mine", "an existing file is not overwritten")
    _, messages = report(1, "run", "-schema", "schema.xml", "-events", "both.xml", "-o", "both.xml")
    check("need two files" in messages and not os.path.exists("both.xml"), "one file for both outputs", messages)
    _, messages = report(3, "run/a.csv", "-events", "none.xml", "-o", "fifth.xml")
    check("'none.xml' is not written" in messages and not os.path.exists("none.xml"), "events without traces", messages)
    # A schema may select events that this system lacks. The report says so, and this is not an error.
    write("more.xml", SCHEMA.replace('payloadId="*"', 'payloadId="77"'))
    report(0, "run", "-schema", "more.xml", "-o", "sixth.xml")
    rows = table(xml.parse("sixth.xml").getroot(), "remarks")
    check(any("the traces contain no event 77" in r["remark"] for r in rows), "selected events that the traces lack", rows)


def reports_errors():
    write("bad.xml", SCHEMA.replace('object="Processor"', ""))
    _, messages = report(3, "run", "-schema", "bad.xml", "-progress", "-o", "fourth.xml")
    check("section 'load': table 'processor': line 2: CounterTable object: the attribute is missing" in messages, "the error in the schema", messages)
    rows = table(xml.parse("fourth.xml").getroot(), "remarks")
    check(len(rows) == 2 and "bad.xml" in rows[0]["remark"], "the warning in the report", rows)
    os.mkdir("empty")
    _, messages = report(1, "empty")
    check("the inputs contain nothing to report" in messages and not os.listdir("empty"), "an empty folder", messages)
    _, messages = report(1, "run", "-schema", "absent.xml")
    check("absent.xml" in messages, "absent schema", messages)
    report(2)
    report(2, "run", "-level", "6")
    _, messages = report(1, "run/a.csv", "-o", "run/a.csv")
    check("it is an input file" in messages, "an input file is not overwritten", messages)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    random.seed(7)
    numbers_equal_logs()
    writes_files_and_uses_general_schema()
    groups_rows_by_counter()
    reports_errors()
    os.chdir("/")
