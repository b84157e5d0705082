#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""api_trace.py FOLDER [CALLS]: measures how much longer a traced call takes than an untraced one, with names only and
with arguments. Compares that cost with Wine's own +relay and with ltrace in the same run. Also measures how many calls
are lost when four threads call at full speed. FOLDER has openpla.exe and bench_api_calls.exe; WINEPREFIX is a prefix.
Logs and the other tools' output are on tmpfs. Each round runs the program untraced, then traced; the cost is the
difference between the tenth percentiles of their call times. Other load increases the cost, so the minimum of all
rounds is shown beside the median. ltrace (Debian: ltrace, gcc) traces a program of the host OS."""
import json
import os
import shutil
import subprocess
import tempfile

import arguments

FOLDER, CALLS = arguments.parse_arguments(__doc__, ("FOLDER", arguments.folder), ("CALLS", arguments.number, 1000000))
arguments.environment("WINEPREFIX")
ROUNDS, RELAY_CALLS, LTRACE_CALLS, FLAT_OUT = 7, 20000, 10000, 2500000
QUIET = {**os.environ, "WINEDEBUG": "-all"}


def wine(*command, **more):
    return subprocess.run(["wine", *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True,
                          stderr=subprocess.DEVNULL, timeout=600, **{"env": QUIET, **more}).stdout.decode()


def program(name):
    return os.path.join(FOLDER, name)


def host(path):
    return "Z:" + path.replace("/", "\\")


def bench(folder, options, calls, threads=1):
    log = os.path.join(folder, "calls.etl")
    command = [program("bench_api_calls.exe"), str(calls), str(threads)]
    if options is not None:
        command = [program("openpla.exe"), "run", "-apis", host(log), *options, host(command[0]), *command[1:]]
    numbers = [float(word) for word in wine(*command).split()[-2:]]
    counted = None
    if options is not None:
        shown = json.loads(wine(program("openpla.exe"), "trace", "api-summary", host(log), "--json"))
        counted = {row["name"]: row["calls"] for row in shown["functions"]}["kernel32!MulDiv"]
        os.unlink(log)
    return numbers, counted


def median(values):
    values = sorted(values)
    return values[len(values) // 2]


def relay(folder):
    with open(os.path.join(folder, "relay"), "wb") as file:
        out = subprocess.run(["wine", program("bench_api_calls.exe"), str(RELAY_CALLS)], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=file, env={**os.environ, "WINEDEBUG": "+relay"}, check=True)
    return [float(word) for word in out.stdout.decode().split()[-2:]]


def ltrace(folder):
    """Returns the call times of a program of the host OS under ltrace; None if a tool is missing."""
    if not shutil.which("ltrace") or not shutil.which("cc"):
        return None
    path = os.path.join(folder, "ltrace_calls")
    subprocess.run(["cc", "-O2", "-fno-builtin", "-Wl,-z,lazy", "-o", path,
                    os.path.join(os.path.dirname(os.path.abspath(__file__)), "ltrace_calls.c")], check=True)
    out = subprocess.run(["ltrace", "-e", "abs", "-o", os.path.join(folder, "ltrace"), path, str(LTRACE_CALLS)],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True)
    return [float(word) for word in out.stdout.decode().split()[-2:]]


def main():
    kinds = {"untraced": None, "names": ["-ano"], "arguments": []}
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        rows = {kind: [] for kind in kinds}
        for _ in range(ROUNDS):
            for kind, options in kinds.items():
                rows[kind].append(bench(folder, options, CALLS)[0])
        for kind, found in rows.items():
            over = sorted(row[1] - base[1] for row, base in zip(found, rows["untraced"]))
            print(f"{kind:10} median {median(row[0] for row in found):8.1f} ns, p10 {median(row[1] for row in found):8.1f} ns, "
                  f"over untraced {median(over):8.1f} ns, at least {over[0]:8.1f} ns")
        for name, numbers in (("+relay", relay(folder)), ("ltrace", ltrace(folder))):
            if numbers:
                print(f"{name:10} median {numbers[0]:8.1f} ns, p10 {numbers[1]:8.1f} ns")
            else:
                print(f"{name:10} is not installed")
        for kind in ("names", "arguments"):
            _, counted = bench(folder, kinds[kind], FLAT_OUT, 4)
            total_calls = FLAT_OUT // 500 * 500 * 4
            print(f"{kind}, 4 threads at full speed: {counted} of {total_calls} calls in the log")


if __name__ == "__main__":
    main()
