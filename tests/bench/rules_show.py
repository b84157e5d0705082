#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs real collections under known loads and checks that each gets exactly the expected warnings:

rules_show.py PROGRAM           natively: logs by "openpla typeperf", then report, rules and page
rules_show.py wine              sets with a data manager under Wine, in $WINEPREFIX, in which OpenPLA is registered
rules_show.py PROGRAM large     time and memory of rules and page, of a report of 200,000 rows
rules_show.py PROGRAM day       time and memory of all rules over a log of 8 hours, with 1,000 counters that rules use;
                                checks the limits of 5 s of processor time and 256 MB

The loads are: a busy process on each processor; committed memory up to 85 % of the limit (at most 1 GB of it is written
to, and nothing if more than half of the memory is in use); and a full drive of 16 MB, a tmpfs in a separate mount
namespace. Other activity of the machine cannot be stopped, so one run without load precedes the others and one follows.
If a warning appears in these two runs too, the machine is its cause. If an expected warning appears in them with the
same severity, it proves nothing, and the script reports that. Needs root or user namespaces; under Wine it ends the
prefix's programs.
Exit codes: 0 as expected, 1 not as expected, 3 as expected, but a warning proves nothing."""
import datetime
import json
import mmap
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree

import arguments

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.abspath(os.path.join(HERE, "..", ".."))
SECONDS = 10  # duration of each run
SCHEMA = "Report.System.Diagnostics.xml"
COUNTERS = [r"\Processor(*)\*", r"\System\*", r"\Memory\*", r"\Paging File(*)\*", r"\PhysicalDisk(*)\*",
            r"\LogicalDisk(*)\*", r"\Network Interface(*)\*", r"\Process(*)\Handle Count", r"\Process(*)\Thread Count"]
# The expected warnings' links and severities, fixed before the first run.
LISTS = {
    "processors": {"cpuBusy": "Red"},
    "memory": {"memoryCommit": "warning"},
    "full disk": {"driveFull": "Red", "driveFree": "Red"},
    "large report": {"processHandles": "warning"},
}
COMMIT_SHARE, WRITTEN_MOST, USED_MOST = 0.85, 1 << 30, 0.5
CHUNK = 64 << 20
COLUMNS = ["counter", "instance", "mean", "min", "max", "p95"]
LARGE = 200000  # the maximum number of rows in a report


def warnings(report):
    """Returns {link: (img, text)} of the warnings in a checked report."""
    tables = ElementTree.parse(report).getroot().findall("Section[@name='advice']/Table[@name='warning']")
    if len(tables) != 1:
        sys.exit(f"FAILED: {report} has {len(tables)} tables of warnings")
    symptoms = [item.find("Data[@name='symptom']") for item in tables[0].findall("Item")]
    return {symptom.get("link"): (symptom.get("img"), symptom.text) for symptom in symptoms}


def spin(_):
    while True:
        pass


def memory_kb():
    with open("/proc/meminfo", encoding="ascii") as file:
        return {line.split(":")[0]: int(line.split()[1]) for line in file}


def commit(full):
    """Keeps the committed memory of all processes at a fraction of the limit, whatever others do; reports when it is
    reached."""
    chunks, written = [], 0
    while True:
        now = memory_kb()
        more = int(COMMIT_SHARE * now["CommitLimit"] - now["Committed_AS"]) // (CHUNK >> 10)
        if more <= 0:
            full.set()
        for _ in range(max(more, 0)):
            chunks.append(mmap.mmap(-1, CHUNK, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
            used = 1 - memory_kb()["MemAvailable"] / now["MemTotal"]
            if written < WRITTEN_MOST and used < USED_MOST:
                for page in range(0, CHUNK, mmap.PAGESIZE):
                    chunks[-1][page] = 1
                written += CHUNK
        for _ in range(min(max(-more, 0), len(chunks))):
            chunks.pop().close()
        time.sleep(0.1)


class Load:
    """The load during a run. Its processes are terminated after the run."""

    def __init__(self, name):
        self.processes = []
        if name == "processors":
            self.processes = [multiprocessing.Process(target=spin, args=(i,), daemon=True)
                              for i in range(len(os.sched_getaffinity(0)))]
        if name == "memory":
            self.full = multiprocessing.Event()
            self.processes = [multiprocessing.Process(target=commit, args=(self.full,), daemon=True)]
        self.name = name

    def __enter__(self):
        for process in self.processes:
            process.start()
        if self.name == "memory" and not self.full.wait(60):
            sys.exit("FAILED: the memory could not be committed within 60 s")

    def __exit__(self, *_):
        for process in self.processes:
            process.terminate()
            process.join()


def run(what, *command):
    """Returns the exit code; the output is shown on failure."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False)
    if done.returncode not in (0, 3, 4):
        sys.exit(f"FAILED: {what}: exit code {done.returncode}: {done.stdout.decode(errors='replace')[-600:]}")
    return done.returncode


