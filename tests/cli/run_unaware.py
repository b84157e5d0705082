#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run_unaware.py OPENPLA PROGRAM [EMULATOR]: `openpla run` of PROGRAM, which looks up functions and starts kernel
sessions as third-party programs do (reach/unaware.c). Such programs can be traced, and no session is left behind."""
import os
import subprocess
import sys

OPENPLA, PROGRAM, EMULATOR = sys.argv[1], sys.argv[2], sys.argv[3:]
os.environ["OPENPLA_ETW"] = f"unaware{os.getpid()}"  # separates this test's sessions from others

ended = subprocess.run([*EMULATOR, OPENPLA, "run", PROGRAM], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
if ended.returncode != 0 or "0 failures" not in ended.stdout:
    sys.exit(f"exit code {ended.returncode}\n{ended.stdout}")
