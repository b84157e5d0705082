#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Processes that look whether a set runs leave no descriptor of its lock file in Wine's server. The service does so every
second, and the server would run out of descriptors after some hours: then nothing in the prefix works any more."""
import os
import shutil
import tempfile

from faults import PREFIX, check, clean, tell, windows_path, wine

NAME = "test-fault-locks"
LOOKS = 30
MORE = 5  # of processes that look at this time


def lock_files():
    """Descriptors of the set's lock file in the server of this prefix."""
    place = os.stat(PREFIX)
    folder = f"server-{place.st_dev:x}-{place.st_ino:x}"
    count, found = 0, False
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            if "wineserver" not in os.readlink(f"/proc/{entry}/exe") or folder not in os.readlink(f"/proc/{entry}/cwd"):
                continue
            found = True
            for name in os.listdir(f"/proc/{entry}/fd"):
                try:
                    count += os.readlink(f"/proc/{entry}/fd/{name}").endswith(f"/{NAME}.running")
                except OSError:
                    pass
        except OSError:
            continue
    check(found, "the prefix has a server")
    return count


def main():
    clean(NAME)
    root = tempfile.mkdtemp()
    try:
        tell("start", NAME, windows_path(root), r"\System\Threads")
        before = lock_files()
        check(before >= 1, "the lock file of the running set is open")
        for _ in range(LOOKS):
            code, text = wine(os.path.join(os.environ["OPENPLA_BIN_DIR"], "openpla.exe"), "logman", "query", NAME)
            check(code == 0 and "Running" in text, f"the set runs: {code}: {text}")
        after = lock_files()
        check(after <= before + MORE, f"the server has {after} descriptors of the lock file instead of {before}")
        tell("stop", NAME)
        tell("delete", NAME)
    finally:
        shutil.rmtree(root)
    print("ok:", os.path.basename(__file__))


main()
