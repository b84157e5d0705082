#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""soak.py [--seconds N] [--sets N] [--clients N] [--cycles N] [--host-kills N] [--server-kills N]

Runs sets for a long time while clients poll, sets start and stop, and set host processes and servers are killed. If it
failed, a user who collects for a long time would lose sets, samples or memory. It fails if a set is lost or changed, a
log is incomplete, a sample is duplicated, or missing without a report of the run, a serial number is repeated, a client
gets a status other than "running", a process or zombie is left, or the handles or memory of the server or of a set host
process grow beyond a limit. --missing N: it also fails if more than N samples are missing, even if they are reported.
The default, -1, permits any number, because a busy machine skips samples. Prints how many samples are missing, how far
they are from their second, and the times of starts and stops. Needs WINEPREFIX with OpenPLA registered, OPENPLA_BIN_DIR
and OPENPLA_SOURCE_DIR, as ctest sets them."""
import argparse
import cmath
import datetime
import glob
import math
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
from faults import PREFIX, check, processes, read_log, wait_for, wait_until_gone, windows_path  # noqa: E402

STORE = os.path.join(PREFIX, "drive_c", "ProgramData", "OpenPLA", "sets", "Service")
RUNNER = os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "cmake/wine-run.sh")
CLIENT = os.path.join(os.environ["OPENPLA_BIN_DIR"], "soak_client.exe")
COUNTERS = [r"\Processor(_Total)\% Processor Time", r"\Memory\Available Bytes", r"\System\Processes"]
EARLY = 0.3  # s; maximum error of the computed phase, if many samples are late or the clock is being adjusted
begun = time.monotonic()


def log_line(text):
    print(f"[{time.monotonic() - begun:7.1f} s] {text}", flush=True)


def client(*arguments, timeout=600):
    """Runs soak_client. Returns its output as {key: value}, where the last line of a key counts, and a list of failed
    calls."""
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
    return xml


def stored(name):
    """Returns the stored definition, which is followed by the set's name. The store moves a definition from the
    namespace's folder into a folder below it."""
    for path in (*glob.glob(os.path.join(STORE, "*", name + ".xml")), os.path.join(STORE, name + ".xml")):
        if os.path.exists(path):
            with open(path, "rb") as file:
                return file.read()
    return b""


def process_usage(pid):
    """Returns the number of descriptors and the resident bytes of a process."""
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        resident = int(file.read().split()[1]) * 4096
    return len(os.listdir(f"/proc/{pid}/fd")), resident


def server():
    return process_usage((processes("openplasrv", "/service") or processes("openplasrv"))[0])


def check_no_zombie():
    """Checks that no zombie remains for a minute. Init reaps the zombies that Wine leaves, but not immediately. Zombies
    of any prefix appear and disappear all the time."""
    left, end = zombies(), time.monotonic() + 60
    while left and time.monotonic() < end:
        time.sleep(0.5)
        left &= zombies()
    check(not left, f"zombies: {left}")


def settled_usage(most=0, rest=5):
    """Returns the server's process_usage() as soon as it has at most `most` descriptors, or when their number has not
    decreased for `rest` seconds. Wine keeps the threads of clients that have exited for some ten seconds."""
    least, since, end = server(), time.monotonic(), time.monotonic() + 120
    while least[0] > most and time.monotonic() < min(since + rest, end):
        time.sleep(0.5)
        if (now := server())[0] < least[0]:
            least, since = now, time.monotonic()
    return least


