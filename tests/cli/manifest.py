#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""manifest.py PROGRAM [EMULATOR]: openpla manifest shows a manifest and reports its errors. A trace is decoded by a
manifest given with -import, and by one that .NET wrote into the trace. Otherwise its events would be shown as
hexadecimal digits."""
import json
import os
import shutil
import struct
import tempfile

from built_trace import START, event, trace
from program import EMULATOR, check, host_path, openpla

GUID = "{9a3e6c1b-4d27-4b8e-a5f0-2c7b91d8e364}"
MANIFEST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "typed_events.man")
FAILED = "C:\\none\0".encode("utf-16-le") + struct.pack("<I", 2)


def failure_event(number):
    return event(GUID, FAILED, START + number, ident=2, level=2, keyword=2)


def manifest_events(text, size=1000, guid=GUID):
    parts = [text[i:i + size] for i in range(0, len(text), size)]
    return [event(guid, struct.pack("<BBBBHH", 1, 1, 0, 0x5B, len(parts), i) + part, START + 100 + i, ident=0xFFFE,
                  opcode=0xFE, task=0xFFFE, keyword=0xFFFFFFFFFFFF) for i, part in enumerate(parts)]


def dump_events(*more):
    text = openpla(0, "tracerpt", host_path("made.etl"), "-of", "XML", "-o", host_path("made.xml"), "-y", *more)
    with open("made.xml", encoding="utf-8") as f:
        return f.read(), text


def check_export(*known):
    """The manifest that -export writes decodes the trace as before."""
    before = dump_events(*known, "-export", host_path("out.man"))[0]
    after = dump_events("-import", host_path("out.man"))[0]
    check("<Path>C:\\none</Path>" in before and before == after, f"-export of what {known} knows", before, after)


def check_programs(xml):
    """The folder has a DLL with the compiled manifest, as mc compiles it, and a DLL that is not a valid program."""
    other = f'<provider name="Example-Other" guid="{GUID.replace("9", "8", 1)}"/>'
    two = xml.replace(b"</provider>", b"</provider>" + other.encode())
    check(two.count(b"<provider ") == 2, "the manifest has one provider")
    with open("two.man", "wb") as f:
        f.write(two)
    openpla(0, "manifest", "add", "-name", "Example-Typed", host_path("two.man"))
    os.mkdir("programs")
    shutil.copy(os.path.join("data", "manifests", GUID.upper() + ".dll"), os.path.join("programs", "typed.DLL"))
    for left in not EMULATOR, True:  # in a native build, each process has a separate registry
        output = openpla(int(left), "manifest", "remove", host_path("two.man"))
        check(not left or "is not registered" in output, "remove", output)
    with open(os.path.join("programs", "broken.dll"), "wb") as f:
        f.write(b"MZ" + xml[:100])


def main():
    with open(MANIFEST, "rb") as f:
        xml = f.read()
    shown = json.loads(openpla(0, "manifest", "show", "-json", "-language", "de-DE", host_path(MANIFEST)))[0]
    check(shown["name"] == "Example-Typed" and shown["guid"] == GUID.upper(), "show", shown)
    check([e["id"] for e in shown["events"]] == [1, 2] and shown["events"][1]["message"].startswith("%1 wurde"), "events")
    points = [f for f in shown["events"][0]["fields"] if f["name"] == "Points"][0]
    check(points["type"] == "struct[Count]" and [f["name"] for f in points["fields"]] == ["X", "Y"], "a struct", points)
    with open("bad.man", "wb") as f:
        f.write(xml.replace(b'length="Size"', b'length="Sizes"'))
    output = openpla(1, "manifest", "show", host_path("bad.man"))
    check("bad.man: line 67" in output and 'data length="Sizes"' in output and "0x800705B9" in output, "a mistake", output)
    check("is not registered" in openpla(1, "manifest", "show", "Nobody-Knows"), "an unknown event provider")
    openpla(2, "manifest", "add")
    openpla(2, "manifest", "forget", "x")

    trace("made.etl", [failure_event(1)])
    check("not registered" in openpla(0, "trace", "show", host_path("made.etl")), "an event without a definition")
    text = dump_events("-import", host_path(MANIFEST))[0]
    check("<Path>C:\\none</Path>" in text and "c:\\none was not read: file not found" in text.lower(), "-import", text)
    line = openpla(0, "trace", "show", host_path("made.etl"), "-import", host_path(MANIFEST))
    check("File=C:\\none" in line, "trace show -import", line)
    check("bad.man" in openpla(1, "tracerpt", host_path("made.etl"), "-o", host_path("x.xml"), "-import",
                               host_path("bad.man")), "a bad manifest")
    check_programs(xml)
    for path in "programs", os.path.join("programs", "typed.DLL"):
        text, messages = dump_events("-i", host_path(path))
        check("<Path>C:\\none</Path>" in text, f"-i {path}", text)
        check(("broken.dll: not a valid program" in messages) == (path == "programs"), "unreadable programs are reported", messages)
    check_export("-import", host_path(MANIFEST))
    check_export("-i", host_path(os.path.join("programs", "typed.DLL")) + ";" + host_path("programs"))
    check("<Path>" not in dump_events()[0], "the manifest is removed from the registry")
    openpla(1, "tracerpt", host_path("made.etl"), "-o", host_path("x.xml"), "-i", host_path("nowhere"))

    trace("made.etl", [failure_event(1), *manifest_events(xml), failure_event(500)])
    text = dump_events()[0]
    check(text.count("<Path>C:\\none</Path>") == 1, "a manifest in the trace decodes the events after it", text)
    openpla(0, "tracerpt", host_path("made.etl"), "-export", host_path("out.man"), "-y")
    trace("made.etl", [failure_event(1), failure_event(500)])
    check_export("-import", host_path("out.man"))
    other = "{11111111-2222-3333-4444-555555555555}"
    trace("made.etl", [*manifest_events(xml, guid=other), failure_event(500)])
    text, messages = dump_events()
    check("<Path>" not in text and "does not describe the provider that wrote it" in messages, "a manifest of another event provider", messages, text)
    shown = openpla(0, "trace", "show", host_path("made.etl"))
    check("not decoded: cannot use a manifest in the trace: it does not describe the provider" in shown, "the reason why an event is not decoded", shown)
    several = xml.replace(b'<bitMap name="States">', b'<bitMap name="States"><map value="3" message="$(string.Red)"/>')
    check(several != xml, "the example manifest has a bitMap")
    trace("made.etl", [*manifest_events(several), failure_event(500)])
    check("<Path>C:\\none</Path>" in dump_events()[0], ".NET's manifest with a flag of several bits")


with tempfile.TemporaryDirectory() as top:
    os.chdir(top)
    os.environ["OPENPLA_DATA"] = host_path(os.path.join(top, "data"))
    main()
