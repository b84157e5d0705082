#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""serve_prometheus.py PROGRAM [EMULATOR]: Debian's Prometheus scrapes PROGRAM (openpla.exe). One target has no
security; another uses TLS with a client certificate and an account. Under Wine the second target runs in another
prefix. If a native build exists, its program is a third target. The series equal typeperf's values of the same seconds,
with a tolerance of one sample, also for a target that was killed and restarted."""
import concurrent.futures
import datetime
import json
import os
import re
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

from certificates import OPENSSL, copy_certificate, make_certificate
from program import EMULATOR, PROGRAM, check, host_path
from served import PATIENCE, Served

os.environ["OPENPLA_SAMPLE_LIMIT"] = "0"  # on a busy machine a sample is slow
INTERVAL = 1  # seconds between scrapes
COUNTERS = {  # typeperf's counter: (metric, labels, factors of a value and of a second to the metric's unit)
    r"\System\Context Switches/sec": ("windows_system_context_switches_total", "", 1),
    r"\Processor(0)\% User Time": ("windows_processor_user_time_seconds_total", 'name="0"', 0.01),
    r"\Processor(0)\% Idle Time": ("windows_processor_idle_time_seconds_total", 'name="0"', 0.01),
    r"\Memory\Page Faults/sec": ("windows_memory_page_faults_total", "", 1),
}


SERVED = (r"\System\*", r"\Memory\*", r"\Processor(*)\*")
# bcrypt of "secret of tests" with the lowest cost
HASH = "$2b$05$abcdefghijklmnopqrstuuKL2hlVXxuZp5cQ3U8W5PfhhiohRZzKS"


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

    def log_text(self):
        with open("prometheus.log", encoding="utf-8", errors="replace") as f:
            return f.read()

    def query(self, expression):
        """Returns the query's result, or an empty list while Prometheus starts."""
        where = f"http://127.0.0.1:{self.port}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
        check(self.process.poll() is None, "Prometheus runs", self.log_text())
        try:
            with urllib.request.urlopen(where, timeout=PATIENCE) as answer:
                return json.load(answer)["data"]["result"]
        except (urllib.error.URLError, ConnectionError):
            return []

    def wait_until(self, expression, right, what):
        end = time.monotonic() + PATIENCE
        while not right(self.query(expression)):
            check(time.monotonic() < end, what, self.query(expression), self.log_text()[-3000:])
            time.sleep(0.2)

    def samples(self, job, metric, labels):
        """Returns the (time, value) of each sample of the last 10 minutes."""
        found = self.query(f"{metric}{{job='{job}',{labels}}}[10m]")
        check(len(found) == 1, f"one series {metric}", found)
        return [(float(t), float(v)) for t, v in found[0]["values"]]

    def end(self):
        self.process.terminate()
        self.process.wait()
        self.out.close()


class Target:
    """Runs openpla serve as a Prometheus job."""

    def __init__(self, job, *arguments, port=0, more="", command=None, environment=None):
        self.job, self.arguments, self.more = job, arguments, more
        self.command, self.environment = command or [*EMULATOR, PROGRAM], environment
        self.server = self.start(port)
        self.port = self.server.port

    def start(self, port):
        return Served("serve", str(port), *self.arguments, command=self.command, environment=self.environment)

    def typeperf(self, count):
        """Returns counter -> [(time, value)], from the second sample on."""
        done = subprocess.run([*self.command, "typeperf", *COUNTERS, "-si", str(INTERVAL), "-sc", str(count), "--json"], check=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=PATIENCE, env={**os.environ, **(self.environment or {})})
        rows = [json.loads(line) for line in done.stdout.decode().splitlines()]
        series = {counter: [] for counter in COUNTERS}
        for row in rows:
            t = datetime.datetime.fromisoformat(row["time"].replace("Z", "+00:00")).timestamp()
            for counter in COUNTERS:
                value = next(v["value"] for v in row["values"] if v["counter"].endswith(counter))
                series[counter].append((t, value))
        return series

    def kill(self):
        self.server.process.kill()
        self.server.process.wait()
        self.server.out.close()

    def restart(self):
        self.server = self.start(self.port)


