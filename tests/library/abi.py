#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""abi.py [--write] SOURCE LIBRARY: a program that was built with an earlier libopenpla-logs.so.0 also runs with this
one. Otherwise an update of the library would break it. The library must export exactly the names in its version script
and its header, and its functions and structures must match library/libopenpla-logs.abi. --write updates that file after
a function was added or before the soname changes. Exit code 77: abidiff is missing."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

ARGUMENTS = ["--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--no-elf-needed", "--drop-private-types"]


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, text=True)


def write_abi(source, library, path):
    done = run("abidw", *ARGUMENTS, "--headers-dir", os.path.join(source, "library", "include"), "--out-file", path, library)
    if done.returncode != 0:
        sys.exit(f"abidw: {done.stdout}")


def read(*names):
    with open(os.path.join(*names), encoding="utf-8") as f:
        return f.read()


def exports_match_header(source, library):
    declared = set(re.findall(r"^OPENPLA_API [\w *]*?(openpla_\w+)\(", read(source, "library/include/openpla/logs.h"), re.M))
    versioned = set(re.findall(r"^\s+(openpla_\w+);", read(source, "library/libopenpla-logs.map"), re.M))
    symbols = run("nm", "--dynamic", "--defined-only", "--with-symbol-versions", library).stdout
    exported = {line.split()[-1] for line in symbols.splitlines() if " A " not in line}
    # Ignore the weak symbols that sanitizers add.
    exported = {name for name in exported if not re.match(r"_{2,}(asan|ubsan|sanitizer|sancov|start|stop)", name)}
    names = {name.split("@")[0] for name in exported}
    for left, right, what in ((declared, versioned, "in the header, not in the version script"),
                              (versioned, declared, "in the version script, not in the header"),
                              (versioned, names, "not exported"), (names, versioned, "exported without need")):
        if left - right:
            sys.exit(f"{what}: {sorted(left - right)}")
    if unversioned := [name for name in exported if "@@OPENPLA_LOGS_" not in name]:
        sys.exit(f"without a version: {unversioned}")
    if "soname='libopenpla-logs.so.0'" not in read(source, "library/libopenpla-logs.abi"):
        sys.exit("library/libopenpla-logs.abi is that of another soname")


def main():
    writes = sys.argv[1] == "--write"
    source, library = sys.argv[-2:]
    known = os.path.join(source, "library", "libopenpla-logs.abi")
    if writes:
        write_abi(source, library, known)
        return
    exports_match_header(source, library)
    if not shutil.which("abidiff"):
        print("abidiff is missing (Debian package abigail-tools)")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        now = os.path.join(folder, "now.abi")
        write_abi(source, library, now)
        done = run("abidiff", known, now)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\nThe functions or structures of libopenpla-logs.so.0 have changed. Programs built with the "
                 "earlier library would fail: keep them, or change the soname. For an added function run "
                 "`cmake --build --preset native-asan --target generate_library_abi`.")


main()
