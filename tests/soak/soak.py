#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""soak.py [--seconds N] [--sets N] [--clients N] [--cycles N] [--host-kills N] [--server-kills N]

Sets that run for long while clients poll, sets start and stop, hosts and servers are killed. At the end: no set lost or
changed, no log torn, no sample doubled, no process left, the server's handles and memory back. Figures: samples missing and off their second, times of starts and stops.
Wants WINEPREFIX with OpenPLA registered, OPENPLA_BIN_DIR and OPENPLA_SOURCE_DIR, as ctest gives them."""
import argparse
import datetime
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "tests", "fault"))
from faults import PREFIX, check, processes, read_log, windows_path  # noqa: E402

STORE = os.path.join(PREFIX, "drive_c", "ProgramData", "OpenPLA", "sets", "Service")
RUNNER = os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "cmake/wine-run.sh")
CLIENT = os.path.join(os.environ["OPENPLA_BIN_DIR"], "soak_client.exe")
COUNTERS = [r"\Processor(_Total)\% Processor Time", r"\Memory\Available Bytes", r"\System\Processes"]
begun = time.monotonic()


def say(text):
    print(f"[{time.monotonic() - begun:7.1f} s] {text}", flush=True)


def client(*arguments, timeout=600):
    """Its answers by key; the last line of a kind wins, failed calls are a list."""
    with tempfile.TemporaryFile() as output:
        code = subprocess.call(["sh", RUNNER, CLIENT, *map(str, arguments)], stdout=output, stderr=subprocess.STDOUT,
                               stdin=subprocess.DEVNULL, timeout=timeout)
        output.seek(0)
        lines = output.read().decode("cp437").replace("\r", "").splitlines()
    answers = {"code": code, "failed": [line[7:] for line in lines if line.startswith("failed ")]}
    answers.update(line.split(" ", 1) for line in lines if " " in line and not line.startswith("failed "))
    return answers


def wine(*command):
    return subprocess.call(["sh", RUNNER, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           stdin=subprocess.DEVNULL, timeout=60)


def definition(name, root, more="", collector=""):
    counters = "".join(f"<Counter>{c}</Counter>" for c in COUNTERS)
    return (f"<DataCollectorSet><RootPath>{windows_path(root)}</RootPath><Subdirectory>{name}</Subdirectory>{more}"
            f"<PerformanceCounterDataCollector><Name>log</Name><FileName>log</FileName><FileNameFormat>512"
            f"</FileNameFormat><LogFileFormat>0</LogFileFormat><SampleInterval>1</SampleInterval>{collector}{counters}"
            "</PerformanceCounterDataCollector></DataCollectorSet>").encode()


def commit(name, root, more="", collector=""):
    os.makedirs(STORE, exist_ok=True)
    path = os.path.join(STORE, name + ".xml")
    xml = definition(name, root, more, collector)
    with open(path + "~", "wb") as file:
        file.write(xml)
    os.replace(path + "~", path)
    return path, xml


def server_figures():
    """Handles and resident bytes of the server."""
    ids = processes("openplasrv", "/service") or processes("openplasrv")
    if not ids:
        return None
    with open(f"/proc/{ids[0]}/statm", encoding="ascii") as file:
        resident = int(file.read().split()[1]) * 4096
    return len(os.listdir(f"/proc/{ids[0]}/fd")), resident


def sample_times(folder):
    """Of all segments, in order, in seconds."""
    times = []
    for name in sorted(os.listdir(folder)):
        rows = read_log("Z:" + os.path.join(folder, name).replace("/", "\\"), 0)
        for row in rows[1:]:
            times.append(datetime.datetime.strptime(row[0], "%m/%d/%Y %H:%M:%S.%f").timestamp())
    return times


class Histogram:
    """Of the distances of samples from their grid of seconds."""
    bounds = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5]

    def __init__(self):
        self.counts = [0] * (len(self.bounds) + 1)
        self.all, self.missing, self.doubled, self.worst = 0, 0, 0, 0.0

    def add(self, times):
        for i, t in enumerate(times):
            error = abs(t - times[0] - round(t - times[0]))
            self.all += 1
            self.worst = max(self.worst, error)
            self.counts[sum(error > b for b in self.bounds)] += 1
            self.doubled += i > 0 and t <= times[i - 1]
        if times:
            self.missing += max(round(times[-1] - times[0]) + 1 - len(times), 0)

    def show(self):
        labels = [f"<= {b * 1000:g} ms" for b in self.bounds] + [f"> {self.bounds[-1] * 1000:g} ms"]
        for label, count in zip(labels, self.counts):
            if count:
                print(f"    {label:>10} {count:8} {100 * count / self.all:6.2f} %")
        print(f"    {self.all} samples, {self.missing} missing, {self.doubled} doubled, the worst is "
              f"{self.worst * 1000:.0f} ms off")


def kill_hosts(times, root, span):
    """kill -9 of a host at a random moment of its first `span` seconds. Its logs are whole, its number is not taken
    again."""
    name, serial, torn = "soak-victim", 0, 0
    path, xml = commit(name, root)
    for _ in range(times):
        runner = subprocess.Popen(["sh", RUNNER, CLIENT, "cycle", name, "1"], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        limit = time.monotonic() + 30
        while not (ids := processes("openplahost", name)) and runner.poll() is None and time.monotonic() < limit:
            time.sleep(0.005)
        time.sleep(random.random() * span)
        for host in ids:
            try:
                os.kill(host, signal.SIGKILL)
                torn += 1
            except ProcessLookupError:
                pass
        runner.wait(120)
        folder = os.path.join(root, name)
        numbers = [int(re.search(r"_(\d+)\.csv", f).group(1)) for f in os.listdir(folder)] if os.path.isdir(folder) else []
        with open(path, "rb") as file:
            check(file.read() == xml, "the definition is as it was")
        check(len(numbers) == len(set(numbers)) and (not numbers or max(numbers) >= serial), f"serial numbers: {numbers}")
        serial = max(numbers, default=serial)
    whole = 0
    for file in sorted(os.listdir(os.path.join(root, name))):
        with open(os.path.join(root, name, file), "rb") as log:
            raw = log.read()
        check(not raw or raw.endswith(b"\r\n"), f"{file} is torn: {raw[-60:]}")
        whole += 1
    answer = client("cycle", name, 1)
    check(answer.get("failures") == "0", f"it starts and stops as ever: {answer}")
    say(f"{torn} hosts killed; {whole} logs, none torn; serial numbers up to {serial}, none twice")


def kill_servers(times, sets):
    for _ in range(times):
        time.sleep(random.random() * 2)
        before = set(processes("openplahost"))
        for server in processes("openplasrv", "/service") or processes("openplasrv"):
            try:
                os.kill(server, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for verb in ("stop", "start"):
            wine("net", verb, "rpcss")
        answer = client("poll", "soak-set-", sets, 1)
        check(answer.get("failures") == "0", f"a new server answers: {answer}")
        check(int(answer["running"]) == int(answer["calls"]) > 0, f"it finds the sets running: {answer}")
        check(set(processes("openplahost")) == before, "no host went with the server")
    say(f"{times} servers killed: {sets} sets ran on, a new server found them each time")


def main():
    options = argparse.ArgumentParser()
    for name, default in (("seconds", 1800), ("sets", 64), ("clients", 16), ("cycles", 1000), ("host-kills", 160),
                          ("server-kills", 40)):
        options.add_argument("--" + name, type=int, default=default)
    o = options.parse_args()
    root = tempfile.mkdtemp(prefix="openpla-soak-")
    stored = []
    try:
        for i in range(o.sets):  # every other one in segments
            stored.append(commit(f"soak-set-{i}", root, "<Segment>-1</Segment>" if i % 2 else "",
                                 "<SegmentMaxRecords>7</SegmentMaxRecords>" if i % 2 else ""))
        stored.append(commit("soak-cycle", root))
        client("stop", "soak-set-", o.sets)
        first = server_figures()
        answer = client("start", "soak-set-", o.sets)
        check(answer.get("failures") == "0", f"all start: {answer}")
        say(f"{o.sets} sets run; the server had {first[0]} handles, {first[1] / 1e6:.1f} MB")
        started = time.monotonic()
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(
            client("poll", "soak-set-", o.sets, o.seconds, timeout=o.seconds + 300))) for _ in range(o.clients)]
        for thread in threads:
            thread.start()
        answer = client("cycle", "soak-cycle", o.cycles, timeout=o.seconds * 3 + 600)
        check(answer.get("failures") == "0", f"start and stop: {answer}")
        say(f"{o.cycles} starts and stops: {answer['start_ms']} ms to start (at worst {answer['worst_start_ms']}), "
            f"{answer['stop_ms']} ms to stop, no failure")
        kill_hosts(o.host_kills, root, float(answer["start_ms"]) / 500)
        for thread in threads:
            thread.join()
        calls = sum(int(a["calls"]) for a in answers)
        check(all(a.get("failures") == "0" for a in answers) and len(answers) == o.clients, f"clients: {answers}")
        check(all(a["calls"] == a["running"] for a in answers), "no client saw a set stopped")
        say(f"{o.clients} clients read Status {calls} times, no failure, never another answer than running")
        time.sleep(max(0, o.seconds - (time.monotonic() - started)))
        last = server_figures()
        say(f"the server has {last[0]} handles, {last[1] / 1e6:.1f} MB")
        kill_servers(o.server_kills, o.sets)
        answer = client("stop", "soak-set-", o.sets)
        check(answer.get("failures") == "0", f"all stop: {answer}")
        time.sleep(1)
        check(not processes("openplahost"), f"hosts are left: {processes('openplahost')}")
        for path, xml in stored:
            with open(path, "rb") as file:
                check(file.read() == xml, f"{path} is not as it was")
        plain, segmented = Histogram(), Histogram()
        segments = 0
        for i in range(o.sets):
            folder = os.path.join(root, f"soak-set-{i}")
            segments += len(os.listdir(folder)) if i % 2 else 0
            (segmented if i % 2 else plain).add(sample_times(folder))
        say("all sets are stored as they were, all logs are whole. Distance of samples from their second:")
        plain.show()
        print(f"  over {segments} segments:")
        segmented.show()
        check(plain.doubled + segmented.doubled == 0, "samples are doubled")
    finally:
        for file in os.listdir(STORE):
            if file.startswith("soak-"):
                os.remove(os.path.join(STORE, file))
        shutil.rmtree(root)
    say("ok")


main()