# In the native build, drive Z: is the root file system. So the log is written by a program whose root is full.
FULL_ROOT = """set -e
mount -t tmpfs -o size=16m small "$1/root"
for folder in usr lib lib64 proc sys dev; do
    if [ -e "/$folder" ]; then mkdir "$1/root/$folder"; mount --rbind "/$folder" "$1/root/$folder"; fi
done
mkdir "$1/root/run"
mount --bind "$1" "$1/root/run"
head -c 16777216 /dev/zero >"$1/root/ballast" 2>/dev/null || true
shift
exec chroot "$@" """


def unshare():
    return ["unshare", "--mount"] if os.getuid() == 0 else ["unshare", "--user", "--map-root-user", "--mount"]


def native(program, name):
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "root"))
        os.mkdir(os.path.join(folder, "logs"))
        with open(os.path.join(folder, "counters.txt"), "w", encoding="ascii") as file:
            file.write("\n".join(COUNTERS) + "\n")
        there, command, inside = folder, [], program
        if name == "full disk":
            inside = "/run/openpla"
            with open(program, "rb") as file, open(os.path.join(folder, "openpla"), "wb") as copy:
                copy.write(file.read())
            os.chmod(copy.name, 0o755)
            command = [*unshare(), "sh", "-c", FULL_ROOT, "sh", folder, os.path.join(folder, "root")]
            there = "/run"
        with Load(name):
            run("typeperf", *command, inside, "typeperf", "-cf", there + "/counters.txt", "-si", "1",
                "-sc", str(SECONDS), "-f", "BIN", "-o", there + "/logs/counters.blg", "-y")
        report = os.path.join(folder, "logs", "report.xml")
        run("report", program, "report", os.path.join(folder, "logs"), "-schema", SCHEMA)
        run("rules", program, "rules", report, "-o", report)
        run("page", program, "report", report, "-html")
        return warnings(report)


def run_script(script, *arguments):
    sys.path.insert(0, os.path.join(HERE, "..", "fault"))
    os.environ["OPENPLA_SOURCE_DIR"] = SOURCE
    from faults import windows_path, wine  # needs WINEPREFIX
    code, text = wine("cscript", "//nologo", windows_path(script), *arguments)
    if code or not ("\n" + text).endswith("\nDone.\n"):
        sys.exit(f"FAILED: {script} {arguments}: exit code {code}: {text}")
    return text


def in_wine(name):
    """Runs a set whose report the data manager checks."""
    script = os.path.join(HERE, "rules_show.vbs")
    with tempfile.TemporaryDirectory() as folder:
        inside = "Z:" + folder.replace("/", "\\")
        counters = os.path.join(folder, "counters.txt")
        with open(counters, "w", encoding="ascii") as file:
            file.write("\n".join(COUNTERS))
        set_name = f"Show{os.getpid()}"
        with Load(name):
            run_script(script, "start", set_name, inside, inside + "\\counters.txt")
            time.sleep(SECONDS)
            output = run_script(script, "stop", set_name)
        if "Result: 0x00000000" not in output:
            sys.exit(f"FAILED: {name}: the run's {output}")
        return warnings(os.path.join(folder, "run", "report.xml"))


