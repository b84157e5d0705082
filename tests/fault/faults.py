# SPDX-License-Identifier: MIT
"""Shared by the fault tests: calls of the server in the tests' Wine prefix, the prefix's processes, and logs."""
import csv
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "script"))
import cscript
PREFIX = os.path.abspath(os.environ["WINEPREFIX"])
SKIPPED = 77


def check(condition, what):
    if not condition:
        sys.exit("FAILED: " + what)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def answers(port):
    try:
        with socket.create_connection(("127.0.0.1", port), 5):
            return True
    except OSError:
        return False


def windows_path(path):
    return "Z:" + path.replace("/", "\\")


def host_path(path):
    drive, rest = path[0].lower(), path[2:].replace("\\", "/")
    return rest if drive == "z" else os.path.join(PREFIX, "drive_" + drive) + rest


def wine(*command):
    """Runs a Windows program; returns exit code and output. The output is a file, because started servers would keep a
    pipe open."""
    runner = os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "cmake/wine-run.sh")
    with tempfile.TemporaryFile() as output:
        code = subprocess.call(["sh", runner, *command], stdout=output, stderr=subprocess.STDOUT,
                               stdin=subprocess.DEVNULL, timeout=600)
        output.seek(0)
        text = output.read().decode("cp437").replace("\r\n", "\n")
    # Wine may append this if the process exits while one of its threads starts or ends.
    return code, text if code else re.sub(r"^wine client error:.*\n?", "", text, flags=re.MULTILINE)


def try_client(action, name, *arguments):
    """Runs client.vbs and returns its output as {key: value}; if a call failed, the key "error" has its message."""
    script = windows_path(os.path.join(HERE, "client.vbs"))
    for _ in range(cscript.ATTEMPTS):
        code, text = wine("cscript", "//nologo", script, action, name, *arguments)
        if not cscript.never_ran(code, text):
            break
    lines = text.splitlines()
    answers = dict((line + " ").split(" ", 1) for line in lines)
    check("error" in answers or ("Done." in lines and not code),
          f"client.vbs {action} {name}: exit code {code}: {text}")
    return {key: value.strip() for key, value in answers.items()}


def run_client(action, name, *arguments):
    """Runs client.vbs and returns its output as {key: value}; a failed call ends the test."""
    answers = try_client(action, name, *arguments)
    check("error" not in answers, f"{action} {name}: {answers.get('error')}")
    return answers


def processes(program, argument=None):
    """Returns the ids of this prefix's processes of `program` that have `argument` on their command line."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                line = file.read().decode(errors="replace").split("\0")
            with open(f"/proc/{entry}/environ", "rb") as file:
                environment = file.read().decode(errors="replace").split("\0")
        except OSError:
            continue
        names_it = program in line[0].lower() and (argument is None or argument in line)
        if names_it and any(os.path.abspath(e[11:]) == PREFIX for e in environment if e.startswith("WINEPREFIX=")):
            found.append(int(entry))
    return found


def wait_for(what, condition, state=None, seconds=240):
    """Waits for a condition. On timeout, `state()` describes the actual state."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= end:
            check(False, f"{what} within {seconds} s" + (f": {state()}" if state else ""))
        time.sleep(0.2)


def samples_in(path):
    """Returns the complete lines after the header of a CSV log that is being written."""
    if not os.path.exists(host_path(path)):
        return 0
    with open(host_path(path), "rb") as file:
        return max(0, file.read().count(b"\r\n") - 1)


def wait_for_samples(path, least):
    wait_for(f"{least} samples", lambda: samples_in(path) >= least)


def restart_rpcss():
    """Restarts Wine's rpcss, which otherwise keeps a dead server's entry."""
    for verb in ("stop", "start"):
        code, text = wine("net", verb, "rpcss")
        check(code == 0, f"net {verb} rpcss: {code}: {text}")


def wait_until_gone(ids):
    """Waits until killed processes have exited, which can take some time and include one more write. A zombie counts as
    gone."""
    end = time.monotonic() + 240
    for pid in ids:
        while True:
            try:
                with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                    if file.read().rsplit(")", 1)[1].split()[0] in "ZX":
                        break
            except OSError:
                break
            check(time.monotonic() < end, f"process {pid} has ended")
            time.sleep(0.01)


def kill_one(program, argument=None):
    ids = processes(program, argument)
    check(len(ids) == 1, f"one process {program} {argument or ''} is expected, there are {ids}")
    os.kill(ids[0], signal.SIGKILL)
    wait_until_gone(ids)


def read_log(path, least):
    """Returns the samples of a CSV log; every line must be complete."""
    with open(host_path(path), "rb") as file:
        raw = file.read()
    check(raw.endswith(b"\r\n"), f"{path}: the last line is cut: {raw[-80:]}")
    rows = list(csv.reader(raw.decode("cp1252").splitlines()))
    check(rows and rows[0][0].startswith("(PDH-CSV 4.0)"), f"{path}: no head")
    check(all(len(row) == len(rows[0]) for row in rows), f"{path}: lines of different length")
    check(len(rows) - 1 >= least, f"{path}: {len(rows) - 1} samples, not {least}")
    return rows


def fill(path):
    """Fills the rest of the file system."""
    with open(path, "wb", buffering=0) as ballast:
        for size in (1 << 20, 4096, 1):
            try:
                while ballast.write(b"x" * size):
                    pass
            except OSError:
                pass


def clean(name):
    """Stops and deletes what an earlier run left."""
    for action in ("stop", "delete"):
        try_client(action, name)
