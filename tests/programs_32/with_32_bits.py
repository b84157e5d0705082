#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""with_32_bits.py COMMAND...: runs the command if 32-bit programs run in the prefix; otherwise prints the reason and
exits with 77."""
import os
import re
import subprocess
import sys

SKIPPED = 77


def find_skip_reason():
    """Returns why no 32-bit program runs here; None if one does."""
    prefix, top = os.environ["WINEPREFIX"], os.environ["OPENPLA_SOURCE_DIR"]
    if not os.path.isfile(os.path.join(prefix, "drive_c/windows/syswow64/cscript.exe")):
        return "the prefix has no 32-bit cscript: this Wine runs only 64-bit programs"
    version = re.match(r"wine-(\d+)", subprocess.run(["wine", "--version"], capture_output=True, text=True).stdout)
    if version and int(version.group(1)) < 10:
        return "this Wine has separate class names for 32-bit programs, unlike Windows and Wine 10"
    run = subprocess.run(["sh", os.path.join(top, "cmake/wine-run.sh"), r"C:\windows\syswow64\cmd.exe", "/c", "exit 3"],
                         stdin=subprocess.DEVNULL, capture_output=True, timeout=600)
    return None if run.returncode == 3 else "the 32-bit programs of the prefix do not run: wine32 is not installed"


def main():
    why = find_skip_reason()
    if why:
        print(why)
        return SKIPPED
    return subprocess.call(sys.argv[1:])


sys.exit(main())