FULL_DRIVE = """mount -t tmpfs -o size=16m small "$1" || exit 1
head -c 16777216 /dev/zero >"$1/ballast" 2>/dev/null
shift
code=0
"$@" || code=$?
wineserver -k
wineserver -w
exit $code"""


def full_drive():
    """The drive S: is full for Wine's programs and its server until the server exits."""
    letter = os.path.join(os.environ["WINEPREFIX"], "dosdevices", "s:")
    subprocess.run(["wineserver", "-k"], check=False)
    subprocess.run(["wineserver", "-w"], check=False)
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(folder, letter)
        try:
            return subprocess.run([*unshare(), "sh", "-c", FULL_DRIVE, "sh", folder, sys.executable,
                                   os.path.abspath(__file__), "wine", "full disk"],
                                  check=False, stdout=subprocess.PIPE, text=True)
        finally:
            os.unlink(letter)


def compare_warnings(name, found, quiet):
    """Prints how a run's warnings differ from the expected ones; returns 0, 1 or 3, like the exit code."""
    wanted, result = LISTS[name], 0
    for link, img in wanted.items():
        has = found.get(link)
        print(f"{name}: {link}: {'MISSING' if not has else has[1] if has[0] == img else f'is {has[0]}, not {img}'}")
        if not has or has[0] != img:
            result = 1
        elif quiet.get(link, [None])[0] == img:
            print(f"{name}: {link} proves nothing: a run without load has it with the same severity")
            result = result or 3
    for link in sorted(found.keys() - wanted.keys()):
        excused = link in quiet
        print(f"{name}: {link}: {'the machine has it without load' if excused else 'NOT EXPECTED'}: {found[link][1]}")
        if not excused:
            result = 1
    return result


def write_large(name):
    """Writes a report with the maximum number of rows, 20,000 per table. The first 5,000 are handle counts of
    processes; one of these is too high."""
    with open(name, "w", encoding="utf-8") as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n'
                   '<Report name="large" version="1">\n <Section name="s" key="1">')
        for rows in range(LARGE):
            if not rows % 20000:
                file.write("</Table>\n" if rows else "\n")
                file.write(f'<Table name="t{rows}" source="Process"><Header>')
                file.write("".join(f'<Data name="{column}"/>' for column in COLUMNS) + "</Header>\n")
            value = 20000 if rows == 4999 else rows % 15000
            cells = ["Handle Count" if rows < 5000 else "Working Set", f"p{rows}", value, value, value, value]
            file.write("<Item>" + "".join(f'<Data name="{column}">{cell}</Data>'
                                           for column, cell in zip(COLUMNS, cells)) + "</Item>\n")
        file.write("</Table></Section><StringTable/></Report>\n")
    print(f"large report: {os.path.getsize(name) / (1 << 20):.2f} MB, {LARGE} rows")


