# SPDX-License-Identifier: MIT
"""Runs openpla.exe for the command-line tests. Their own arguments are PROGRAM [EMULATOR]."""
import os
import subprocess
import sys

PROGRAM, EMULATOR = sys.argv[1], sys.argv[2:]


def check(right, what, *more):
    if not right:
        sys.exit("\n".join(["FAILED: " + what, *map(str, more)]))


def host_path(path):
    """Returns the path by which the program names a file of this host OS."""
    return "Z:" + os.path.abspath(path).replace("/", "\\") if EMULATOR else path


def openpla_streams(expected, *arguments):
    """Returns stdout and stderr. If `expected` is None, any exit code is accepted."""
    done = subprocess.run([*EMULATOR, PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=600, check=False)
    output, messages = (text.decode("utf-8").replace("\r\n", "\n") for text in (done.stdout, done.stderr))
    check(expected is None or done.returncode == expected, f"{arguments}: exit code {done.returncode}, not {expected}", output + messages)
    return output, messages


def openpla(expected, *arguments):
    """Returns stdout and stderr merged in the order of writing."""
    done = subprocess.run([*EMULATOR, PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=600, check=False)
    output = done.stdout.decode("utf-8", "replace").replace("\r\n", "\n")
    check(done.returncode == expected, f"{arguments}: exit code {done.returncode}, not {expected}", output)
    return output


def verb(name):
    """Returns openpla() bound to one verb."""
    return lambda expected, *arguments: openpla(expected, name, *arguments)
