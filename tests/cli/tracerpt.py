#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tracerpt.py PROGRAM [EMULATOR]: `openpla tracerpt` writes each event with its fields as they were logged, or in
hexadecimal with the reason. It does not overwrite files without consent."""
import csv
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree

from built_trace import SECOND, START, classic, event, message, self_described, trace, unknown

PROGRAM, EMULATOR = sys.argv[1], sys.argv[2:]
OURS, THEIRS = "11112222-3333-4444-5555-666677778888", "99990000-1111-2222-3333-444455556666"
EVENT = "{http://schemas.microsoft.com/win/2004/08/events/event}"
TRACE = "{http://schemas.microsoft.com/win/2004/08/events/trace}"
# Name (UTF-16), Size (u32), Flag (bool), Point (a struct of X and Y, i16 each), Numbers (a counted array of u8)
FIELDS = b"Name\0\x01Size\0\x08Flag\0\x0dPoint\0\x98\x02X\0\x05Y\0\x05Numbers\0\x44"


def data(name, size):
    return (name + "\0").encode("utf-16-le") + struct.pack("<IIhhHBBB", size, 1, -3, 4, 3, 7, 8, 9)


def check(right, what, output=""):
    if not right:
        sys.exit(f"FAILED: {what}\n{output}")


def tracerpt(expected, *arguments, say=""):
    done = subprocess.run([*EMULATOR, PROGRAM, "tracerpt", *arguments], input=say.encode(), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    output = done.stdout.decode("utf-8") + done.stderr.decode("utf-8")
    check(done.returncode == expected, f"tracerpt {arguments}: exit code {done.returncode}, not {expected}", output)
    return output


def rows(path, encoding="utf-8"):
    with open(path, newline="", encoding=encoding) as f:
        return list(csv.reader(f))[1:]


def without_header(found):
    """Returns the rows without the log file header."""
    return [row for row in found if row[0] == "Maker/Made"]


def make():
    trace("one.etl", [self_described(OURS, "Maker", "Made", FIELDS, data(f"n{i}", i), START + i * SECOND)
                      for i in range(10)])
    # The buffers of two processors, one after the other. The events' times lie between those in one.etl.
    trace("two.etl", [(i % 2, self_described(OURS, "Maker", "Made", FIELDS, data(f"m{i}", 100 + i),
                                             START + i * SECOND + SECOND // 2)) for i in range(10)], processors=2)
    trace("hard.etl", [
        self_described(OURS, "Maker", "Made", FIELDS, data('a "quoted", <&> text', 1), START + 1, opcode=1,
                       activity=bytes(range(16))),
        self_described(OURS, "Maker", "Made", FIELDS, data("cut", 2)[:14], START + 2),
        event(THEIRS, b"\x01\x02\xff", START + 3, ident=77, version=2, opcode=30, task=5, keyword=0x8000000000000010),
        classic(THEIRS, b"\xab", START + 4, kind=12),
        unknown(b"odd!"),
    ])


def writes_fields_as_logged():
    tracerpt(0, "one.etl", "-o", "one.csv", "-of", "CSV")
    found = without_header(rows("one.csv"))
    check(len(found) == 10, "ten events", found)
    for i, row in enumerate(found):
        check(row[19:] == [f"n{i}", str(i), "true", "-3", "4", "3", "7", "8", "9"], f"fields of event {i}", row)
        check(row[1:9] == ["Info", "0", "0", "11", "4", "0", "0", "0x0000000000000000"], "header", row)
        check(row[9:11] == ["0x00000029", "0x0000002A"] and row[16] == str(START + i * SECOND), "process, thread and time", row)


def merges_files_in_time_order():
    tracerpt(0, "two.etl", "-l", "one.etl", "-of", "csv", "-o", "both.csv")
    names = [row[19] for row in without_header(rows("both.csv"))]
    check(names == [x for i in range(10) for x in (f"n{i}", f"m{i}")], "the order of events", names)
    tracerpt(0, "*o*.etl", "-of", "csv", "-o", "stars.csv")
    check(len(without_header(rows("stars.csv"))) == 20, "a name with stars")


def xml_equals_csv():
    tracerpt(0, "hard.etl", "-o", "hard.xml", "-summary", "hard.txt")
    events = list(ElementTree.parse("hard.xml").getroot())
    decoded = events[1]
    values = [(d.tag.replace(EVENT, ""), d.get("Name"), (d.text or "").strip()) for d in decoded.find(EVENT + "EventData").iter()]
    check(values[1:] == [("Data", "Name", 'a "quoted", <&> text'), ("Data", "Size", "1"), ("Data", "Flag", "true"),
                         ("ComplexData", "Point", ""), ("Data", "X", "-3"), ("Data", "Y", "4"),
                         ("Data", "Numbers.Count", "3"), ("Data", "Numbers", "7"), ("Data", "Numbers", "8"),
                         ("Data", "Numbers", "9")], "fields", values)
    system_ = decoded.find(EVENT + "System")
    check(system_.find(EVENT + "Provider").get("Name") == "Maker" and
          system_.find(EVENT + "TimeCreated").get("SystemTime") == "2021-02-28T15:33:20.000000100Z" and
          system_.find(EVENT + "Correlation").get("ActivityID") == "{03020100-0504-0706-0809-0a0b0c0d0e0f}" and
          system_.find(EVENT + "Execution").get("ProcessID") == "41", "System", ElementTree.tostring(system_))
    rendering = decoded.find(EVENT + "RenderingInfo")
    check(rendering.find(EVENT + "Opcode").text == "Start" and rendering.find(TRACE + "EventName").text == "Made",
          "RenderingInfo", ElementTree.tostring(rendering))
    check(decoded.find(TRACE + "ExtendedTracingInfo").find(TRACE + "EventGuid").text == "{" + OURS + "}", "EventGuid")
    return events


def dumps_unknown_events_with_reason(events):
    cut, = [e.find(EVENT + "ProcessingErrorData") for e in events if e.find(EVENT + "ProcessingErrorData") is not None]
    check((cut.find(EVENT + "EventPayload").text, cut.find(EVENT + "ErrorCode").text) ==
          (data("cut", 2)[:14].hex().upper(), "15005") and "Flag" in cut.find(EVENT + "DataItemName").text,
          "truncated data", ElementTree.tostring(cut))
    # As in Windows' tracerpt, BinaryEventData replaces EventData and has no child elements.
    payloads = [e.find(EVENT + "BinaryEventData").text for e in events if e.find(EVENT + "BinaryEventData") is not None]
    check(payloads[:2] == ["0102FF", "AB"] and len(payloads) == 3 and payloads[2].endswith("6F646421"), "bytes", payloads)
    with open("hard.txt") as f:
        summary = f.read()
    check("Total Events  Processed 6\n" in summary and "Total Events  Lost      3\n" in summary, "totals", summary)
    undecoded = int(summary.split("Total Events  Undecoded")[1].split()[0])
    check(undecoded == 4, "undecoded", summary)
    check("|           1  Maker/Made                      Start " in summary and "{" + THEIRS + "}" in summary, "the table", summary)
    output = tracerpt(0, "hard.etl", "-of", "csv", "-o", "hard.csv", "-en", "Unicode")
    check(f"Not decoded:        {undecoded}, dumped in hexadecimal with the reason" in output,
          "the count on the screen", output)
    output = tracerpt(0, "hard.etl", "-o", "hard.xml", "-int", "hard-int.txt", "-y")
    check("hexadecimal (-int FILE shows the reasons)" in output and "no manifest for it was given" in
          open("hard-int.txt", encoding="utf-8").read(), "the file with the reasons", output)
    cut = [row for row in rows("hard.csv", "utf-16") if row[0] == "Maker/Made"]
    unknown_form = [row for row in rows("hard.csv", "utf-16") if any("unknown event" in cell for cell in row)]
    check(len(unknown_form) == 1, "the reason of an unknown form", unknown_form)
    check(cut[0][19] == 'a "quoted", <&> text' and cut[1][19] == "0x" + data("cut", 2)[:14].hex().upper() and
          cut[1][20].startswith("not decoded: "), "truncated data", cut)
    tracerpt(0, "hard.etl", "-of", "csv", "-o", "lr.csv", "-lr")
    cut = without_header(rows("lr.csv"))[1]
    check(cut[19:23] == ["cut", "2", "0x0100", cut[22]], "-lr shows the readable fields", cut)


def times_and_ranges():
    tracerpt(0, "one.etl", "-of", "csv", "-o", "part.csv", "-b", "2021-02-28", "21:03:22", "-e", "2/28/2021 9:03:24 PM")
    check([row[19] for row in without_header(rows("part.csv"))] == ["n2", "n3", "n4"], "-b, -e", rows("part.csv"))
    trace("ticks.etl", [self_described(OURS, "Maker", "Made", FIELDS, data("t", 1), 5000 + 20 * SECOND)], clock=1)
    tracerpt(0, "ticks.etl", "-of", "csv", "-o", "ticks.csv")
    check(without_header(rows("ticks.csv"))[0][16] == str(START + 20 * SECOND), "a time of the performance counter")
    tracerpt(0, "ticks.etl", "-of", "csv", "-o", "raw.csv", "-rts")
    check(without_header(rows("raw.csv"))[0][16] == str(5000 + 20 * SECOND), "-rts")


def checks_command_line():
    output = tracerpt(0, "one.etl", "-y")
    check(os.path.exists("dumpfile.xml") and os.path.exists("summary.txt"), "defaults", os.listdir())
    check("\nInput\n----------------\nFile(s):\n     one.etl\n" in output and "DumpFile:           dumpfile.xml" in output
          and "Summary:            summary.txt" in output and "The command completed successfully." in output, "texts", output)
    tracerpt(0, "-of", "csv", "one.etl", "-y")
    check(os.path.exists("dumpfile.csv"), "the default of CSV", os.listdir())
    with open("mine.csv", "w") as f:
        f.write("mine")
    output = tracerpt(1, "one.etl", "-of", "csv", "-o", "mine.csv", say="n\n")
    check("Overwrite it?" in output and open("mine.csv").read() == "mine", "a file is kept without consent", output)
    check("mine.csv.partial" not in os.listdir(), "no part file is left behind", os.listdir())
    # The output is a device. If tracerpt replaced it, root would turn /dev/null or /dev/stdout into a file.
    os.symlink("/dev/null", "null.csv")
    tracerpt(0, "one.etl", "-of", "csv", "-o", "null.csv", "-y")
    check(os.path.islink("null.csv"), "a dump does not replace a device")
    os.symlink("led_to.csv", "link.csv")
    with open("led_to.csv", "w") as f:
        f.write("mine")
    if not EMULATOR:  # Wine 8 to 10 show links as their targets
        output = tracerpt(1, "one.etl", "-of", "csv", "-o", "link.csv", say="n\n")
        check("Overwrite it?" in output and open("led_to.csv").read() == "mine", "the target of a link is kept without consent", output)
        tracerpt(0, "one.etl", "-of", "csv", "-o", "link.csv", "-y")
        check(os.path.islink("link.csv") and len(rows("led_to.csv")) == 11, "a dump does not replace a link")
    if EMULATOR:  # the emulator provides no standard input
        tracerpt(0, "one.etl", "-of", "csv", "-o", "mine.csv", "-y")
    else:
        tracerpt(0, "one.etl", "-of", "csv", "-o", "mine.csv", say="y\n")
    check(len(rows("mine.csv")) == 11, "a file is overwritten with consent")
    before = sorted(os.listdir())
    tracerpt(0, "one.etl", "-o", "NUL", "-summary", "only.txt")
    check(sorted(os.listdir()) == sorted(before + ["only.txt"]), "-o NUL", os.listdir())
    with open("settings.txt", "w") as f:
        f.write("one.etl -of csv\n[o]\nsettings.csv\n-y\n")
    tracerpt(0, "-config", "settings.txt")
    check(len(rows("settings.csv")) == 11, "-config")
    for wrong in (["one.etl", "-report", "-f", "doc"], ["one.etl", "-f", "xml"], ["one.etl", "-rl", "3"],
                  ["one.etl", "-df", "x"], ["one.etl", "-report", "-rl", "6"], ["-rt", "s", "-report"],
                  ["one.etl", "-int"], ["one.etl", "-of", "TXT"], [], ["-rt"],
                  ["one.etl", "-en", "UTF"], ["one.etl", "-rts", "-summary"], ["one.etl", "-rt", "s"],
                  ["one.etl", "-b", "yesterday"], ["one.etl", "-b", "2022-1-1", "-e", "2021-1-1"], ["one.etl", "-what"]):
        output = tracerpt(2, *wrong)
        check("See: openpla help tracerpt" in output, f"no reason for {wrong}", output)
    check("program symbols are not read" in tracerpt(0, "one.etl", "-pdb", "x", "-y"), "-pdb is reported as unsupported")
    check("no-such.etl" in tracerpt(1, "no-such.etl", "-y"), "the missing file is named")
    check("it is an input file" in tracerpt(1, "one.etl", "-o", "ONE.ETL", "-y"), "the trace as its own dump")
    check("it is an input file" in tracerpt(1, "one.etl", "-o", "./one.etl", "-y"), "the trace by another path")
    with open("one.etl", "rb") as f:
        before = f.read()
    for option in ("-o", "-summary"):
        with open("two.csv.partial", "wb") as f:
            f.write(before)
        output = tracerpt(1, "./two.csv.partial", option, "two.csv", "-y")
        check("cannot write 'two.csv': this would overwrite the input file './two.csv.partial'" in output, f"{option}: the reason for the refusal", output)
        with open("two.csv.partial", "rb") as f:
            check(f.read() == before and not os.path.exists("two.csv"), f"{option}: the input trace is kept")
    tracerpt(0, "one.etl", "-of", "csv", "-o", "two.csv", "-y")
    check(not os.path.exists("two.csv.partial"), "the part file of a killed program is replaced")
    check("settings.txt" in tracerpt(1, "settings.txt", "-y"), "a file that is not a trace")
    check("no such session" in tracerpt(1, "-rt", "OpenPLA no such session", "-y"), "a missing session")


def decodes_wpp_messages():
    trace("wpp.etl", [message(OURS, 10, b"you\0" + struct.pack("<iQ", -5, 0x1234), START + 1),
                      message(OURS, 11, b"", START + 2)])
    tmf = (f"{OURS} driver // SRC=d.c MJ= MN=\n#typev d_c10 10 \"%0Hello, %10!s! %11!d! at %12!p!\" // LEVEL=ERROR "
           "FLAGS=F FUNC=Entry\n{\nwho, ItemString -- 10\nhow, ItemLong -- 11\nwhere, ItemPtr -- 12\n}\n")
    os.mkdir("formats")
    for path in ("d.tmf", f"formats/{OURS}.tmf"):
        with open(path, "w", encoding="utf-8") as f:
            f.write(tmf)
    for options in (["-tmf", "d.tmf"], ["-tp", "nowhere;formats", "-gmt"]):
        output = tracerpt(0, "wpp.etl", "-of", "csv", "-o", "wpp.csv", "-y", *options)
        found = rows("wpp.csv")[1:]
        check(found[0][19:24] == ["Hello, you -5 at 0000000000001234", "1", "you", "-5", "0x1234"] and
              found[0][0].startswith("driver"), "a message", found)
        check("no file describes message 11" in str(found[1]) and "Not decoded:        1" in output, "another", found[1])
    tracerpt(0, "wpp.etl", "-o", "wpp.xml", "-y", "-tmf", "d.tmf")
    wpp = ElementTree.parse("wpp.xml").getroot()[1]
    debug = [(e.tag.replace(EVENT, ""), e.text) for e in wpp.find(EVENT + "DebugData")]
    check(debug == [("SequenceNumber", "1"), ("FlagsName", "F"), ("LevelName", "ERROR"), ("FileLine", "d_c10"),
                    ("Function", "Entry"), ("Message", "Hello, you -5 at 0000000000001234")] and
          wpp.find(EVENT + "RenderingInfo").find(EVENT + "Message").text == debug[-1][1] and
          [d.text for d in wpp.find(EVENT + "EventData")] == ["you", "-5", "0x1234"], "a message in XML",
          ElementTree.tostring(wpp))
    # The variables that users of tracefmt set: the folder of the format files, and the prefix of each message.
    os.environ["TRACE_FORMAT_SEARCH_PATH"] = "nowhere;formats"
    os.environ["TRACE_FORMAT_PREFIX"] = "%7!d! %8!04X!.%3!04X! [%1!s!/%!FUNC!] "
    tracerpt(0, "wpp.etl", "-of", "csv", "-o", "wpp.csv", "-y")
    check(rows("wpp.csv")[1][19] == "1 0015.0016 [driver/Entry] Hello, you -5 at 0000000000001234", "a prefix",
          rows("wpp.csv"))
    del os.environ["TRACE_FORMAT_PREFIX"]
    shown = subprocess.run([*EMULATOR, PROGRAM, "trace", "show", "wpp.etl"], stdout=subprocess.PIPE).stdout.decode()
    check("  driver/Entry #10  ERROR  Hello, you -5 at 0000000000001234  sequence=1" in shown, "a line", shown)
    shown = subprocess.run([*EMULATOR, PROGRAM, "trace", "show", "wpp.etl", "--json"], stdout=subprocess.PIPE).stdout
    one = json.loads(shown.decode().splitlines()[1])
    check(one["message"] == "Hello, you -5 at 0000000000001234" and one["sequence"] == 1 and
          one["fields"] == {"who": "you", "how": -5, "where": "0x1234"}, "an object", one)
    del os.environ["TRACE_FORMAT_SEARCH_PATH"]
    with open("d.tmf", "a", encoding="utf-8") as f:
        f.write("#typev wrong\n")
    check("d.tmf(8): expected #typev NAME NUMBER" in tracerpt(1, "wpp.etl", "-o", "wpp.csv", "-y", "-tmf", "d.tmf"),
          "an invalid format file")


MANIFEST = f"""<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"
 xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events"><instrumentation><events>
