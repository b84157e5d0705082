#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""installed.py BUILD PROGRAM COMPILER [OPTION...]: the library works when it is installed below any prefix. pkg-config
finds it, the two examples build against it alone and print what the command line prints, and the header is valid C++.
Otherwise a user of the development package could not build or run a program."""
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import pythons
from pythons import SOURCE, check
from built_trace import SECOND, START, event, self_described, trace  # noqa: E402

BUILD, PROGRAM, COMPILER, OPTIONS = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]


def run(*command, expected=0, **more):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          text=True, **more)
    if done.returncode != expected:
        sys.exit(f"{command}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def install(prefix):
    for component in ("logs-library", "logs-development", "python-module"):
        run("cmake", "--install", BUILD, "--prefix", prefix, "--component", component)
    found = {os.path.relpath(os.path.join(folder, name), prefix) for folder, _, names in os.walk(prefix) for name in names}
    libraries = {os.path.basename(name) for name in found if ".so" in name}
    check(libraries == {"libopenpla-logs.so", "libopenpla-logs.so.0", f"libopenpla-logs.so.{pythons.version()}"}, "libraries", libraries)
    check({"include/openpla/logs.h", "lib/python3/dist-packages/openpla/__init__.py",
           "lib/python3/dist-packages/openpla/_library.py"} <= found, "files", sorted(found))
    return next(os.path.join(prefix, os.path.dirname(name)) for name in found if name.endswith("openpla-logs.pc"))


def build(name, flags):
    run(COMPILER, *OPTIONS, "-std=c11", "-D_DEFAULT_SOURCE", "-Wall", "-Wextra", "-Werror",
        os.path.join(SOURCE, "examples", f"{name}.c"), *flags, "-o", name)


def write_log():
    with open("a.csv", "w", encoding="ascii", newline="") as f:
        f.write('"(PDH-CSV 4.0) (UTC)(0)","\\\\BOX\\Memory\\Free","\\\\BOX\\Disk(C:)\\Reads/sec"\r\n')
        for i in range(10):
            f.write(f'"02/28/2021 15:33:{20 + i:02}.000","{100 + i}","{i / 2 if i else " "}"\r\n')


def read_log_prints_same_values_as_relog(environment):
    write_log()
    run(PROGRAM, "relog", "a.csv", "-f", "BIN", "-o", "a.blg", "-y")
    for name in ("a.csv", "a.blg"):
        lines = run("./read_log", name, env=environment).splitlines()
        check("10 samples of 2 counters" in lines[0], "samples", lines)
        check(lines[1] == "\\\\BOX\\Memory\\Free: mean 104.5, from 100 to 109 in 10 samples", "a counter", lines)
        check(lines[2] == "\\\\BOX\\Disk(C:)\\Reads/sec: mean 2.5, from 0.5 to 4.5 in 9 samples", "a gap", lines)
        with open("a.csv", newline="") as a, open(f"{name}.copy.csv", newline="") as b:
            wanted, copied = list(csv.reader(a)), list(csv.reader(b))
        check([[float(cell) if cell.strip() else None for cell in row[1:]] for row in wanted[1:]] ==
              [[float(cell) if cell.strip() else None for cell in row[1:]] for row in copied[1:]], "the copy", copied)
        check(len(run("./read_log", name, "\\Memory\\*", env=environment).splitlines()) == 2, "a pattern")
    done = subprocess.run(["./read_log", "none.blg"], stderr=subprocess.PIPE, env=environment, text=True, check=False)
    check(done.returncode == 1 and "'none.blg'" in done.stderr, "an error", done.stderr)


def show_trace_prints_same_events_as_trace_show(environment):
    provider = "11112222-3333-4444-5555-666677778888"
    fields = b"Name\0\x01Size\0\x08Point\0\x92X\0\x05Y\0\x05".replace(b"\x92", b"\x98\x02")
    data = "plain\0".encode("utf-16-le") + (1).to_bytes(4, "little") + (3).to_bytes(2, "little") * 2
    trace("a.etl", [self_described(provider, "Maker", "Made", fields, data, START + SECOND, process=44),
                    event("99990000-1111-2222-3333-444455556666", b"\x01", START + 2 * SECOND, ident=9)])
    text = run("./show_trace", "a.etl", env=environment)
    (decoded, other) = [json.loads(line) for line in run(PROGRAM, "trace", "show", "a.etl", "--json").splitlines()][1:]
    check(f'{decoded["time"]} Maker/Made id 0, process 44\n  Name = plain\n  Size = 1\n  Point\n    X = 3\n    Y = 3\n' in text,
          "an event", text)
    check(f'{other["time"]} {{99990000-1111-2222-3333-444455556666}}/? id 9' in text and
          f'not decoded: {other["undecoded"]["reason"]}' in text, "an unknown event", text)


def header_is_valid_cpp(flags):
    compiler = shutil.which("clang++") or shutil.which("g++")
    if compiler:
        with open("header.cc", "w", encoding="ascii") as f:
            f.write("#include <openpla/logs.h>\nint main() { return openpla_logs_version() == nullptr; }\n")
        run(compiler, *OPTIONS, "-Wall", "-Wextra", "-Werror", "header.cc", *flags, "-o", "header")


def documented_program_works(flags, environment):
    """Builds and runs the C program in docs/user/library.md."""
    with open(os.path.join(SOURCE, "docs", "user", "library.md"), encoding="utf-8") as f:
        (example,) = re.findall(r"^```c\n(.*?)^```$", f.read(), re.M | re.S)
    with open("load.c", "w", encoding="utf-8") as f:
        f.write(example)
    run(COMPILER, *OPTIONS, "-Wall", "-Wextra", "-Werror", "load.c", *flags, "-o", "load")
    os.replace("a.blg", "load.blg")
    output = run("./load", env=environment)
    check(output.splitlines() == ["\\\\BOX\\Memory\\Free", *(str(100 + i) for i in range(10))], "the page's program", output)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        prefix = os.path.join(folder, "prefix")
        packages = {**os.environ, "PKG_CONFIG_PATH": install(prefix)}
        flags = run("pkg-config", "--cflags", "--libs", "openpla-logs", env=packages).split()
        check(f"-I{prefix}/include" in flags and "-lopenpla-logs" in flags, "pkg-config", flags)
        libraries = run("pkg-config", "--variable=libdir", "openpla-logs", env=packages).strip()
        environment = {**os.environ, "LD_LIBRARY_PATH": libraries, "TZ": "UTC"}
        for name in ("read_log", "show_trace"):
            build(name, flags)
        read_log_prints_same_values_as_relog(environment)
        show_trace_prints_same_events_as_trace_show(environment)
        header_is_valid_cpp(flags)
        documented_program_works(flags, environment)


if not shutil.which("pkg-config"):
    print("pkg-config is missing (Debian package pkgconf)")
    sys.exit(77)
main()
