#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Scripts start a trace session that continues after script and server have exited, and that receives the events of a
program that uses only Windows' interfaces. They also configure an autosession, which starts with the Wine prefix.
Otherwise a user could not trace a problem that occurs at boot, or while no OpenPLA program runs."""
import os
import re
import subprocess
import sys
import tempfile
import time

from faults import HERE, check, host_path, processes, windows_path, wine

sys.path.insert(0, os.path.join(HERE, "..", "script"))
import cscript  # noqa: E402

BIN = os.environ["OPENPLA_BIN_DIR"]
EXAMPLES = os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "examples")
PROVIDER = "{5C1D2A8E-3B6F-4E0A-9D57-1F0B6A2C8E43}"
STEPS = 100  # steps of write_events: one event each, plus one event before and one after


def try_script(script, action, name, *arguments):
    """Runs a script and returns its output as {key: value}; a failed call has the key "error"."""
    path = windows_path(os.path.join(EXAMPLES, script))
    for _ in range(cscript.ATTEMPTS):
        code, text = wine("cscript", "//nologo", path, action, name, *arguments)
        if not cscript.never_ran(code, text):
            break
    answers = dict((line + " ").split(" ", 1) for line in text.splitlines())
    check("error" in answers or ("Done." in answers and not code), f"{script} {action} {name}: exit code {code}: {text}")
    return {key: value.strip() for key, value in answers.items()}


def run_script(script, action, name, *arguments):
    """Runs a script and returns its output as {key: value}; a failed call ends the test."""
    answers = try_script(script, action, name, *arguments)
    check("error" not in answers, f"{script} {action} {name}: {answers.get('error')}")
    return answers


def write():
    code, text = wine(os.path.join(BIN, "write_events.exe"), str(STEPS))
    check(code == 0 and "written, 0 of them in vain" in text, f"write_events: exit code {code}: {text}")


def events(path):
    """Returns how many events of the event provider the log has."""
    code, text = wine(os.path.join(BIN, "openpla.exe"), "logstat", path)
    reported = re.search(re.escape(PROVIDER) + r"\D+(\d+)", text, re.I)
    check(code == 0 and reported, f"logstat {path}: exit code {code}: {text}")
    return int(reported.group(1))


def check_statistics(answers, script):
    check(answers["provider"].upper() == PROVIDER and answers["level"] == "5", f"{script}: the provider: {answers}")
    check(int(answers["session"]) > 0 and int(answers["free"]) > 0 and int(answers["written"]) > 0,
          f"{script}: the statistics: {answers}")
    check(answers["lost"] == "0 0 0" and answers["listed"] == "1", f"{script}: {answers}")


def end_server():
    """Stops the server cleanly, as if no client had used it for a while."""
    wine("net", "stop", "OpenPLA")
    limit = time.monotonic() + 240
    while processes("openplasrv") and time.monotonic() < limit:
        time.sleep(0.2)
    check(not processes("openplasrv"), "the server does not end")


def restart_prefix():
    subprocess.call(["wineserver", "-k"])
    subprocess.call(["wineserver", "-w"])


def session_outlives(script, name, folder):
    run_script(script, "start", name, windows_path(folder), PROVIDER)
    end_server()
    check(len(processes("openetwhost")) >= 1, f"{script}: the session ended with its server")
    write()
    run_script(script, "change", name)
    answers = run_script(script, "state", name)
    check(answers["status"] == "1" and answers["timer"] == "2", f"{script}: it runs, changed: {answers}")
    check_statistics(answers, script)
    check(host_path(answers["file"]) == os.path.join(folder, name + ".etl"), f"{script}: the file: {answers}")
    check("0x803000B7" in try_script(script, "start", name, windows_path(folder), PROVIDER).get("error", ""),
          f"{script}: a name that is taken")
    check(run_script(script, "stop", name)["after"] == "0", f"{script}: it does not stop")
    check("0x80300002" in try_script(script, "state", name).get("error", ""), f"{script}: it is there after its end")
    found = events(answers["file"])
    check(found == STEPS + 2, f"{script}: {found} events in the log")


def autosession_begins(script, name, folder):
    answers = run_script(script, "boot", name, windows_path(folder), PROVIDER)
    check(answers["refused"] == "0x80004001" and answers["status"] == "4", f"{script}: an Autosession: {answers}")
    answers = run_script(script, "booted", name)
    check(answers["session"] == "0" and answers["listed"] == "1", f"{script}: it began at once: {answers}")
    restart_prefix()
    write()  # the first process that traces starts the autosession
    run_script(script, "change", name)
    answers = run_script(script, "booted", name)
    check(answers["status"] == "4" and answers["timer"] == "1", f"{script}: it stays as it was committed: {answers}")
    check_statistics(answers, script)
    check(run_script(script, "stop", name)["after"] == "0", f"{script}: it does not stop")
    run_script(script, "forget", name)
    check("0x80300002" in try_script(script, "booted", name).get("error", ""), f"{script}: it is there after Delete")
    found = events(answers["file"])
    check(found == STEPS + 2, f"{script}: {found} events in the log of the Autosession")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for script in "trace.vbs", "trace.js":
            name = f"fault-{script[6:]}-{os.getpid()}"
            session_outlives(script, name, folder)
            autosession_begins(script, name + "-boot", folder)


main()
