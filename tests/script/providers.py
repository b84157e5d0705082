#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""providers.py WINE-RUN: the example scripts enable another program's event provider with a level, keywords and filter
data, and change the level while the set runs. Otherwise a user's trace would not contain exactly the requested events,
as MS-PLA 4.1 promises."""
import glob
import os
import re
import subprocess
import sys
import time

import cscript

EXAMPLES = os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "examples")
BIN = os.environ["OPENPLA_BIN_DIR"]
GUID = "{A68CA8B7-004F-D7B6-A698-07E2DE0F1F5D}"
ADDRESS = (b"12.84.150.40\0").hex().upper()
SECONDS, MOST_SECONDS = 2, 240
SENT, ERROR, BYTES = 1, 3, 4


def expect(condition, what, output):
    if not condition:
        sys.exit(f"FAILED: {what}. The output:\n{output}")


def wine(program, *arguments):
    done = subprocess.run([sys.argv[1], program, *arguments], cwd=EXAMPLES, capture_output=True)
    return done.returncode, done.stdout.decode("cp437").replace("\r\n", "\n")


def run_script(script, *arguments):
    for _ in range(cscript.ATTEMPTS):
        code, output = wine("cscript", "//nologo", script, *arguments)
        if not cscript.never_ran(code, output):
            break
    return code, output


def check_trace(path):
    """The trace has all events of packets sent to the address, then only their errors. It has no events of other
    addresses or of received packets."""
    code, output = wine(os.path.join(BIN, "read_events.exe"), path)
    expect(code == 0 and re.search(r"^\d+ events, 0 lost$", output, re.M), f"the trace cannot be read: exit code {code}", output)
    events = re.findall(r"^\d+ (\{\S+\}) id=(\d+) .* level=(\d+) .* keyword=0x(\w+) .* data=(\w*)$", output, re.M)
    expect(events and all(guid == GUID and keyword == "1" and data == ADDRESS for guid, _, _, keyword, data in events),
           "the trace has events that were not requested", output)
    ids = [int(event[1]) for event in events]
    expect(set(ids) == {SENT, ERROR, BYTES}, "requested events are missing", output)
    # The level can change between any two events, so the last ones must be errors.
    behind = len(ids) - 1 - max(i for i, number in enumerate(ids) if number != ERROR)
    expect(behind > 3 and ids.count(BYTES) > 3, f"the level did not change: {ids}", output)


def check_provider(output):
    """Checks what the provider's callback received: the filter, with each of the two levels."""
    lines = re.findall(r"^Provider: (.*)$", output.replace("\r\n", "\n"), re.M)
    expect(lines == ['enabled, level 5, any keyword of 0x1, all of 0x1, filter "12.84.150.40"',
                     'enabled, level 2, any keyword of 0x1, all of 0x1, filter "12.84.150.40"', "disabled"],
           f"the provider's callback received {lines}", output)


def begin_provider():
    """Starts send_packets and waits until it is registered. While it runs, its output is in a file
    (cmake/wine-run.sh)."""
    outputs = os.path.join(os.environ["WINEPREFIX"], ".openpla", "out", "send_packets.exe.*")
    old = set(glob.glob(outputs))
    provider = subprocess.Popen([sys.argv[1], os.path.join(BIN, "send_packets.exe"), str(MOST_SECONDS)],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    until = time.monotonic() + MOST_SECONDS
    while provider.poll() is None and time.monotonic() < until:
        for path in set(glob.glob(outputs)) - old:
            with open(path, encoding="cp437") as messages:
                if "Registered" in messages.read():
                    return provider
        time.sleep(0.05)
    sys.exit("send_packets does not begin")


def check_script(script, name):
    provider = begin_provider()
    code, output = run_script(script, name, str(SECONDS))
    messages = provider.communicate()[0].decode("cp437")
    expect(code == 0 and output.endswith("\nDone.\n"), f"{script}: exit code {code}", output + messages)
    for line in (f"Provider: {GUID}", f"Committed: {name} (0 issues)", "Started: level 5", "Changed: level 2"):
        expect(f"{line}\n" in output, f"{script} lacks the line \"{line}\"", output)
    check_provider(messages)
    check_trace(re.search(r"^Trace: (.*)$", output, re.M).group(1))
    return output.replace(name, "NAME")


pid = os.getpid()
in_vbs, in_js = check_script("control_provider.vbs", f"ProviderVbs{pid}"), check_script("control_provider.js", f"ProviderJs{pid}")
expect(in_vbs == in_js, "VBScript and JScript gave different results", in_vbs + in_js)
for script in "control_provider.vbs", "control_provider.js":
    code, output = run_script(script, f"Nobody{pid}", "1")
    expect(code == 1 and f"FAILED: Query: 0x80071068 Query: unknown trace provider '{GUID}'" in output,
           f"{script} without its provider: exit code {code}", output)
