#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""manifest_programs.py BIN EMULATOR...: an event provider with a manifest, an example written only with Windows'
headers, writes a field of each type. While its manifest is registered, tracerpt must print each field as it was
written, with names and messages. Before and afterwards it must print hexadecimal digits and the reason."""
import csv
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

BIN, EMULATOR = os.path.abspath(sys.argv[1]), sys.argv[2:]
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")
PROVIDER = "{9A3E6C1B-4D27-4B8E-A5F0-2C7B91D8E364}"
os.environ["OPENPLA_ETW"] = "manifest"  # separates this test's sessions from others
os.environ["LC_ALL"] = "en_US.UTF-8"
FIELDS = {
    "Text": "Grüße", "Ansi": "plain", "Int8": "-8", "UInt8": "200", "Int16": "-16000", "UInt16": "60000", "Port": "8080",
    "Int32": "-2000000000", "UInt32": "4000000000", "IPv4": "192.168.0.7", "Int64": "-9000000000000000000",
    "UInt64": "18000000000000000000", "Float": "1.5", "Double": "-2.25", "Boolean": "true",
    "Guid": PROVIDER.lower(), "Pointer": "0x12345678", "FileTime": "2020-12-30T00:00:00", "SystemTime": "2021-02-17T08:30:15.25",
    "Sid": "S-1-5-18", "Hex32": "0xBEEF", "Hex64": "0xFEEDBEEF", "Colour": "Green", "State": "Open|Busy", "Fixed": "four",
    "Count": "2", "Size": "3", "Bytes": "0xC0FFEE",
}


def check(right, what, *more):
    if not right:
        sys.exit("\n".join([what, *map(str, more)]))


def host_path(path):
    return "Z:" + os.path.abspath(path).replace("/", "\\")


def run(expected, program, *arguments):
    done = subprocess.run([*EMULATOR, f"{BIN}/{program}.exe", *arguments], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    text = done.stdout.decode("utf-8", "replace").replace("\r\n", "\n")
    check(done.returncode == expected, f"{program} {arguments}: exit code {done.returncode}", text)
    return text


def record():
    run(0, "trace_session", "start", "Typed", host_path("typed.etl"), PROVIDER)
    output = run(0, "write_typed", "60")
    check("2 events written, 0 of them in vain" in output, "the provider", output)
    run(0, "trace_session", "stop", "Typed")


def dump(form):
    run(0, "openpla", "tracerpt", host_path("typed.etl"), "-of", form, "-o", host_path("typed." + form.lower()), "-y")
    with open("typed." + form.lower(), "rb") as f:
        data = f.read()
    return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")


def local(element):
    return element.tag.rsplit("}", 1)[-1]


def all_fields_are_read_as_written():
    text = dump("XML")
    events = [e for e in ET.fromstring(text) if PROVIDER.lower() in ET.tostring(e, "unicode").lower()]
    check(len(events) == 2, "events", text)
    found = {}
    for element in events[0].iter():
        if local(element) == "Data" and element.get("Name"):
            found.setdefault(element.get("Name"), []).append((element.text or "").strip())
    for name, value in FIELDS.items():
        check(found.get(name) and found[name][0].startswith(value), f"{name} is not {value}", found.get(name), text)
    check(found["Three"] == ["1", "2", "3"], "an array", found["Three"], text)
    check(found["X"] == ["1", "3"] and found["Y"] == ["-2", "-4"], "structs", text)
    for word in ("Measuring", "Taken", "Information", "Measured values", "Grüße has 4000000000 and Green."):
        check(word in text, word, text)
    shaped = [e for e in events[1].iter() if local(e) == "Failure"]
    check(shaped and [x.text for x in shaped[0]][0] == "C:\\no <file>", "UserData", text)
    check("was not read:" in text, "the message of a failure", text)
    rows = list(csv.reader(dump("CSV").splitlines()))
    check(any("Green" in cell for row in rows for cell in row) and any("Grüße" in cell for row in rows for cell in row),
          "as CSV", rows)


def main():
    record()
    check("not registered" in dump("CSV"), "nobody has said yet what the events are")
    manifest = host_path(os.path.join(EXAMPLES, "typed_events.man"))
    output = run(0, "openpla", "manifest", "add", manifest)
    check(f"Example-Typed {PROVIDER}" in output, "added", output)
    try:
        all_fields_are_read_as_written()
        listed = json.loads(run(0, "openpla", "manifest", "list", "-json"))
        check({"name": "Example-Typed", "guid": PROVIDER, "manifest": manifest} in listed, "list", listed)
        shown = json.loads(run(0, "openpla", "manifest", "show", "-language", "de-DE", "-json", "example-typed"))[0]
        check(shown["events"][0]["task"] == "Messen" and shown["events"][0]["keywords"] == ["Messwerte"], "German", shown)
        check([f["name"] for f in shown["events"][0]["fields"]][:2] == ["Text", "Ansi"], "fields", shown)
        check(shown["keywords"][0] == {"name": "Values", "mask": "0x1", "message": "Messwerte"}, "keywords", shown)
        text = run(0, "openpla", "manifest", "show", PROVIDER)
        check("Points struct[Count]" in text and "Bytes win:Binary(Size) xs:hexBinary" in text, "show", text)
    finally:
        run(0, "openpla", "manifest", "remove", manifest)
    check("Example-Typed" not in run(0, "openpla", "manifest", "list"), "removed")
    check("is not registered" in run(1, "openpla", "manifest", "remove", "Example-Typed"), "removed twice")
    check("not registered" in dump("CSV"), "removed")


def stop():
    subprocess.run([*EMULATOR, f"{BIN}/trace_session.exe", "stop", "Typed"], stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600)


with tempfile.TemporaryDirectory() as top:
    os.chdir(top)
    os.environ["OPENPLA_DATA"] = host_path("data")
    stop()
    try:
        main()
    finally:
        stop()
