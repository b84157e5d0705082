#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A server that dies hard takes no run with it: with a new one the set is found running, and can be stopped. Wine's
rpcss keeps the dead server's entry until it is restarted."""
import shutil
import tempfile
import time

from faults import check, clean, kill_one, processes, read_log, restart_rpcss, tell, wait_for_samples, windows_path

NAME = "test-fault-server"


def main():
    clean(NAME)
    root = tempfile.mkdtemp()
    try:
        first = tell("start", NAME, windows_path(root), r"\System\Threads")
        host = processes("openplahost", NAME)
        kill_one("openplasrv")
        time.sleep(1)
        check(processes("openplahost", NAME) == host, "the host runs on")
        restart_rpcss()
        state = tell("state", NAME)
        check(state["status"] == "1" and state["file"] == first["file"], f"a new server sees it running: {state}")
        check(len(processes("openplasrv")) >= 1, "there is a new server")
        wait_for_samples(first["file"], 3)
        state = tell("stop", NAME)
        check(state["status"] == "0" and state["result"] == "0x00000000", f"stopped in order: {state}")
        read_log(first["file"], 3)
        tell("delete", NAME)
    finally:
        shutil.rmtree(root)


main()
