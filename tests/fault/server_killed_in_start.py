#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""If the server is killed while it creates a set host process, the set runs or this process exits. Otherwise a
suspended process that no server knows would remain, and the Wine prefix would never shut down. The test suspends the
set host process as soon as it appears, so that the server is waiting for it when it is killed."""
import os
import shutil
import signal
import subprocess
import tempfile
import time

from faults import check, clean, processes, run_client, wait_until_gone, windows_path

NAME = "test-fault-in-start"
ATTEMPTS = 5
RUNNER = os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "cmake/wine-run.sh")
OPENPLA = os.path.join(os.environ["OPENPLA_BIN_DIR"], "openpla.exe")


def suspend_new_host():
    """Waits for the new set host process, suspends it and returns its id."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        for pid in processes("openplahost", NAME):
            os.kill(pid, signal.SIGSTOP)
            return pid
    check(False, "a host process is created")
    return 0


def kill_server_in_start():
    """Returns whether the server was killed before the set host process ran."""
    starter = subprocess.Popen(["sh", RUNNER, OPENPLA, "logman", "start", NAME], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    host = suspend_new_host()
    servers = processes("openplasrv")
    for pid in servers:
        os.kill(pid, signal.SIGKILL)
    wait_until_gone(servers)
    os.kill(host, signal.SIGCONT)
    starter.wait()
    end = time.monotonic() + 60
    while processes("openplahost", NAME) and run_client("state", NAME)["status"] != "1":
        check(time.monotonic() < end, f"the host process {host} of a killed server neither runs its set nor exits")
    runs = bool(processes("openplahost", NAME))
    if runs:
        run_client("stop", NAME)
    return not runs


def main():
    clean(NAME)
    root = tempfile.mkdtemp()
    try:
        run_client("start", NAME, windows_path(root), r"\System\Threads")
        run_client("stop", NAME)
        unborn = sum(kill_server_in_start() for _ in range(ATTEMPTS))
        run_client("delete", NAME)
    finally:
        shutil.rmtree(root)
    print(f"ok: {unborn} of {ATTEMPTS} host processes had not begun")


main()
