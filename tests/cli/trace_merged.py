#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""trace_merged.py PROGRAM [EMULATOR]: traces that another program merged are decoded by the definitions in them,
whatever definitions this computer has. Otherwise a customer's trace would show only hexadecimal digits."""
import csv
import json
import os
import tempfile

from built_trace import SECOND, START, classic, event, message, trace, unknown
from merged_trace import (BULK_FIELDS, RUNTIME, UINT32, bulk, computer, definition, event_info, field, image,
                          map_info, merged, method, method_definition)
from program import check, host_path, openpla, openpla_streams

OTHER = "12345678-1111-2222-3333-444455556666"


def show(*arguments):
    """Returns stdout and all messages, which the emulator merges."""
    output, messages = openpla_streams(0, "trace", "show", *arguments)
    return output, messages or output


def show_json(*arguments):
    """Returns the events of `trace show --json` without the log file header, and the messages."""
    output, messages = show(*arguments, "--json")
    events = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return [e for e in events if e["task"] != "EventTrace"], messages


def events_of(events, name):
    """Returns the events of a provider or class."""
    return [e for e in events if name in (e["provider"], e["task"])]


def merged_trace_contains_definitions():
    trace("merged.etl", merged())
    events, messages = show_json("merged.etl")
    missing = [e for e in events if "fields" not in e]
    check(len(missing) == 1 and "openpla trace: 1 of" in messages, "events without fields", messages, missing)
    methods = [e for e in events_of(events, "Microsoft-Windows-DotNETRuntime") if e["id"] == 143]
    check([e["fields"]["MethodName"] for e in methods] == [f"Method{i}" for i in range(1, 51)], "methods", methods[:3])
    check(methods[0]["fields"]["MethodFlags"] == "dynamic|jitted" and methods[0]["task"] == "CLRMethod" and
          methods[0]["opcode"] == "MethodLoadVerbose", "the map and the names", methods[0])
    types = [e for e in events_of(events, "Microsoft-Windows-DotNETRuntime") if e["id"] == 15][0]["fields"]["Values"]
    check([t["TypeName"] for t in types] == ["A", "B"], "an array of structures", types)


def decodes_merger_events():
    events, _ = show_json("merged.etl")
    ids = events_of(events, "ImageID")
    names = [e["opcode"] for e in ids[:10]]
    check(names == ["FileVersion", "Info", "DbgID_RSDS", "DbgID_ILRSDS", "DbgPPDB", "DbgEmbedded", "Deterministic",
                    "None", "Dbg", "Failure"], "types of ImageID", names)
    check(ids[2]["fields"]["PdbFileName"] == "app.pdb" and ids[2]["fields"]["Age"] == 3 and
          ids[2]["fields"]["GuidSig"] == "{00112233-4455-6677-8899-aabbccddeeff}", "the identity of an image", ids[2])
    check(ids[9]["fields"]["Message"].endswith("CreateFile failed: 2"), "the reason why an image has no identity", ids[9])
    computer_events = {e["opcode"]: e["fields"] for e in events_of(events, "SysConfigEx")}
    check(sorted(computer_events) == ["BuildInfo", "NetworkInterface", "SystemPaths", "UnknownVolume", "Version",
                                      "VolumeMapping"], "types of SysConfigEx", list(computer_events))
    check(computer_events["NetworkInterface"]["Alias"] == "Ethernet" and
          computer_events["NetworkInterface"]["OutQLen"] == 17, "a network interface", computer_events)
    defined = events_of(events, "EventMetadata")
    check(defined[0]["fields"]["ProviderGuid"] == "{" + RUNTIME + "}" and defined[0]["fields"]["Id"] == 143,
          "a definition as an event", defined[0])


