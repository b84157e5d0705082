#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""serve_prometheus.py PROGRAM [EMULATOR]: Debian's Prometheus scrapes two targets of openpla.exe, which is PROGRAM. Its series equal
typeperf's values of the same seconds within one sample, also of a target that is killed and comes again; a user would plot
something else than happened."""
import datetime
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

from program import EMULATOR, PROGRAM, check
from served import PATIENCE, Served

os.environ["OPENPLA_SAMPLE_COMMITTED"] = "0"  # on a busy machine a sample takes its time
INTERVAL = 1  # seconds between scrapes
COUNTERS = {  # of typeperf: (metric, labels, what a value and a second are in the metric's unit)
    r"\System\Context Switches/sec": ("windows_system_context_switches_total", "", 1),
    r"\Processor(0)\% User Time": ("windows_processor_user_time_seconds_total", 'name="0"', 0.01),
    r"\Processor(0)\% Idle Time": ("windows_processor_idle_time_seconds_total", 'name="0"', 0.01),
    r"\Memory\Page Faults/sec": ("windows_memory_page_faults_total", "", 1),
}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Prometheus:
    def __init__(self, program, targets):
        self.port = free_port()
        jobs = "".join(f"  - job_name: {name}\n    static_configs:\n      - targets: ['127.0.0.1:{port}']\n{more}" for name, port, more in targets)
        with open("prometheus.yml", "w", encoding="utf-8") as f:
            f.write(f"global:\n  scrape_interval: {INTERVAL}s\n  scrape_timeout: {INTERVAL}s\nscrape_configs:\n{jobs}")
        self.out = open("prometheus.log", "wb")
        self.process = subprocess.Popen([program, "--config.file=prometheus.yml", "--storage.tsdb.path=tsdb",
                                         f"--web.listen-address=127.0.0.1:{self.port}"], stdout=self.out, stderr=subprocess.STDOUT)

    def said(self):
        with open("prometheus.log", encoding="utf-8", errors="replace") as f:
            return f.read()

    def query(self, expression):
        """The result; an empty list while Prometheus starts."""
        where = f"http://127.0.0.1:{self.port}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
        check(self.process.poll() is None, "Prometheus runs", self.said())
        try:
            with urllib.request.urlopen(where, timeout=PATIENCE) as answer:
                return json.load(answer)["data"]["result"]
        except (urllib.error.URLError, ConnectionError):
            return []

    def until(self, expression, right, what):
        end = time.monotonic() + PATIENCE
        while not right(self.query(expression)):
            check(time.monotonic() < end, what, self.query(expression), self.said()[-3000:])
            time.sleep(0.2)

    def samples(self, metric, labels):
        """(time, value) of the last minutes."""
        found = self.query(f"{metric}{{job='plain',{labels}}}[10m]")
        check(len(found) == 1, f"one series {metric}", found)
        return [(float(t), float(v)) for t, v in found[0]["values"]]

    def end(self):
        self.process.terminate()
        self.process.wait()
        self.out.close()


def typeperf(count):
    """counter -> [(time, value)], from the second sample on."""
    done = subprocess.run([*EMULATOR, PROGRAM, "typeperf", *COUNTERS, "-si", str(INTERVAL), "-sc", str(count), "--json"], check=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=PATIENCE)
    rows = [json.loads(line) for line in done.stdout.decode().splitlines()]
    series = {counter: [] for counter in COUNTERS}
    for row in rows:
        t = datetime.datetime.fromisoformat(row["time"].replace("Z", "+00:00")).timestamp()
        for counter in COUNTERS:
            value = next(v["value"] for v in row["values"] if v["counter"].endswith(counter))
            series[counter].append((t, value))
    return series


def rates_equal_typeperfs(prometheus):
    """What PDH's rates add up to lies between what Prometheus has counted in one sample less and one sample more."""
    shown = typeperf(12)
    begun, ended = shown[next(iter(COUNTERS))][0][0], shown[next(iter(COUNTERS))][-1][0]
    prometheus.until(f"timestamp(windows_system_processes{{job='plain'}}) > {ended + 2 * INTERVAL}", bool, "scrapes behind typeperf's samples")
    for counter, (metric, labels, unit) in COUNTERS.items():
        rows = shown[counter]
        check(all(value is not None for _, value in rows), f"values of {counter}", rows)
        happened = sum(value * unit * (t - before) for (before, _), (t, value) in zip(rows, rows[1:]))
        scraped = prometheus.samples(metric, labels)
        # Prometheus' time is when it asks; the sample is taken up to one interval later.
        first_in = min(v for t, v in scraped if t >= begun)
        last_in = max(v for t, v in scraped if t <= ended - INTERVAL)
        before = max(v for t, v in scraped if t <= begun - INTERVAL)
        after = min(v for t, v in scraped if t >= ended + INTERVAL)
        slack = 0.02 * happened + 2 * unit
        check(last_in - first_in - slack <= happened <= after - before + slack, f"{counter}: typeperf has {happened}",
              last_in - first_in, after - before, rows, scraped)


