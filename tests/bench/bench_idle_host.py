#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_idle_host.py HOST [SECONDS]: measures a set with 10 counters once a second, compared with Debian's pmlogger
(package pcp) with 10 metrics in the same run. HOST is openplahost.exe, which runs under Wine in $WINEPREFIX, or a
native host process. If the service is registered under Wine, it watches the host process as in any run, and a separate
row shows the service's CPU. Prints CPU per second (median and range of windows), resident memory, bytes written, the
time from the host process's start to its first sample, and how far samples are from the full second."""
import datetime
import glob
import os
import shutil
import signal
import statistics
import subprocess
import tempfile
import time

import arguments

COUNTERS = [r"\Processor(_Total)\% Processor Time", r"\Processor(_Total)\% User Time",
            r"\Processor(_Total)\% Privileged Time", r"\Memory\Available Bytes", r"\Memory\Committed Bytes",
            r"\System\Context Switches/sec", r"\System\Processes", r"\System\Threads",
            r"\System\Processor Queue Length", r"\System\System Up Time"]
METRICS = ["kernel.all.cpu.user", "kernel.all.cpu.sys", "kernel.all.cpu.idle", "kernel.all.cpu.nice", "mem.util.free",
           "mem.util.used", "mem.util.cached", "kernel.all.pswitch", "kernel.all.intr", "kernel.all.nprocs"]
WINDOW = 10
COUNTER_SET = ("<PerformanceCounterDataCollector><Name>log</Name><LogFileFormat>0</LogFileFormat><SampleInterval>1"
               f"</SampleInterval>{''.join(f'<Counter>{c}</Counter>' for c in COUNTERS)}</PerformanceCounterDataCollector>")
API_SET = (r"<ApiTracingDataCollector><Name>log</Name><LogFilePath>log.etl</LogFilePath><ExePath>C:\windows\system32"
           r"\notepad.exe</ExePath></ApiTracingDataCollector>")


def kind_of_set(name, value):
    if value not in ("counters", "apis"):
        arguments.reject(name, value, "expected counters or apis")
    return value


HOST, SECONDS, KIND = arguments.parse_arguments(__doc__, ("HOST", arguments.program), ("SECONDS", arguments.number, 60),
                                                ("KIND", kind_of_set, "counters"))
APIS = KIND == "apis"
WINE = HOST.endswith(".exe")
if APIS and not WINE:
    arguments.reject("HOST", HOST, "API calls are only traced under Wine")
if WINE:
    arguments.environment("WINEPREFIX")
    if os.path.basename(HOST).lower() != "openplahost.exe":
        arguments.reject("HOST", HOST, "expected openplahost.exe, the program of the set host process")


def cpu_ms(pid):
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total / 1e6