def poll(o, seconds):
    """Runs clients that read the status of all sets at the same time. Returns their outputs."""
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(
        client("poll", "soak-set-", o.sets, seconds, timeout=seconds + 300))) for _ in range(o.clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def hosts():
    """Returns the most descriptors and the most resident bytes of a set host process."""
    found = []
    for pid in processes("openplahost"):
        try:
            found.append(process_usage(pid))
        except OSError:
            pass
    return max(f[0] for f in found), max(f[1] for f in found)


def check_grown(what, before, after, handles, megabytes):
    """Checks that descriptors and memory have not grown beyond the limits, which include what the heap keeps in
    reserve."""
    log_line(f"{what}: {before[0]} descriptors and {before[1] / 1e6:.1f} MB at first, {after[0]} and {after[1] / 1e6:.1f} MB at last")
    check(after[0] <= before[0] + handles, f"{what} has {after[0]} descriptors instead of {before[0]}")
    check(after[1] <= before[1] + megabytes * 1e6, f"{what} has grown by {(after[1] - before[1]) / 1e6:.1f} MB")


def zombies():
    """Returns the zombie processes of OpenPLA."""
    found = set()
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                name, rest = file.read().rsplit(")", 1)
        except OSError:
            continue
        if "(openpla" in name and rest.split()[0] == "Z":
            found.add(f"{name}) of {rest.split()[1]}")
    return found


def sample_times(folder):
    """Returns the sample times of all segments, in order, in seconds."""
    times = []
    for name in sorted(os.listdir(folder)):
        rows = read_log("Z:" + os.path.join(folder, name).replace("/", "\\"), 0)
        for row in rows[1:]:
            times.append(datetime.datetime.strptime(row[0], "%m/%d/%Y %H:%M:%S.%f").timestamp())
    return times


def seconds_of(times):
    """Returns the phase of the run's grid of seconds, and the number of the second to which each sample belongs. A
    sample is never early. A late sample is taken before the next one is due, or the next one is skipped, so the integer
    part of its time is its second. Only a sample that was delayed between its due time and the reading of the clock can
    show the next second's number. Then its own second has no sample, and the number is corrected."""
    angle = sum(cmath.exp(2j * cmath.pi * (t % 1)) for t in times)
    phase = cmath.phase(angle) / (2 * cmath.pi)  # because most samples are on time
    seconds = [math.floor(t - phase + EARLY) for t in times]
    for i in range(1, len(seconds)):
        if seconds[i] == seconds[i - 1] and (i < 2 or seconds[i - 2] < seconds[i - 1] - 1):
            seconds[i - 1] -= 1
    return phase, seconds


class Histogram:
    """A histogram of the distances of samples from their second."""
    bounds = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5]

    def __init__(self):
        self.counts = [0] * (len(self.bounds) + 1)
        self.all, self.missing, self.doubled, self.worst = 0, 0, 0, 0.0

    def add(self, times):
        """Adds samples. Returns how many are missing between them."""
        phase, seconds = seconds_of(times)
        for t, second in zip(times, seconds):
            error = abs(t - phase - second)
            self.all += 1
            self.worst = max(self.worst, error)
            self.counts[sum(error > b for b in self.bounds)] += 1
        steps = [after - before for before, after in zip(seconds, seconds[1:])]
        missing = sum(step - 1 for step in steps if step > 1)
        self.missing += missing
        self.doubled += sum(step < 1 for step in steps) + sum(b <= a for a, b in zip(times, times[1:]))
        return missing

    def show(self):
        labels = [f"<= {b * 1000:g} ms" for b in self.bounds] + [f"> {self.bounds[-1] * 1000:g} ms"]
        for label, count in zip(labels, self.counts):
            if count:
                print(f"    {label:>10} {count:8} {100 * count / self.all:6.2f} %")
        print(f"    {self.all} samples, {self.missing} missing, {self.doubled} doubled, the worst is "
              f"{self.worst * 1000:.0f} ms off")


def test_histogram():
    """Checks that Histogram detects missing and duplicated samples."""
    good = [1000.25 + i + 0.003 * (i % 3) for i in range(100)]
    for what, times, missing, doubled in (
            ("good", good, 0, 0), ("one missing", good[:50] + good[51:], 1, 0), ("three missing", good[:9] + good[12:], 3, 0),
            ("one twice", good[:50] + [good[49]] + good[50:], 0, 2), ("one twice, a bit later", good[:50] + [good[49] + 0.02] + good[50:], 0, 1),
            ("one twice, one missing", good[:20] + good[21:50] + [good[49] + 0.02] + good[50:], 1, 1),
            ("0.6 s late", good[:50] + [good[50] + 0.6] + good[51:], 0, 0), ("the first late", [good[0] + 0.6] + good[1:], 0, 0),
            ("held up past the next", good[:50] + [good[50] + 1.0] + [good[51] + 0.01] + good[52:], 0, 0)):
        h = Histogram()
        check(h.add(times) == missing and h.doubled == doubled, f"{what}: {h.missing} missing, {h.doubled} doubled")


