#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""dcom_network.py PROGRAMS: remote clients on another host, simulated by two network namespaces with a virtual cable.
The client is examples/remote_set.py at port 135, with unmodified impacket. Exit status 77 without root or
namespaces."""
import os
import shutil
import signal
import subprocess
import sys
import time

from prefix import server_processes

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PASSWORD = "admins of sets 2026"
OWN = str(os.getpid())
SERVER, CLIENT = f"openpla-server-{OWN}", f"openpla-client-{OWN}"
HOST, FRIEND, STRANGER = "10.77.0.1", "10.77.0.2", "10.77.0.3"
failed = 0

try:
    import impacket  # noqa: F401
except ImportError:
    print("skipped: Debian's python3-impacket is not installed")
    sys.exit(77)


def check(what, got, expected):
    global failed
    failed += got != expected
    print(f"ok {what}" if got == expected else f"FAILED {what}: {got!r}, expected {expected!r}", flush=True)


def ip(*arguments):
    """Returns False also if the program ip (Debian: iproute2) is not installed."""
    return shutil.which("ip") is not None and subprocess.run(["ip", *arguments], capture_output=True, text=True).returncode == 0


def run_in_namespace(space, *command, given=None, **environment):
    return subprocess.run(["ip", "netns", "exec", space, *command], input=given, stdin=None if given else subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=900, env=dict(os.environ, **environment))


def create_network():
    ends = (SERVER, f"s{OWN}", (HOST,)), (CLIENT, f"c{OWN}", (FRIEND, STRANGER))
    if not all(ip("netns", "add", space) for space, _, _ in ends):
        return False
    if not ip("link", "add", ends[0][1], "netns", SERVER, "type", "veth", "peer", "name", ends[1][1], "netns", CLIENT):
        return False
    for space, end, addresses in ends:
        for address in addresses:
            ip("-n", space, "addr", "add", f"{address}/24", "dev", end)
        ip("-n", space, "link", "set", "lo", "up")
        if not ip("-n", space, "link", "set", end, "up"):
            return False
    return True


def wine(program, *arguments, given=None):
    environment = {"OPENPLA_WINE_RUN": "through"} if given is not None else {}
    return run_in_namespace(SERVER, "sh", os.path.join(SOURCE, "cmake", "wine-run.sh"), program, *arguments, given=given, **environment)


def openpla(*arguments, given=None):
    return wine(os.path.join(sys.argv[1], "openpla.exe"), *arguments, given=given)


def example():
    return run_in_namespace(CLIENT, sys.executable, os.path.join(SOURCE, "examples", "remote_set.py"), HOST, "admin", given=PASSWORD + "\n")


def keeps_connection(address):
    """Whether the port keeps a connection from this client address open."""
    script = ("import socket,sys\ns=socket.socket()\ns.bind((sys.argv[1],0))\ns.settimeout(2)\n"
              "s.connect((sys.argv[2],135))\ntry:\n    print('closed' if s.recv(1)==b'' else 'data')\n"
              "except socket.timeout:\n    print('kept')\nexcept OSError:\n    print('closed')")
    return run_in_namespace(CLIENT, sys.executable, "-c", script, address, HOST).stdout.strip() or "refused"


def wait_for(what, is_so):
    end = time.monotonic() + 120
    while not is_so() and time.monotonic() < end:
        time.sleep(0.3)
    check(what, bool(is_so()), True)


def tests():
    check("the service starts", wine(os.path.join(sys.argv[1], "openplasrv.exe"), "/regserver", "/start").returncode, 0)
    openpla("dcom", "account", "add", "admin", "-role", "administrators", "-replace", given=PASSWORD + "\n")
    check("dcom on", openpla("dcom", "on", "-port", "135", "-address", HOST, "-from", FRIEND).returncode, 0)
    wait_for("a permitted address is kept", lambda: keeps_connection(FRIEND) == "kept")
    check("another address is closed", keeps_connection(STRANGER), "closed")
    done = example()
    check("the life of a set from another host", (done.returncode, "status:    1" in done.stdout), (0, True))
    if run_in_namespace(CLIENT, "tc", "qdisc", "add", "dev", f"c{OWN}", "root", "netem", "loss", "10%").returncode == 0:
        done = example()
        check("the same where packets are lost", (done.returncode, "status:    1" in done.stdout), (0, True))
        run_in_namespace(CLIENT, "tc", "qdisc", "del", "dev", f"c{OWN}", "root")
    services = server_processes("/service")
    check("the service is found", len(services), 1)
    if services:
        os.kill(services[0], signal.SIGKILL)
        wait_for("a killed service leaves no front behind", lambda: keeps_connection(FRIEND) == "refused")
        wine("net", "stop", "OpenPLA")
        wine("net", "start", "OpenPLA")
        wait_for("it can be started again", lambda: keeps_connection(FRIEND) == "kept")
    check("dcom off", openpla("dcom", "off").returncode, 0)
    wait_for("nobody listens after dcom off", lambda: keeps_connection(FRIEND) == "refused")


def main():
    if os.geteuid() or not create_network():
        for space in (SERVER, CLIENT):
            ip("netns", "del", space)
        print("skipped: needs root and network namespaces")
        sys.exit(77)
    prefix = os.path.join(SOURCE, "cmake", "wine-prefix.sh")
    try:
        run_in_namespace(SERVER, "sh", prefix, "cleanup")
        check("a prefix in the server's namespace", run_in_namespace(SERVER, "sh", prefix, "setup").returncode, 0)
        tests()
    finally:
        run_in_namespace(SERVER, "sh", prefix, "cleanup")
        for space in (SERVER, CLIENT):
            ip("netns", "del", space)
    print(f"{failed} failed")
    sys.exit(1 if failed else 0)


main()
