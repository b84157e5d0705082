# SPDX-License-Identifier: MIT
"""Runs openpla doctor and checks its findings, for the doctor tests."""
import json
import os
import subprocess

from program import EMULATOR, PROGRAM, check

# Findings that depend on this host OS.
HOST_FINDINGS = {"no-tracefs", "proc-hidden", "no-odbc", "no-odbc-driver"}
CODES = {"error": 1, "warning": 3, "note": 0}


def examine(*arguments, before=(), program=PROGRAM, **environment):
    """Returns the findings by id, after it has checked the exit code."""
    done = subprocess.run([*before, *EMULATOR, program, "doctor", "--json", "-wait", "60", *arguments],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600,
                          env={**os.environ, **environment}, check=False)
    output = done.stdout.decode("utf-8")
    check(output.startswith("["), "no findings", output, done.stderr.decode("utf-8", "replace"))
    found = {}
    worst = "note"
    for f in json.loads(output):
        check(set(f) == {"id", "severity", "what", "why", "do"} and all(f.values()), "a finding has all fields", f)
        found.setdefault(f["id"], []).append(f)
        worst = max(worst, f["severity"], key=["note", "warning", "error"].index)
    check(done.returncode == CODES[worst], f"exit code {done.returncode}", output)
    return found


def expect_finding(found, name, *texts):
    check(name in found, f"{name} is not found", found)
    for text in texts:
        check(any(text in f["what"] for f in found[name]), f"{name} does not name {text}", found[name])
