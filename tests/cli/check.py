#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check.py PROGRAM [EMULATOR]: openpla check reports which parts of a template this computer can serve. Without it,
users of a template from Windows would notice missing counters only days later, when they see empty columns."""
import json
import os
import tempfile

from program import check, host_path, openpla_streams

USER, QUEUE = r"\Processor(*)\% User Time", r"\Network Interface(*)\Output Queue Length"
MISSING_INSTANCE, UNKNOWN_OBJECT, UNKNOWN_COUNTER = r"\Process(no such program)\ID Process", r"\Some Program(*)\Things", r"\Memory\No Such Thing"
PROVIDER = "{5F1B8D20-0001-4B7A-9C3E-6C0A8B9D1E2F}"
KERNEL = "{9E814AAD-3204-11D2-9A82-006008A86939}"
TEMPLATE = f"""<?xml version="1.0" encoding="ENCODING"?>
<DataCollectorSet><Name>checked</Name>
<PerformanceCounterDataCollector><DataCollectorType>0</DataCollectorType><Name>counts</Name>
<LogCircular>-1</LogCircular>
{"".join(f"<Counter>{counter}</Counter>" for counter in (USER, QUEUE, MISSING_INSTANCE, UNKNOWN_OBJECT, UNKNOWN_COUNTER))}
</PerformanceCounterDataCollector>
<AlertDataCollector><DataCollectorType>3</DataCollectorType><Name>alarm</Name><Alert>{USER}&gt;90</Alert>
</AlertDataCollector>
<TraceDataCollector><DataCollectorType>1</DataCollectorType><Name>events</Name>
<TraceDataProvider><DisplayName>Nobody</DisplayName><Guid>{PROVIDER}</Guid></TraceDataProvider></TraceDataCollector>
<TraceDataCollector><DataCollectorType>1</DataCollectorType><Name>kernel</Name>
<TraceDataProvider><DisplayName>Kernel</DisplayName><Guid>{KERNEL}</Guid></TraceDataProvider></TraceDataCollector>
</DataCollectorSet>"""


def openpla(expected, *arguments):
    return openpla_streams(expected, "check", *arguments)


def write(name, text, encoding="utf-8"):
    with open(name, "w", encoding=encoding) as file:
        file.write(text.replace("ENCODING", encoding))


def names_unsupported_parts():
    write("t.xml", TEMPLATE)
    write("wide.xml", TEMPLATE, "utf-16")
    text = openpla(3, "t.xml")[0]
    check("counters: 3 of 6 can be collected" in text and "providers: 1 of 2 are registered" in text, "the counts of supported counters and event providers", text)
    check(f"{QUEUE}: The kernel reports the length of a queue only through netlink" in text, "the reason for an unsupported Windows counter", text)
    check(f"{UNKNOWN_OBJECT}: this computer has no such object" in text, "an unknown object", text)
    check(f"{UNKNOWN_COUNTER}: the object has no such counter" in text, "an unknown counter of a known object", text)
    check(f"{PROVIDER} Nobody: the provider is not registered on this computer" in text, "an unregistered event provider", text)
    check("[1]/LogCircular: a circular file requires SegmentMaxSize" in text, "an invalid setting", text)
    check(USER not in text and USER in openpla(3, "-all", "t.xml")[0], "only -all lists supported counters", text)
    one, two = json.loads(openpla(3, "t.xml", "wide.xml", "--json")[0])
    check(dict(one, file="") == dict(two, file="") and one["file"] == "t.xml", "UTF-8 and UTF-16 give the same result", one)
    check(not one["served"] and one["error"] is None, "--json", one)
    served = {(row["collector"], row["name"]): row["served"] for row in one["counters"]}
    check(served == {("counts", USER): True, ("counts", QUEUE): False, ("counts", MISSING_INSTANCE): True,
                     ("counts", UNKNOWN_OBJECT): False, ("counts", UNKNOWN_COUNTER): False, ("alarm", USER): True}, "--json", one)


def suggests_name_for_mistyped_counter():
    write("near.xml", TEMPLATE.replace(UNKNOWN_COUNTER, "\\Memory\\Availabel MBytes"))
    text = openpla(3, "near.xml")[0]
    check("the object has no such counter (did you mean '\\Memory\\Available MBytes'?)" in text, "the suggested counter", text)


def accepts_supported_template():
    rest = TEMPLATE
    for gone in (QUEUE, UNKNOWN_OBJECT, UNKNOWN_COUNTER):
        rest = rest.replace(f"<Counter>{gone}</Counter>", "")
    write("good.xml", rest.replace(PROVIDER, KERNEL).replace("<LogCircular>-1</LogCircular>",
                                                             "<LogAppend>0</LogAppend>")
          .replace("<Name>checked</Name>", "<Name>checked</Name><TaskArguments>of no task</TaskArguments>"))
    text = openpla(0, "good.xml")[0]
    check("everything is supported" in text and "TaskArguments" not in text, "ignored settings are not reported", text)
    check("TaskArguments: no Task is set" in openpla(0, "good.xml", "-all")[0], "-all reports ignored settings", text)


def reports_missing_root():
    """A missing RootPath is reported because Start would fail. The default, and folders that Start creates, are
    accepted."""
    bare = "<DataCollectorSet ><Name>x</Name>ROOT</DataCollectorSet>"
    for root, missing in ((r"%systemdrive%\PerfLogs\Template\x", False), ("", False), (host_path(os.getcwd()), False),
                          ("/no/such/folder", True)):
        write("root.xml", bare.replace("ROOT", f"<RootPath>{root}</RootPath>"))
        text = openpla(3 if missing else 0, "root.xml")[0]
        check(("RootPath: the folder '" in text and root in text) == missing, f"RootPath {root}", text)


def reports_invalid_definition():
    write("bad.xml", "<DataCollectorSet>")
    output = "".join(openpla(1, "bad.xml", "none.xml"))  # the emulator may merge both streams
    check("line 1" in output and "none.xml" in output, "the file names and the position of the error", output)
    check(json.loads(openpla(1, "bad.xml", "--json")[0])[0]["error"], "the error in JSON")
    output = "".join(openpla(2))
    check("missing file" in output and "openpla help check" in output, "a missing argument", output)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        names_unsupported_parts()
        suggests_name_for_mistyped_counter()
        accepts_supported_template()
        reports_missing_root()
        reports_invalid_definition()
        os.chdir("/")


if __name__ == "__main__":
    main()
