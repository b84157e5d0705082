#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dcom.py BIN BENCH [CALLS]: starts the service from BIN (build/mingw/bin) in the Wine prefix $WINEPREFIX, with remote
DCOM on a free port, and runs BENCH (bench_dcom of a native build) against it."""
import os
import socket
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "dcom"))
from prefix import server_processes  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(HERE))
PASSWORD = "a password of benches"
CONNECTIONS = 100


def wine(*command, given=""):
    return subprocess.run(["sh", os.path.join(ROOT, "cmake", "wine-run.sh"), *command], input=given, encoding="utf-8",
                          errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=dict(os.environ, OPENPLA_WINE_RUN="through"))


def is_open(port):
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def main():
    folder, bench = sys.argv[1:3]
    calls = sys.argv[3] if len(sys.argv) > 3 else "100000"
    program = os.path.join(folder, "openpla.exe")
    prefix = os.path.join(ROOT, "cmake", "wine-prefix.sh")
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    subprocess.run(["sh", prefix, "setup"], check=True)
    try:
        wine(os.path.join(folder, "openplasrv.exe"), "/regserver", "/start")
        wine(program, "dcom", "account", "add", "bench", "-role", "administrators", "-replace", given=PASSWORD + "\n")
        wine(program, "dcom", "on", "-port", str(port), "-limits",
             f"connections_of_address={2 * CONNECTIONS}")
        wine("net", "stop", "OpenPLA")
        wine("net", "start", "OpenPLA")
        while not is_open(port):
            time.sleep(0.2)
        pids = [str(pid) for what in ("/service", "/dcom") for pid in server_processes(what)]
        done = subprocess.run([bench, "127.0.0.1", str(port), "bench", calls, str(CONNECTIONS), *pids],
                              env=dict(os.environ, BENCH_PASSWORD=PASSWORD), check=False)
        return done.returncode
    finally:
        wine(program, "dcom", "off")
        wine("net", "stop", "OpenPLA")
        subprocess.run(["sh", prefix, "cleanup"], check=False)


sys.exit(main())
