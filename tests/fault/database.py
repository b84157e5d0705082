#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""If a database is killed and restarted during a run, it still gets all samples of the time between, and other logs are
not delayed. If the database is unavailable, Stop completes and the run reports the loss. A killed set host process
loses at most one uncommitted sample. Otherwise a user would lose samples without a message."""
import os
import shutil
import subprocess
import tempfile
import time

from faults import (check, clean, kill_one, read_log, run_client, samples_in, try_client, wait_for, wait_for_samples,
                    windows_path)

NAME = "test-fault-database"
FILE = os.environ["OPENPLA_OWN_POSTGRES"]


def postgres(verb):
    script = os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "tests/postgres/postgres.sh")
    done = subprocess.run(["sh", script, verb, FILE], capture_output=True, text=True, timeout=600)
    check(done.returncode == 0, f"postgres.sh {verb}: {done.stdout}{done.stderr}")
    return done.stdout.strip()


def rows(sql):
    done = subprocess.run(["psql", "-h", postgres("socket"), "-U", "test", "-XAtc", sql, "postgres"], capture_output=True,
                          text=True)
    check(done.returncode == 0, f"{sql}: {done.stderr}")
    return done.stdout.split()


def indexes(log_set):
    return [int(i) for i in rows("SELECT RecordIndex FROM CounterData d JOIN DisplayToID t ON d.GUID = t.GUID WHERE "
                                 f"DisplayString = '{log_set}' ORDER BY 1")]


def start(root, log_set):
    source = postgres("connection")
    return run_client("start", NAME, windows_path(root), r"\System\Threads", f"SQL:{source}!{log_set}")


def check_restart(root):
    state = start(root, "restart")
    wait_for("three samples", lambda: len(indexes("restart")) >= 3)
    before = len(indexes("restart"))
    postgres("kill")
    time.sleep(5)
    postgres("restart")
    wait_for("the samples of the time between", lambda: len(indexes("restart")) >= before + 6)
    run_client("stop", NAME)
    found = indexes("restart")
    check(found == list(range(1, len(found) + 1)), f"no sample is missing or duplicated: {found}")
    check(rows("SELECT NumberOfRecords FROM DisplayToID WHERE DisplayString = 'restart'") == [str(len(found))],
          "all are counted")
    log = read_log(state["file"], len(found) - 1)
    check(len(log) - 1 <= len(found) + 1, f"the CSV log has {len(log) - 1} samples, the database {len(found)}")
    message = run_client("state", NAME)["message"]
    check("were kept and written later, 0 were lost: " in message and "SQLSTATE" in message, f"the run reports them: {message}")
    check("which is all that is kept" not in message, f"nothing is lost: {message}")


def check_stop_without_database(root):
    log = start(root, "away")["file"]
    wait_for("two samples", lambda: len(indexes("away")) >= 2)
    postgres("kill")
    wait_for_samples(log, samples_in(log) + 2)
    try_client("stop", NAME)  # Stop completes although the database does not respond
    state = run_client("state", NAME)
    check(state["status"] == "0", f"stopped: {state}")
    check("samples could not be written and are lost" in state["message"], f"the run reports it: {state}")
    postgres("restart")


def check_killed_host(root):
    start(root, "killed")
    wait_for("three samples", lambda: len(indexes("killed")) >= 3)
    kill_one("openplahost", NAME)
    found = indexes("killed")
    check(found == list(range(1, len(found) + 1)) and len(found) >= 3, f"whole to the end: {found}")
    check(rows("SELECT NumberOfRecords FROM DisplayToID WHERE DisplayString = 'killed'") == [str(len(found))],
          "all are counted")


def main():
    clean(NAME)
    root = tempfile.mkdtemp()
    postgres("start")
    try:
        for step in check_restart, check_stop_without_database, check_killed_host:
            folder = os.path.join(root, step.__name__)
            os.mkdir(folder)
            step(folder)
            clean(NAME)
            print("ok:", step.__name__)
    finally:
        clean(NAME)
        postgres("stop")
        shutil.rmtree(root)


main()
