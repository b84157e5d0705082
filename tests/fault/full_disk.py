#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A full disk neither ends the set host process nor corrupts the log: existing lines stay complete, and the run record
reports the loss and its reason. The run continues when space is available again. Otherwise a user would lose the whole
run, or not learn why samples are missing."""
import os
import subprocess
import sys
import tempfile
import time

from faults import SKIPPED, check, clean, fill, processes, read_log, run_client, wait_for_samples, windows_path

NAME = "test-fault-disk"


def collect(folder):
    ballast = os.path.join(folder, "ballast")
    first = run_client("start", NAME, windows_path(folder), r"\System\Threads;\Process(*)\*")
    wait_for_samples(first["file"], 2)
    fill(ballast)
    before = len(read_log(first["file"], 2))
    # The log's last page still has space for some lines. Result and message are read by separate calls.
    state, end = run_client("state", NAME), time.monotonic() + 240
    while (not state["message"] or state["result"] == "0x00000000") and time.monotonic() < end:
        time.sleep(0.5)
        state = run_client("state", NAME)
    check(len(processes("openplahost", NAME)) == 1, "the host lives")
    check(state["status"] == "1", f"it still runs: {state}")
    check("samples lost" in state["message"] and "80070070" in state["message"], f"the loss is stated: {state}")
    check(state["result"] == "0x80070070", f"and its reason is the run's result: {state}")
    full = len(read_log(first["file"], before - 1))
    os.remove(ballast)
    end = time.monotonic() + 240
    while len(read_log(first["file"], full - 1)) <= full:
        check(time.monotonic() < end, "with room again it collects on")
        time.sleep(0.5)
    state = run_client("stop", NAME)
    check("samples lost" in state["message"] and state["result"] == "0x80070070", f"the loss stays stated: {state}")
    read_log(first["file"], full)
    run_client("delete", NAME)


def main():
    with tempfile.TemporaryDirectory() as folder:
        mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", folder], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, check=False)
        if mount.returncode:
            print("skipped: a small file system cannot be mounted here:", mount.stdout.decode().strip())
            sys.exit(SKIPPED)
        try:
            clean(NAME)
            collect(folder)
        finally:
            clean(NAME)
            subprocess.run(["umount", "-l", folder], check=False)


main()
