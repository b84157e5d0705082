#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A killed host process loses only data that was not flushed: the set reads as stopped immediately, its log is
readable, it can be started again, and the new run gets a new number."""
import os
import shutil
import tempfile

from faults import ask, check, clean, kill_one, processes, read_log, tell, wait_for_samples, windows_path

NAME = "test-fault-host"
ANSWERS = 4  # each takes longer on a busy machine, as does Wine's detection of the exit


def main():
    clean(NAME)
    root = tempfile.mkdtemp()
    try:
        first = tell("start", NAME, windows_path(root), r"\System\Threads;\Processor(*)\% Processor Time")
        check(first["status"] == "1" and first["serial"] == "2", f"running with serial 2 next: {first}")
        wait_for_samples(first["file"], 2)
        kill_one("openplahost", NAME)
        for _ in range(ANSWERS):
            state = tell("state", NAME)
            if state["status"] == "0":
                break
        check(state["status"] == "0", f"stopped, as one of {ANSWERS} answers says: {state}")
        check(state["file"] == first["file"], f"the log of the dead run is still the latest: {state}")
        rows = read_log(first["file"], 2)
        stop = ask("stop", NAME)
        check("80300104" in stop.get("error", ""), f"it is not running: {stop}")
        second = tell("again", NAME)
        check(second["status"] == "1" and second["serial"] == "3", f"running with the next serial: {second}")
        check(second["file"] != first["file"], "another log")
        check(len(processes("openplahost", NAME)) == 1, "one host")
        wait_for_samples(second["file"], 1)
        tell("stop", NAME)
        read_log(second["file"], 1)
        check(read_log(first["file"], 2) == rows, "the old log is untouched")
        tell("delete", NAME)
    finally:
        shutil.rmtree(root)
    print("ok:", os.path.basename(__file__))


main()
