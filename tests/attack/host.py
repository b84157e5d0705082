#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""host.py BIN_FOLDER: attacks by a user on the server and set host processes. Libraries in the folder in which these
processes start, and in the set's folder, must not be loaded. A set host process that the user suspends must delay only
its own set, whose Stop terminates it. The service must not be registered from a folder that the user can write to.
Otherwise a user could run code with the service's rights, or block other users' sets."""
import contextlib
import os
import shutil
import signal
import sys
import tempfile

from own_server import Server
from faults import (check, processes, read_log, run_client, try_client, wait_for_samples, wait_until_gone, windows_path,
                    wine)

STOPPED, OTHER = "attack-host", "attack-bystander"
NAMES = ("version", "pdh", "xmllite", "tdh", "odbc32", "wevtapi", "openpdh", "openetw", "opentdh", "openpla", "bcrypt",
         "iphlpapi", "wbemprox", "rsaenh")


def plant(bin_folder, folder):
    for name in NAMES:
        shutil.copy(os.path.join(bin_folder, "planted_library.dll"), os.path.join(folder, name + ".dll"))


def check_none_ran(folder):
    ran = [name for name in os.listdir(folder) if name.endswith(".ran")]
    check(not ran, f"planted code ran: {ran}")


def stopped_host(root, other_root):
    run_client("start", STOPPED, windows_path(root), r"\System\Threads")
    run_client("start", OTHER, windows_path(other_root), r"\System\Threads")
    log = run_client("state", STOPPED)["file"]
    wait_for_samples(log, 1)
    hosts = processes("openplahost", STOPPED)
    check(len(hosts) == 1, f"one host: {hosts}")
    os.kill(hosts[0], signal.SIGSTOP)
    state = run_client("state", STOPPED)
    check(state["status"] == "1", f"the last reported status is read: {state}")
    # Calls for another set must not be blocked by the suspended process.
    run_client("stop", OTHER)
    run_client("delete", OTHER)
    stop = try_client("stop", STOPPED)
    check("800705B4" in stop.get("error", ""), f"Stop reports a timeout: {stop}")
    check(run_client("state", STOPPED)["status"] == "0", "the set has stopped")
    # Wine terminates a process with a signal. A suspended process handles the signal as soon as it is resumed. It may
    # also have been killed already.
    for host in hosts:
        with contextlib.suppress(ProcessLookupError):
            os.kill(host, signal.SIGCONT)
    wait_until_gone(hosts)
    read_log(log, 1)
    run_client("again", STOPPED)
    run_client("stop", STOPPED)
    run_client("delete", STOPPED)


def open_folder(bin_folder):
    key = r"HKLM\Software\Classes\CLSID\{03837531-098B-11D8-9414-505054503030}\LocalServer32"
    registered = wine("reg", "query", key, "/ve")[1]
    with tempfile.TemporaryDirectory() as folder:
        for name in ("openplasrv.exe", "openplahost.exe", "openpla.dll", "openpdh.dll"):
            shutil.copy(os.path.join(bin_folder, name), folder)
        for path, mode in ((folder, 0o777), (os.path.join(folder, "openpla.dll"), 0o666)):
            before = os.stat(path).st_mode
            os.chmod(path, mode)
            code, text = wine(os.path.join(folder, "openplasrv.exe"), "/regserver")
            check(code == 1 and "0x80070005" in text and "can change it" in text and "/noservice" in text,
                  f"{path} with mode {mode:o}: {code} {text}")
            os.chmod(path, before)
    check(wine("reg", "query", key, "/ve")[1] == registered, "the registration is unchanged")


def main():
    bin_folder = sys.argv[1]
    open_folder(bin_folder)
    with tempfile.TemporaryDirectory() as current, tempfile.TemporaryDirectory() as root, \
            tempfile.TemporaryDirectory() as other_root:
        plant(bin_folder, current)
        plant(bin_folder, root)
        with Server(bin_folder, current, OPENPLA_WAIT_SECONDS="8"):
            stopped_host(root, other_root)
        check_none_ran(current)
        check_none_ran(root)
    print("ok: no planted code ran, a suspended host delayed only its own set, no service from a writable folder")


main()
