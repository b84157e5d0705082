#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Processes are killed while a set with a trace collector runs. A killed event provider loses only events that it did
not write; a killed server loses nothing. If the set host process is killed, the supervisor stops its session, which
would otherwise fill the disk and keep its name in use. In each case the log is complete; otherwise a user would lose
events."""
import os
import re
import signal
import subprocess
import sys
import tempfile

from faults import (HERE, PREFIX, check, kill_one, processes, restart_rpcss, run_client, wait_for, wait_until_gone,
                    windows_path, wine)

sys.path.insert(0, os.path.join(HERE, "..", "script"))
import cscript  # noqa: E402

BIN = os.environ["OPENPLA_BIN_DIR"]
PROVIDER = "{5C1D2A8E-3B6F-4E0A-9D57-1F0B6A2C8E43}"
NAME = f"test-fault-trace-{os.getpid()}"
STEPS = 100  # steps of write_events: one event each, plus one event before and one after
ENOUGH = 1 << 20  # log size in bytes that shows that the event provider writes
PATIENCE = 240


def run_script(*arguments):
    script = windows_path(os.path.join(HERE, "..", "script", "trace_set.vbs"))
    for _ in range(cscript.ATTEMPTS):
        code, text = wine("cscript", "//nologo", script, *arguments)
        if not cscript.never_ran(code, text):
            break
    check(code == 0 and text.strip() == "Done.", f"trace_set.vbs {arguments}: exit code {code}: {text}")


def write():
    code, text = wine(os.path.join(BIN, "write_events.exe"), str(STEPS))
    check(code == 0 and "written, 0 of them in vain" in text, f"write_events: exit code {code}: {text}")


def events(path):
    code, text = wine(os.path.join(BIN, "openpla.exe"), "logstat", windows_path(path))
    reported = re.search(re.escape(PROVIDER) + r"\D+(\d+)", text, re.I)
    check(code == 0 and reported, f"logstat {path}: exit code {code}: {text}")
    return int(reported.group(1))


def kill_provider(log):
    """Kills the event provider while it writes events."""
    runner = os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "cmake/wine-run.sh")
    client = subprocess.Popen(["sh", runner, os.path.join(BIN, "write_events.exe"), "100000000"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for("the provider writes", lambda: os.path.getsize(log) > ENOUGH)
    ids = processes("write_events.exe")
    check(ids, "the provider lives")
    for pid in ids:
        os.kill(pid, signal.SIGKILL)
    wait_until_gone(ids)
    client.wait(PATIENCE)


def provider_and_server(folder):
    log = os.path.join(folder, NAME + ".etl")
    run_script("start", NAME, windows_path(folder))
    run_script("change", NAME)  # changes the set's level to that of the steps
    hosts = processes("openplahost", NAME)
    kill_provider(log)
    check(run_client("state", NAME)["status"] == "1", "the set continues without the killed event provider")
    kill_one("openplasrv")
    check(processes("openplahost", NAME) == hosts, "the set host process continues")
    write()
    restart_rpcss()
    state = run_client("state", NAME)
    check(state["status"] == "1", f"a new server sees it running: {state}")
    state = run_client("stop", NAME)
    check(state["status"] == "0" and state["result"] == "0x00000000", f"the run ended without an error: {state}")
    check(events(log) > STEPS + 2, "the log has the events of both event providers")
    run_client("delete", NAME)


def own_host(folder):
    """No client calls the server between the kill and the check."""
    log = os.path.join(folder, NAME + ".etl")
    before = len(processes("openetwhost"))
    run_script("start", NAME, windows_path(folder))
    run_script("change", NAME)
    check(len(processes("openetwhost")) == before + 1, "the set's session has a host")
    write()
    kill_one("openplahost", NAME)
    wait_for("the supervisor ends the session of the killed set host process", lambda: len(processes("openetwhost")) == before)
    state = run_client("state", NAME)
    check(state["status"] == "0", f"it reads as stopped: {state}")
    check(events(log) == STEPS + 2, f"all is in the log: {events(log)}")
    run_client("delete", NAME)


def main():
    for case in provider_and_server, own_host:
        with tempfile.TemporaryDirectory(dir=os.path.join(PREFIX, "drive_c")) as folder:
            case(folder)
    print("ok:", os.path.basename(__file__))


main()
