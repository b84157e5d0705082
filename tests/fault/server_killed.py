#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""If the server is killed, all runs continue. The next client gets a new server, even if the service was restarted in
the meantime and Wine's rpcss does not return it. The new server reports the set as running and can stop it. Otherwise a
crash of the server would end all collections, or nobody could stop them."""
import shutil
import tempfile

from faults import check, clean, kill_one, processes, read_log, run_client, wait_for_samples, windows_path, wine

NAME = "test-fault-server"


def main():
    clean(NAME)
    root = tempfile.mkdtemp()
    try:
        first = run_client("start", NAME, windows_path(root), r"\System\Threads")
        host = processes("openplahost", NAME)
        for service_first in (False, True):
            kill_one("openplasrv")
            check(processes("openplahost", NAME) == host, "the host runs on")
            if service_first:
                wine("net", "start", "OpenPLA")
            state = run_client("state", NAME)
            check(state["status"] == "1" and state["file"] == first["file"], f"a new server sees it running: {state}")
            check(len(processes("openplasrv")) == 1, "there is one new server")
        wait_for_samples(first["file"], 3)
        state = run_client("stop", NAME)
        check(state["status"] == "0" and state["result"] == "0x00000000", f"stopped in order: {state}")
        read_log(first["file"], 3)
        run_client("delete", NAME)
    finally:
        shutil.rmtree(root)


main()
