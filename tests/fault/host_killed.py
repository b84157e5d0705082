#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A killed set host process loses only data that was not flushed. The set's status is immediately stopped, its log can
be read, and the set can be started again with a new serial number. Otherwise a user would lose the log of the run."""
import os
import shutil
import tempfile

from faults import check, clean, kill_one, processes, read_log, run_client, try_client, wait_for_samples, windows_path

NAME = "test-fault-host"
ANSWERS = 4  # queries within which the status must change; Wine detects the exit later on a busy machine


def main():
    clean(NAME)
    root = tempfile.mkdtemp()
    try:
        first = run_client("start", NAME, windows_path(root), r"\System\Threads;\Processor(*)\% Processor Time")
        check(first["status"] == "1" and first["serial"] == "2", f"running with serial 2 next: {first}")
        wait_for_samples(first["file"], 2)
        kill_one("openplahost", NAME)
        for _ in range(ANSWERS):
            state = run_client("state", NAME)
            if state["status"] == "0":
                break
        check(state["status"] == "0", f"stopped within {ANSWERS} queries: {state}")
        check(state["file"] == first["file"], f"the log of the killed run is still the latest: {state}")
        rows = read_log(first["file"], 2)
        stop = try_client("stop", NAME)
        check("80300104" in stop.get("error", ""), f"it is not running: {stop}")
        second = run_client("again", NAME)
        check(second["status"] == "1" and second["serial"] == "3", f"running with the next serial: {second}")
        check(second["file"] != first["file"], "another log")
        check(len(processes("openplahost", NAME)) == 1, "one host")
        wait_for_samples(second["file"], 1)
        run_client("stop", NAME)
        read_log(second["file"], 1)
        check(read_log(first["file"], 2) == rows, "the old log is unchanged")
        run_client("delete", NAME)
    finally:
        shutil.rmtree(root)
    print("ok:", os.path.basename(__file__))


main()
