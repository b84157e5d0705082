#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run.py FOLDER [EMULATOR]: tests `openpla run` with the openpla.exe in FOLDER. The openetw.dll in FOLDER has stand-ins
for the event functions. They receive all calls of the traced program, which behaves as without `openpla run`."""
import os
import shutil
import struct
import subprocess
import sys
import tempfile

FOLDER, EMULATOR = sys.argv[1], sys.argv[2:]
TARGET = "reach_target.exe"


def check(right, what, *more):
    if not right:
        sys.exit("\n".join(["FAILED: " + what, *map(str, more)]))


def wine(*command, folder="."):
    """Returns exit code and output; the emulator merges stdout and stderr."""
    with open("out.txt", "wb") as out:
        code = subprocess.run([*EMULATOR, *command], stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=folder).returncode
    with open("out.txt", encoding="utf-8", errors="replace", newline="") as out:
        return code, out.read()


def run(expected, *arguments, folder="."):
    code, out = wine("openpla.exe", "run", *arguments, folder=folder)
    check(code == expected, f"run {' '.join(arguments)}: exit code {code}, not {expected}", out)
    return out


def batch(*lines):
    """Runs command lines with Windows' command interpreter, which passes them on character by character."""
    with open("test.bat", "w", newline="\r\n") as file:
        file.write("\n".join(["@echo off", *lines, ""]))
    return wine("cmd", "/c", "test.bat")[1]


def every_call_arrives():
    code, out = wine(TARGET, "reached")
    check(code == 0, "without openpla run no call arrives (otherwise the test proves nothing)", out)
    check("0 of 54 missed" in run(0, TARGET, "all"), "calls are missed")
    check("0 of 54 missed" in run(0, "--children", "--", "./reach_target", "all"), "calls are missed with --children")


def traces_children_on_request():
    out = run(0, TARGET, "children")
    check(out.strip() == "self 1, child 0, cmd's child 0", "without --children", out)
    out = run(0, "--children", TARGET, "children")
    check(out.strip() == "self 1, child 1, cmd's child 1", "with --children", out)
    out = run(0, "--children", "cmd", "/c", f"{TARGET} children")
    check(out.strip() == "self 1, child 1, cmd's child 1", "below cmd", out)
    # In nested calls the program is already traced.
    run(1, "--children", "openpla.exe", "run", TARGET, "reached")
    run(1, "--children", "openpla.exe", "run", "--children", TARGET, "reached")
    run(1, "openpla.exe", "run", TARGET, "reached")


def behaves_as_untraced():
    with open("in.txt", "w") as file:
        file.write("a line\n")
    os.makedirs("sub folder", exist_ok=True)
    arguments = r'show "a b" c\"d\" "" "x\\" * ^&y /z -- --children "run" é  two  blanks '
    for folder in (".", "sub folder"):
        up = "" if folder == "." else "..\\"
        seen = [batch(f'cd "{folder}"', "set REACH_TEST=of the test", f"{how}{up}{TARGET} {arguments}<{up}in.txt")
                for how in ("", f"{up}openpla.exe run ", f"{up}openpla run --children ", f'"{up}openpla.exe" "run" -- ')]
        check("stdin=a line" in seen[0] and "on stderr" in seen[0], "the target", seen[0])
        for other in seen[1:]:
            check(other == seen[0], "the program behaves as without openpla run", seen[0], other)
    for code in ("0", "3", "259", "70000", "0xC0000005"):
        out = batch(f"{TARGET} exit {code}", "echo code=%errorlevel%", f"openpla.exe run {TARGET} exit {code}",
                    "echo code=%errorlevel%").split()
        check(len(out) == 2 and out[0] == out[1], f"exit code {code}", out)


def image(machine=0x8664, magic=0x20B, characteristics=0x22, net=0, count=16):
    wide = magic == 0x20B
    header = struct.pack("<4sHHIIIHHH", b"PE\0\0", machine, 0, 0, 0, 0, 240, characteristics, magic).ljust(80, b"\0")
    header += struct.pack("<I", 0x2000)
    header = header.ljust(132 if wide else 116, b"\0") + struct.pack("<I", count)
    header += struct.pack("<14Q", *[0] * 14) + struct.pack("<Q", net)
    return b"MZ".ljust(60, b"\0") + struct.pack("<I", 64) + header.ljust(4096, b"\0")


def reports_untraceable_programs():
    files = {
        "narrow.exe": (image(0x14C, 0x10B), "a 32-bit program (only 64-bit programs are supported)"),
        "net.exe": (image(net=0x1000), "a .NET program"),
        "net32.exe": (image(0x14C, 0x10B, net=0x1000), "a .NET program"),
        "arm.exe": (image(0xAA64), "another processor (machine 0xAA64)"),
        "library.exe": (image(characteristics=0x2022), "a DLL"),
        "text.exe": (b"#!/bin/sh\nexit 0\n", "not a Windows program"),
        "empty.exe": (b"", "not a Windows program"),
        "dos.exe": (b"MZ".ljust(2000, b"\0"), "a program for DOS or 16-bit Windows"),
        "cut.exe": (image()[:100], "corrupt headers"),
        "odd.exe": (image(magic=0x107), "corrupt headers"),
        "none.exe": (image(count=1), "no import table"),
        "script.bat": (b"echo\r\n", "openpla run --children cmd /c script.bat"),
    }
    for name, (content, text) in files.items():
        with open(name, "wb") as file:
            file.write(content)
        out = run(1, name)
        check(text in out and name in out, f"{name}: expected: {text}", out)
    check("not found in the current folder or in PATH" in run(1, "nowhere.exe", "x"), "a missing program")
    os.makedirs("folder.exe", exist_ok=True)
    check("is a folder" in run(1, "folder.exe"), "a folder")
    check("not a Windows program" in run(1, "/bin/true"), "a program of the host")
    check("missing program" in run(2), "no program")
    check("missing program" in run(2, "--children", "--"), "a missing program after --")
    check("unknown option" in run(2, "--child", TARGET), "an unknown option")


def runs_from_any_folder():
    for name in ("sub folder/a ö", "sub folder/☃ 雪"):
        os.makedirs(name, exist_ok=True)
        for file in ("openpla.exe", "openetw.dll", "reach_early.dll", TARGET):
            shutil.copy(file, name)
        run(1, TARGET, "reached", folder=name)
        os.remove(os.path.join(name, "openetw.dll"))
        out = run(1, TARGET, "reached", folder=name)
        check("cannot find" in out and "openetw.dll" in out, "without openetw.dll", out)


with tempfile.TemporaryDirectory() as top:
    shutil.copytree(FOLDER, os.path.join(top, "t"))
    os.chdir(os.path.join(top, "t"))
    for test in (every_call_arrives, traces_children_on_request, behaves_as_untraced, reports_untraceable_programs,
                 runs_from_any_folder):
        test()
        print(test.__name__, flush=True)
