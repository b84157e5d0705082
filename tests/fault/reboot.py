#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""After a crash of the computer, the service restarts the sets that are configured for it, and schedules work without a
client. Otherwise a user would find no data after a night with a power failure. Under Wine, killing wineserver is the
crash, and the first program is the boot."""
import json
import os
import shutil
import subprocess
import tempfile
import time

from faults import PREFIX, check, processes, read_log, run_client, wait_for, wait_for_samples, windows_path, wine

# The set names are unique, because events of earlier test runs are kept.
BACK, DOWN, TIMED = (f"test-reboot-{part}-{os.getpid()}-{int(time.time())}" for part in ("back", "down", "timed"))
STORE = os.path.join(PREFIX, "drive_c", "ProgramData", "OpenPLA", "sets", "Service")
SCRIPTS = os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "cmake")


def commit(name, root, more=""):
    """Writes the set into the store without the service, as another program does."""
    xml = (f"<DataCollectorSet><RootPath>{windows_path(root)}</RootPath>{more}<PerformanceCounterDataCollector>"
           f"<Name>log</Name><FileName>{name}</FileName><FileNameFormat>512</FileNameFormat><LogFileFormat>0"
           "</LogFileFormat><SampleInterval>1</SampleInterval><Counter>\\System\\Threads</Counter>"
           "</PerformanceCounterDataCollector></DataCollectorSet>")
    os.makedirs(STORE, exist_ok=True)
    path = os.path.join(STORE, "~new")
    with open(path, "w", encoding="utf-8") as file:
        file.write(xml)
    os.replace(path, os.path.join(STORE, name + ".xml"))


def events(name):
    program = os.path.join(os.environ["OPENPLA_BIN_DIR"], "openpla.exe")
    code, text = wine(program, "events", "-json", "-set", name)
    check(code == 0, f"openpla events: {code}: {text}")
    return [json.loads(line) for line in text.splitlines()]


def set_runs_again():
    """Starts Wine and returns whether the set runs again. A Wine session ends with its last program, even while
    services are starting, so the first program runs for some seconds."""
    if not processes("openplahost", BACK):
        program = os.path.join(os.environ["OPENPLA_BIN_DIR"], "openpla.exe")
        code, text = wine(program, "typeperf", r"\System\Threads", "-sc", "3")
        check(code == 0, f"the machine comes up: {code}: {text}")
    return len(processes("openplahost", BACK)) == 1


def crash_machine():
    subprocess.call(["wineserver", "-k"])
    subprocess.call(["wineserver", "-w"])
    wait_for("nothing runs any more", lambda: not processes("openpla"))


def main():
    root = tempfile.mkdtemp()
    try:
        commit(BACK, root, '<Value name="OpenPLA.Restart">boot</Value>')
        commit(DOWN, root)
        first = run_client("again", BACK)
        run_client("again", DOWN)
        wait_for_samples(first["file"], 2)
        crash_machine()
        wait_for("the set runs again", set_runs_again)
        read_log(first["file"], 2)
        wait_for("it collects", lambda: os.path.exists(os.path.join(root, BACK + "_000002.csv")))
        check(not processes("openplahost", DOWN), "the other one stays down")
        # No client runs now, and the scheduled start is 13 s away. Until then the service must keep the session alive.
        due = int(time.time()) + 15
        commit(TIMED, root, "<Schedule><StartDate>1/1/2020</StartDate><StartTime>"
               + time.strftime("%H:%M:%S", time.localtime(due)) + "</StartTime><Days>127</Days></Schedule>")
        run_client("stop", BACK)
        wait_for("the schedule starts its set", lambda: processes("openplahost", TIMED))
        wait_for("its log is there", lambda: os.path.exists(os.path.join(root, TIMED + "_000001.csv")))
        reported = [e["id"] for e in events(BACK)]
        check(1006 in reported and 9003 in reported and reported.count(1003) >= 2, f"the events of the set that came back: {reported}")
        reported = [e["id"] for e in events(DOWN)]
        check(reported.count(1006) == 1 and 9003 not in reported, f"the events of the other one: {reported}")
        run_client("stop", TIMED)
        started = [e for e in events(TIMED) if e["id"] == 1003]
        check(len(started) == 1, f"started once: {started}")
        for name in (BACK, DOWN, TIMED):
            run_client("delete", name)
    finally:
        shutil.rmtree(root)
        subprocess.call(["sh", os.path.join(SCRIPTS, "wine-prefix.sh"), "setup"])
    print("ok:", os.path.basename(__file__))


main()
