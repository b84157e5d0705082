#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures event tracing, natively and under Wine, and LTTng-UST in one run.

peers_etw.py [SECONDS]    `cmake --build --preset mingw --target peers_etw` runs it for 10 seconds, as the goals require
Builds what it measures, with the presets mingw and native-bench (which has no sanitizers). Needs the Debian packages
lttng-tools and liblttng-ust-dev. All logs are on /dev/shm, which is a tmpfs. Our sessions have 1 MB of buffers; LTTng
has a per-user channel of 8 x 128 KB that discards events when it is full. A run takes some five minutes. Other load
distorts it, so the load before and after is printed. Goals: an event of 64 bytes takes at most 45 ns, a disabled one
2.5 ns in the DLL and 0.5 ns with an inline test; at most one event in 10,000 is lost; ProcessTrace reads 5 million
events a second; 1 GB is read in 64 MB of memory."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

import arguments

FOLDER = "/dev/shm"
SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
BENCHES = ("bench_etw", "bench_etw_provider", "bench_etw_hosts", "bench_consumer")
FILE_MB, IDLE_SESSIONS, IDLE_SECONDS = 1024, 64, 10


def run(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, errors="replace", **more).stdout


def show(title, text):
    print(f"\n{title}")
    for line in text.strip().splitlines():
        print("  " + line, flush=True)


def build(preset, *targets):
    if not os.path.exists(os.path.join(SOURCE, "build", preset, "build.ninja")):
        run("cmake", "--preset", preset, cwd=SOURCE)
    run("cmake", "--build", "--preset", preset, "--target", *targets, cwd=SOURCE)
    return os.path.join(SOURCE, "build", preset, "bin")


class Native:
    name = "natively"

    def __init__(self):
        self.bin = build("native-bench", *BENCHES, "bench_lttng", "openetwhost")

    def program(self, name):
        return [os.path.join(self.bin, name)]

    @staticmethod
    def file(name):
        return f"{FOLDER}/{name}"


class Wine:
    name = "under Wine"

    def __init__(self):
        self.bin = build("mingw", *BENCHES, "openetwhost")
        os.environ.setdefault("WINEPREFIX", os.path.join(SOURCE, "build", "mingw", "wineprefix"))
        self.runner = os.path.join(SOURCE, "cmake", "wine-run.sh")
        run(os.path.join(SOURCE, "cmake", "wine-prefix.sh"), "setup")

    def program(self, name):
        return ["sh", self.runner, os.path.join(self.bin, name + ".exe")]

    @staticmethod
    def file(name):
        return f"Z:{FOLDER}/{name}".replace("/", "\\")


def measure(world, seconds):
    os.environ["OPENPLA_ETW"] = f"peers{os.getpid()}"  # separates this run's sessions from others
    for title, bench, *arguments in (
            ("a call, and writers flat out, beside a live host", "bench_etw_provider", world.file("peers.etl"), seconds),
            ("an event without a host beside it; writers flat out, the host a thread", "bench_etw",
             world.file("peers.etl"), "3"),
            (f"ProcessTrace of {FILE_MB} MB", "bench_consumer", world.file("peers_read.etl"), str(FILE_MB)),
            (f"{IDLE_SESSIONS} sessions", "bench_etw_hosts", str(IDLE_SESSIONS), str(IDLE_SECONDS))):
        show(f"{world.name}: {title}", run(*world.program(bench), *arguments))
        for name in ("peers.etl", "peers_read.etl"):
            if os.path.exists(f"{FOLDER}/{name}"):
                os.remove(f"{FOLDER}/{name}")


def lost(session):
    """Returns the lost events as LTTng reports them; sometimes its number is too large by 2^63."""
    status = run("lttng", "list", session, "-c", "c")
    return sum(int(n) & 2 ** 63 - 1 for n in re.findall(r"[Dd]iscarded events:\s*(\d+)", status))


def lttng(bench, writers, seconds, output):
    name = f"bench{writers}"
    run("lttng", "-q", "create", name, f"--output={output}")
    try:
        run("lttng", "-q", "enable-channel", "--userspace", "c", "--subbuf-size=128K", "--num-subbuf=8", "--discard")
        run("lttng", "-q", "enable-event", "--userspace", "bench:event64", "-c", "c")
        run("lttng", "-q", "start")
        _, events, wall, processor = run(bench, str(writers), str(seconds)).split()
        run("lttng", "-q", "stop")
        missing = lost(name)
        return (f"{writers} writers, {seconds} s {int(events):13} events, lost {missing} "
                f"({100 * missing / int(events):.2f} %); an event: wall {wall} ns, processor {processor} ns")
    finally:
        run("lttng", "-q", "destroy", name)


def measure_lttng(bench, seconds):
    with tempfile.TemporaryDirectory(dir=FOLDER) as home:
        os.environ["LTTNG_HOME"] = home
        pidfile = os.path.join(home, "sessiond.pid")
        run("lttng-sessiond", "--no-kernel", "--daemonize", f"--pidfile={pidfile}")
        try:
            lines = [f"a tracepoint that no session has: {run(bench, '1', '1').split()[2]} ns"]
            for writers in (1, 2, 4):
                lines.append(lttng(bench, writers, seconds, os.path.join(home, "out")))
                shutil.rmtree(os.path.join(home, "out"), ignore_errors=True)
        finally:
            with open(pidfile) as f:
                os.kill(int(f.read()), 15)
    show("LTTng-UST", "\n".join(lines))


def main(seconds="10"):
    if not shutil.which("lttng-sessiond"):
        sys.exit("peers_etw: lttng-tools is not installed")
    native, wine = Native(), Wine()
    print("load", *os.getloadavg())
    measure(native, seconds)
    measure_lttng(*native.program("bench_lttng"), seconds)
    measure(wine, seconds)
    for left in glob.glob(f"{FOLDER}/openetw*-peers{os.getpid()}*"):
        os.remove(left)
    print("\nload", *os.getloadavg())


if __name__ == "__main__":
    main(*map(str, arguments.parse_arguments(__doc__, ("SECONDS", arguments.number, 10))))
