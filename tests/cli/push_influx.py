#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""push_influx.py PROGRAM [EMULATOR]: Debian's InfluxDB accepts what openpla push sends, and a query returns the log's
values, including samples that were sent while it was down."""
import csv
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
import json

from program import check, host_path, openpla
from receiver import PATIENCE, Push, Receiver, wait_until, waiting

COUNTERS = (r"\Memory\Committed Bytes", r"\Processor(*)\% User Time", r"\Process(*)\Thread Count", r"\Process(*)\ID Process")
MEMORY, USER, THREADS = "win_mem", "win_cpu", "win_proc"


class Influx:
    """Runs influxd with its data in a folder of the test."""

    def __init__(self, program, port=None):
        with socket.socket() as one, socket.socket() as two:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            one.bind(("127.0.0.1", port or 0))
            two.bind(("127.0.0.1", 0))
            self.port, rpc = one.getsockname()[1], two.getsockname()[1]
        with open("influx.conf", "w", encoding="utf-8") as f:
            f.write(f"""reporting-disabled = true
bind-address = "127.0.0.1:{rpc}"
[meta]
  dir = "influx/meta"
[data]
  dir = "influx/data"
  wal-dir = "influx/wal"
[http]
  bind-address = "127.0.0.1:{self.port}"
""")
        self.out = open("influx.log", "ab")
        self.process = subprocess.Popen([program, "-config", "influx.conf"], stdout=self.out, stderr=subprocess.STDOUT,
                                        env=dict(os.environ, HOME=os.getcwd()))
        end = time.monotonic() + PATIENCE
        while self.query("SHOW DATABASES") is None:
            check(self.process.poll() is None and time.monotonic() < end, "InfluxDB does not start", open("influx.log").read())
            time.sleep(0.2)

    def query(self, query):
        """Returns the series in the server's response; None if the request failed."""
        where = f"http://127.0.0.1:{self.port}/query?" + urllib.parse.urlencode({"q": query, "db": "pla", "epoch": "ns"})
        try:
            with urllib.request.urlopen(urllib.request.Request(where, method="POST"), timeout=PATIENCE) as answer:
                return json.load(answer)["results"][0].get("series", [])
        except (urllib.error.URLError, ConnectionError):
            return None

    def values(self, field, measurement, where=""):
        series = self.query(f'SELECT "{field}" FROM "{measurement}" {where}')
        return [value for _, value in series[0]["values"]] if series else []

    def end(self):
        self.process.terminate()
        self.process.wait()
        self.out.close()


def lines_have_the_names_of_telegraf():
    receiver = Receiver()
    url = f"{receiver.url}/api/v2/write?org=o&bucket=b"
    with open("credentials", "w", encoding="utf-8") as f:
        f.write("token: abc\n")
    openpla(0, "push", "-influx", url, "-si", "1", "-sc", "2", "-credentials", host_path("credentials"),
            "-queue", host_path("q"), *COUNTERS)
    path, headers, body, _ = receiver.requests[-1]
    check(path == "/api/v2/write?org=o&bucket=b" and headers["Authorization"] == "Token abc", "the request", path, headers)
    lines = body.decode("utf-8").splitlines()
    memory = [line for line in lines if line.startswith("win_mem,host=")]
    check(len(memory) == 1 and ",objectname=Memory Committed_Bytes=" in memory[0], "a counter", memory)
    check([line for line in lines if ",instance=0," in line and " Percent_User_Time=" in line], "an instance", lines[:9])
    check([line for line in lines if line.startswith("win_proc,") and ",pid=" in line and "#" not in line], "a process", lines[-9:])
    check([line for line in lines if line.startswith("openpla_export_missing value=0 ")], "the exporter", lines)
    check(not [line for line in lines if "_Total" in line], "no sums", lines)
    receiver.end()


def samples_of_a_log_are_found(influx):
    log = host_path("log.blg")
    openpla(0, "typeperf", "-f", "BIN", "-o", log, "-si", "1", "-sc", "4", *COUNTERS)
    url = f"http://127.0.0.1:{influx.port}/write?db=pla"
    messages = openpla(0, "push", "-influx", url, "-log", log)
    check("dropped" not in messages, "no sample is dropped", messages)
    openpla(0, "relog", log, "-f", "CSV", "-o", host_path("log.csv"))
    with open("log.csv", encoding="utf-8", newline="") as f:
        rows = list(csv.reader(f))
    for counter, field, measurement, where in ((r"\Memory\Committed Bytes", "Committed_Bytes", MEMORY, ""),
                                               (r"\Processor(0)\% User Time", "Percent_User_Time", USER, "WHERE instance = '0'")):
        [at] = [i for i, path in enumerate(rows[0]) if path.endswith(counter)]
        expected = [float(row[at]) for row in rows[1:] if row[at].strip()]
        found = influx.values(field, measurement, where)
        check(len(found) == len(expected) >= 3 and all(abs(a - b) <= 1e-9 * abs(b) for a, b in zip(found, expected)), counter, found, expected)
    check(influx.values("Thread_Count", THREADS), "processes")
    before = influx.values("Committed_Bytes", MEMORY)
    influx.query("DROP MEASUREMENT win_mem")
    openpla(0, "push", "-influx", url, "-log", host_path("log.csv"), "-c", COUNTERS[0])
    check(influx.values("Committed_Bytes", MEMORY) == before, "a text log has the same values", before)


def samples_wait_while_server_is_down(influx, program):
    url, port = f"http://127.0.0.1:{influx.port}/write?db=pla", influx.port
    arguments = ("-influx", url, "-si", "1", "-queue", host_path("queue"), COUNTERS[0])
    before = len(influx.values("Committed_Bytes", MEMORY))
    openpla(0, "push", "-sc", "2", *arguments)
    check(len(influx.values("Committed_Bytes", MEMORY)) == before + 2, "live samples")
    influx.end()
    push = Push(*arguments)
    push.wait("is not accepting data")
    wait_until("the queue", lambda: waiting("queue") > 1)
    push.kill()
    queued = waiting("queue")
    influx = Influx(program, port)
    openpla(0, "push", "-sc", "1", *arguments)
    found = len(influx.values("Committed_Bytes", MEMORY))
    check(found == before + 2 + queued + 1, "all samples are found", found, before, queued)
    return influx


def unknown_database_is_reported(influx):
    text = openpla(1, "push", "-influx", f"http://127.0.0.1:{influx.port}/write?db=unknown", "-sc", "1", "-si", "1",
                   "-queue", host_path("q8"), COUNTERS[0])
    check("HTTP status 404" in text and "database not found" in text and "dropped" in text, "the reason", text)


def main():
    program = shutil.which("influxd")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["OPENPLA_DATA"] = host_path("data")
        lines_have_the_names_of_telegraf()
        if not program:
            print("no influxd")
            return 77
        influx = Influx(program)
        try:
            influx.query("CREATE DATABASE pla")
            samples_of_a_log_are_found(influx)
            influx = samples_wait_while_server_is_down(influx, program)
            unknown_database_is_reported(influx)
        finally:
            influx.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
