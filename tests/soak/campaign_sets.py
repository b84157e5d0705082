# SPDX-License-Identifier: MIT
"""The eight sets of the campaign, their definitions, and what their logs must contain."""
import bisect
import collections
import csv
import datetime
import glob
import json
import os
import re
import xml.etree.ElementTree as ElementTree

from faults import check, windows_path

PROVIDER = "{5C1D2A8E-3B6F-4E0A-9D57-1F0B6A2C8E43}"  # of examples/write_events.c
STEP_ID = 2
TRACED = "kernel32!GetFileAttributesW"  # the traced program calls it continuously
COUNTERS = [r"\Processor(_Total)\% Processor Time", r"\Memory\Available Bytes", r"\System\Processes"]
RETAINED = 4   # folders
EDGE = 2.5     # s; maximum time between a start or end in the journal and the nearest sample of the run
ALWAYS = '<Value name="OpenPLA.Restart">always</Value>'
RETENTION = (f"<DataManager><Enabled>-1</Enabled><CheckBeforeRunning>-1</CheckBeforeRunning><MaxFolderCount>{RETAINED}"
             "</MaxFolderCount><ResourcePolicy>1</ResourcePolicy></DataManager>")


def counters(file_format, interval, more="", file="log"):
    paths = "".join(f"<Counter>{path}</Counter>" for path in COUNTERS)
    return (f"<PerformanceCounterDataCollector><Name>log</Name><FileName>{file}</FileName><FileNameFormat>512"
            f"</FileNameFormat><LogFileFormat>{file_format}</LogFileFormat><SampleInterval>{interval}</SampleInterval>{more}{paths}"
            "</PerformanceCounterDataCollector>")


class Set:
    """A data collector set. `kind` selects how its logs are checked; `always`: it runs during the whole campaign."""
    def __init__(self, name, kind, body, always=True, interval=0):
        self.name, self.kind, self.body, self.always, self.interval = "campaign-" + name, kind, body, always, interval

    def definition(self, root, more=""):
        return (f"<DataCollectorSet><RootPath>{windows_path(root)}</RootPath><Subdirectory>{self.name}</Subdirectory>"
                f"{self.body}{more}{ALWAYS if self.always else ''}</DataCollectorSet>")

    def folder(self, root):
        return os.path.join(root, self.name)


def all_sets(target):
    segments = "<Segment>-1</Segment><SegmentMaxDuration>{}</SegmentMaxDuration>"
    trace = (f"<TraceDataCollector><Name>trace</Name><FileName>log</FileName><FileNameFormat>512</FileNameFormat><SessionName>"
             f"campaign-trace</SessionName><TraceDataProvider><Guid>{PROVIDER}</Guid><Level><Value>5</Value></Level>"
             "</TraceDataProvider></TraceDataCollector>")
    alert = ("<AlertDataCollector><Name>alert</Name><FileName>log</FileName><SampleInterval>1</SampleInterval><EventLog>-1"
             r"</EventLog><Alert>\System\Processes&gt;0</Alert></AlertDataCollector>")
    configuration = ("<StopOnCompletion>-1</StopOnCompletion><ConfigurationDataCollector><Name>machine</Name><FileName>log"
                     "</FileName><FileNameFormat>512</FileNameFormat><QueryNetworkAdapters>-1</QueryNetworkAdapters>"
                     r"<RegistryKey>HKEY_LOCAL_MACHINE\Software\Microsoft\Windows NT\CurrentVersion\</RegistryKey>"
                     "</ConfigurationDataCollector>")
    excluded = "<ExcludeApis>kernel32!MulDiv</ExcludeApis>"  # the program calls it a thousand times per millisecond
    api = ("<SubdirectoryFormat>512</SubdirectoryFormat><ApiTracingDataCollector><Name>api</Name><FileName>log</FileName>"
           f"<LogApiNamesOnly>-1</LogApiNamesOnly><ExePath>{windows_path(target)}</ExePath><IncludeModule>kernel32"
           f"</IncludeModule>{excluded}</ApiTracingDataCollector>")
    numbered = "<SubdirectoryFormat>512</SubdirectoryFormat>"
    return [
        Set("segments", "samples", segments.format(0) +
            counters(0, 1, "<SegmentMaxRecords>20</SegmentMaxRecords>"), interval=1),
        Set("binary", "samples", segments.format(45) + counters(3, 2), interval=2),
        Set("alert", "alert", alert, interval=1),
        Set("trace", "trace", segments.format(60) + trace),
        Set("api", "api", segments.format(40) + api + RETENTION),
        Set("retention", "retention", segments.format(15) + numbered + counters(1, 1) + RETENTION, interval=1),
        Set("schedule", "samples", "<Duration>20</Duration>" + counters(0, 1, file="log-NUMBER"), always=False, interval=1),
        Set("configuration", "configuration", configuration, always=False),
    ]


def next_schedule(when):
    """Returns the XML of a schedule that starts the set once, at this full second."""
    return (f"<Schedule><StartDate>{when.month}/{when.day}/{when.year}</StartDate><EndDate/>"
            f"<StartTime>{when.strftime('%I:%M:%S %p')}</StartTime><Days>0</Days></Schedule>")


# ---- samples ----

def parse_time(text):
    return datetime.datetime.strptime(text, "%m/%d/%Y %H:%M:%S.%f").timestamp()


