#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""remote.py PROGRAM [EMULATOR]: openpla remote stores accounts for other computers, so that users need not type
passwords each time. Other users cannot read the stored passwords."""
import json
import os
import subprocess
import tempfile

from program import EMULATOR, PROGRAM, check, host_path, openpla, verb

remote = verb("remote")
PASSWORD = "a password of tests"


def run_with_input(expected, line, *arguments):
    """Runs the program with a line of standard input, which the emulator's script passes through on request."""
    done = subprocess.run([*EMULATOR, PROGRAM, *arguments], env=dict(os.environ, OPENPLA_WINE_RUN="through"),
                          input=line + "\n", encoding="utf-8", errors="replace", stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=600, check=False)
    check(done.returncode == expected, f"{arguments}: exit code {done.returncode}, not {expected}", done.stdout)
    return done.stdout


def accounts():
    return {row["computer"]: row["account"] for row in json.loads(remote(0, "list", "--json"))}


def main():
    data = tempfile.mkdtemp()
    os.environ["OPENPLA_DATA"] = host_path(data)
    check(remote(0, "list") == "" and accounts() == {}, "no accounts yet")
    run_with_input(0, PASSWORD, "remote", "add", "db1", "LAB\\reader")
    run_with_input(0, PASSWORD, "remote", "add", "db2:47135", "reader@lab.example")
    check(accounts() == {"db1": "LAB\\reader", "db2:47135": "lab.example\\reader"}, "both accounts are listed", accounts())
    check("db1\tLAB\\reader" in remote(0, "list"), "one account per line")
    for path, _, names in os.walk(data):
        for name in names:
            with open(os.path.join(path, name), "rb") as file:
                text = file.read()
            check(PASSWORD.encode() not in text and PASSWORD.encode("utf-16-le") not in text, "the password is not stored in plain text")
    run_with_input(0, PASSWORD, "remote", "add", "DB1", "another")
    check(accounts()["db1"] == "another", "the second account of a computer replaces the first", accounts())
    check("no account" in remote(1, "remove", "db3"), "an unknown account cannot be removed")
    remote(0, "remove", "db1")
    check(list(accounts()) == ["db2:47135"], "removed")
    remote(0, "remove", "-all")
    check(accounts() == {}, "all removed")
    check("invalid computer 'two words'" in run_with_input(1, PASSWORD, "remote", "add", "two words", "reader"),
          "an invalid computer")
    check("invalid account" in run_with_input(1, PASSWORD, "remote", "add", "db1", "LAB\\"), "an invalid account")
    check("missing password" in openpla(1, "remote", "add", "db1", "reader"), "no password")
    remote(2, "add", "db1")
    remote(2, "remove")
    remote(2, "list", "db1")


main()
