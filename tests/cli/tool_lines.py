#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tool_lines.py LINES PROGRAM: the command lines in LINES, which administrators use in scripts and on web pages for
Windows' typeperf, relog and tracerpt, exit with the listed code and write the listed output, when run by a program of
that name. A line marked "unserved" has its reason there; no other line may fail, and a marked line that now works is
reported. Each line runs in its own folder with the logs and traces that it names. A command without an end is stopped
by Ctrl+C after it has written something. OPENPLA_LINES_OUT=FILE writes new outcomes."""
import csv
import json
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree

LINES, PROGRAM = sys.argv[1], os.path.abspath(sys.argv[2])
import evtx_read
from built_trace import SECOND, START, self_described, trace

PATIENCE = 240
TOOLS = ("typeperf", "relog", "tracerpt")
HEADER = '"(PDH-CSV 4.0) (Zone)(-60)","\\\\BOX\\Memory\\Available MBytes","\\\\BOX\\Processor(_Total)\\% Processor Time"'
# Values of the scripts' variables.
VALUES = {"$countersPaths": r'"\Memory\Commit Limit"', "$Warmup": "2", "$Samples": "2", "%v%": "v4", "%%": "%",
          r"%1\%2_%INSTANCE_NAME%": r"out\a_b", "$ODBCName!$DatabaseName": "Test!db", "$file": "perf.blg",
          "$sPerfmonLogPaths": "pal.blg", "$($global:oPal.Session.CounterListFilterFilePath)": "filter.txt",
          "$($global:oPal.RelogedLogFilePath)": "relogged.csv", "logger_00000%1": "logger_000001",
          "$($perf_file.FullName)": "one.blg", "$($counter.Value.xPath)": r"\Memory\*", "$($counter.Name)": "memory",
          "$($perf_file.DirectoryName)\\": "", '"$_"': '"base.blg"', "$($_.BaseName)": "base", "$Source": "source.etl",
          "$Summary": "sum.txt", "%ETL%": "boot.etl", "%SystemDrive%": "C:", "%XML%": "boot.xml", "%SUM%": "boot.txt",
          "$pantherLogsPath": "panther", "$filename": "name", "$outputFolder": "out"}
SOURCES = ("Test", "PerfmonVault", "PerfmonData")


def split_line(line):
    for name, value in sorted(VALUES.items(), key=lambda v: -len(v[0])):
        line = line.replace(name, value)
    words = [re.sub(r'"', "", word) for word in re.findall(r'(?:"[^"]*"|\S)+', line)]
    return [as_path(word) for word in words]


def as_path(word):
    """Makes a path relative to the line's folder; counters and databases stay unchanged."""
    if word.startswith("\\") or word.startswith("SQL:"):
        return word
    return word.replace("\\", "/")


def inputs_of(words):
    """Returns the files that a line reads."""
    option = ""
    for word in words[1:]:
        if word[0] in "-/–" and not word.startswith("//"):
            option = word.lstrip("-/–").lower()
        elif option not in ("o", "summary", "report", "export", "f", "of"):
            yield word
        else:
            option = ""


def make(folder, words):
    for name in inputs_of(words):
        name = name.replace("*", "1")
        extension = os.path.splitext(name)[1]
        path = os.path.join(folder, name)
        if extension in (".blg", ".csv", ".etl", ".txt", ".man") and not name.startswith("\\"):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if extension == ".txt":
                with open(path, "w", encoding="utf-8") as file:
                    file.write("\\Memory\\Available MBytes\n" if words[0] == "relog" else "\\Memory\\Commit Limit\n")
            else:
                os.link(("old" if name.endswith("srv1.blg") else "sample") + extension, path)
    for word in words[1:]:
        if "/" in word:
            os.makedirs(os.path.dirname(os.path.join(folder, word)), exist_ok=True)


