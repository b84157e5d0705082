#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""on_windows.py PROGRAM EMULATOR: the restrictions of openpla.exe on Windows, tested with a PROGRAM that treats Wine as
Windows. The program refuses to change system settings and names the Windows program to use instead. Its doctor reports
no findings about Linux or Wine."""
import os
import tempfile

from doctor_findings import examine
from program import check, host_path, openpla

WINE_FINDINGS = {"no-tracefs", "proc-hidden", "zone-unknown", "wine-old", "prefix-foreign"}


def expect_refusal(words, *arguments):
    output = openpla(1, *arguments)
    check(words in output, f"{arguments}: does not say: {words}", output)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.environ["OPENPLA_DATA"] = host_path(os.path.join(folder, "data"))
        os.chmod(folder, 0o700)
        path = os.path.join(folder, "x")
        for name, text in (("x.ini", "[info]\ndrivername=Shop\n"), ("x.man", "<instrumentationManifest/>")):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        expect_refusal("use Windows' lodctr", "lodctr", host_path(path + ".ini"))
        expect_refusal("use Windows' lodctr", "unlodctr", "Shop")
        expect_refusal("use wevtutil", "manifest", "add", host_path(path + ".man"))
        expect_refusal("use wevtutil", "manifest", "remove", "Shop")
        expect_refusal("is only for Wine", "run", "cmd.exe", "/c", "exit 0")
        found = examine("-wait", "1", TZ="Nowhere/Land")  # reported under Wine
        check(not WINE_FINDINGS & set(found), "the doctor does not check Wine", found)


main()
