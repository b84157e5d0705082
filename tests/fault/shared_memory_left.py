#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Wine prefixes leave no garbage in shared memory. Otherwise a computer that creates and deletes prefixes all day, such
as one that runs tests, would run out of memory. The last program that uses a directory of trace sessions removes it.
When the service of a prefix starts, it removes the folders of deleted prefixes. It keeps the folders of existing
prefixes and folders that cannot be attributed to a prefix."""
import glob
import os
import shutil
import tempfile

from faults import PREFIX, check, wine

OPENPLA = os.path.join(os.environ["OPENPLA_BIN_DIR"], "openpla.exe")
LEFT = f"left{os.getpid()}"


def own_folder():
    with open(os.path.join(PREFIX, "drive_c", "windows", "openpla.shared"), encoding="ascii") as file:
        prefix, key, _ = file.read().split()
    return f"/dev/shm/openpla-{prefix}-{key}"


def check_directory():
    os.environ["OPENPLA_ETW"] = LEFT
    code, text = wine(OPENPLA, "logman", "query", "-ets")
    check(code == 0, f"the sessions are listed: {code}: {text}")
    found = glob.glob(os.path.join(own_folder(), f"openetw*-{LEFT}*"))
    check(not found, f"the last program does not remove the directory: {found}")
    log = "C:\\left.etl"
    for verb in (("start", LEFT, "-p", "{5C1D2A8E-3B6F-4E0A-9D57-1F0B6A2C8E43}", "-o", log, "-ets"), ("query", LEFT, "-ets"),
                 ("stop", LEFT, "-ets")):
        code, text = wine(OPENPLA, "logman", *verb)
        check(code == 0, f"a running session does not keep the directory: {verb}: {code}: {text}")
    os.remove(os.path.join(PREFIX, "drive_c", "left.etl"))
    del os.environ["OPENPLA_ETW"]
    found = glob.glob(os.path.join(own_folder(), f"openetw*-{LEFT}*"))
    check(not found, f"the program that stops the session does not remove the directory: {found}")


def make_folder(prefix, owner_of=None):
    """Creates a folder of shared memory like the one of a prefix. It names `owner_of` as the prefix's Windows folder.
    If that is None, it names no Windows folder."""
    key = os.urandom(16).hex()
    path = f"/dev/shm/openpla-{prefix}-{key}"
    os.mkdir(path, 0o700)
    with open(os.path.join(path, "openetw7-main"), "wb") as file:
        file.write(b"x")
    record = f"{prefix} {key} {os.stat(path).st_ino}\n"
    if owner_of:
        with open(os.path.join(path, "prefix"), "w", encoding="utf-8") as file:
            file.write(record + owner_of + "\n")
    return path, record


def check_sweep(scratch):
    number = os.urandom(8).hex()
    existing = os.path.join(scratch, "windows")
    os.mkdir(existing)
    deleted, _ = make_folder(number, os.path.join(scratch, "deleted", "windows"))
    used, record = make_folder(number, existing)
    unknown, _ = make_folder(number)
    moved, _ = make_folder(number, existing)  # the prefix uses another folder now
    other, _ = make_folder(number, os.path.join(scratch, "deleted", "windows"))
    with open(os.path.join(other, "prefix"), encoding="utf-8") as file:
        text = file.read()
    with open(os.path.join(other, "prefix"), "w", encoding="utf-8") as file:
        file.write(text.replace(" ", " 0", 1))  # the file now describes another folder
    with open(os.path.join(existing, "openpla.shared"), "w", encoding="ascii") as file:
        file.write(record)
    try:
        for verb in "stop", "start":
            wine("net", verb, "OpenPLA")
        for path, stays in (deleted, False), (used, True), (unknown, True), (moved, False), (other, True):
            check(os.path.exists(path) == stays, f"{path} must {'be kept' if stays else 'be deleted'}")
        check(os.path.exists(own_folder()), "this prefix keeps its folder")
    finally:
        for path in deleted, used, unknown, moved, other:
            shutil.rmtree(path, ignore_errors=True)


def main():
    check_directory()
    with tempfile.TemporaryDirectory() as scratch:
        check_sweep(scratch)
    print("ok:", os.path.basename(__file__))


main()
