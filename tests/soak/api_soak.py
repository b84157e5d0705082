#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""api_soak.py [--times N] [--seed N]

Tests API tracing while the set host process, the server and the traced program are killed at random times, each N times
(20). If it failed, tracing would break a user's program, or the log would lack its calls. It fails if a traced program
exits or computes wrong results, if a killed program ends the set, if a set cannot be stopped and started again while
its program runs, or if a log cannot be read or lacks calls. Start it manually; it takes half an hour or more. Needs
WINEPREFIX with OpenPLA registered, OPENPLA_BIN_DIR and OPENPLA_SOURCE_DIR, as ctest sets them."""
import argparse
import glob
import json
import os
import random
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "tests", "fault"))
from faults import PREFIX, check, kill_one, processes, wait_for, wait_until_gone, windows_path, wine  # noqa: E402

BIN = os.environ["OPENPLA_BIN_DIR"]
PROGRAM, TARGET = os.path.join(BIN, "openpla.exe"), os.path.join(BIN, "api_target.exe")
RUNNER = os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "cmake/wine-run.sh")
SET, RIGHT = "api-soak", 40
ROOT = os.path.join(PREFIX, "drive_c", "api_soak")
begun = time.monotonic()


def log_line(text):
    print(f"[{time.monotonic() - begun:7.1f} s] {text}", flush=True)


def openpla(*arguments):
    code, text = wine(PROGRAM, *arguments)
    check(code == 0, f"{' '.join(arguments)}: exit code {code}: {text}")
    return text


class Target:
    """The traced program. It calls MulDiv thousands of times per second and checks each result until its file
    exists."""
    def __init__(self, number):
        self.file = os.path.join(ROOT, f"end{number}")
        before = set(processes("api_target"))
        self.runner = subprocess.Popen(["sh", RUNNER, TARGET, "until"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL,
                                       env=dict(os.environ, API_TARGET_FILE=windows_path(self.file)))
        wait_for("the program runs", lambda: set(processes("api_target")) - before)

    def check_alive(self):
        check(self.runner.poll() is None, f"the program exited unexpectedly: {self.runner.returncode}")

    def end(self):
        self.check_alive()
        with open(self.file, "w", encoding="ascii"):
            pass
        code = self.runner.wait(240)
        check(code == RIGHT, f"the program's exit code: {code}")


def logs():
    return set(glob.glob(os.path.join(ROOT, "*.etl")))


def start():
    before = logs()
    openpla("logman", "start", SET)
    wait_for("a log", lambda: logs() - before)
    return (logs() - before).pop()


def grows(path):
    size = os.path.getsize(path)
    wait_for(f"{os.path.basename(path)} grows", lambda: os.path.getsize(path) > size)


def check_log(path):
    """Checks that the log can be read and has calls. Returns their number."""
    text = openpla("trace", "api-summary", windows_path(path), "--json")
    calls = {row["name"]: row["calls"] for row in json.loads(text)["functions"]}
    check(calls.get("kernel32!MulDiv", 0) >= 1000, f"{path}: {calls}")
    return calls["kernel32!MulDiv"]


def kill_host(number):
    path, target = start(), Target(number)
    grows(path)
    time.sleep(random.random())
    kill_one("openplahost")
    target.check_alive()
    wait_for("the set reads as stopped", lambda: "Stopped" in openpla("logman", "query", SET))
    target.check_alive()
    second_path = start()  # traces the same process again
    grows(second_path)
    openpla("logman", "stop", SET)
    target.end()
    return check_log(path) + check_log(second_path)


def kill_server(number):
    path, target = start(), Target(number)
    grows(path)
    time.sleep(random.random())
    ids = processes("openplasrv")
    for pid in ids:
        os.kill(pid, 9)
    wait_until_gone(ids)
    grows(path)
    target.check_alive()
    check("Running" in openpla("logman", "query", SET), "the set does not continue")
    openpla("logman", "stop", SET)
    target.check_alive()
    target.end()
    return check_log(path)


def kill_target(number):
    path, target = start(), Target(number)
    grows(path)
    time.sleep(random.random())
    kill_one("api_target")
    target.runner.wait(240)
    second = Target(f"{number}b")
    grows(path)
    second.end()
    check("Running" in openpla("logman", "query", SET), "the set ended with the program")
    openpla("logman", "stop", SET)
    return check_log(path)


def stop_and_start(number):
    """Stops and starts the set while the program runs."""
    target, calls = Target(number), 0
    for _ in range(2):
        path = start()
        if not calls:  # a process that began before the set's first start is not traced, so a new one begins
            target.end()
            target = Target(f"{number}b")
        grows(path)
        openpla("logman", "stop", SET)
        target.check_alive()
        calls += check_log(path)
    target.end()
    return calls


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    o = parser.parse_args()
    random.seed(o.seed)
    log_line(f"seed {o.seed}")
    shutil.rmtree(ROOT, ignore_errors=True)
    os.makedirs(ROOT)
    rounds = [kill_host, kill_server, kill_target, stop_and_start] * o.times
    random.shuffle(rounds)
    openpla("logman", "create", "api", SET, "-exe", windows_path(TARGET), "-mods", "kernel32", "-ano", "-o",
            "C:\\api_soak\\calls.etl", "-f", "bin")
    try:
        for number, one in enumerate(rounds):
            print(f"{one.__name__}: ", end="", flush=True)
            calls = one(number)
            log_line(f"{number + 1} of {len(rounds)}: {calls} calls of MulDiv in its logs")
            for path in logs():
                os.remove(path)
    finally:
        wine(PROGRAM, "logman", "stop", SET)
        wine(PROGRAM, "logman", "delete", SET)
        for pid in processes("api_target"):
            os.kill(pid, 9)
        shutil.rmtree(ROOT, ignore_errors=True)
    log_line(f"done: each {o.times} times, nothing wrong")


main()
