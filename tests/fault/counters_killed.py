#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The service offers counters by RPC only where a setting says so, in a process of its own: one that dies hard takes
nothing from the service and is started anew, and it ends with the service."""
from faults import answers, check, free_port, kill_one, processes, wait_for, wine

KEY = "HKLM\\Software\\OpenPLA"


def start_service():
    """Anew. It also begins with the prefix, whose wineserver a test before this one may have ended: stopped in vain while
    it was not there yet, it would be found running, without the setting."""
    def started():
        wine("net", "stop", "OpenPLA")
        return wine("net", "start", "OpenPLA")[0] == 0
    wait_for("the service starts", started)


def main():
    port = free_port()
    try:
        start_service()
        check(not processes("openplasrv", "/counters"), "nothing is offered without a setting")
        code, text = wine("reg", "add", KEY, "/v", "CounterQueryPort", "/t", "REG_DWORD", "/d", str(port), "/f")
        check(code == 0, text)
        start_service()
        wait_for("counters are offered", lambda: answers(port))
        running = processes("openplasrv", "/service")
        kill_one("openplasrv", "/counters")
        wait_for("counters are offered again", lambda: answers(port))
        check(processes("openplasrv", "/service") == running, "the service runs on")
    finally:
        wine("reg", "delete", KEY, "/v", "CounterQueryPort", "/f")
        wine("net", "stop", "OpenPLA")
    wait_for("it ends with the service", lambda: not processes("openplasrv", "/counters"))


main()