def text_samples(path, separator):
    """Returns the times of the samples. The last line must be complete, even if the set host process was killed."""
    with open(path, "rb") as file:
        raw = file.read()
    check(not raw or raw.endswith(b"\r\n"), f"{path}: the last line is incomplete: {raw[-80:]}")
    rows = list(csv.reader(raw.decode("cp1252").splitlines(), delimiter=separator))
    check(all(len(row) == len(rows[0]) for row in rows), f"{path}: lines of different lengths")
    return [parse_time(row[0]) for row in rows[1:]]


def samples(openpla, path, scratch):
    """Returns the times of the samples in a log of any format."""
    if not path.endswith(".blg"):
        return text_samples(path, "\t" if path.endswith(".tsv") else ",")
    if os.path.getsize(path) == 0:
        return []
    out = os.path.join(scratch, "samples.csv")
    code, text = openpla("relog", windows_path(path), "-f", "csv", "-o", windows_path(out), "-y")
    if code and "no samples" in text.lower():
        return []
    check(code == 0, f"{path} cannot be read: {code}: {text}")
    try:
        return text_samples(out, ",")
    finally:
        os.remove(out)


def alert_rows(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        raw = file.read()
    check(raw.endswith("\r\n"), f"{path}: the last line is incomplete: {raw[-80:]!r}")
    rows = list(csv.reader(raw.splitlines()))
    check(all(len(row) == 7 for row in rows), f"{path}: incomplete rows")
    return [parse_time(row[0]) for row in rows[1:]]


def runs_of(times, boundaries):
    """Splits the samples into runs. For each start or end of a run, splits at the largest gap near that time."""
    ends = set()
    for boundary in boundaries:
        first = max(bisect.bisect(times, boundary - EDGE) - 1, 0)
        last = min(bisect.bisect(times, boundary + EDGE), len(times) - 1)
        if first < last:
            ends.add(max(range(first, last), key=lambda i: times[i + 1] - times[i]))
    runs, begin = [], 0
    for end in sorted(ends):
        runs.append(times[begin:end + 1])
        begin = end + 1
    return runs + [times[begin:]]


def missing_in(run, interval):
    """Computes from the gaps how many samples are missing between the first and the last one. After a late sample the
    next gap is shorter, so the gaps are added up."""
    missing, debt = 0, 0.0
    for before, after in zip(run, run[1:]):
        check(after > before, f"samples out of order: {before}, {after}")
        debt += after - before - interval
        if debt > 0.7 * interval:  # the gap after a late sample is shorter; only what remains is missing
            lost = round(debt / interval)
            missing += lost
            debt -= lost * interval
    return missing


# ---- traces ----

Writer = collections.namedtuple("Writer", "begin end count code")  # writers run one after the other


def trace_events(openpla, path):
    """Returns (time, process, number) of each step that write_events wrote."""
    code, text = openpla("trace", "show", windows_path(path), "-provider", PROVIDER, "--json")
    check(code == 0, f"{path} cannot be read: {code}: {text[:400]}")
    events = []
    for line in text.splitlines():
        if not line.startswith("{"):
            continue
        event = json.loads(line)
        if event["id"] != STEP_ID:
            continue
        time = datetime.datetime.strptime(event["time"][:26] + "+0000", "%Y-%m-%dT%H:%M:%S.%f%z").timestamp()
        events.append((time, event["process"], int.from_bytes(bytes.fromhex(event["undecoded"]["data"][:8]), "little")))
    return events


def check_events(what, events, writers, changes, down):
    """Selects the writers that ran undisturbed: there was a session all the time, and no session started or ended.
    Checks that the logs have each event of these writers exactly once. Returns the number of these writers and the
    number of their events."""
    events = sorted(events)
    times = [event[0] for event in events]
    whole, found = 0, 0
    for writer in writers:
        own = [event[1:] for event in events[bisect.bisect(times, writer.begin):bisect.bisect(times, writer.end)]]
        check(len(own) == len(set(own)), f"{what}: events of the process {own[0][0] if own else ''} are in the logs twice")
        if writer.code or any(writer.begin - 5 <= change <= writer.end + 5 for change in changes) or \
                any(begin <= writer.end and writer.begin <= end for begin, end in down):
            continue
        check(sorted(number for _, number in own) == list(range(writer.count)),
              f"{what}: a process ({writer.begin:.3f} to {writer.end:.3f}) wrote {writer.count} events, the logs have {len(own)}")
        whole += 1
        found += len(own)
    return whole, found


# ---- the other kinds ----

def check_configurations(folder, killed):
    """Checks that every document is well-formed, and complete unless the set host process was killed. Returns the
    number of documents."""
    files = sorted(glob.glob(os.path.join(folder, "*.xml")))
    incomplete = 0
    for path in files:
        try:
            root = ElementTree.parse(path).getroot()
        except ElementTree.ParseError as error:
            check(False, f"{path} is not well-formed: {error}")
        incomplete += root.get("complete") != "1"
    check(incomplete <= killed, f"{incomplete} of {len(files)} configurations are incomplete, {killed} were interrupted")
    return len(files)


def check_api_log(openpla, path):
    code, text = openpla("trace", "api-summary", windows_path(path), "--json")
    check(code == 0, f"{path} cannot be read: {code}: {text}")
    calls = {row["name"]: row["calls"] for row in json.loads(text)["functions"]}
    return calls.get(TRACED, 0)


def numbered_folders(root, name):
    return sorted(folder for folder in glob.glob(os.path.join(root, name + "*"))
                  if re.fullmatch(re.escape(name) + r"_\d+", os.path.basename(folder)))