def large(program):
    with tempfile.TemporaryDirectory() as folder:
        report, judged = os.path.join(folder, "report.xml"), os.path.join(folder, "judged.xml")
        faults = []
        write_large(report)
        for what, expected, command in (("rules", 3, ["rules", report, "-o", judged]),
                                        ("page", 0, ["report", judged, "-html"])):
            begun = time.monotonic()
            with open(os.path.join(folder, "told"), "wb") as reported:
                process = subprocess.Popen([program, *command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                           stderr=reported)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode != expected:
                sys.exit(f"FAILED: {what} of the large report: exit code {process.returncode}")
            with open(reported.name, encoding="utf-8", errors="replace") as file:
                faults += [line for line in file.read().splitlines() if "openpla rules:" in line]
            print(f"large report: {what}: {usage.ru_utime + usage.ru_stime:.2f} s of the processor, "
                  f"{time.monotonic() - begun:.2f} s, {usage.ru_maxrss / 1024:.1f} MB at most")
        page = os.path.join(folder, "judged.html")
        print(f"large report: its page has {os.path.getsize(page) / (1 << 20):.2f} MB")
        print("".join(f"large report: FAULT: {line}\n" for line in faults), end="")
        return 1 if faults else compare_warnings("large report", warnings(judged), {})


# Counters that rules use; objects with the most instances come first.
DAY = {"PhysicalDisk": ["Avg. Disk sec/Read", "Avg. Disk sec/Write", "Avg. Disk sec/Transfer", "Avg. Disk Queue Length", "% Idle Time"],
       "LogicalDisk": ["Avg. Disk sec/Read", "Avg. Disk sec/Write", "Avg. Disk sec/Transfer", "Avg. Disk Queue Length", "% Idle Time"],
       "Process": ["% Processor Time", "% Privileged Time", "Private Bytes", "Working Set", "Handle Count", "Thread Count",
                   "IO Data Operations/sec", "IO Read Operations/sec", "IO Write Operations/sec"],
       "SQLServer:Locks": ["Lock Waits/sec", "Lock Wait Time (ms)", "Lock Timeouts/sec", "Number of Deadlocks/sec"],
       "SQLServer:Databases": ["Log Growths", "Log Shrinks", "Log Flush Waits/sec", "Log Flush Wait Time", "Percent Log Used"],
       ".NET CLR Memory": ["% Time in GC", "# Bytes in all Heaps"]}
DAY_SECONDS, DAY_MB = 5, 256


def write_day(name):
    paths = [f"\\\\HOST\\{o}(i{i})\\{c}" for i in range(34) for o, counters in DAY.items() for c in counters][:1000]
    chance = random.Random(1)
    with open(name, "w", encoding="ascii") as file:
        file.write(",".join(f'"{cell}"' for cell in ["(PDH-CSV 4.0) (UTC)(0)", *paths]) + "\n")
        for i in range(8 * 240):
            at = datetime.datetime(2026, 3, 2, 8) + datetime.timedelta(seconds=15 * i)
            file.write(f'"{at:%m/%d/%Y %H:%M:%S}.000",' + ",".join(f'"{60 * chance.random():.6f}"' for _ in paths) + "\n")
    print(f"day: {len(paths)} counters, {8 * 240} samples, {os.path.getsize(name) / (1 << 20):.1f} MB")


def day(program):
    """Runs the rules twice: on the log as CSV, and on the same log as BLG."""
    with tempfile.TemporaryDirectory() as folder:
        text, binary = os.path.join(folder, "day.csv"), os.path.join(folder, "day.blg")
        write_day(text)
        run("relog", program, "relog", text, "-f", "BIN", "-o", binary)
        result = 0
        for log in text, binary:
            begun = time.monotonic()
            process = subprocess.Popen([program, "rules", log], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode not in (0, 3, 4):
                sys.exit(f"FAILED: rules of {log}: exit code {process.returncode}")
            seconds, megabytes = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
            print(f"day: openpla rules {os.path.basename(log)}: {seconds:.2f} s of the processor, "
                  f"{time.monotonic() - begun:.2f} s, {megabytes:.1f} MB at most")
            result |= seconds > DAY_SECONDS or megabytes > DAY_MB
        return int(result)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    if sys.argv[1:] == ["wine", "full disk"]:
        print(json.dumps(in_wine("full disk")))
        return 0
    program = sys.argv[1] if sys.argv[1] == "wine" else arguments.program("PROGRAM", sys.argv[1])
    if sys.argv[2:] == ["day"]:
        return day(program)
    if len(sys.argv) == 3:
        if sys.argv[2] != "large" or program == "wine":
            arguments.reject("argument", sys.argv[2], "expected 'large' after a native program")
        return large(program)
    names = ["without load", "processors", "memory", "full disk", "without load, again"]
    found = {}
    for name in names:
        print(f"{name} ...", flush=True)
        if program != "wine":
            found[name] = native(program, name)
        elif name != "full disk":
            found[name] = in_wine(name)
        else:
            done = full_drive()
            if done.returncode:
                sys.exit(done.returncode)
            found[name] = json.loads(done.stdout)
    quiet = {**found[names[0]], **found[names[-1]]}
    for link, (img, text) in sorted(quiet.items()):
        print(f"without load: {link}: {img}: {text}")
    results = [compare_warnings(name, found[name], quiet) for name in names[1:-1]]
    return 1 if 1 in results else max(results)


if __name__ == "__main__":
    sys.exit(main())
