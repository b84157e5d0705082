#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""client.py HOSTILE_CLIENT: processes that mean no good, against a server with small limits in a store of its own. After
each attack the same server serves another client, nothing lies outside of the store, and what was refused was refused for
the reason that an administrator reads in docs/limits.md."""
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fault"))
from faults import PREFIX, check, processes, restart_rpcss, wait_until_gone, windows_path, wine

QUOTA, BUSY = "0x80070718", "0x800706BB"
MALFORMED = "0xA0300001"


def settled():
    """No server of another test: one that COM has started ends some seconds after its last client."""
    end = time.monotonic() + 60
    while processes("openplasrv"):
        check(time.monotonic() < end, "the server of other tests ends")
        time.sleep(0.5)


class Server:
    """A server in a store of its own, with these settings of its environment."""

    def __init__(self, bin_folder, **settings):
        settled()
        self.folder = tempfile.TemporaryDirectory()
        self.store = os.path.join(self.folder.name, "store")
        environment = dict(os.environ, OPENPLA_DATA=windows_path(self.store), **settings)
        runner = os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "cmake/wine-run.sh")
        self.output = tempfile.TemporaryFile()
        self.process = subprocess.Popen(["sh", runner, os.path.join(bin_folder, "openplasrv.exe"), "-Embedding"],
                                        env=environment, stdout=self.output, stderr=subprocess.STDOUT,
                                        stdin=subprocess.DEVNULL)
        end = time.monotonic() + 60
        # The supervisor's folder is made after the classes.
        while not os.path.isdir(self.store) or not processes("openplasrv"):
            check(self.process.poll() is None, "the server starts")
            check(time.monotonic() < end, "the server is up within a minute")
            time.sleep(0.2)
        time.sleep(1)
        self.ids = processes("openplasrv")
        check(len(self.ids) == 1, f"one server: {self.ids}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pid in processes("openplasrv") + processes("hostile_client"):
            os.kill(pid, 9)
            wait_until_gone([pid])
        self.process.wait(timeout=60)
        restart_rpcss()
        self.folder.cleanup()

    def serves(self):
        check(processes("openplasrv") == self.ids, "it is the same server")
        answers = attack("hello")
        check(answers == {"commit": "0x00000000", "query": "0x00000000", "delete": "0x00000000"},
              f"another client is served: {answers}")

    def files(self):
        found = set()
        for path, _, names in os.walk(self.folder.name):
            found.update(os.path.relpath(os.path.join(path, name), self.folder.name) for name in names)
        return found


HOSTILE = ""


def attack(*arguments):
    _, text = wine(HOSTILE, *arguments)
    lines = [line.split(" ") for line in text.splitlines()]
    check(["Done."] in lines or arguments[0] == "objects", f"{arguments}: {text}")
    return {line[0]: line[1] for line in lines if len(line) == 2}


def xml(server):
    answers = attack("xml")
    check(len(answers) == 9, f"all texts were sent: {answers}")
    for name, hr in answers.items():
        check(hr == MALFORMED, f"the text '{name}' is refused: {hr}")
    with open(f"/proc/{server.ids[0]}/status", encoding="utf-8") as file:
        status = dict(line.split(":", 1) for line in file if ":" in line)
    held = int(status["VmRSS"].split()[0]) // 1024
    check(held < 600, f"the server does not keep what it was sent: {held} MB")


def half(server):
    answers = attack("half")
    for what in ("start", "stop", "delete", "key", "no-xml", "item", "remove", "add"):
        check(answers[what].startswith("0x8") or answers[what] == MALFORMED, f"{what} of a half-made set: {answers}")
    names = [hr for what, hr in answers.items() if what.startswith("name-")]
    check(len(names) == 21, f"{names}")
    for i, hr in enumerate(names[:12]):
        check(hr.startswith("0x8"), f"name {i} is refused: {hr}")
    for path in server.files():
        parts = path.split(os.sep)
        check(parts[0] == "store", f"{path} lies in the store")
        check(parts[1] in ("events",) or parts[1] == "sets" or len(parts) == 2, f"{path} has a place")
        if parts[-1].endswith(".xml"):
            check(len(parts) == 5 and len(parts[3]) == 2, f"{path} lies where definitions do")
    check(not os.path.exists(os.path.join(PREFIX, "drive_c", "outside")), "nothing is outside")


def main():
    global HOSTILE
    HOSTILE = sys.argv[1]
    bin_folder = os.path.dirname(HOSTILE)
    with Server(bin_folder, OPENPLA_QUOTAS="objects=50;sets=30") as server:
        server.serves()
        xml(server)
        server.serves()
        half(server)
        server.serves()
        # 10,000 are wanted; it dies with what it got, and another client has its own.
        for _ in range(2):
            answers = attack("objects", "10000")
            check(answers == {"made": "50", "last": QUOTA}, f"objects of one client: {answers}")
            server.serves()
        answers = wine(HOSTILE, "make", "40")[1].splitlines()
        refused = [line for line in answers if line == f"commit {QUOTA}"]
        check(len(refused) > 5 and answers[0] == "commit 0x00000000", f"sets of one account: {answers}")
        print("xml, half-made sets, names, objects, sets: refused, and the server goes on")
    for settings, expected in (
            ("requests=100;starts=2", {"start-2": QUOTA, "meanwhile": "0x00000000", "afterwards": "0x00000000"}),
            ("requests=2;starts=100", {"meanwhile": BUSY, "afterwards": "0x00000000"})):
        count = "3" if "starts=2" in settings else "2"
        with Server(bin_folder, OPENPLA_QUOTAS=settings, OPENPLA_HOST=windows_path(HOSTILE),
                    OPENPLA_WAIT_SECONDS="12") as server:
            attack("make", count)
            client = subprocess.Popen([sys.executable, os.path.abspath(__file__), HOSTILE, "starts", count],
                                      stdout=subprocess.PIPE, text=True)
            time.sleep(6)
            server.serves()  # another client, while those wait
            said = client.communicate(timeout=180)[0]
            answers = dict(line.split(" ") for line in said.splitlines() if " " in line)
            for what, hr in expected.items():
                check(answers.get(what) == hr, f"{settings}: {what}: {said}")
            check(answers["start-0"].startswith("0x8030"), f"{settings}: {said}")
            server.serves()
        print(f"{settings}: {expected}")


if len(sys.argv) > 2:
    sys.stdout.write(wine(sys.argv[1], *sys.argv[2:])[1])
else:
    main()
