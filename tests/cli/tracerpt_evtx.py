#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tracerpt_evtx.py PROGRAM [EMULATOR]: a dump in the event log's format has, record by record, the elements and strings
of the XML dump, so that an event viewer shows the same values."""
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

import evtx_read
from built_trace import SECOND, START, classic, event, message, self_described, trace, unknown

PROGRAM, EMULATOR = sys.argv[1], sys.argv[2:]
OURS, THEIRS = "11112222-3333-4444-5555-666677778888", "99990000-1111-2222-3333-444455556666"
FIELDS = b"Name\0\x01Size\0\x08Flag\0\x0dPoint\0\x98\x02X\0\x05Y\0\x05Numbers\0\x44Texts\0\x42Real\0\x0c"
MANIFEST = f"""<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"
 xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events"><instrumentation><events>
<provider name="Shop" guid="{{{THEIRS}}}" symbol="SHOP"><keywords><keyword name="Cash" mask="0x10"/>
<keyword name="Card" mask="0x20"/></keywords><maps><valueMap name="Kinds"><map value="1" message="$(string.fruit)"/>
</valueMap></maps><templates><template tid="Sold"><data name="What" inType="win:UnicodeString"/><data name="Kind"
 inType="win:UInt8" map="Kinds"/><data name="Codes" inType="win:UInt8" count="2" outType="win:HexInt8"/>
<data name="Who" inType="win:SID"/></template><template tid="Shaped"><data name="What" inType="win:UnicodeString"/>
<data name="Pid" inType="win:UInt32" outType="win:PID"/><UserData><Sale xmlns="urn:shop"><Item Name="%1"><Pid>%2</Pid>
</Item></Sale></UserData></template></templates><events><event value="77" level="win:Error" keywords="Cash Card"
 template="Sold" message="$(string.sold)"/><event value="78" level="win:Error" template="Shaped"/></events></provider>
</events></instrumentation><localization><resources culture="en-US"><stringTable><string id="fruit" value="Fruit"/>
<string id="sold" value="%1 was sold"/></stringTable></resources></localization></instrumentationManifest>
"""


def check(right, what, output=""):
    if not right:
        sys.exit(f"FAILED: {what}\n{output}")


def tracerpt(expected, *arguments):
    done = subprocess.run([*EMULATOR, PROGRAM, "tracerpt", *arguments, "-y"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    output = done.stdout.decode("utf-8")
    check(done.returncode == expected, f"tracerpt {arguments}: exit code {done.returncode}, not {expected}", output)
    return output


def data(name, size, texts=(b"a", b"", b"bc")):
    return ((name + "\0").encode("utf-16-le") + struct.pack("<IIhhHBBBH", size, 5, -3, 4, 3, 7, 8, 9, len(texts)) +
            b"".join(text + b"\0" for text in texts) + struct.pack("<d", 0.5))


def qualified_name(element, space=""):
    """Returns name, namespace, attributes, text and children, equal for both formats. A record additionally has a
    number."""
    space = element.get("xmlns", space)
    tag = element.tag
    if tag.startswith("{"):
        space, tag = tag[1:].split("}")
    attributes = {name: value for name, value in element.attrib.items() if name != "xmlns"}
    text = element.text or ""
    if len(element) or tag == "RenderingInfo":
        text = text.strip()
    if tag == "Keywords" and text:
        text = "0x%X" % int(text, 16)
    return (tag, space, attributes, text, [qualified_name(e, space) for e in element if e.tag != "EventRecordID"])


def both(name, *options):
    """Returns the content of both dumps of a trace, and the records' elements."""
    tracerpt(0, f"{name}.etl", "-of", "XML", "-o", f"{name}.xml", *options)
    tracerpt(0, f"{name}.etl", "-of", "EVTX", "-o", f"{name}.evtx", *options)
    records = evtx_read.read(f"{name}.evtx")
    expected = [qualified_name(e) for e in ElementTree.parse(f"{name}.xml").getroot()]
    check(len(records) == len(expected), f"{name}: {len(records)} records of {len(expected)} events")
    for i, (one, other) in enumerate(zip(records, expected)):
        check(qualified_name(one[0]) == other, f"{name}: record {i + 1}", f"{qualified_name(one[0])}\nand not\n{other}")
    return records


def records_equal_xml():
    trace("hard.etl", [
        self_described(OURS, "Maker", "Made", FIELDS, data('a "quoted", <&> text \u00e9\U0001f600\x01', 1), START + 1, opcode=1,
                       activity=bytes(range(16))),
        self_described(OURS, "Maker", "Made", FIELDS, data("none", 3, ()), START + 2),
        self_described(OURS, "Maker", "Made", FIELDS, data("cut", 2)[:30], START + 2),
        event(THEIRS, b"\x01\x02\xff", START + 3, ident=77, version=2, opcode=30, task=5, keyword=0x8000000000000010),
        classic(THEIRS, b"\xab", START + 4, kind=12), unknown(b"odd!")])
    records = both("hard")
    check([e.find("System/EventRecordID").text for e, _ in records] == [str(i + 1) for i in range(7)], "numbers of records")
    check(records[1][1] == START + 1, "the record's time", records[1])
    both("hard", "-lr")
    check(records[1][0].find("System/TimeCreated").get("SystemTime") == "2021-02-28T15:33:20.000000100Z", "a time")
    tracerpt(0, "hard.etl", "-of", "EVTX", "-o", "raw.evtx", "-rts")
    check(evtx_read.read("raw.evtx")[1][0].find("System/TimeCreated").get("RawTime") == str(START + 1), "-rts")