def rates_equal_typeperf(prometheus, target, shown):
    """Adds up typeperf's rates. The sum must lie between two increases in Prometheus: over one sample fewer, and over
    one sample more."""
    begun, ended = shown[next(iter(COUNTERS))][0][0], shown[next(iter(COUNTERS))][-1][0]
    prometheus.wait_until(f"timestamp(windows_system_processes{{job='{target.job}'}}) > {ended + 2 * INTERVAL}", bool, "scrapes after typeperf's samples")
    for counter, (metric, labels, unit) in COUNTERS.items():
        rows = shown[counter]
        check(all(value is not None for _, value in rows), f"values of {counter}", rows)
        happened = sum(value * unit * (t - before) for (before, _), (t, value) in zip(rows, rows[1:]))
        scraped = prometheus.samples(target.job, metric, labels)
        # Prometheus stores the time of its request; the value may be sampled up to one interval later.
        first_in = min(v for t, v in scraped if t >= begun)
        last_in = max(v for t, v in scraped if t <= ended - INTERVAL)
        before = max(v for t, v in scraped if t <= begun - INTERVAL)
        after = min(v for t, v in scraped if t >= ended + INTERVAL)
        slack = 0.02 * happened + 2 * unit
        check(last_in - first_in - slack <= happened <= after - before + slack, f"{target.job}: {counter}: typeperf has {happened}",
              last_in - first_in, after - before, rows, scraped)
        print(f"{target.job}: {counter}: typeperf {happened:.2f}, Prometheus {last_in - first_in:.2f} to {after - before:.2f}")


def all_rates_equal_typeperf(prometheus, targets):
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for target, shown in list(zip(targets, pool.map(lambda t: t.typeperf(12), targets))):
            rates_equal_typeperf(prometheus, target, shown)


def types_are_known(prometheus):
    """The types come from the scrape's metadata."""
    where = f"http://127.0.0.1:{prometheus.port}/api/v1/metadata?metric="
    for metric, kind in (("windows_system_context_switches_total", "counter"), ("windows_system_context_switches", "counter"),
                         ("windows_system_processes", "gauge")):
        with urllib.request.urlopen(where + metric, timeout=PATIENCE) as answer:
            found = json.load(answer)["data"].get(metric)
        check(found is None or found[0]["type"] == kind, f"{metric} is a {kind}", found)


def killed_target_returns(prometheus, target):
    job = f"job='{target.job}'"
    target.kill()
    prometheus.wait_until(f"up{{{job}}}", lambda r: r and r[0]["value"][1] == "0", "a killed target is down")
    check(not prometheus.query(f"windows_cpu_time_total{{{job},mode='idle',core='0,0'}}"), "its series have ended")
    target.restart()
    prometheus.wait_until(f"up{{{job}}}", lambda r: r and r[0]["value"][1] == "1", "it is up again")
    found = prometheus.query(f"resets(windows_cpu_time_total{{{job},mode='user',core='0,0'}}[5m])")
    check(found and found[0]["value"][1] == "0", "its counters continue, because they belong to the computer", found)


def renewed_certificate_loses_no_scrape(prometheus, target):
    """The persistent connection of Prometheus is closed without a response, and Prometheus repeats the request on a new
    connection."""
    scraped = f"count_over_time(up{{job='{target.job}'}}[5m])"
    begun = time.time()
    copy_certificate("renewed", "used")
    wait_until = time.monotonic() + PATIENCE
    while ssl_subject(target.port) != "renewed":
        check(time.monotonic() < wait_until, "the renewed certificate is used")
        time.sleep(0.1)
    count = float(prometheus.query(scraped)[0]["value"][1])
    prometheus.wait_until(scraped, lambda r: r and float(r[0]["value"][1]) >= count + 5, "scrapes continue")
    found = prometheus.query(f"min_over_time(up{{job='{target.job}'}}[{int(time.time() - begun)}s])")
    check(found and found[0]["value"][1] == "1", "no scrape has failed", found)