def samples():
    for name, day in (("sample", "02/28/2021"), ("old", "01/31/2010")):
        rows = ['"%s 03:13:%02d.000","%d","%s"' % (day, 20 + i, 1000 - i, "12.5" if i else " ") for i in range(10)]
        with open(name + ".csv", "w", encoding="ascii", newline="") as file:
            file.write("".join(row + "\r\n" for row in [HEADER] + rows))
        subprocess.run([PROGRAM, "relog", name + ".csv", "-o", name + ".blg"], stdout=subprocess.DEVNULL, check=True)
    trace("sample.etl", [self_described("11112222-3333-4444-5555-666677778888", "Maker", "Made", b"Size\0\x08",
                                        struct.pack("<I", i), START + i * SECOND) for i in range(5)])
    with open("sample.man", "w", encoding="ascii") as file:
        file.write('<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"><instrumentation>'
                   '<events><provider name="Shop" guid="{99990000-1111-2222-3333-444455556666}" symbol="SHOP"><events>'
                   '<event value="1"/></events></provider></events></instrumentation></instrumentationManifest>')
    with open("odbc.ini", "w", encoding="ascii") as file:
        for source in SOURCES:
            file.write(f"[{source}]\nDriver=SQLite3\nDatabase={os.getcwd()}/{source}.db\n")
    for tool in TOOLS:
        os.symlink(PROGRAM, tool)


# ---- the outcome ----

