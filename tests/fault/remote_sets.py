#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`openpla logman -s` and a script manage sets on another computer, which here is this prefix's server through DCOM.
The test covers the life of a set, the permissions of roles, and a server that is killed and restarted. Otherwise an
administrator could not collect remotely, or another account could do more than its role permits."""
import os
import shutil
import subprocess

from faults import HERE, answers, check, free_port, host_path, kill_one, processes, wait_for, wine, windows_path

PROGRAM = os.path.join(os.environ["OPENPLA_BIN_DIR"], "openpla.exe")
RUNNER = os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "cmake/wine-run.sh")
PASSWORD = "a password of tests"
SET = f"remote-{os.getpid()}"


def openpla(expected, *arguments, password=None):
    if password is None:
        code, text = wine(PROGRAM, *arguments)
    else:
        done = subprocess.run(["sh", RUNNER, PROGRAM, *arguments], env=dict(os.environ, OPENPLA_WINE_RUN="through"),
                              input=password + "\n", encoding="utf-8", errors="replace", stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=600)
        code, text = done.returncode, done.stdout
    # logman exits with an HRESULT on failure. The host OS keeps only its lowest byte.
    check((code == 0) == (expected == 0), f"{' '.join(arguments)}: exit code {code}: {text}")
    return text


def start_service(port):
    def started():
        wine("net", "stop", "OpenPLA")
        return wine("net", "start", "OpenPLA")[0] == 0
    def state():
        return (f"service: {processes('openplasrv', '/service')}, front: {processes('openplasrv', '/dcom')}, "
                f"idle: {processes('openplasrv', '/idle')}, {wine('net', 'start')[1]}, {wine(PROGRAM, 'dcom', 'status')[1]}")
    wait_for("the service starts", started)
    wait_for("it serves DCOM", lambda: answers(port), state)


def life_of_a_set(there, root):
    logs = windows_path(os.path.join(root, "log"))
    openpla(0, "logman", "create", "counter", SET, "-s", there, "-c", r"\System\Processes", "-si", "1", "-f", "csv", "-o",
            logs)
    openpla(0, "logman", "start", SET, "-s", there)
    check("Running" in openpla(0, "logman", "query", SET, "-s", there), "it does not run")
    wait_for("it writes", lambda: any(os.path.getsize(os.path.join(root, name)) for name in os.listdir(root)))
    openpla(0, "logman", "stop", SET, "-s", there)
    openpla(0, "logman", "update", SET, "-si", "3", "-s", there)
    xml = windows_path(os.path.join(root, "set.xml"))
    openpla(0, "logman", "export", SET, "-xml", xml, "-s", there)
    openpla(0, "logman", "delete", SET, "-s", there)
    check("not found" in openpla(1, "logman", "query", SET, "-s", there), "it was not deleted")
    openpla(0, "logman", "import", SET, "-xml", xml, "-s", there)
    check("3 second" in openpla(0, "logman", "query", SET, "-s", there), "the change is lost")


def is_refused(there, name, password, what):
    text = openpla(1, "logman", "query", "-s", there, "-u", name, "*", password=password)
    check("logon" in text, f"{what}: {text}")


def event_providers(there):
    """Compares the event providers: the other computer is this one, so both lists must be equal except for short-lived
    ones."""
    def rows(*more):
        return set(openpla(0, "logman", "query", "providers", *more).splitlines())
    own, other = rows(), rows("-s", there)
    check(any("Windows Kernel Trace" in line for line in other), f"the list: {sorted(other)}")
    check(len(own ^ other) <= len(own) // 2, f"the lists differ: {sorted(own ^ other)}")
    for name in "Windows Kernel Trace", "{9E814AAD-3204-11D2-9A82-006008A86939}":
        here, there_too = rows(name), rows(name, "-s", there)
        check(any("0x" in line for line in here) and here == there_too, f"{name} differs: {sorted(here ^ there_too)}")
    text = openpla(1, "logman", "query", "providers", "No such", "-s", there)
    check("unknown" in text and "'No such'" in text, f"an unknown event provider: {text}")
    check("does not exist" in openpla(1, "logman", "query", "providers", "-pid", "4294967280", "-s", there),
          "an unknown process")


def roles_limit_access(there):
    for name, role, code in ("reader", "users", 1), ("boss", "administrators", 0):
        openpla(0, "dcom", "account", "add", name, "-role", role, password=PASSWORD)
        openpla(0, "logman", "query", SET, "-s", there, "-u", name, "*", password=PASSWORD)
        openpla(code, "logman", "update", SET, "-si", "4", "-s", there, "-u", name, "*", password=PASSWORD)
        is_refused(there, name, "another password", "a wrong password")
        openpla(0, "dcom", "account", "remove", name)
        is_refused(there, name, PASSWORD, "an account that was removed")


def script(there):
    code, text = wine("cscript", "//nologo", windows_path(os.path.join(HERE, "remote_sets.vbs")), SET, there)
    check(code == 0 and text.splitlines()[-1:] == ["Done."], f"remote_sets.vbs: exit code {code}: {text}")


def killed_server_is_replaced(there, port):
    kill_one("openplasrv", "/service")
    wait_for("the port closes", lambda: not answers(port))
    openpla(1, "logman", "query", "-s", there)
    start_service(port)
    check(SET in openpla(0, "logman", "query", "-s", there), "the set is lost")


def main():
    port = free_port()
    there = f"127.0.0.1:{port}"
    root = host_path("C:\\" + SET)
    os.makedirs(root)
    openpla(0, "dcom", "account", "add", "tester", "-role", "administrators", password=PASSWORD)
    openpla(0, "dcom", "on", "-port", str(port))
    try:
        start_service(port)
        check("without an account" in openpla(1, "logman", "query", "-s", there), "a logon without an account is rejected")
        openpla(0, "remote", "add", "127.0.0.1", "tester", password=PASSWORD)
        life_of_a_set(there, root)
        event_providers(there)
        roles_limit_access(there)
        script(there)
        killed_server_is_replaced(there, port)
        openpla(0, "logman", "delete", SET, "-s", there)
    finally:
        wine(PROGRAM, "remote", "remove", "-all")
        wine(PROGRAM, "dcom", "off")
        wine(PROGRAM, "dcom", "account", "remove", "tester")
        wine("net", "stop", "OpenPLA")
        shutil.rmtree(root)
    wait_for("nothing serves DCOM", lambda: not processes("openplasrv", "/dcom"))


main()
