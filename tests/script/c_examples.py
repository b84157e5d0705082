#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""c_examples.py WINE-RUN: the two examples in MS-PLA section 4, built as C programs, do what the specification says.
Otherwise other C programs that were written from the specification would fail, too."""
import os
import re
import subprocess
import sys

BIN = os.environ["OPENPLA_BIN_DIR"]


def run(program, *arguments):
    done = subprocess.run([sys.argv[1], os.path.join(BIN, program + ".exe"), *arguments], capture_output=True)
    return done.returncode, done.stdout.decode("cp1252").replace("\r\n", "\n")


def expect(condition, what, output):
    if not condition:
        sys.exit(f"FAILED: {what}. The program's output:\n{output}")


def check_counters(name):
    """Example 4.2: the run ends after the requested samples, and a second run overwrites its log."""
    for samples in (3, 2):
        code, output = run("query_counters", name, str(samples))
        expect(code == 0 and output.endswith("\nDone.\n"), f"query_counters: exit code {code}", output)
        expect(f"Committed: {name}\nStarted: {samples} samples of \\Process(*)\\% Processor Time\n" in output,
               "query_counters does not say what it started", output)
        expect(f"\nLog: C:\\PerfLogs\\Admin\\{name}.csv\n" in output, "no log, or another one", output)
        rows = re.findall(r'^  "(.*)$', output, re.M)
        expect(rows and rows[0].startswith("(PDH-CSV 4.0)"), "the log has no head", output)
        expect(rows[0].count("\\Process(") >= 1, "the log has no process", output)
        expect(len(rows) == samples + 1 and f"\nSamples: {samples}\n" in output, f"not {samples} samples", output)
        expect(all(re.match(r'\d\d/\d\d/\d{4} \d\d:\d\d:\d\d\.\d{3}",', row) for row in rows[1:]), "no times", output)
    code, output = run("query_counters", name, "2", "Processor Time")
    expect(code == 1 and "FAILED: " in output and "Done." not in output, f"a bad counter: exit code {code}", output)
    for arguments in (["a", "0"], ["a", "many"], ["a", "1001"], ["a", "1", "b", "c", "d"]):
        code, output = run("query_counters", *arguments)
        expect(code == 2 and output.startswith("usage:"), f"query_counters {arguments}: exit code {code}", output)


def check_provider(name):
    """Example 4.1: filter data, keywords and levels reach the event provider, even while the set runs. The trace
    contains exactly the requested events. Nothing is left behind, so that the example can run again."""
    enabled = r'Provider: enabled, level %d, any keyword of 0x1, all of 0x1, filter "12\.84\.150\.40"\n'
    event = r"  level %d, keyword 0x1: %s 12\.84\.150\.40\n"
    for _ in range(2):
        code, output = run("control_provider", name)
        provider = re.search(r"<TraceDataProvider>.*</TraceDataProvider>", output)
        expect(provider, "the collector has no provider", output)
        for part in ("<Guid>{A68CA8B7-004F-D7B6-A698-07E2DE0F1F5D}</Guid>", "<FilterEnabled>-1</FilterEnabled>",
                     "<FilterType>1</FilterType>", f"<FilterData>{b'12.84.150.40'.hex().upper()}</FilterData>"):
            expect(part in provider.group(), f"the provider lacks {part}", output)
        for element, value in ("Level", "5"), ("KeywordsAny", "0x1"), ("KeywordsAll", "0x1"):
            expect(re.search(rf"<{element}>.*?<Value>{value}</Value>.*?</{element}>", provider.group()),
                   f"{element} is not {value}", output)
        expect(code == 0, f"control_provider: exit code {code}", output)
        expect(re.search(rf"^Committed: {name}\n" + enabled % 5 + "Started\n" + enabled % 2 + r"(?:  note: .*\n)*Changed\nProvider: disabled\n"
                         r"Trace: C:\\.*\.etl\n" + event % (2, "error") + event % (4, "sent") + event % (5, "bytes") +
                         event % (2, "error") + r"Done\.\n\Z", output, re.M), "not what was asked for", output)


check_counters(f"CExample{os.getpid()}")
check_provider(f"CProvider{os.getpid()}")
