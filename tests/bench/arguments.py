# SPDX-License-Identifier: MIT
"""The arguments of the scripts in this folder. A wrong one ends the script with one line that describes the error."""
import os
import shutil
import sys


def reject(name, value, why):
    script = os.path.basename(sys.argv[0])
    print(f"{script}: {name}: '{value}': {why} (see the head of '{sys.argv[0]}')", file=sys.stderr)
    sys.exit(2)


def program(name, value):
    """Returns a program's path, as given or found in PATH. A Windows program need not be executable here."""
    found = value if value.lower().endswith(".exe") and os.path.isfile(value) else shutil.which(value)
    if not found:
        reject(name, value, "not a program" if os.path.exists(value) else "no such file")
    return os.path.abspath(found)


def folder(name, value):
    if not os.path.isdir(value):
        reject(name, value, "not a folder" if os.path.exists(value) else "no such folder")
    return os.path.abspath(value)


def file(name, value):
    if not os.path.isfile(value):
        reject(name, value, "not a file" if os.path.exists(value) else "no such file")
    return os.path.abspath(value)


def number(name, value):
    if not (value.isascii() and value.isdigit() and int(value)):
        reject(name, value, "expected a number from 1 on")
    return int(value)


def text(_, value):
    return value


def environment(*names):
    """Checks the environment variables that the script needs."""
    for name in names:
        if not os.environ.get(name):
            reject(name, "", "the environment variable is not set")


def parse_arguments(usage, *expected, rest=None):
    """Returns the arguments in order. Each of `wanted` is (name, kind) or (name, kind, default); `rest` is (name, kind)
    of further arguments, which become a list at the end. `usage` is shown if a required argument is missing."""
    given = sys.argv[1:]
    if len(given) < sum(len(argument) == 2 for argument in expected):
        print(usage.strip(), file=sys.stderr)
        sys.exit(2)
    if len(given) > len(expected) and not rest:
        reject("argument", given[len(expected)], f"expected at most {len(expected)} arguments")
    taken = [argument[1](argument[0], given[at]) if at < len(given) else argument[2] for at, argument in enumerate(expected)]
    if rest:
        taken.append([rest[1](rest[0], value) for value in given[len(expected):]])
    return taken
