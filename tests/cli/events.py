#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""events.py PROGRAM [EMULATOR]: openpla events prints and follows the journal. Without it, an administrator could not
find out why the data of a night is missing."""
import json
import os
import shutil
import tempfile
import threading
import time

from program import check, host_path, verb

LINES = [
    "2026-11-21T16:00:00.000Z\t1003\t4\tThe set was started\tName=one\tKey=ab\tUser=BOX%25me\tFile=/logs/1",
    "torn",
    "2026-11-21T16:00:01.500Z\t1010\t2\tA counter is not collected\tName=one\tCounterName=\\a\\b\tError=0xC0000BB8",
    "2026-11-21T16:00:02.000Z\t9001\t3\tSamples were lost\tName=Two\tCollector=\tCount=3\tError=0x00000000",
    "2026-11-21T16:00:03.000Z\t1011\t4\tA configuration collector is complete\tDataCollecotrSet=one\tName=conf",
]
LAST_EVENT = "2026-11-21T16:00:04.000Z\t1005\t4\tThe set stopped\tName=one"
openpla = verb("events")


def ids(*arguments):
    return [json.loads(line)["id"] for line in openpla(0, "-json", *arguments).splitlines()]


def append(path, line):
    with open(path, "a", encoding="utf-8", newline="") as f:
        f.write(line + "\n")


def main():
    data = tempfile.mkdtemp()
    os.environ["OPENPLA_DATA"] = host_path(data)
    try:
        check(openpla(0) == "", "no events yet")
        os.mkdir(os.path.join(data, "events"))
        path = os.path.join(data, "events", "events-0000000001.log")
        for line in LINES:
            append(path, line)
        check(ids() == [1003, 1010, 9001, 1011], "all events in order", ids())
        check(ids("-set", "ONE") == [1003, 1010, 1011], "the events of one set")
        check(ids("-set", "t*") == [9001], "the events of a pattern")
        check(ids("-id", "1010") == [1010], "the events of an id")
        check(ids("-level", "error") == [1010], "errors")
        check(ids("-level", "Warning") == [1010, 9001], "warnings too")
        check(ids("-last", "2") == [9001, 1011], "the last two")
        check(ids("-max", "2") == [1003, 1010], "the first two")
        first = json.loads(openpla(0, "-json").splitlines()[0])
        check(first == {"time": "2026-11-21T16:00:00.000Z", "id": 1003, "level": "information",
                        "message": "The set was started",
                        "fields": {"Name": "one", "Key": "ab", "User": "BOX%me", "File": "/logs/1"}}, "JSON", first)
        lost = json.loads(openpla(0, "-json", "-id", "9001"))["fields"]
        check(lost == {"Name": "Two", "Collector": "", "Count": 3, "Error": "0x00000000"}, "a number is a JSON number", lost)
        text = openpla(0, "-id", "1010")
        check("1010 error  A counter is not collected: Name=one, CounterName=\\a\\b, Error=0xC0000BB8\n" in text,
              "for people", text)
        check("-level" in openpla(2, "-level", "loud"), "an unknown level")
        # New events are shown as they are written; here the fifth event ends the command.
        later = threading.Timer(2, append, (path, LAST_EVENT))
        begun = time.monotonic()
        later.start()
        check(ids("-follow", "-max", "5")[-1] == 1005, "the event that was written later")
        check(time.monotonic() - begun > 1.5, "-follow waits for the event")
    finally:
        shutil.rmtree(data)


main()