def types_are_known(prometheus):
    """From the metadata of the scrape."""
    where = f"http://127.0.0.1:{prometheus.port}/api/v1/metadata?metric="
    for metric, kind in (("windows_system_context_switches_total", "counter"), ("windows_system_context_switches", "counter"),
                         ("windows_system_processes", "gauge")):
        with urllib.request.urlopen(where + metric, timeout=PATIENCE) as answer:
            found = json.load(answer)["data"].get(metric)
        check(found is None or found[0]["type"] == kind, f"{metric} is a {kind}", found)


def a_killed_target_comes_again(prometheus, server, port, arguments):
    server.process.kill()
    server.process.wait()
    server.out.close()
    prometheus.until("up{job='tokens'}", lambda r: r and r[0]["value"][1] == "0", "a killed target is down")
    check(not prometheus.query("windows_cpu_time_total{job='tokens',mode='idle',core='0,0'}"), "its series have ended")
    again = Served("serve", str(port), *arguments)
    prometheus.until("up{job='tokens'}", lambda r: r and r[0]["value"][1] == "1", "it is up again")
    found = prometheus.query("resets(windows_cpu_time_total{job='tokens',mode='user',core='0,0'}[5m])")
    check(found and found[0]["value"][1] == "0", "its counters go on, because they are the computer's", found)
    return again


def main():
    program = shutil.which("prometheus")
    if not program:
        print("needs Debian's package prometheus")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="openpla-prometheus.", dir=os.environ.get("WINEPREFIX")) as folder:
        os.chdir(folder)
        with open("tokens", "w", encoding="utf-8") as f:
            f.write("a token\n")
        with open("web.yml", "w", encoding="utf-8") as f:
            f.write("bearer_token_file: tokens\n")
        with_token = ["-preset", "windows_exporter", "-web", "web.yml"]
        plain = Served("serve", "0", r"\System\*", r"\Memory\*", r"\Processor(*)\*", r"\Process(*)\*")
        token_port = free_port()
        tokens = Served("serve", str(token_port), *with_token)
        prometheus = Prometheus(program, (("plain", plain.port, ""), ("tokens", token_port, "    authorization:\n      credentials: a token\n")))
        try:
            prometheus.until("sum(up)", lambda r: r and r[0]["value"][1] == "2", "both targets are up")
            types_are_known(prometheus)
            rates_equal_typeperfs(prometheus)
            tokens = a_killed_target_comes_again(prometheus, tokens, token_port, with_token)
            check(not re.search("level=(warn|error).*scrape", prometheus.said()), "no complaint about the pages", prometheus.said())
            shown = prometheus.query("count({job='plain'})")
            check(shown and int(shown[0]["value"][1]) > 100, "series", shown)
        finally:
            prometheus.end()
            plain.end()
            tokens.end()
            os.chdir("/")


main()