def end_hosts(ids):
    """Kills the processes. Returns whether at least one of them existed."""
    killed = False
    for host in ids:
        try:
            os.kill(host, signal.SIGKILL)
            killed = True
        except ProcessLookupError:
            pass
    wait_until_gone(ids)
    return killed


def kill_hosts(times, root, span):
    """Kills set host processes with SIGKILL, alternately within `span` seconds of their start and while they collect.
    Their logs must be complete, and serial numbers must not be used again."""
    prefix, name, killed, known = "soak-victim-", "soak-victim-0", 0, {}
    xml = commit(name, root)
    for i in range(times):
        runner = subprocess.Popen(["sh", RUNNER, CLIENT, "start", prefix, "1"], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        limit = time.monotonic() + 30
        while not (ids := processes("openplahost", name)) and runner.poll() is None and time.monotonic() < limit:
            time.sleep(0.005)
        if i % 2:
            runner.wait(120)
        time.sleep(random.random() * span)
        was_killed = end_hosts(ids)
        runner.wait(120)
        # If the process was killed too early, the server starts another one for the waiting client.
        killed += was_killed or end_hosts(processes("openplahost", name))
        end_hosts(processes("openplahost", name))
        folder = os.path.join(root, name)
        check(stored(name).startswith(xml), "the definition is as it was")
        fresh = sorted(set(os.listdir(folder)) - set(known)) if os.path.isdir(folder) else []
        # If a serial number were used again, the file would have another name, replace an old file, or sort before the
        # latest.
        check(all(re.fullmatch(r"log_\d{6}\.csv", f) for f in fresh) and len(fresh) <= 1, f"new files: {fresh}")
        check(not fresh or not known or fresh[0] > max(known), f"the number of {fresh} was used before: {max(known, default='')}")
        for file in [*known, *fresh]:
            with open(os.path.join(folder, file), "rb") as log:
                raw = log.read()
            check(file in fresh or known[file] == raw, f"a later run has changed {file}")
            known[file] = raw
    whole = 0
    for file in sorted(os.listdir(os.path.join(root, name))):
        with open(os.path.join(root, name, file), "rb") as log:
            raw = log.read()
        check(not raw or raw.endswith(b"\r\n"), f"{file} is torn: {raw[-60:]}")
        whole += 1
    client("stop", prefix, 1)  # if the last one was not killed
    answer = client("cycle", name, 1)
    check(answer.get("failures") == "0", f"the set still starts and stops: {answer}")
    check(killed >= times // 2 and whole >= times // 3, f"only {killed} hosts were killed, {whole} of them with a log")
    log_line(f"{killed} hosts killed; {whole} logs, all complete; the latest is {max(known, default='')}, no serial number was repeated")


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
        check(set(processes("openplahost")) == before, "no set host process exited with the server")
        check_no_zombie()
    log_line(f"{times} servers killed: {sets} sets continued, a new server found them each time")


def main():
    options = argparse.ArgumentParser()
    for name, default in (("seconds", 1800), ("sets", 64), ("clients", 16), ("cycles", 1000), ("host-kills", 160),
                          ("server-kills", 40)):
        options.add_argument("--" + name, type=int, default=default)
    options.add_argument("--missing", type=int, default=-1)
    o = options.parse_args()
    test_histogram()
    root = tempfile.mkdtemp(prefix="openpla-soak-")
    definitions = {}
    try:
        for i in range(o.sets):  # every second set has segments
            definitions[f"soak-set-{i}"] = commit(f"soak-set-{i}", root, "<Segment>-1</Segment>" if i % 2 else "",
                                                  "<SegmentMaxRecords>7</SegmentMaxRecords>" if i % 2 else "")
        definitions["soak-cycle"] = commit("soak-cycle", root)
        client("stop", "soak-set-", o.sets)
        answer = client("start", "soak-set-", o.sets)
        check(answer.get("failures") == "0", f"all start: {answer}")
        start_ms = float(client("cycle", "soak-cycle", 3)["start_ms"])
        answers = poll(o, 3)  # so that the server has already allocated what it needs for this number of clients
        check(all(a.get("failures") == "0" for a in answers), f"the first clients: {answers}")
        first, first_hosts = settled_usage(), hosts()
        log_line(f"{o.sets} sets run")
        started = time.monotonic()
        answers = []
        polling = threading.Thread(target=lambda: answers.extend(poll(o, o.seconds)))
        polling.start()
        cycles = {}
        cycling = threading.Thread(target=lambda: cycles.update(
            client("cycle", "soak-cycle", o.cycles, timeout=o.seconds * 3 + 600)))
        cycling.start()
        kill_hosts(o.host_kills, root, max(start_ms / 500, 1.5))
        cycling.join()
        answer = cycles
        check(answer.get("failures") == "0", f"start and stop: {answer}")
        log_line(f"{o.cycles} starts and stops: {answer['start_ms']} ms to start (at worst {answer['worst_start_ms']}), "
                 f"{answer['stop_ms']} ms to stop, no failure")
        polling.join()
        calls = sum(int(a["calls"]) for a in answers)
        check(all(a.get("failures") == "0" for a in answers) and len(answers) == o.clients, f"clients: {answers}")
        check(all(a["calls"] == a["running"] for a in answers), "no client saw a set stopped")
        log_line(f"{o.clients} clients read Status {calls} times, no failure, never another answer than running")
        time.sleep(max(0, o.seconds - (time.monotonic() - started)))
        check_grown("the server", first, settled_usage(first[0] + 20, 30), 20, 8)
        check_grown("the largest host", first_hosts, hosts(), 8, 2)
        check_no_zombie()
        kill_servers(o.server_kills, o.sets)
        answer = client("stop", "soak-set-", o.sets)
        check(answer.get("failures") == "0", f"all stop: {answer}")
        wait_for("no host is left", lambda: not processes("openplahost"))
        for name, xml in definitions.items():
            check(stored(name).startswith(xml), f"the definition of {name} has changed")
        plain, segmented = Histogram(), Histogram()
        segments = 0
        ended = client("runs", "soak-set-", o.sets)
        for i in range(o.sets):
            folder = os.path.join(root, f"soak-set-{i}")
            files = sorted(os.listdir(folder))
            result, serial, *message = ended[f"run{i}"].split(" ", 2)
            check(result == "0x00000000", f"set {i}: {ended[f'run{i}']}")
            begin = int(serial) - (len(files) if i % 2 else 1)
            check(files == [f"log_{n:06}.csv" for n in range(begin, int(serial))], f"set {i}, serial {serial}: {files}")
            segments += len(files) if i % 2 else 0
            missing = (segmented if i % 2 else plain).add(sample_times(folder))
            reported = sum(map(int, re.findall(r"(\d+) samples lost: ", " ".join(message))))
            check(missing <= reported, f"set {i}: {missing} samples are missing, the run reports {reported}")
        log_line("all sets are unchanged, all logs are complete. Distance of samples from their second:")
        plain.show()
        print(f"  over {segments} segments:")
        segmented.show()
        check(plain.doubled + segmented.doubled == 0, "samples are doubled")
        check(o.missing < 0 or plain.missing + segmented.missing <= o.missing, "samples are missing")
    finally:
        client("stop", "soak-set-", o.sets)  # still running after a failure
        for folder, _, files in os.walk(STORE):
            for file in files:
                if file.startswith("soak-"):
                    os.remove(os.path.join(folder, file))
        shutil.rmtree(root, ignore_errors=True)
    log_line("ok")


main()
