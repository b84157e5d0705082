#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""on_windows.py PROGRAM EMULATOR: what openpla.exe refuses and leaves out on Windows, by a PROGRAM that takes Wine for it:
what is the system's there is not written to, the user is told whose program does it, and the doctor finds nothing of
Linux or Wine on a computer that has neither."""
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