def memory(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        lines = dict(line.split(":", 1) for line in file)
    return "%.1f MB resident, %.1f MB of it its own" % tuple(
        int(lines[key].split()[0]) / 1024 for key in ("VmRSS", "RssAnon"))


def find(program, word):
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                line = file.read().decode(errors="replace")
        except OSError:
            continue
        if program in line.split("\0")[0] and word in line:
            return int(entry)
    return None


def of_prefix(program):
    """Finds a Linux process of the prefix by the beginning of its name."""
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/comm", encoding="ascii") as file:
                if not file.read().startswith(program):
                    continue
            with open(f"/proc/{entry}/environ", "rb") as file:
                if ("WINEPREFIX=" + os.environ["WINEPREFIX"]).encode() in file.read():
                    return int(entry)
        except OSError:
            continue
    return None


def start_host(data, root, name):
    folder = os.path.join(data, "sets", "Service")
    os.makedirs(folder, exist_ok=True)
    shown = "Z:" + root.replace("/", "\\") if WINE else root
    with open(os.path.join(folder, name + ".xml"), "w", encoding="utf-8") as file:
        file.write(f"<DataCollectorSet><RootPath>{shown}</RootPath>{API_SET if APIS else COUNTER_SET}</DataCollectorSet>")
    environment = dict(os.environ, WINEDEBUG="-all") if WINE else dict(os.environ, OPENPLA_DATA=data)
    command = (["wine"] if WINE else []) + [HOST, "Service", name, "0"]
    begun = time.monotonic()
    try:
        runner = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
    except OSError as error:
        arguments.reject("HOST", HOST, f"cannot be run: {error.strerror}")
    log = os.path.join(root, "log.etl" if APIS else "log.csv")
    while not os.path.exists(log) or not (APIS or open(log, "rb").read().count(b"\n") > 1):
        if time.monotonic() - begun > 60 or runner.poll() is not None:
            arguments.reject("HOST", HOST, "no log within 60 s" if runner.poll() is None else
                             f"ended with {runner.returncode} before its first sample")
        time.sleep(0.001)
    return runner, find(os.path.basename(HOST), name), log, time.monotonic() - begun


def offsets(log):
    with open(log, encoding="cp1252") as file:
        times = [datetime.datetime.strptime(line[1:24], "%m/%d/%Y %H:%M:%S.%f").timestamp() for line in list(file)[1:]]
    return [abs(t - times[0] - round(t - times[0])) * 1000 for t in times]


def main():
    folder = tempfile.mkdtemp()
    name = f"bench-idle-{os.getpid()}"
    data, root, peer = (os.path.join(folder, part) for part in ("data", "root", "pcp"))
    if WINE:
        data = os.path.join(os.environ["WINEPREFIX"], "drive_c", "ProgramData", "OpenPLA")
    for part in (root, peer):
        os.mkdir(part)
    children = []
    try:
        if WINE:
            subprocess.call(["wine", "net", "start", "OpenPLA"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        runner, host, log, first = start_host(data, root, name)
        children.append(host)
        watched = {"host": host}
        for program in ("openplasrv", "wineserver") if WINE else ():
            if of_prefix(program):
                watched[program] = of_prefix(program)
        if not APIS and shutil.which("pmlogger"):
            with open(os.path.join(peer, "conf"), "w", encoding="ascii") as file:
                file.write("log mandatory on 1 sec { " + " ".join(METRICS) + " }\n")
            names = os.path.join(peer, "names")  # private, because pcp creates one only when its services start
            subprocess.check_call(["/usr/lib/pcp/bin/pmnsmerge", "-a"] + [
                f"/var/lib/pcp/pmns/root_{part}" for part in ("root", "linux", "pmcd")] + [names])
            environment = dict(os.environ, PMNS_DEFAULT=names, PCP_RUN_DIR=peer, PCP_LOG_DIR=peer, PCP_TMP_DIR=peer)
            pmlogger = subprocess.Popen(["pmlogger", "-o", "-c", os.path.join(peer, "conf"), "-l",
                                         os.path.join(peer, "log"), os.path.join(peer, "a")], env=environment,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            children.append(pmlogger.pid)
            watched["pmlogger"] = pmlogger.pid
        time.sleep(3)
        windows = {what: [] for what in watched}
        for _ in range(max(1, SECONDS // WINDOW)):
            before = {what: cpu_ms(pid) for what, pid in watched.items()}
            begun = time.monotonic()
            time.sleep(WINDOW)
            for what, pid in watched.items():
                windows[what].append((cpu_ms(pid) - before[what]) / (time.monotonic() - begun))
        print(f"start of the host process to {'its log' if APIS else 'its first sample in the log'}: {first * 1000:.0f} ms")
        for what, figures in windows.items():
            print(f"{what:>10}: {statistics.median(figures):5.2f} ms of CPU per second ({min(figures):.2f} to "
                  f"{max(figures):.2f}), {memory(watched[what])}")
        if "pmlogger" in windows:
            ratio = statistics.median(windows["host"]) / statistics.median(windows["pmlogger"])
            print(f"the host's CPU is {ratio:.2f} times pmlogger's")
        if APIS:
            return
        off = sorted(offsets(log))
        print(f"{len(off)} samples, {os.path.getsize(log)} bytes; off their second: median "
              f"{statistics.median(off):.1f} ms, 99 % within {off[int(len(off) * 0.99) - 1]:.1f} ms, worst {off[-1]:.1f} ms")
    finally:
        for pid in children:
            if pid:
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.5)
        shutil.rmtree(folder)
        for path in glob.glob(os.path.join(data, "sets", "Service", name + ".*")):
            os.remove(path)


main()