def describe_log(path):
    """Describes a log: format, counters without computer and instances, and samples (for a live log a minimum)."""
    done = subprocess.run([PROGRAM, "logstat", "--json", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    try:
        log = json.loads(done.stdout.decode("utf-8"))[0]
    except ValueError:
        return "no log"
    names = sorted({re.sub(r"^\\\\[^\\]*|\([^)]*\)", "", c["path"]) for c in log["counters"]})
    return f"{log['format']} of {', '.join(names)}: {log['samples']} samples"


def describe_file(path):
    extension = os.path.splitext(path)[1]
    with open(path, "rb") as file:
        data = file.read()
    if data.startswith(b"<?xml") or data.startswith(b"\xef\xbb\xbf<?xml"):
        root = ElementTree.fromstring(data)
        return f"XML, {root.tag.split('}')[-1]} with {len(root)} events"
    if extension == ".evtx":
        return f"event log, {len(evtx_read.read(path))} events"
    text = data.decode("utf-8", "replace")
    if text.startswith("<!DOCTYPE html>"):
        return f"a page of {len(re.findall('<table', text))} tables" # its script depends on the chart library
    processed = re.search(r"Total Events  Processed (\d+)", text)
    if processed:
        return f"summary of {processed[1]} events"
    if text.startswith("Event Name,"):
        return f"CSV, {len(list(csv.reader(text.splitlines()))) - 1} events"
    if extension in (".csv", ".tsv", ".blg") or text.startswith('"(PDH'):
        return describe_log(path)
    return f"{len(text.splitlines())} lines, the first: {text.splitlines()[0] if text else ''}"


def describe_screen(tool, text):
    """Describes the screen output that a script would use."""
    lines = [line.strip() for line in text.replace("\r", "").split("\n")]
    if any(line.startswith("Error: ") for line in lines):
        return ""
    header = next((line for line in lines if line.startswith('"(PDH')), None)
    if header:
        names = sorted({re.sub(r"^\\\\[^\\]*|\([^)]*\)", "", name) for name in next(csv.reader([header]))[1:]})
        shown = names if len(names) < 4 else [names[0], "..."]
        kinds = f"header of {', '.join(shown)}; " + ("rows" if any(re.match(r'"\d\d/', line) for line in lines) else "no row")
        return kinds + ("; " + lines[-2] if "The command completed successfully." in lines else "")
    if tool == "typeperf" and lines[0].startswith("\\"):
        return "counters; " + lines[-2]
    labels = [line for line in lines if re.match(r"(Input|Output|Begin|End|Samples|File|DumpFile|Summary|Report|Schema|100)", line)]
    listed = sum(line.startswith("\\\\") for line in lines)
    return "; ".join(labels + ([f"{listed} counters"] if listed else []) + [line for line in lines if line.startswith("The command")])


def messages_of(text):
    """Returns the messages after "Error: " on stdout, as Windows' tools print them, and warnings."""
    return "\n".join(re.sub("^Error: ", "", line) for line in text.replace("\r", "").split("\n") if
                     re.search(r"^Error: |^openpla | \(0x[0-9A-F]{8}\)$", line))


def describe_errors(text):
    """Returns the first line on stderr without this computer's name and without the progress display."""
    text = re.sub(r"\r *\r|\r? *[0-9.]+ % *", "", text)
    first = text.strip().split("\n")[0]
    return re.sub(r"\\\\[\w-]+\\", r"\\", re.sub(r" \(0x[0-9A-F]{8}\)$", "", first))


def exits_without_ctrl_c(words):
    """Whether the tool exits soon without Ctrl+C."""
    return words[0] != "typeperf" or ("-sc" in words and int(words[words.index("-sc") + 1]) < 3)


class Line:
    def __init__(self, number, text):
        self.text, self.words = text, split_line(text)
        self.words[0] = self.words[0].removesuffix(".exe")
        self.folder = f"line{number}"
        os.mkdir(self.folder)
        make(self.folder, self.words)
        self.before = self.files()
        self.out, self.err = open(f"{self.folder}.out", "w+b"), open(f"{self.folder}.err", "w+b")
        self.begun = time.monotonic()
        self.process = subprocess.Popen([os.path.abspath(self.words[0]), *self.words[1:]], cwd=self.folder,
                                        stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.err)
        self.stopped = exits_without_ctrl_c(self.words)

    def files(self):
        return {os.path.relpath(os.path.join(path, name), self.folder)
                for path, _, names in os.walk(self.folder) for name in names}

    def has_output(self):
        """Whether a binary log has a sample, or another file has a header and a row. A second row may take ten more
        seconds."""
        path = self.out.name
        if "-o" in self.words:
            path = os.path.join(self.folder, self.words[self.words.index("-o") + 1])
        if not os.path.exists(path):
            return False
        with open(path, "rb") as file:
            data = file.read()
        return len(data) > 200 if path.endswith(".blg") else len(re.findall(rb'^"', data, re.M)) > 1

    def poll(self):
        """Whether the command has exited. A command with more than two samples is stopped after the first."""
        if self.process.poll() is not None:
            return True
        if time.monotonic() - self.begun > PATIENCE:
            self.process.kill()
        elif not self.stopped and time.monotonic() - self.begun > 1 and self.has_output():
            self.process.send_signal(signal.SIGINT)
            self.stopped = True
        return False

    def outcome(self):
        tool = self.words[0]
        texts = []
        for file in (self.out, self.err):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
            file.close()
        found = [f"{self.process.returncode}"]
        screen = describe_screen(tool, texts[0])
        found += [screen] if screen else []
        messages = describe_errors(texts[1] or messages_of(texts[0]))
        found += ["said: " + messages] if messages else []
        for name in sorted(self.files() - self.before):
            digest = describe_file(os.path.join(self.folder, name))
            found.append(f"{name}: {re.sub(r': [0-9]+ samples', '', digest) if tool == 'typeperf' else digest}")
        return [re.sub(re.escape(os.getcwd()) + "/?", "", text) for text in found]


def read_lines():
    """Returns the lines with their outcomes, and the text between them unchanged."""
    with open(LINES, encoding="utf-8") as file:
        parts = []
        for row in file.read().splitlines():
            if row.startswith("\t"):
                parts[-1][1].append(row[1:])
            else:
                parts.append((row, []))
    return parts


def main():
    parts = read_lines()
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        os.environ.update(ODBCINI=os.path.join(scratch, "odbc.ini"), OPENPLA_SAMPLE_LIMIT="0", TZ="UTC",
                          OPENPLA_ETW=f"lines{os.getpid()}",
                          # unixODBC leaks what it read from odbc.ini, and unloads itself before the sanitizer can print
                          # a function name
                          ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0")
        samples()
        waiting, lines = [], {}
        for i, (text, _) in enumerate(parts):
            if text and not text.startswith("#"):
                while len(waiting) > 15:
                    waiting = [line for line in waiting if not line.poll()]
                    time.sleep(0.05)
                lines[i] = Line(i, text)
                waiting.append(lines[i])
        while waiting:
            waiting = [line for line in waiting if not line.poll()]
            time.sleep(0.05)
        wrong, written = [], []
        for i, (text, expected) in enumerate(parts):
            written.append(text)
            if i not in lines:
                continue
            marks = [row for row in expected if row.startswith("unserved: ")]
            outcome = lines[i].outcome()
            written += ["\t" + row for row in marks + outcome]
            if marks and outcome[0] == "0":
                print(f"served now, its mark can go: {text}")
            elif expected != marks + outcome or (outcome[0] != "0" and not marks):
                wrong.append("\n\t".join([text, *outcome, "and not", *expected]))
        os.chdir("/")
    if "OPENPLA_LINES_OUT" in os.environ:
        with open(os.environ["OPENPLA_LINES_OUT"], "w", encoding="utf-8") as file:
            file.write("\n".join(written) + "\n")
    elif wrong:
        sys.exit("\n".join(wrong))
    print(f"{len(lines)} lines have the expected outcome")


main()
