#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""client.py HOSTILE_CLIENT: attacks by client processes against a server with small limits and a separate store. After
each attack the same server must serve another client, no file may exist outside the store, and requests must have been
rejected with the error in docs/user/limits.md. Otherwise any user could stop the collections of all users."""
import os
import subprocess
import sys
import time

from own_server import Server
from faults import PREFIX, check, processes, windows_path, wine

QUOTA, BUSY = "0x80070718", "0x800706BB"
MALFORMED = "0xA0300001"


HOSTILE = ""


def attack(*arguments):
    _, text = wine(HOSTILE, *arguments)
    lines = [line.split(" ") for line in text.splitlines()]
    check(["Done."] in lines or arguments[0] in ("objects", "memory"), f"{arguments}: {text}")
    return {line[0]: line[1] for line in lines if len(line) == 2}


def serves(server):
    check(processes("openplasrv") == server.ids, "it is the same server")
    answers = attack("hello")
    check(answers == {"commit": "0x00000000", "query": "0x00000000", "delete": "0x00000000"},
          f"another client is served: {answers}")


def xml(server):
    answers = attack("xml")
    check(len(answers) == 9, f"all strings were sent: {answers}")
    for name, hr in answers.items():
        check(hr == MALFORMED, f"the string '{name}' is rejected: {hr}")
    with open(f"/proc/{server.ids[0]}/status", encoding="utf-8") as file:
        status = dict(line.split(":", 1) for line in file if ":" in line)
    held = int(status["VmRSS"].split()[0]) // 1024
    check(held < 600, f"the server does not keep what it was sent: {held} MB")


def half(server):
    answers = attack("half")
    for what in ("start", "stop", "delete", "key", "no-xml", "item", "remove", "add"):
        check(answers[what].startswith("0x8") or answers[what] == MALFORMED, f"{what} of an incomplete set: {answers}")
    names = [hr for what, hr in answers.items() if what.startswith("name-")]
    check(len(names) == 21, f"{names}")
    for i, hr in enumerate(names[:12]):
        check(hr.startswith("0x8"), f"name {i} is rejected: {hr}")
    for path in server.files():
        parts = path.split(os.sep)
        check(parts[0] == "store", f"{path} is in the store")
        check(parts[1] in ("events",) or parts[1] == "sets" or len(parts) == 2, f"{path} has a place")
        if parts[-1].endswith(".xml"):
            check(len(parts) == 5 and len(parts[3]) == 2, f"{path} is where definitions belong")
    check(not os.path.exists(os.path.join(PREFIX, "drive_c", "outside")), "nothing is outside")


def main():
    global HOSTILE
    HOSTILE = sys.argv[1]
    bin_folder = os.path.dirname(HOSTILE)
    with Server(bin_folder, OPENPLA_QUOTAS="objects=50;sets=30;memory=20000000") as server:
        serves(server)
        xml(server)
        serves(server)
        half(server)
        serves(server)
        # The client requests 10,000 objects and exits without releasing those that it got. Another client can still
        # create objects.
        for _ in range(2):
            answers = attack("objects", "10000")
            check(answers == {"made": "50", "last": QUOTA}, f"objects of one client: {answers}")
            serves(server)
        answers = attack("memory", "1000")
        check(10 <= int(answers["made"]) < 20 and answers["last"] == QUOTA, f"memory of one client: {answers}")
        serves(server)
        answers = wine(HOSTILE, "make", "40")[1].splitlines()
        refused = [line for line in answers if line == f"commit {QUOTA}"]
        check(len(refused) > 5 and answers[0] == "commit 0x00000000", f"sets of one account: {answers}")
        print("XML, incomplete sets, names, objects, memory, sets: rejected, and the server continues")
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
            serves(server)  # another client is served while the starts wait
            output = client.communicate(timeout=600)[0]
            answers = dict(line.split(" ") for line in output.splitlines() if " " in line)
            for what, hr in expected.items():
                check(answers.get(what) == hr, f"{settings}: {what}: {output}")
            check(answers["start-0"].startswith("0x8030"), f"{settings}: {output}")
            serves(server)
        print(f"{settings}: {expected}")


if len(sys.argv) > 2:
    sys.stdout.write(wine(sys.argv[1], *sys.argv[2:])[1])
else:
    main()
