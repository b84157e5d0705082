#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""shared_memory.py SESSION: attacks by another account in /dev/shm, where everybody can create files and links. Wine
follows links, so a file or link that is planted under the name that the prefix uses must be neither used nor changed,
and must not prevent tracing. Otherwise another account could overwrite a user's files or read traces. SESSION is
live_session."""
import glob
import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fault"))
from faults import PREFIX, check, wine

SESSION = sys.argv[1]
RECORD = os.path.join(PREFIX, "drive_c", "windows", "openpla.shared")


def folder():
    """Returns the folder named in the prefix's record. Checks first that it has the recorded inode and is private."""
    with open(RECORD, encoding="ascii") as record:
        prefix, key, number = re.fullmatch(r"([0-9a-f]{16}) ([0-9a-f]{32}) ([0-9]+)\n", record.read()).groups()
    path = f"/dev/shm/openpla-{prefix}-{key}"
    status = os.stat(path, follow_symlinks=False)
    check(status.st_ino == int(number), f"{path} is not the recorded folder")
    check(status.st_mode & 0o7777 == 0o700 and os.path.isdir(path) and not os.path.islink(path), "it is private")
    for name in os.listdir(path):
        check(os.stat(os.path.join(path, name)).st_mode & 0o7777 == 0o600, f"{name} is private")
    return path


def trace(why):
    """Starts and stops a session in separate processes. Returns the folder that is used now."""
    for verb in ("start", "stop"):
        code, text = wine(SESSION, verb, "Planted")
        check(code == 0, f"{verb} with {why}: exit code {code}: {text}")
    return folder()


def remove_folder(path):
    """Removes the folder. The service of another prefix may remove it at the same time, because no prefix refers to it."""
    shutil.rmtree(path, ignore_errors=True)
    check(not os.path.lexists(path), f"{path} is removed")


def main():
    before = trace("nothing planted")
    check(folder() == trace("the folder of before"), "it stays the same one")
    victim = tempfile.mkdtemp()
    target = os.path.join(victim, "target")
    code, text = wine(SESSION, "start", "Planted")  # the last program of OpenPLA deletes a directory without sessions
    check(code == 0, f"a session starts: exit code {code}: {text}")
    names = os.listdir(before)
    code, text = wine(SESSION, "stop", "Planted")
    check(code == 0, f"the session stops: exit code {code}: {text}")
    check(any(name.startswith("openetw") for name in names), f"the directory of sessions lies there: {names}")
    for name in names:  # the names of existing files, and of files that root would create
        os.symlink(os.path.join(victim, "made-" + name), os.path.join(victim, name))
    with open(target, "w", encoding="ascii") as file:
        file.write("untouched")
    there = sorted(os.listdir(victim))

    def link_to_folder(path):
        os.symlink(victim, path)

    def link_to_file(path):
        os.symlink(target, path)

    def other_folder(path):
        os.mkdir(path, 0o700)
        for name in names:
            os.symlink(os.path.join(victim, "made-" + name), os.path.join(path, name))

    def open_folder(path):
        os.mkdir(path)
        os.chmod(path, 0o777)

    def plain_file(path):
        with open(path, "w", encoding="ascii") as file:
            file.write("mine")

    used = {before}
    for plant in (link_to_folder, link_to_file, other_folder, open_folder, plain_file):
        path = folder()
        remove_folder(path)
        plant(path)
        now = trace(plant.__name__)
        check(now not in used, f"{plant.__name__}: another folder is used")
        used.add(now)
        if os.path.isdir(path) and not os.path.islink(path):
            remove_folder(path)
        else:
            os.remove(path)
    check(sorted(os.listdir(victim)) == there, f"nothing was made through a link: {os.listdir(victim)}")
    with open(target, encoding="ascii") as file:
        check(file.read() == "untouched", "nothing was written through a link")

    # Once another user could write to the prefix's folder, it must not be used any more.
    path = folder()
    os.chmod(path, 0o777)
    check(trace("its folder open for all") != path, "a folder that is open for all is not used")
    remove_folder(path)

    # A corrupt record must not be used.
    for text in ("", "x" * 1000, "0" * 16 + " " + "0" * 32 + " 1\n"):
        path = folder()
        with open(RECORD, "w", encoding="ascii") as record:
            record.write(text)
        check(trace("a corrupt record") != path, "a corrupt record is used")
        remove_folder(path)
    # If the record cannot be written, the start must fail, and the new folder, which no process could find, is removed.
    path = folder()
    pattern = path[:-32] + "*"
    os.remove(RECORD)
    os.makedirs(os.path.join(RECORD, "taken"))
    there = sorted(glob.glob(pattern))
    code, text = wine(SESSION, "start", "Planted")
    shutil.rmtree(RECORD)
    check(code != 0, f"the folder cannot be recorded, but a session started: {text}")
    check(sorted(glob.glob(pattern)) == there, f"left behind: {sorted(set(glob.glob(pattern)) - set(there))}")
    remove_folder(path)
    trace("a record that can be written again")

    shutil.rmtree(victim)
    left = [path for path in glob.glob("/dev/shm/openpla-*") if path in used and path != folder()]
    check(not left, f"left behind: {left}")


main()