<provider name="Shop" guid="{{{THEIRS}}}" symbol="SHOP"><tasks><task name="Sale" value="5" message="$(string.sale)"/></tasks>
<opcodes><opcode name="Bought" value="30"/></opcodes><keywords><keyword name="Cash" mask="0x10"/></keywords>
<maps><valueMap name="Kinds"><map value="1" message="$(string.fruit)"/></valueMap></maps>
<templates><template tid="Sold"><data name="What" inType="win:UnicodeString"/><data name="Kind" inType="win:UInt8" map="Kinds"/>
<data name="Count" inType="win:UInt16"/><data name="Codes" inType="win:UInt8" count="Count" outType="win:HexInt8"/></template>
</templates><events><event value="77" version="2" level="win:Error" task="Sale" opcode="Bought" keywords="Cash"
 template="Sold" message="$(string.sold)"/><event value="78" level="win:Error"/></events></provider></events></instrumentation>
<localization><resources culture="en-US"><stringTable><string id="sale" value="A sale"/><string id="fruit" value="Fruit"/>
<string id="sold" value="%1 was sold"/></stringTable></resources></localization></instrumentationManifest>
"""


def exports_needed_definitions():
    """Another computer decodes a trace with the manifest from -export as this computer does."""
    with open("shop.man", "w", encoding="utf-8") as f:
        f.write(MANIFEST)
    sold = "Apple\0".encode("utf-16-le") + struct.pack("<BHBB", 1, 2, 10, 11)
    trace("shop.etl", [event(THEIRS, sold, START + i, ident=77, version=2, opcode=30, task=5, keyword=0x10)
                       for i in range(3)] +
          [event(THEIRS, sold[:5], START + 3, ident=77, version=2), event(OURS, b"\1", START + 4, ident=9),
           self_described(OURS, "Maker", "Made", FIELDS, data("x", 1), START + 5), classic(THEIRS, b"", START + 6),
           event(THEIRS, "Said so\0".encode("utf-16-le"), START + 7, level=3, flags=4)])  # EventWriteString
    output = tracerpt(0, "shop.etl", "-import", "shop.man", "-export", "-int", "shop.txt", "-y")
    check("Schema:             schema.man" in output and "DumpFile" not in output, "what was written", output)
    check("-export: skipped 1 event of 1 kind (Made): they describe themselves" in output and
          "-export: skipped 2 events of 2 kinds ({" + OURS + "} and others): no schema is known for them" in output, "what is skipped", output)
    for name in ("shop", "schema"):
        for form in ("csv", "xml"):
            tracerpt(0, "shop.etl", "-import", f"{name}.man", "-o", f"{name}.{form}", "-of", form, "-y")
    check(rows("shop.csv") == rows("schema.csv") and open("shop.xml").read() == open("schema.xml").read(),
          "another dump", rows("schema.csv"))
    check(rows("schema.csv")[1][19:] == ["Apple", "Fruit", "2", "0xA", "0xB"], "the values", rows("schema.csv"))
    row = rows("schema.csv")[-1]
    check(row[0] == "Shop" and row[19:] == ["Said so"] and "skipped 1 event of 1 kind (Shop): they contain only a string" in output, "a string",
          row)
    exported = open("schema.man", encoding="utf-8").read()
    check('value="77"' in exported and 'value="78"' not in exported, "only logged events are exported", exported)
    structure = open("shop.txt", encoding="utf-8").read()
    for line in ("4 events, 1 of them with data of a different layout", f"  provider    {{{THEIRS}}} Shop", "  known by    manifest",
                 "  event       id 77, version 2, channel 0, level 4 (Information), task 5 (A sale), opcode 30 (Bought), "
                 "keywords 0x10 (Cash)", "  message     %1 was sold", "    Kind: UInt8 xs:unsignedByte map Kinds",
                 "    Codes: UInt8[Count] win:HexInt8", "  map         Kinds", "    1: Fruit", "  known by    TraceLogging",
                 "    Point: struct", "      X: Int16", "  unknown     its provider is not registered and no manifest for it was given"):
        check(line + "\n" in structure, f"-int has no line: {line}", structure)
    output = tracerpt(1, "one.etl", "-export", "none.man", "-y")
    check("cannot write 'none.man'" in output and not os.path.exists("none.man"), "a trace without manifests", output)
    check("-export: 'x' is already the output of -o" in tracerpt(1, "shop.etl", "-o", "x", "-export", "x"), "one file for two outputs")


def reason_names_missing_event():
    """If a manifest was given, the reason does not say that none was given."""
    with open("shop.man", "w", encoding="utf-8") as f:
        f.write(MANIFEST)
    trace("lacks.etl", [event(THEIRS, b"", START, ident=77, version=1), event(THEIRS, b"", START + 1, ident=99),
                        event(OURS, b"", START + 2, ident=77)])
    tracerpt(0, "lacks.etl", "-import", "shop.man", "-of", "csv", "-o", "lacks.csv", "-y")
    check([row[-1] for row in rows("lacks.csv")[1:]] == [
        "not decoded: the manifest of 'Shop' has no event 77 of version 1",
        "not decoded: the manifest of 'Shop' has no event 99 of version 0",
        "not decoded: its provider is not registered and no manifest for it was given"], "the reasons", rows("lacks.csv"))


def header_shows_no_time_zone():
    tracerpt(0, "one.etl", "-o", "header.xml", "-y")
    names = [d.get("Name") for d in ElementTree.parse("header.xml").getroot()[0].find(EVENT + "EventData")]
    check("BootTime" in names and "TimeZoneInformation" not in names, "the fields of the header", names)
    tracerpt(0, "one.etl", "-o", "header.csv", "-of", "csv", "-y")
    check(len(rows("header.csv")[0]) == 19 + len(names), "the cells of the header", rows("header.csv")[0])


def reports_corrupt_trace():
    with open("one.etl", "rb") as f:
        whole = f.read()
    with open("cut.etl", "wb") as f:
        f.write(whole[:8192 + 700])
    output = tracerpt(3, "cut.etl", "-of", "csv", "-o", "cut.csv")
    check("openpla tracerpt: cut.etl: at byte" in output and 0 < len(without_header(rows("cut.csv"))) < 10, "the corrupt place is reported", output)


def interrupt_leaves_no_part():
    """In native builds, Ctrl+C and SIGTERM leave no part of a dump, neither under the given name nor beside it, and do
    not change an existing file."""
    trace("long.etl", [self_described(OURS, "Maker", "Made", FIELDS, data(f"n{i}", i), START + i) for i in range(30000)])
    for how in (signal.SIGINT, signal.SIGTERM):
        with open("old.csv", "w", encoding="ascii") as f:
            f.write("old")
        before = sorted(os.listdir())
        process = subprocess.Popen([PROGRAM, "tracerpt", "long.etl", "-of", "csv", "-o", "old.csv", "-y"],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        while not (os.path.exists("old.csv.partial") and os.path.getsize("old.csv.partial") > 0):
            check(process.poll() is None, "the program is interrupted before it is done")
            time.sleep(0.005)
        process.send_signal(how)
        output = process.communicate()[0].decode("utf-8")
        check(process.returncode == 1 and "interrupted by the user" in output, f"{how}: {process.returncode}", output)
        check(sorted(os.listdir()) == before and open("old.csv").read() == "old", f"{how}: no part is left", os.listdir())


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make()
        writes_fields_as_logged()
        merges_files_in_time_order()
        dumps_unknown_events_with_reason(xml_equals_csv())
        times_and_ranges()
        checks_command_line()
        decodes_wpp_messages()
        exports_needed_definitions()
        reason_names_missing_event()
        header_shows_no_time_zone()
        reports_corrupt_trace()
        if not EMULATOR:
            interrupt_leaves_no_part()
        os.chdir("/")
    print("events are written as logged")


main()
