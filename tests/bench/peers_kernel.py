#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the cost and loss of recording 100,000 thread switches a second: the NT Kernel Logger natively and under
Wine, and Debian's `perf record` and `trace-cmd record`, one after the other in one run.

peers_kernel.py [SECONDS] [RATE]    `cmake --build --preset mingw --target peers_kernel` runs it: 10 seconds, 100,000
Builds what it measures, with the presets mingw and native-bench. Needs root and the packages linux-perf and trace-cmd.
All logs are on /dev/shm, which is a tmpfs. Each tool records the event sched_switch of all processors. The load counts
its own switches; those missing in the log are lost. A recorder's processor time is counted from its start to the end of
the load. For perf and trace-cmd it is counted until they exit, because they write their files then. Goal: at most 1 %
of a processor, nothing lost."""
import glob
import json
import os
import re
import resource
import signal
import subprocess
import tempfile
import time

import arguments
from peers_etw import FOLDER, SOURCE, build, run

SWITCHES = "0x13"  # processes, threads, switches
OFFSET = 10000000
TICKS = os.sysconf("SC_CLK_TCK")


def load(bench, rate, seconds):
    """Returns the switches that the load counted, its two threads, and the seconds."""
    switches, one, other, took = run(bench, rate, seconds).split()
    return int(switches), {int(one), int(other)}, float(took)


def row(name, counted, found, seconds, processor):
    missing = counted - found
    print(f"  {name:28} {counted / seconds:8.0f} switches/s  processor {100 * processor / seconds:5.2f} %  "
          f"missing {missing} of {counted} ({100 * missing / counted:.3f} %)", flush=True)


def host_time(scope):
    """Returns the processor time of the session host processes of this run."""
    total = 0
    for path in glob.glob("/proc/[0-9]*/environ"):
        folder = os.path.dirname(path)
        try:
            with open(path, "rb") as f, open(folder + "/cmdline", "rb") as c, open(folder + "/stat") as s:
                if scope.encode() in f.read().split(b"\0") and b"openetwhost" in c.read():
                    numbers = s.read().rsplit(")", 1)[1].split()
                    total += int(numbers[11]) + int(numbers[12])
        except OSError:
            pass
    return total / TICKS


def measure_openpla(name, program, session, path, bench, rate, seconds):
    scope = f"OPENPLA_ETW=kernel{os.getpid()}"
    os.environ["OPENPLA_ETW"] = scope.split("=")[1]
    run(*session, "kernel", path, SWITCHES)
    try:
        before = host_time(scope)
        counted, threads, took = load(bench, rate, seconds)
        used = host_time(scope) - before
    finally:
        run(*session, "stop", "NT Kernel Logger")
    table = json.loads(run(*program, "trace", "top", path, "-threads", "-rows", "1000000", "--json"))
    found = sum(r["switches"] for r in table["rows"] if r["thread"] in threads | {t + OFFSET for t in threads})
    row(name, counted, found, took, used)
    print(f"  {'':28} its log says that {table['lost']} were lost")


def measure_tool(name, record, show, bench, rate, seconds):
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        recorder = subprocess.Popen([*record, "-o", "log"], cwd=folder, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.PIPE, text=True, errors="replace")
        time.sleep(2)  # by then it records
        if recorder.poll() is not None:
            print(f"  {name:28} does not record here: {' '.join(recorder.stderr.read().split())}")
            return
        counted, threads, took = load(bench, rate, seconds)
        of_load = resource.getrusage(resource.RUSAGE_CHILDREN)
        recorder.send_signal(signal.SIGINT)
        recorder.communicate()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - of_load.ru_utime - of_load.ru_stime
        found = 0
        shown = subprocess.Popen([*show, "-i", "log"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                 text=True, errors="replace")
        expected = re.compile("sched_switch.*(?:next_pid=|==> .*:)(%s)\\b" % "|".join(map(str, threads)))
        for line in shown.stdout:
            found += expected.search(line) is not None
        shown.wait()
        row(name, counted, found, took, used)


def main(seconds="10", rate="100000"):
    native, mingw = build("native-bench", "openpla_program", "openetwhost", "live_session", "bench_switches"), \
        build("mingw", "openpla_program", "openetwhost", "live_session")
    bench = os.path.join(native, "bench_switches")
    os.environ.setdefault("WINEPREFIX", os.path.join(SOURCE, "build", "mingw", "wineprefix"))
    wine = ["sh", os.path.join(SOURCE, "cmake", "wine-run.sh")]
    run(os.path.join(SOURCE, "cmake", "wine-prefix.sh"), "setup")
    print("load", *os.getloadavg())
    own = [os.path.join(native, "openpla")]
    path = f"{FOLDER}/peers_kernel.etl"
    measure_openpla("OpenPLA natively", own, [os.path.join(native, "live_session")], path, bench, rate, seconds)
    os.remove(path)
    measure_openpla("OpenPLA under Wine", [*wine, os.path.join(mingw, "openpla.exe")],
                    [*wine, os.path.join(mingw, "live_session.exe")], "Z:" + path.replace("/", "\\"), bench, rate, seconds)
    os.remove(path)
    measure_tool("perf record", ["perf", "record", "-q", "-a", "-e", "sched:sched_switch"], ["perf", "script"], bench, rate,
                 seconds)
    measure_tool("trace-cmd record", ["trace-cmd", "record", "-q", "-e", "sched:sched_switch"], ["trace-cmd", "report"], bench,
                 rate, seconds)
    print("load", *os.getloadavg())


if __name__ == "__main__":
    main(*map(str, arguments.parse_arguments(__doc__, ("SECONDS", arguments.number, 10), ("RATE", arguments.number, 100000))))
