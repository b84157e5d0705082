#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The server is killed in the middle of creating a set's host process: that process does not stay behind, suspended and
unknown to everybody, so that the prefix never ends. Either the set runs, or its host process has exited. The host process is
stopped as soon as it appears, so that the server waits for it when it is killed."""
import os
import shutil
import signal
import subprocess
import tempfile
import time

from faults import check, clean, processes, tell, wait_until_gone, windows_path

NAME = "test-fault-in-start"
ATTEMPTS = 5
RUNNER = os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "cmake/wine-run.sh")
OPENPLA = os.path.join(os.environ["OPENPLA_BIN_DIR"], "openpla.exe")


def stop_at_birth():
    """The new host process, stopped."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        for pid in processes("openplahost", NAME):
            os.kill(pid, signal.SIGSTOP)
            return pid
    check(False, "a host process is created")
    return 0


def attempt():
    """Whether the server was killed before the host process had begun."""
    starter = subprocess.Popen(["sh", RUNNER, OPENPLA, "logman", "start", NAME], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    host = stop_at_birth()
    servers = processes("openplasrv")
    for pid in servers:
        os.kill(pid, signal.SIGKILL)
    wait_until_gone(servers)
    os.kill(host, signal.SIGCONT)
    starter.wait()
    end = time.monotonic() + 60
    while processes("openplahost", NAME) and tell("state", NAME)["status"] != "1":
        check(time.monotonic() < end, f"the host process {host} of a killed server neither runs its set nor exits")
    born = bool(processes("openplahost", NAME))
    if born:
        tell("stop", NAME)
    return not born


def main():
    clean(NAME)
    root = tempfile.mkdtemp()
    try:
        tell("start", NAME, windows_path(root), r"\System\Threads")
        tell("stop", NAME)
        unborn = sum(attempt() for _ in range(ATTEMPTS))
        tell("delete", NAME)
    finally:
        shutil.rmtree(root)
    print(f"ok: {unborn} of {ATTEMPTS} host processes had not begun")


main()
