#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""trace_all_killed.py PROGRAM: the session host process, all its writers and wineserver are killed together. The log
still has every event whose write succeeded. Otherwise a user would lose the events before a crash. PROGRAM is
test_etw_hosts."""
import os
import signal
import subprocess
import sys
import tempfile
import time

from faults import check, processes, wait_until_gone, windows_path, wine

NAME = f"openetw-killed-{os.getpid()}"
DIRECTORY = f"killed{os.getpid()}"
ROUNDS = 3


def processes_of_directory():
    """Finds the processes by an inherited environment variable."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            with open(f"/proc/{entry}/environ", "rb") as file:
                if f"OPENPLA_ETW={DIRECTORY}\0".encode() in file.read():
                    found.append(int(entry))
        except (OSError, ValueError):
            pass
    return [pid for pid in found if pid != os.getpid()]


def kill_all():
    stop = processes_of_directory()
    for pid in stop:
        os.kill(pid, signal.SIGSTOP)  # so that no process notices that another one exited
    for pid in stop:
        os.kill(pid, signal.SIGKILL)
    subprocess.call(["wineserver", "-k9"])
    subprocess.call(["wineserver", "-w"])
    # Services of the killed wineserver would wait for it forever, while the next wineserver starts its own.
    left = processes(".exe")
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    wait_until_gone(left)


def begin(program, path):
    """Starts a session and writers. Retries if that fails, because a wineserver that another program of the prefix
    started can exit at the same time."""
    runner = os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "cmake/wine-run.sh")
    limit = time.monotonic() + 240
    begun = None
    while not os.path.exists(path + ".ready"):
        check(time.monotonic() < limit, "the session does not begin")
        if begun is None or begun.poll() is not None:
            begun = subprocess.Popen(["sh", runner, program, "begin", NAME, windows_path(path)],
                                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.05)
    return begun


def run_round(program, folder):
    path = os.path.join(folder, "killed.etl")
    begun = begin(program, path)
    time.sleep(0.2)
    kill_all()
    begun.wait()
    for _ in range(5):  # retries, as begin does
        code, text = wine(program, "judge", NAME, windows_path(path))
        if "wine client error" not in text:
            break
        time.sleep(1)
    check(code == 0, f"after all were killed: {code}: {text}")
    print(text.strip())
    os.remove(path + ".ready")
    os.remove(path)


def main():
    # Other tests' registrations are on disk; reading them takes a restarted server half a minute.
    for option in "-k", "-w":
        subprocess.call(["wineserver", option])
    os.environ["OPENPLA_ETW"] = DIRECTORY
    with tempfile.TemporaryDirectory() as folder:
        os.environ["OPENPLA_DATA"] = windows_path(folder)
        for _ in range(ROUNDS):
            run_round(sys.argv[1], folder)


main()
