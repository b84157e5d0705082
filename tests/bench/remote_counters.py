#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""remote_counters.py BIN [SECONDS]: measures the cost of reading another computer's counters, compared with the same
counters locally. BIN is the folder of openpla.exe. Two Wine prefixes on one loopback act as two computers: the first
offers its counters by TCP; from the second, typeperf, a set and an alert read its Process(*) once a second, through a
relay that counts. Then typeperf reads the same counters within the first prefix. Prints round trips, bytes, CPU of the
processes on both sides, and the number of values."""
import csv
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import arguments

BIN, SECONDS = arguments.parse_arguments(__doc__, ("BIN", arguments.folder), ("SECONDS", arguments.number, 60))
COUNTER = r"\Process(*)\% Processor Time"
START_S = 60  # limit for the start of a program


def environment(prefix, **more):
    return dict(os.environ, WINEPREFIX=prefix, WINEDEBUG="-all",
                WINEDLLOVERRIDES="mscoree,mshtml=;winemenubuilder.exe,winedbg.exe=d", LC_ALL="C.UTF-8", **more)


def start(prefix, log, *arguments, **more):
    with open(log, "wb") as out:
        return subprocess.Popen(["wine", *arguments], env=environment(prefix, **more), stdin=subprocess.DEVNULL,
                                stdout=out, stderr=subprocess.STDOUT)


def run(prefix, *arguments, **more):
    with tempfile.NamedTemporaryFile() as log:
        code = start(prefix, log.name, *arguments, **more).wait(SECONDS + 2 * START_S)
        with open(log.name, encoding="utf-8", errors="replace") as file:
            text = file.read()
    if code != 0:
        sys.exit(f"{' '.join(arguments)} ended with {code}: {text[:500]}")


def openpla(prefix, *arguments):
    run(prefix, os.path.join(BIN, "openpla.exe"), *arguments)


def cpu_ms(prefix):
    """Returns the CPU time of the prefix's processes by name."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if f"WINEPREFIX={prefix}".encode() not in file.read().split(b"\0"):
                    continue
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                program = file.read().split(b"\0")[0].decode(errors="replace").replace("\\", "/").rsplit("/", 1)[-1]
            total = 0
            for task in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as file:
                    total += int(file.read().split()[0])
        except OSError:
            continue  # the process has exited
        found[program] = found.get(program, 0) + total / 1e6
    return found


class Relay:
    """A relay in front of a port. For each call it records the duration and the sizes of request and response."""

    def __init__(self, port):
        self.port, self.calls, self.lock = port, [], threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            near, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(near,), daemon=True).start()

    @staticmethod
    def receive_call(source):
        """Receives all fragments of a request or response. Each fragment begins with a header of 16 bytes, which has
        the fragment's length and a flag that marks the last fragment."""
        whole = b""
        while True:
            head = b""
            while len(head) < 16:
                piece = source.recv(16 - len(head))
                if not piece:
                    return b""
                head += piece
            left = int.from_bytes(head[8:10], "little") - 16
            body = b""
            while len(body) < left:
                piece = source.recv(left - len(body))
                if not piece:
                    return b""
                body += piece
            whole += head + body
            if head[3] & 2:
                return whole

    def serve(self, near):
        with near, socket.create_connection(("127.0.0.1", self.port)) as far:
            while True:
                question = self.receive_call(near)
                if not question:
                    return
                begin = time.monotonic()
                far.sendall(question)
                answer = self.receive_call(far)
                if not answer:
                    return
                passed = time.monotonic() - begin
                near.sendall(answer)
                with self.lock:
                    self.calls.append((passed * 1000, len(question), len(answer)))


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def wait_for(port):
    for _ in range(START_S * 10):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.1)
    sys.exit(f"nothing listens at {port}")


def values_in(path):
    """Returns the number of cells, and how many have a value; rates have none in the first row."""
    with open(path, encoding="utf-8", errors="replace") as file:
        rows = [row for row in csv.reader(file) if len(row) > 1][2:]
    cells = [cell for row in rows for cell in row[1:]]
    return len(rows), len(cells), sum(1 for cell in cells if cell.strip())


