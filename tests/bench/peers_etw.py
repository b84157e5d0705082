#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What an event costs and how many are lost, beside LTTng-UST in the same run.

peers_etw.py BENCH_ETW BENCH_LTTNG [SECONDS]    needs the Debian packages lttng-tools and liblttng-ust-dev
Runs bench_etw (natively, or its .exe through Wine by cmake/wine-run.sh), then bench_lttng with one, two and four writers
in a session with 8 x 128 KB (1 MB, as bench_etw has) for each user, that discards; both write to /dev/shm."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

FOLDER = "/dev/shm"


def run(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more).stdout


def lost(session):
    """Events, as it tells them; now and then it tells more than there were, by 2^63."""
    said = run("lttng", "list", session, "-c", "c")
    return sum(int(n) & 2 ** 63 - 1 for n in re.findall(r"[Dd]iscarded events:\s*(\d+)", said))


def lttng(bench, writers, seconds, output):
    name = f"bench{writers}"
    run("lttng", "-q", "create", name, f"--output={output}")
    try:
        run("lttng", "-q", "enable-channel", "--userspace", "c", "--subbuf-size=128K", "--num-subbuf=8", "--discard")
        run("lttng", "-q", "enable-event", "--userspace", "bench:event64", "-c", "c")
        run("lttng", "-q", "start")
        _, events, ns = run(bench, str(writers), str(seconds)).split()
        run("lttng", "-q", "stop")
        missing = lost(name)
        print(f"LTTng-UST: {writers} writers {int(events):12} events, lost {missing} "
              f"({100 * missing / int(events):.2f} %), wall {ns} ns an event each")
    finally:
        run("lttng", "-q", "destroy", name)


def main(bench_etw, bench_lttng, seconds="3"):
    if not shutil.which("lttng-sessiond"):
        sys.exit("peers_etw: lttng-tools is not installed")
    wine = os.path.join(os.path.dirname(__file__), "..", "..", "cmake", "wine-run.sh")
    command = [wine, bench_etw, "Z:\\dev\\shm\\bench_etw.etl"] if bench_etw.endswith(".exe") else [
        bench_etw, f"{FOLDER}/bench_etw.etl"]
    print(run(*command, seconds), end="")
    with tempfile.TemporaryDirectory(dir=FOLDER) as home:
        os.environ["LTTNG_HOME"] = home
        pidfile = os.path.join(home, "sessiond.pid")
        run("lttng-sessiond", "--no-kernel", "--daemonize", f"--pidfile={pidfile}")
        try:
            print("LTTng-UST, no session:", run(bench_lttng, "1", "1").split()[2], "ns an event")
            for writers in (1, 2, 4):
                lttng(bench_lttng, writers, seconds, os.path.join(home, "out"))
                shutil.rmtree(os.path.join(home, "out"), ignore_errors=True)
        finally:
            with open(pidfile) as f:
                os.kill(int(f.read()), 15)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:4])
