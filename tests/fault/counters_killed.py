#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The service offers counters by RPC only if a setting requests it, in a separate process. If this process is killed,
the service continues and restarts it. The process exits with the service. Otherwise a computer would offer counters
that nobody enabled, or stop offering them."""
import os
import subprocess

from faults import answers, check, free_port, kill_one, processes, wait_for, wine

PROGRAM = os.path.join(os.environ["OPENPLA_BIN_DIR"], "openpla.exe")
RUNNER = os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "cmake/wine-run.sh")
KEY = "HKLM\\Software\\OpenPLA"


def start_service():
    """Restarts the service. The service also starts with the prefix, whose wineserver an earlier test may have ended. A
    stop before the service exists would have no effect, and the service would run without the setting."""
    def started():
        wine("net", "stop", "OpenPLA")
        return wine("net", "start", "OpenPLA")[0] == 0
    wait_for("the service starts", started)


def failed_logon(there):
    """A failed logon at the port is logged as an event."""
    name = f"intruder{os.getpid()}"
    done = subprocess.run(["sh", RUNNER, PROGRAM, "typeperf", "-q", "-s", there, "-u", name, "*"],
                          env=dict(os.environ, OPENPLA_WINE_RUN="through"), input="a password of nobody\n",
                          encoding="utf-8", errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    check(done.returncode != 0, f"a logon without an account: {done.stdout}")
    code, text = wine(PROGRAM, "events", "-last", "1000")
    lines = [line for line in text.splitlines() if name in line]
    check(code == 0 and lines and "9043" in lines[0] and "counters" in lines[0], f"no event about it: {lines}")


def main():
    port = free_port()
    try:
        start_service()
        check(not processes("openplasrv", "/counters"), "nothing is offered without a setting")
        code, text = wine("reg", "add", KEY, "/v", "CounterQueryPort", "/t", "REG_DWORD", "/d", str(port), "/f")
        check(code == 0, text)
        start_service()
        wait_for("counters are served", lambda: answers(port))
        failed_logon(f"127.0.0.1:{port}")
        running = processes("openplasrv", "/service")
        kill_one("openplasrv", "/counters")
        wait_for("counters are served again", lambda: answers(port))
        check(processes("openplasrv", "/service") == running, "the service runs on")
    finally:
        wine("reg", "delete", KEY, "/v", "CounterQueryPort", "/f")
        wine("net", "stop", "OpenPLA")
    wait_for("it ends with the service", lambda: not processes("openplasrv", "/counters"))


main()
