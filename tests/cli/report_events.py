#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""report_events.py PROGRAM [EMULATOR]: the event tables of `openpla report` have the sums of the events that `openpla
tracerpt` writes as CSV for the same traces. Wrong sums would blame the wrong process."""
import csv
import os
import random
import struct
import tempfile
import xml.etree.ElementTree as ElementTree
from collections import defaultdict

from built_trace import SECOND, START, self_described, trace
from program import check, host_path, openpla

MAKER, OTHER = "11112222-3333-4444-5555-666677778888", "99990000-1111-2222-3333-444455556666"
FIELDS = b"Name\0\x01Size\0\x08Ratio\0\x0c"
PID, TID, OPCODE, TIME, NAME, SIZE, RATIO = 9, 10, 6, 16, 19, 20, 21
TABLES = """
<EventTable name="byProcess" rowcount="100">
 {pid}<Column name="bytes" sort="primary" summary="total" format="#,##0">{total}</Column>
 <Column name="rate">{rate}</Column><Column name="mean">{mean}</Column><Column name="ratio">{ratio}</Column>
 <Column name="count" summary="total">{count}</Column><Column name="requests">{requests}</Column>
 <SubTable><Column name="name">{name}</Column><Column name="size" sort="primary">{size}</Column></SubTable>
</EventTable>
<EventTable name="byName">
 <Column name="name" groupby="true" sort="primary" order="ascending">{name}</Column>
 <Column name="bytes">{total}</Column></EventTable>
<EventTable name="largest" rowcount="7"><Column name="size" sort="primary">{size}</Column>
 <Column name="when">{time}</Column></EventTable>
<EventTable name="transactions" transaction="true">
 <Column name="thread" groupby="true" sort="primary" order="ascending">{tid}</Column>
 <Column name="ms">{response}</Column><Column name="count">{count}</Column></EventTable>
<EventTable name="joined"><Column name="name" groupby="true" sort="primary" order="ascending">{name}</Column>
 <Column name="others">{others}</Column>
 <EqualJoin><EventJoinField field="Name" payloadGuid="{{{maker}}}" payloadId="0"/>
 <EventJoinField field="Name" payloadGuid="{{{other}}}" payloadId="0"/></EqualJoin></EventTable>
<EventTable name="absent"><Column name="all">{absent}</Column></EventTable>
<EventTable name="byProvider"><Column name="provider" groupby="true" sort="primary" order="ascending">{provider}</Column>
 <Column name="count">{all}</Column></EventTable>
"""


def field(name, aggregate=None, provider=MAKER, ident="0"):
    more = f' aggregate="{aggregate}"' if aggregate else ""
    return f'<EventField field="{name}" payloadGuid="{{{provider}}}" payloadId="{ident}"{more}/>'


def make():
    chance = random.Random(5)
    events, now = [], START
    for i in range(3000):
        now += chance.randrange(1, SECOND // 50)
        name = f"file {chance.randrange(40)}"
        data = (name + "\0").encode("utf-16-le") + struct.pack("<Id", chance.randrange(1 << 20), chance.random())
        mine = chance.random() < 0.9
        events.append((i % 2, self_described(MAKER if mine else OTHER, "Maker" if mine else "Other", "Made", FIELDS, data,
                                             now, process=4 * chance.randrange(1, 9), thread=4 * chance.randrange(1, 6),
                                             opcode=chance.choice((0, 1, 2)))))
    trace("one.etl", events[:2000], processors=2)
    trace("two.etl", events[2000:], processors=2)
    none = "00000000-0000-0000-0000-000000000000"
    tables = TABLES.format(
        maker=MAKER, other=OTHER, pid=f'<Column name="pid" groupby="true">{field("sys:PID")}</Column>', tid=field("sys:TID"),
        total=field("Size", "total"), rate=field("Size", "rate"), mean=field("Size", "average"),
        ratio=field("Ratio", "total"), count=field("sys:AggregateCount"), requests=field("sys:RequestRate"),
        name=field("Name"), size=field("Size"), time=field("sys:Timestamp"),
        response=field("sys:ResponseTime", "total"), others=field("Size", "total", OTHER),
        absent=field("sys:AggregateCount", None, MAKER, "77"),
        provider=field("sys:ProviderName", None, none, "*"), all=field("sys:AggregateCount", None, none, "*"))
    with open("schema.xml", "w", encoding="utf-8") as f:
        f.write(f'<Report name="r" version="1"><Sections><Section name="s" key="1">{tables}</Section></Sections></Report>')


def read_events():
    """Returns all events in time order as tracerpt shows them, without the log headers."""
    openpla(0, "tracerpt", host_path("one.etl"), host_path("two.etl"), "-o", host_path("dump.csv"), "-of", "CSV")
    with open("dump.csv", newline="", encoding="utf-8") as f:
        found = [row for row in list(csv.reader(f))[1:] if row[0].endswith("/Made")]
    check(len(found) == 3000, f"tracerpt has {len(found)} of 3000 events")
    return sorted(found, key=lambda row: int(row[TIME]))


def cells(item):
    return [data.text or "" for data in item.findall("Data")]


def is_close(shown, right):
    return abs(float(shown) - right) <= 1e-9 * max(1, abs(right))


def main():
    make()
    events = read_events()
    openpla(0, "report", host_path("one.etl"), host_path("two.etl"), "-schema", host_path("schema.xml"), "-o",
            host_path("report.xml"))
    root = ElementTree.parse("report.xml").getroot()
    output = "\n".join(root.find("Section[@name='howMade']").itertext())
    check(f"table absent: the traces contain no event 77 of {{{MAKER}}}" in output, "selected events that the traces lack", output)
    check("the traces lost 6 events, so" in output, "lost events from the log headers", output)
    check(root.find("Header/Data[@name='eventsLost']").text == "6", "lost events in the report's header")
    tables = {table.get("name"): table for table in root.findall("Section/Table")}
    check("absent" not in tables, "a table without events")
    mine = [row for row in events if row[0] == "Maker/Made"]
    seconds = (int(events[-1][TIME]) - int(events[0][TIME])) / SECOND

    groups = defaultdict(list)
    for row in mine:
        groups[int(row[PID], 16)].append(row)
    totals = {pid: sum(int(row[SIZE]) for row in rows) for pid, rows in groups.items()}
    items = tables["byProcess"].findall("Item")
    check([int(cells(item)[0]) for item in items] == sorted(totals, key=totals.get, reverse=True), "order of processes",
          [cells(item) for item in items])
    for item in items:
        pid, total, rate, mean, ratio, count, requests = cells(item)
        rows = groups[int(pid)]
        check(int(total) == totals[int(pid)] and int(count) == len(rows), f"sums of process {pid}", cells(item))
        check(is_close(rate, int(total) / seconds) and is_close(mean, int(total) / len(rows)) and
              is_close(ratio, sum(float(row[RATIO]) for row in rows)) and is_close(requests, len(rows) / seconds),
              f"rates of process {pid}", cells(item), seconds)
        below = [cells(sub) for sub in item.findall("Table/Item")]
        ordered = sorted(rows, key=lambda row: -int(row[SIZE]))
        check(below == [[row[NAME], row[SIZE]] for row in ordered], f"events of process {pid}", below[:3])
    footer = cells(tables["byProcess"].find("Footer"))
    check(int(footer[1]) == sum(totals.values()) and int(footer[5]) == len(mine), "footer", footer)
    heads = tables["byProcess"].find("Header").findall("Data")
    check([head.get("name") for head in heads][:2] == ["pid", "bytes"] and heads[1].get("format") == "#,##0" and
          heads[1].get("sort") == "primary", "header", [head.attrib for head in heads])

    by_name = defaultdict(int)
    for row in mine:
        by_name[row[NAME]] += int(row[SIZE])
    check([cells(item) for item in tables["byName"].findall("Item")] ==
          [[name, str(total)] for name, total in sorted(by_name.items())], "by name")

    largest = sorted(mine, key=lambda row: -int(row[SIZE]))[:7]
    check([cells(item) for item in tables["largest"].findall("Item")] == [[row[SIZE], row[TIME]] for row in largest],
          "largest")

    open_, spent = defaultdict(list), defaultdict(list)
    for row in mine:
        thread = int(row[TID], 16)
        if row[OPCODE] == "1":
            open_[thread].append(int(row[TIME]))
        elif row[OPCODE] == "2" and open_[thread]:
            spent[thread].append((int(row[TIME]) - open_[thread].pop()) / 10000)
    found = {int(one[0]): one for one in (cells(item) for item in tables["transactions"].findall("Item"))}
    check(sorted(found) == sorted(spent), "threads of transactions", found)
    for thread, times in spent.items():
        check(is_close(found[thread][1], sum(times)) and int(found[thread][2]) == len(times), "transactions", found[thread],
              sum(times), len(times))

    others = defaultdict(list)
    for row in events:
        if row[0] == "Other/Made":
            others[row[NAME]].append(int(row[SIZE]))
    times = {name: sum(1 for row in mine if row[NAME] == name) for name in others}
    check([cells(item) for item in tables["joined"].findall("Item")] ==
          [[name, str(times[name] * sum(sizes))] for name, sizes in sorted(others.items()) if times[name]], "joined")

    providers = dict(cells(item) for item in tables["byProvider"].findall("Item"))
    check(providers == {"Maker": str(len(mine)), "Other": str(len(events) - len(mine))},
          "by provider, without the logs' own headers", providers)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
    os.chdir("/")
