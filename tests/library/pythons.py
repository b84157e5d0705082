# SPDX-License-Identifier: MIT
"""Shared by the tests of the Python module: restarts a test in a Python process that can import the module openpla. If
the library is built with a sanitizer, the process preloads the sanitizer's runtime."""
import os
import re
import subprocess
import sys

SOURCE = os.environ["OPENPLA_SOURCE_DIR"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "cli"))


def version():
    """Returns the project's version, which only CMakeLists.txt defines."""
    with open(os.path.join(SOURCE, "CMakeLists.txt"), encoding="utf-8") as f:
        return re.search(r"^project\(openpla VERSION ([\d.]+)", f.read(), re.M).group(1)


def environment():
    preload = os.environ.get("OPENPLA_PRELOAD")
    more = {"LD_PRELOAD": preload, "ASAN_OPTIONS": "detect_leaks=0"} if preload else {}
    return {**os.environ, **more, "TZ": "UTC", "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.path.join(SOURCE, "library", "python")}


def run_again(python=sys.executable):
    """Runs the calling test again in a process with environment() and OPENPLA_INSIDE set, and exits with its exit
    code."""
    sys.exit(subprocess.run([python, *sys.argv], env={**environment(), "OPENPLA_INSIDE": "1"}, check=False).returncode)


def outside():
    """Returns the environment for programs that are linked with the sanitizer themselves."""
    return {name: value for name, value in os.environ.items() if name not in ("LD_PRELOAD", "ASAN_OPTIONS")}


def is_inside():
    return "OPENPLA_INSIDE" in os.environ


def with_pandas():
    """Returns a Python that has pandas: this one or /usr/bin/python3; None if neither has it."""
    for python in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(python) and subprocess.run([python, "-c", "import pandas"], stderr=subprocess.DEVNULL,
                                                     check=False).returncode == 0:
            return python
    return None


def check(right, what, *more):
    if not right:
        sys.exit("\n".join(["FAILED: " + what, *map(str, more)]))
