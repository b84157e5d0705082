#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A process that checks whether a set runs leaves no descriptor of the set's lock file open in wineserver. The service
checks every second, so otherwise wineserver would run out of descriptors after some hours, and no program in the prefix
would work any more."""
import os
import shutil
import tempfile

from faults import PREFIX, check, clean, run_client, windows_path, wine

NAME = "test-fault-locks"
CHECKS = 30
MORE = 5  # descriptors of processes that check at the same time


def lock_files():
    """Returns how many descriptors of the set's lock file this prefix's wineserver has."""
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
        run_client("start", NAME, windows_path(root), r"\System\Threads")
        before = lock_files()
        check(before >= 1, "the lock file of the running set is open")
        for _ in range(CHECKS):
            code, text = wine(os.path.join(os.environ["OPENPLA_BIN_DIR"], "openpla.exe"), "logman", "query", NAME)
            check(code == 0 and "Running" in text, f"the set runs: {code}: {text}")
        after = lock_files()
        check(after <= before + MORE, f"the server has {after} descriptors of the lock file instead of {before}")
        run_client("stop", NAME)
        run_client("delete", NAME)
    finally:
        shutil.rmtree(root)
    print("ok:", os.path.basename(__file__))


main()