def uses_definitions_in_other_file():
    """Visual Studio writes all definitions into a separate file beside the traces."""
    at = START + SECOND
    for names in (["events.etl", "definitions.etl"], ["definitions.etl", "events.etl"]):
        trace("events.etl", [method(at, 1), method(at + 5, 2)])
        trace("definitions.etl", [*computer(START), *image(at)[:-1], *method_definition(at)])
        events, _ = show_json(*names)
        check(len([e for e in events_of(events, "Microsoft-Windows-DotNETRuntime") if "MethodName" in e["fields"]]) == 2,
              f"events defined elsewhere: {names}", events)


def definition_of_same_time_is_used():
    """An event and its definition have the same time, but the definition is in the buffer of another processor."""
    at = START + SECOND
    trace("two.etl", [(0, method(at, 1)), *((1, e) for e in method_definition(at))], processors=2)
    events, _ = show_json("two.etl")
    check(all("fields" in e for e in events) and events[0]["task"] == "EventMetadata", "the order", events)


def uses_definitions_before_time_range():
    trace("early.etl", [*method_definition(START + SECOND), method(START + SECOND, 1), method(START + 9 * SECOND, 2)])
    events, _ = show_json("early.etl", "-b", "2021-02-28 15:33:25")
    check([e["fields"]["MethodName"] for e in events] == ["Method2"], "an event after -b", events)
    openpla(0, "tracerpt", "early.etl", "-b", "02/28/2021 15:33:25", "-o", "early.csv", "-of", "CSV", "-summary", "s.txt",
            "-y")
    with open("early.csv", encoding="utf-8", newline="") as f:
        rows = list(csv.reader(f, skipinitialspace=True))
    check(any("Method2" in row for row in rows), "tracerpt after -b", rows)


def pointer_width_is_of_process():
    at = START + SECOND
    trace("narrow.etl", [*method_definition(at, narrow=True), method(at, 1, narrow=True), method(at + 1, 2)])
    events, _ = show_json("narrow.etl")
    entries = [e["fields"]["Entry"] for e in events_of(events, "Microsoft-Windows-DotNETRuntime")]
    check(entries == ["0x400001", "0x400002"], "pointers of both widths", events)


def trace_definitions_take_precedence():
    manifest = f"""<instrumentationManifest xmlns='http://schemas.microsoft.com/win/2004/08/events'
 xmlns:win='http://manifests.microsoft.com/win/2004/08/windows/events'><instrumentation><events>
<provider name='Here' guid='{{{OTHER}}}' symbol='H' resourceFileName='h' messageFileName='h'>
<events><event value='1' template='T'/><event value='2' template='T'/></events>
<templates><template tid='T'><data name='OfThisComputer' inType='win:UInt32'/></template></templates>
</provider></events></instrumentation></instrumentationManifest>"""
    with open("here.man", "w", encoding="utf-8") as f:
        f.write(manifest)
    info = event_info(OTHER, 1, 0, [field("OfTheTrace", UINT32, length=4)], provider_name="There")
    data = b"\x05\0\0\0"
    trace("both.etl", [definition(info, START + SECOND), event(OTHER, data, START + SECOND, ident=1),
                       event(OTHER, data, START + SECOND, ident=2)])
    events, _ = show_json("both.etl", "-import", host_path("here.man"))
    check([list(e["fields"]) for e in events[1:]] == [["OfTheTrace"], ["OfThisComputer"]], "which definition", events)


def reports_invalid_definition():
    at = START + SECOND
    info = bytearray(event_info(RUNTIME, 15, 0, BULK_FIELDS, top=2))
    info[100:104] = b"\xff\xff\0\0"
    trace("broken.etl", [definition(bytes(info), at), bulk(at, ["A"]),
                         definition(map_info(RUNTIME, "M", [(1, "a")])[:30], at + 1, kind=33),
                         definition(b"", at + 2), *method_definition(at + 3), method(at + 3, 1)])
    output, messages = show("broken.etl")
    check("invalid event definition: number of properties out of range (65535)" in output, "the reason", output)
    check(messages.count("cannot use an event") == 2 and "too short" in messages, "warnings", messages)
    check("MethodName=Method1" in output, "other events", output)