def spent(before, after, names):
    return ", ".join(f"{name} {(after[name] - before.get(name, 0)) / SECONDS:.2f}" for name in sorted(after)
                     if name in names) or "none"


def measured(title, prefix, log, *counters):
    """Runs typeperf for SECONDS and prints the CPU time of that process."""
    out = log + ".csv"
    before = os.times()
    openpla(prefix, "typeperf", *counters, "-si", "1", "-sc", str(SECONDS), "-y", "-o", "Z:" + out.replace("/", "\\"))
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    print(f"{title}: typeperf took {cpu * 1000 / SECONDS:.2f} ms of CPU a second, its start included; "
          "%d samples, %d cells, %d with a value" % values_in(out))


def main():
    work = tempfile.mkdtemp(prefix="remote_counters.")
    offering, asking = os.path.join(work, "offering"), os.path.join(work, "asking")
    port = free_port()
    try:
        for prefix in (offering, asking):
            run(prefix, "wineboot", "-i")
            # wineboot's server and services must exit first. The new server then stays, so that the services keep
            # running between programs.
            subprocess.run(["wineserver", "-w"], env=environment(prefix), check=True)
            subprocess.run(["wineserver", "-p"], env=environment(prefix), check=True)
        server = start(offering, os.path.join(work, "server.log"), os.path.join(BIN, "openplasrv.exe"), "/counters",
                       OPENPLA_COUNTER_QUERY_PORT=str(port), OPENPLA_COUNTER_QUERY_UNAUTHENTICATED="1")
        wait_for(port)
        relay = Relay(port)
        address = f"there=127.0.0.1:{relay.listener.getsockname()[1]}"
        run(asking, "reg", "add", r"HKLM\Software\OpenPLA", "/v", "CounterHosts", "/d", address, "/f")
        run(asking, os.path.join(BIN, "openplasrv.exe"), "/regserver")
        log = "Z:" + os.path.join(work, "set").replace("/", "\\")
        openpla(asking, "logman", "create", "counter", "remote", "-c", r"\\there" + COUNTER, "-si", "1", "-f", "csv",
                "-o", log)
        openpla(asking, "logman", "create", "alert", "warned", "-th", r"\\there\Process(_Total)\Thread Count>0", "-si",
                "1")
        for name in ("remote", "warned"):
            openpla(asking, "logman", "start", name)
        relay.calls.clear()
        before = cpu_ms(offering), cpu_ms(asking)
        measured("asked for from another computer", asking, os.path.join(work, "asked"), r"\\there" + COUNTER)
        after = cpu_ms(offering), cpu_ms(asking)
        with relay.lock:
            calls = [c for c in relay.calls if c[1] < 100]  # calls for values; longer requests have names
        times = sorted(c[0] for c in calls)
        print(f"{len(relay.calls)} calls, median of round trips {statistics.median(times):.2f} ms, 95 of 100 below "
              f"{times[len(times) * 95 // 100]:.2f} ms; answers' median {statistics.median(c[2] for c in calls):.0f} bytes, "
              f"{sum(c[1] + c[2] for c in relay.calls) / SECONDS:.0f} bytes a second both ways, of three who ask")
        print(f"ms of CPU a second: {spent(before[0], after[0], {'openplasrv.exe', 'wineserver64', 'wineserver'})} "
              f"there; {spent(before[1], after[1], {'openplahost.exe'})} (a set and an alert) here")
        for name in ("remote", "warned"):
            openpla(asking, "logman", "stop", name)
        print("the set: %d samples, %d cells, %d with a value" % values_in(os.path.join(work, "set_000001.csv")))
        server.terminate()
        measured("the same at home", offering, os.path.join(work, "home"), COUNTER)
    finally:
        for prefix in (offering, asking):
            subprocess.run(["wineserver", "-k"], env=environment(prefix), check=False)
        shutil.rmtree(work, ignore_errors=True)


main()
