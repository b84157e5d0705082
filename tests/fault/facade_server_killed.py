#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A client that uses the COM wrapper in its own process survives a killed server: its next call finds a new server
through a new rpcss, and it continues with the same object. Otherwise a running script would fail at every later
call."""
import os
import subprocess
import sys
import tempfile
import time

from faults import check, clean, kill_one, processes, windows_path

NAME = "test-fault-facade"


def wait_for(folder, name, client):
    end = time.monotonic() + 240
    while not os.path.exists(os.path.join(folder, name)):
        check(time.monotonic() < end and client.poll() is None, f"the client came to '{name}'")
        time.sleep(0.1)


def mark(folder, name):
    with open(os.path.join(folder, name), "w", encoding="ascii"):
        pass


def main():
    clean(NAME)
    runner = os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "cmake/wine-run.sh")
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as output:
        client = subprocess.Popen(["sh", runner, sys.argv[1], "survive", NAME, windows_path(folder)], stdout=output,
                                  stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        wait_for(folder, "started", client)
        before = processes("rpcss")
        kill_one("openplasrv")
        mark(folder, "killed")
        code = client.wait(timeout=600)
        output.seek(0)
        messages = output.read().decode(errors="replace").replace("\r\n", "\n").splitlines()
    print("\n".join(messages))
    check(code == 0 and len(messages) == 8, f"exit code {code}")
    check(messages[:2] == ["Commit: 0x00000000", "Start: 0x00000000"], "the set runs")
    check(messages[2] == "Duration: 0x00000000", "what the object holds needs no server")
    check(messages[3:] == ["Status: 0x00000000", "1", "Commit: 0x00000000", "Stop: 0x00000000", "Delete: 0x00000000"],
          "the object goes on, from the first call")
    after = processes("rpcss")
    check(before and after and not set(before) & set(after), f"it did not wait for Wine to forget: {before}, {after}")


main()
