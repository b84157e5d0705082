# SPDX-License-Identifier: MIT
"""Finds processes of openplasrv in a test's prefix."""
import os


def server_processes(argument):
    """Returns the ids of this prefix's openplasrv processes that have `argument` on their command line."""
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/cmdline", "rb") as file:
                line = file.read().replace(b"\0", b" ") + b" "
            with open(f"/proc/{process}/environ", "rb") as file:
                environment = file.read()
        except OSError:
            continue
        if (b"openplasrv.exe" in line and f" {argument} ".encode() in line and
                f"WINEPREFIX={os.environ['WINEPREFIX']}".encode() in environment):
            found.append(int(process))
    return found