def uses_manifests_and_formats():
    with open("shop.man", "w", encoding="utf-8") as f:
        f.write(MANIFEST)
    with open("d.tmf", "w", encoding="utf-8") as f:
        f.write(f"{OURS} driver // SRC=d.c MJ= MN=\n#typev d_c10 10 \"%0Hello, %10!s! %11!d!\" // LEVEL=ERROR "
                "FLAGS=F FUNC=Entry\n{\nwho, ItemString -- 10\nhow, ItemLong -- 11\n}\n")
    apple = "Apple & <pear>\0".encode("utf-16-le")
    trace("shop.etl", [
        event(THEIRS, apple + b"\x01\x0a\x0b" + bytes.fromhex("010100000000000512000000"), START, ident=77, keyword=0x30),
        event(THEIRS, apple + struct.pack("<I", 4242), START + 1, ident=78),
        message(OURS, 10, b"you\0" + struct.pack("<i", -5), START + 2)])
    records = both("shop", "-import", "shop.man", "-tmf", "d.tmf")
    check(records[1][0].find("RenderingInfo/Message").text == "Apple & <pear> was sold", "a message")
    check(records[2][0].find("UserData/Sale/Item").get("Name") == "Apple & <pear>", "UserData")


def many_events_are_many_chunks():
    trace("many.etl", [self_described(OURS, "Maker", f"Made{i % 7}", FIELDS, data(f"n{i}" + "x" * (i % 90), i),
                                      START + i * SECOND) for i in range(1500)])
    both("many")
    check(os.path.getsize("many.evtx") > 5 * evtx_read.CHUNK, "chunks")


def reports_too_large_record():
    """A string of 64 KB would need 128 KB in a record, which is more than a record can have."""
    long = self_described(OURS, "Maker", "Long", b"Text\0\x02", b"y" * 65000 + b"\0", START)
    fits = self_described(OURS, "Maker", "Long", b"Text\0\x02", b"z" * 30000 + b"\0", START + 1)
    named = self_described(OURS, "M" * 30000, "Long", b"Text\0\x02" + b"N" * 20000 + b"\0\x08", b"a\0\1\0\0\0", START + 2)
    trace("long.etl", [long, fits, long, named], size=1 << 18)
    output = tracerpt(0, "long.etl", "-of", "EVTX", "-o", "long.evtx")
    check("Not decoded:        3, dumped in hexadecimal" in output, "the count", output)
    records = [e for e, _ in evtx_read.read("long.evtx")]
    check(len(records) == 5 and records[2].find("EventData/Data").text == "z" * 30000, "the record of maximum length")
    for i, of in ((1, 60000), (3, 60000), (4, 6)):
        error = records[i].find("ProcessingErrorData")
        payload = bytes.fromhex(error.find("EventPayload").text)
        check(len(payload) == of and payload[:1] in (b"y", b"a") and
              ("first bytes" in error.find("DataItemName").text) == (of == 60000), f"record {i + 1}",
              error.find("DataItemName").text)
        check(records[i].find("System/Provider").get("Name")[:5] == ("Maker" if i != 4 else "MMMMM"), "the event provider")


def checks_command_line():
    tracerpt(0, "hard.etl", "-of", "evtx")
    check(os.path.exists("dumpfile.evtx") and os.path.exists("summary.txt"), "the default's name", os.listdir())
    output = tracerpt(2, "hard.etl", "-of", "EVTX", "-en", "ANSI")
    check("-en: only valid with -of CSV" in output, "-en", output)


def evtxexport_reads_dump():
    """evtxexport of libevtx reads the dump, if it is installed."""
    if not shutil.which("evtxexport"):
        return
    done = subprocess.run(["evtxexport", "-f", "xml", "many.evtx"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    text = done.stdout.decode("utf-8")
    events = [ElementTree.fromstring(part + "</Event>") for part in text[text.find("<Event "):].split("</Event>")[:-1]]
    expected = list(ElementTree.parse("many.xml").getroot())

    def values(root):
        return [(e.get("Name"), (e.text or "").strip()) for e in root.iter() if e.tag.endswith("}Data")]

    check(len(events) == len(expected), f"evtxexport has {len(events)} events of {len(expected)}", text[-500:])
    for i, (one, other) in enumerate(zip(events, expected)):
        check(i == 0 or values(one) == values(other), f"event {i} by evtxexport", f"{values(one)}\nand not\n{values(other)}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        records_equal_xml()
        uses_manifests_and_formats()
        many_events_are_many_chunks()
        reports_too_large_record()
        checks_command_line()
        evtxexport_reads_dump()
        os.chdir("/")
    if not shutil.which("evtxexport"):
        print("one check is skipped: evtxexport (Debian: libevtx-utils) is not installed")
        sys.exit(77)
    print("the event log dump equals the XML dump")


main()
