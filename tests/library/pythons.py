# SPDX-License-Identifier: MIT
"""Runs a test's code in a Python that can import the module openpla, whose library may need a sanitizer's runtime."""
import os
import re
import subprocess
import sys

SOURCE = os.environ["OPENPLA_SOURCE_DIR"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "cli"))


def version():
    """That of CMakeLists.txt, which is the only place that has it."""
    with open(os.path.join(SOURCE, "CMakeLists.txt"), encoding="utf-8") as f:
        return re.search(r"^project\(openpla VERSION ([\d.]+)", f.read(), re.M).group(1)


def environment():
    preload = os.environ.get("OPENPLA_PRELOAD")
    more = {"LD_PRELOAD": preload, "ASAN_OPTIONS": "detect_leaks=0"} if preload else {}
    return {**os.environ, **more, "TZ": "UTC", "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.path.join(SOURCE, "library", "python")}


def run_again(python=sys.executable):
    """The calling test once more, in a process with that environment, which has OPENPLA_INSIDE set."""
    sys.exit(subprocess.run([python, *sys.argv], env={**environment(), "OPENPLA_INSIDE": "1"}, check=False).returncode)


def outside():
    """The environment of other programs, which have their own sanitizer."""
    return {name: value for name, value in os.environ.items() if name not in ("LD_PRELOAD", "ASAN_OPTIONS")}


def is_inside():
    return "OPENPLA_INSIDE" in os.environ


def with_pandas():
    """A Python that has pandas: this one, or that of the system. None: neither."""
    for python in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(python) and subprocess.run([python, "-c", "import pandas"], stderr=subprocess.DEVNULL,
                                                     check=False).returncode == 0:
            return python
    return None


def check(right, what, *more):
    if not right:
        sys.exit("\n".join(["FAILED: " + what, *map(str, more)]))
