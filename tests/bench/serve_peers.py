#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares CPU per scraped series and memory of openpla serve with Prometheus' node exporter in the same run.

serve_peers.py OPENPLA [SCRAPES]    OPENPLA is an optimised build. Needs the Debian package prometheus-node-exporter, or
                                    a program in NODE_EXPORTER; without it, only OpenPLA is measured.
The CPU time is the sum of /proc/<pid>/task/*/schedstat over the scrapes, after a warm-up. All scrapes use one
connection, as Prometheus does, in alternating rounds, so that other load affects both programs. A series is a line of
the page that is not a comment. "the same" means the collectors of processors, memory, disks, network and the like,
without those for each process, which the node exporter lacks. "gzip" is the encoding that Prometheus requests. Finally,
the script reads 1,000 pages with all processes and threads, and 1,000 pages with a fixed number of series. Exit code 1
if a ratio of CPU per series is above 0.7, if 10,000 series take longer than 50 ms (fastest page), if memory is above 16
MB, or if it grows between the 100th and the 1,000th page with the fixed number of series.
"""
import gzip
import http.client
import os
import re
import shutil
import subprocess
import sys
import time

MOST_RATIO, WARM_UP, ROUNDS = 0.7, 5, 5
MOST_MS, MOST_MB, MANY_PAGES, MOST_GROWTH_MB = 50, 16, 1000, 0.2
SAME = [r"\Processor Information(*)\*", r"\Memory\*", r"\PhysicalDisk(*)\*", r"\LogicalDisk(*)\*", r"\Network Interface(*)\*", r"\TCPv4\*",
        r"\UDPv4\*", r"\System\Context Switches/sec", r"\System\System Up Time"]
FIXED = [r"\Processor Information(*)\*", r"\Memory\*", r"\System\*", r"\TCPv4\*"]
MANY = [r"\Process(*)\*", r"\Thread(*)\*", *SAME]
NODE_SAME = ["--collector.disable-defaults", "--web.disable-exporter-metrics"] + [
    "--collector." + name for name in "cpu meminfo netdev diskstats stat filesystem vmstat netstat".split()]


class Target:
    def __init__(self, name, port, arguments, packed=False):
        self.coding, self.bytes, self.fastest_ms = "gzip" if packed else "identity", 0, 1e9
        self.name, self.connection = name, http.client.HTTPConnection("127.0.0.1", port)
        self.process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.cpu_ms = self.wall_ms = self.series = self.scrapes = 0
        for _ in range(600):
            try:
                self.scrape()
                break
            except OSError:
                self.connection.close()
                time.sleep(0.1)
        for _ in range(WARM_UP):
            self.scrape()

    def scrape(self):
        begun = time.monotonic()
        self.connection.request("GET", "/metrics", headers={"Accept-Encoding": self.coding})
        answer = self.connection.getresponse()
        page = answer.read()
        self.fastest_ms = min(self.fastest_ms, 1000 * (time.monotonic() - begun))
        self.bytes = len(page)
        if answer.headers["Content-Encoding"] == "gzip":
            page = gzip.decompress(page)
        return sum(1 for line in page.splitlines() if line and not line.startswith(b"#"))

    def cpu(self):
        total = 0
        for task in os.listdir(f"/proc/{self.process.pid}/task"):
            try:
                with open(f"/proc/{self.process.pid}/task/{task}/schedstat", encoding="ascii") as f:
                    total += int(f.read().split()[0])
            except OSError:
                pass
        return total / 1e6

    def rss_mb(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as f:
            return int(re.search(r"VmRSS:\s+(\d+)", f.read())[1]) / 1024

    def round(self, count):
        cpu, begun = self.cpu(), time.monotonic()
        for _ in range(count):
            self.series += self.scrape()
        self.cpu_ms += self.cpu() - cpu
        self.wall_ms += 1000 * (time.monotonic() - begun)
        self.scrapes += count

    def per_series(self):
        return 1000 * self.cpu_ms / self.series

    def show(self):
        n = self.scrapes
        print(f"{self.name:34} {self.series / n:7.0f} series  {self.wall_ms / n:7.1f} ms  CPU {self.cpu_ms / n:6.2f} ms a page, "
              f"{self.per_series():6.2f} us a series  {self.rss_mb():5.1f} MB  {self.bytes / 1000:7.1f} kB sent")

    def end(self):
        self.process.terminate()
        self.process.wait()


def compare(scrapes, *targets):
    for _ in range(ROUNDS):
        for target in targets:
            target.round(max(scrapes // ROUNDS, 1))
    for target in targets:
        target.show()
    ratio = targets[0].per_series() / targets[1].per_series() if len(targets) > 1 else 0
    if ratio:
        print(f"ratio of CPU per series: {ratio:.2f} (at most {MOST_RATIO})\n")
    for target in targets:
        target.end()
    return ratio


def many_pages(target, is_fixed):
    """Reads 1,000 pages and returns whether time and memory stay within the limits. The growth of memory is checked
    only for a fixed number of series, because it depends on the largest page."""
    target.round(MANY_PAGES // 10)
    before = target.rss_mb()
    target.round(MANY_PAGES - MANY_PAGES // 10)
    after, series = target.rss_mb(), target.series / target.scrapes
    target.show()
    ms = 0 if is_fixed else target.fastest_ms * 10000 / series
    print(f"{MANY_PAGES} pages: {before:.2f} MB after {MANY_PAGES // 10}, {after:.2f} MB at the end (at most {MOST_MB}); "
          + (f"10,000 series in {ms:.1f} ms, the fastest page (at most {MOST_MS})\n" if ms else "\n"))
    target.end()
    return after <= MOST_MB and ms <= MOST_MS and (after - before <= MOST_GROWTH_MB or not is_fixed)


def main():
    program = os.path.abspath(sys.argv[1])
    scrapes = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    node = os.environ.get("NODE_EXPORTER") or shutil.which("prometheus-node-exporter")
    ports = iter(range(19500, 19600))

    def ours(name, *arguments, packed=False):
        port = next(ports)
        return Target(f"openpla serve, {name}", port, [program, "serve", "-http", str(port), *arguments], packed)

    def theirs(name, *arguments, packed=False):
        if not node:
            return []
        port = next(ports)
        return [Target(f"node exporter, {name}", port, [node, f"--web.listen-address=127.0.0.1:{port}", *arguments], packed)]

    ratios = [compare(scrapes, ours("the same", *SAME), *theirs("the same", *NODE_SAME)),
              compare(scrapes, ours("the same, gzip", *SAME, packed=True), *theirs("the same, gzip", *NODE_SAME, packed=True)),
              compare(scrapes, ours("windows_exporter", "-preset", "windows_exporter"), *theirs("defaults")),
              compare(scrapes, ours("windows_exporter, gzip", "-preset", "windows_exporter", packed=True), *theirs("defaults, gzip", packed=True))]
    kept = [many_pages(ours("processes and threads", *MANY), False), many_pages(ours("the same, gzip", *MANY, packed=True), False),
            many_pages(ours("a fixed number", *FIXED), True), many_pages(ours("the same, gzip", *FIXED, packed=True), True)]
    sys.exit(1 if max(ratios) > MOST_RATIO or not all(kept) else 0)


main()