def ssl_subject(port):
    done = subprocess.run([OPENSSL, "s_client", "-connect", f"127.0.0.1:{port}", "-cert", "client.crt", "-key", "client.key"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    found = re.search(rb"^subject=CN ?= ?(\S+)", done.stdout, re.M)
    return found[1].decode() if found else None


def native_program():
    """If PROGRAM runs under an emulator, returns the openpla program of a native build in a folder beside this build;
    otherwise None."""
    for preset in ("native-bench", "tools", "native-asan"):
        path = pathlib.Path(PROGRAM).resolve().parents[2] / preset / "bin" / "openpla"
        if EMULATOR and path.exists():
            return [str(path)]
    return None


class Prefix:
    """A second Wine prefix. In a native build this class does nothing."""

    def __init__(self):
        self.environment = None
        if EMULATOR:
            self.environment = {"WINEPREFIX": os.environ["WINEPREFIX"] + "_scraped"}
            self.run("setup")

    def run(self, verb):
        script = os.path.join(os.path.dirname(EMULATOR[-1]), "wine-prefix.sh")
        subprocess.run([script, verb], env={**os.environ, **self.environment}, check=True, stdin=subprocess.DEVNULL)

    def end(self):
        if self.environment:
            self.run("cleanup")
            shutil.rmtree(self.environment["WINEPREFIX"])


def secured_target(prefix):
    for name, issuer, purpose in (("ca", None, None), ("server", "ca", "serverAuth"), ("renewed", "ca", "serverAuth"), ("client", "ca", "clientAuth")):
        make_certificate(name, issuer, purpose)
    copy_certificate("server", "used")
    with open("secured.yml", "w", encoding="utf-8") as f:
        f.write("tls_server_config:\n  cert_file: used.crt\n  key_file: used.key\n  client_auth_type: RequireAndVerifyClientCert\n"
                f"  client_ca_file: ca.crt\nbasic_auth_users:\n  prometheus: {HASH}\n")
    return Target("secured", "-preset", "windows_exporter", *SERVED, "-web", host_path("secured.yml"), port=free_port(), environment=prefix.environment,
                  more="    scheme: https\n    tls_config:\n      ca_file: ca.crt\n      cert_file: client.crt\n      key_file: client.key\n"
                  "    basic_auth:\n      username: prometheus\n      password: secret of tests\n")


def main():
    program = shutil.which("prometheus")
    if not program or not OPENSSL:
        print("skipped: needs Debian's package prometheus, and openssl")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="openpla-prometheus.", dir=os.environ.get("WINEPREFIX")) as folder:
        os.chdir(folder)
        with open("tokens", "w", encoding="utf-8") as f:
            f.write("a token\n")
        with open("web.yml", "w", encoding="utf-8") as f:
            f.write("bearer_token_file: tokens\n")
        prefix = Prefix()
        secured = secured_target(prefix)
        targets = [Target("plain", *SERVED, r"\Process(*)\*"), secured]
        if native_program():
            targets.append(Target("native", *SERVED, "-web", "web.yml", command=native_program(), more="    authorization:\n      credentials: a token\n"))
        print("targets:", *(target.job for target in targets))
        prometheus = Prometheus(program, [(target.job, target.port, target.more) for target in targets])
        try:
            prometheus.wait_until("sum(up)", lambda r: r and r[0]["value"][1] == str(len(targets)), "all targets are up")
            types_are_known(prometheus)
            killed_target_returns(prometheus, secured)
            prometheus.wait_until("min(count_over_time(windows_system_processes[1m]))", lambda r: r and float(r[0]["value"][1]) > 5, "a few scrapes")
            all_rates_equal_typeperf(prometheus, targets)
            renewed_certificate_loses_no_scrape(prometheus, secured)
            check(not re.search("level=(warn|error).*scrape", prometheus.log_text()), "no complaint about the pages", prometheus.log_text())
            shown = prometheus.query("count({job='plain'})")
            check(shown and int(shown[0]["value"][1]) > 100, "series", shown)
        finally:
            prometheus.end()
            for target in targets:
                target.server.end()
            prefix.end()
            os.chdir("/")


main()
