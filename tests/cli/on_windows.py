#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""on_windows.py PROGRAM EMULATOR: tests what openpla.exe rejects and omits on Windows, with a PROGRAM that treats Wine
as Windows. It must not write to the system's own data, must name Windows' program for the task, and the doctor must
report nothing about Linux or Wine."""
import os
import tempfile

from doctor_findings import examine
from program import check, host_path, openpla

OF_WINE = {"no-tracefs", "proc-hidden", "zone-unknown", "wine-old", "prefix-foreign"}


def refused(words, *arguments):
    said = openpla(1, *arguments)
    check(words in said, f"{arguments}: does not say: {words}", said)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.environ["OPENPLA_DATA"] = host_path(os.path.join(folder, "data"))
        os.chmod(folder, 0o700)
        path = os.path.join(folder, "x")
        for name, text in (("x.ini", "[info]\ndrivername=Shop\n"), ("x.man", "<instrumentationManifest/>")):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        refused("use Windows' lodctr", "lodctr", host_path(path + ".ini"))
        refused("use Windows' lodctr", "unlodctr", "Shop")
        refused("use wevtutil", "manifest", "add", host_path(path + ".man"))
        refused("use wevtutil", "manifest", "remove", "Shop")
        refused("is only for Wine", "run", "cmd.exe", "/c", "exit 0")
        found = examine("-wait", "1", TZ="Nowhere/Land")  # which it tells under Wine
        check(not OF_WINE & set(found), "the doctor looks at Wine", found)


main()
