#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the example of a set with an account and a database password. Neither password is returned by an interface or
found in a file of the store. Otherwise anybody who can read the store would learn a user's passwords."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "examples")
sys.path.insert(0, os.path.join(HERE, "..", "fault"))
import cscript  # noqa: E402
from faults import check, windows_path, wine  # noqa: E402

ACCOUNT, PASSWORD = "DOMAIN\\somebody", f"S3cret-{os.getpid()}-pass"
STORE = os.path.join(os.environ["WINEPREFIX"], "drive_c", "ProgramData", "OpenPLA")


def secrets():
    folder = os.path.join(STORE, "secrets")
    return set(os.listdir(folder)) if os.path.isdir(folder) else set()


def files_with(text):
    found = []
    for folder, _, names in os.walk(STORE):
        for name in names:
            try:
                with open(os.path.join(folder, name), "rb") as f:
                    data = f.read()
            except FileNotFoundError:
                continue
            if text.encode() in data or text.encode("utf-16-le") in data:
                found.append(os.path.join(folder, name))
    return found


before = secrets()
for _ in range(cscript.ATTEMPTS):
    code, text = wine("cscript", "//nologo", windows_path(os.path.join(EXAMPLES, "account.vbs")),
                      f"Account{os.getpid()}", ACCOUNT, PASSWORD)
    if not cscript.never_ran(code, text):
        break
check(code == 0 and text.strip().endswith("Done."), f"account.vbs: exit code {code}: {text}")
check("UserAccount: " + ACCOUNT in text, f"the account is what the set is registered to run as: {text}")
check("After a change: " + ACCOUNT in text, f"the account stays when the set is changed: {text}")
check("Without credentials: SYSTEM" in text, f"the account is taken away: {text}")
check("DataSourceName: SQL:Driver={SQLite3};Database=/tmp/none.db!Servers" in text, f"the data source: {text}")
check("Passwords in the XML: False" in text, f"no password is in the XML: {text}")
check("UserAccount: this host OS runs all sets under one account (0x300100)" in text,
      f"the map says what the account comes to: {text}")
check(not files_with(PASSWORD), f"the password is in {files_with(PASSWORD)}")
check(secrets() == before, f"passwords of a deleted set are left: {secrets() - before}")