def logstat_shows_origin_of_trace():
    output = openpla(0, "logstat", "merged.etl")
    for line in ("Windows:    Windows 11 Pro, 26100.1.amd64fre.ge_release.240331-1435", "Folder:     C:\\Windows\\",
                 "Volume:     \\Device\\HarddiskVolume3\\ = C:\\", "Network:    Ethernet: Example Adapter",
                 "Lost:       3 events, 0 buffers", "Decoded:    117 events, 99.2 %",
                 "51  100 % decoded by definition in the trace  Microsoft-Windows-DotNETRuntime",
                 "50  100 % decoded by MOF class  ImageID", "1  0 % decoded  Microsoft-Windows-DotNETRuntimePrivate"):
        check(line in output, f"no {line!r}", output)
    check("\\??\\" not in output, "device paths are not shown as volumes", output)
    stat = json.loads(openpla(0, "logstat", "merged.etl", "--json"))[0]
    check(stat["windows"] == "Windows 11 Pro" and stat["decodedEvents"] == 117 and
          stat["providers"][0]["decodedBy"] == {"definitionInTrace": 51}, "the same as JSON", stat)


def schema_lists_missing_definitions():
    output = openpla(0, "trace", "schema", "merged.etl")
    check("118 of 119 events can be decoded (99.2 %)" in output and "  definition in the trace  51\n" in output and
          "Microsoft-Windows-DotNETRuntimePrivate\n  needs the provider's manifest" in output and
          "  id 7 version 3: 1 event, its provider is not registered" in output, "the missing definitions", output)
    trace("needs.etl", [classic(OTHER, b"abc", START, kind=9, version=2), classic(OTHER, b"abc", START, kind=9, version=2),
                        message(OTHER, 11, b"", START + 1), unknown(b"abc")])
    output = openpla(0, "trace", "schema", "needs.etl")
    check("  type 9 version 2: 2 events" in output and "needs a MOF file with the class" in output and
          "  message 11: 1 event" in output and "1 of 5 events can be decoded (20.0 %)" in output, "other sources", output)
    data = json.loads(openpla(0, "trace", "schema", "needs.etl", "--json"))
    check([k["needs"] for k in data["undecoded"]] == ["mofClass", "tmfFile"], "as JSON", data)


def unknown_event_shows_known_fields():
    output, _ = show("merged.etl", "-provider", "*DotNETRuntimePrivate")
    check("Microsoft-Windows-DotNETRuntimePrivate/0 #7 version 3  Information  not decoded" in output and
          '0x010270006C00' in output and '"plain text"' in output, "an event of a well-known provider", output)
    events, _ = show_json("merged.etl")
    unknown = [e for e in events if "undecoded" in e][0]
    check(unknown["provider"] == "Microsoft-Windows-DotNETRuntimePrivate" and
          unknown["undecoded"]["strings"] == ["plain text"], "the same as JSON", unknown)


def csv_and_summary_use_definitions():
    openpla(0, "tracerpt", "merged.etl", "-o", "merged.csv", "-of", "CSV", "-summary", "merged.txt", "-y")
    with open("merged.txt", encoding="utf-8") as f:
        summary = f.read()
    check("Microsoft-Windows-DotNETRuntime" in summary, "the summary's names", summary)
    with open("merged.csv", encoding="utf-8", newline="") as f:
        rows = list(csv.reader(f, skipinitialspace=True))
    check(sum("not decoded" in str(row) for row in rows) == 1, "lines that are not decoded", rows[-3:])


def main():
    os.environ["TZ"] = "UTC"  # -b is in local time
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        merged_trace_contains_definitions()
        decodes_merger_events()
        uses_definitions_in_other_file()
        definition_of_same_time_is_used()
        uses_definitions_before_time_range()
        pointer_width_is_of_process()
        trace_definitions_take_precedence()
        reports_invalid_definition()
        logstat_shows_origin_of_trace()
        schema_lists_missing_definitions()
        unknown_event_shows_known_fields()
        csv_and_summary_use_definitions()
        os.chdir("/")
    print("merged traces are decoded by what they contain")


main()
