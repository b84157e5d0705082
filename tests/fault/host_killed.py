#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A run's host that dies hard costs what was not flushed and nothing else: the set reads as stopped at once, its log is
whole, it starts again, and the new run does not take the old one's number."""
import os
import shutil
import tempfile
import time

from faults import ask, check, clean, kill_one, processes, read_log, tell, windows_path

NAME = "test-fault-host"


def main():
    clean(NAME)
    root = tempfile.mkdtemp()
    try:
        first = tell("start", NAME, windows_path(root), r"\System\Threads;\Processor(*)\% Processor Time")
        check(first["status"] == "1" and first["serial"] == "2", f"running with serial 2 next: {first}")
        time.sleep(3)
        killed = kill_one("openplahost", NAME)
        asked = time.monotonic()  # the answer may take its time on a busy machine
        while (state := tell("state", NAME))["status"] != "0":
            check(asked - killed < 2, f"stopped within 2 s: {state}")
            asked = time.monotonic()
        check(state["file"] == first["file"], f"the log of the dead run is still the latest: {state}")
        rows = read_log(first["file"], 2)
        stop = ask("stop", NAME)
        check("80300104" in stop.get("error", ""), f"it is not running: {stop}")
        second = tell("again", NAME)
        check(second["status"] == "1" and second["serial"] == "3", f"running with the next serial: {second}")
        check(second["file"] != first["file"], "another log")
        check(len(processes("openplahost", NAME)) == 1, "one host")
        time.sleep(1.5)
        tell("stop", NAME)
        read_log(second["file"], 1)
        check(read_log(first["file"], 2) == rows, "the old log is untouched")
        tell("delete", NAME)
    finally:
        shutil.rmtree(root)
    print("ok:", os.path.basename(__file__))


main()
