#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""event_programs.py [--32 BIN_32] BIN COMPILER EMULATOR...: an event provider, a controller and a consumer, which are
examples written only with Windows' headers, create a trace. The consumer must read from its file what etl_check.py
finds there, and what the event provider wrote. The event provider is linked here as a user would link it, and finds
openetw.dll through PATH. Then all three run again, linked only to Windows' DLLs and started by `openpla run`. With --32
and a compiler for 32-bit programs, the event provider is a 32-bit program, with the DLL in BIN_32, and the others are
64-bit programs; then all are 32-bit programs."""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

LIBRARIES = os.path.abspath(sys.argv[2]) if sys.argv[1] == "--32" else os.path.abspath(sys.argv[1])
IS_32 = sys.argv[1] == "--32"
if IS_32:
    del sys.argv[1:3]
BIN, COMPILER, EMULATOR = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3:]
HERE = os.path.dirname(os.path.abspath(__file__))
CHECK = os.path.join(HERE, "etl_check.py")
PROVIDER = "{5C1D2A8E-3B6F-4E0A-9D57-1F0B6A2C8E43}"
STEPS = 500
os.environ["WINEPATH"] = "Z:" + LIBRARIES.replace("/", "\\")
os.environ["OPENPLA_ETW"] = "golden32" if IS_32 else "golden"  # separates this test's sessions from others


def check(right, what, *more):
    if not right:
        sys.exit("\n".join([what, *map(str, more)]))


LAUNCHER = []  # the words before a program's name on its command line


def begin(output, program, *arguments):
    with open(output, "wb") as out:
        path = program if os.path.exists(f"{program}.exe") else f"{BIN}/{program}"
        return subprocess.Popen([*EMULATOR, *LAUNCHER, f"{path}.exe", *arguments], stdin=subprocess.DEVNULL, stdout=out,
                                stderr=out)


def end(process, output, what):
    code = process.wait()
    with open(output, encoding="utf-8", errors="replace") as out:
        text = out.read()
    check(code == 0, f"{what}: exit code {code}", text)
    return text


def run(program, *arguments):
    return end(begin("out.txt", program, *arguments), "out.txt", f"{program} {' '.join(arguments)}")


def session_stopped(name):
    reported = run("trace_session", "stop", name)
    check("lost: 0 events, 0 buffers" in reported, "the session has lost events", reported)
    check(name in reported, "another session", reported)


def read_lines(text):
    """Returns the events that the consumer printed. A line has the time, the event provider, and name=value fields."""
    events = []
    for line in text.splitlines():
        if line[:1].isdigit() and "{" in line:
            time, provider, *fields = line.split(" ")
            events.append({"time": int(time), "provider": provider, **dict(f.split("=", 1) for f in fields)})
    return events


def check_steps(events):
    """Checks that these are all events that the event provider wrote, in the order of writing."""
    check([e["provider"] for e in events] == [PROVIDER] * (STEPS + 2), "events of other providers, or too few", len(events))
    check([e["id"] for e in events] == ["1", *["2"] * STEPS, "3"], "ids", [e["id"] for e in events])
    for number, event in enumerate(events[1:-1]):
        data = struct.pack("<I", number) + f"step {number}\0".encode("utf-16-le")
        check(event["data"] == data.hex().upper(), f"step {number}", event)
        check(event["level"] == "5" and event["keyword"] == "0x3" and event["opcode"] == "0", "a step's descriptor", event)
    check(events[0]["opcode"] == "1" and events[-1]["opcode"] == "2" and events[0]["data"] == "", "begin and end", events[-1])
    check(len({(e["process"], e["thread"]) for e in events}) == 1, "several threads")
    times = [e["time"] for e in events]
    check(times == sorted(times), "times fall")


def link(program, *libraries):
    source = os.path.join(HERE, "..", "..", "examples", f"{program}.c")
    subprocess.run([COMPILER, "-o", f"{program}.exe", source, *libraries], check=True)


def the_file_has_what_was_written():
    path = "Z:" + os.path.abspath("programs.etl").replace("/", "\\")
    run("trace_session", "start", "Programs", path, PROVIDER)
    reported = run("trace_session", "query", "Programs")
    check(path in reported, "query", reported)
    check("Programs" in run("trace_session", "list"), "list")
    out = run("write_events", str(STEPS), "60")
    check("enabled, level 5" in out and "written, 0 of them in vain" in out, "the provider", out)
    session_stopped("Programs")
    check("Programs" not in run("trace_session", "list"), "a stopped session is listed")
    read = run("read_events", path)
    check(f"{STEPS + 2} events, 0 lost" in read, "the consumer", read[-300:])
    events = read_lines(read)
    check_steps(events)
    reported = run("openpla", "logstat", path)
    check(re.search(rf"^Events: +{STEPS + 2}\s", reported, re.M) and re.search(rf"{PROVIDER} +{STEPS + 2}\s", reported)
          and re.search(r"^Lost: +0 events, 0 buffers", reported, re.M), "logstat", reported)

    lines = subprocess.run([sys.executable, CHECK, "programs.etl"], check=True, capture_output=True, text=True).stdout
    checked = [line.split("\t") for line in lines.splitlines() if line.startswith("event\t")]
    checked = [f for f in checked if f[19] == PROVIDER]
    check(len(checked) == len(events), f"{len(checked)} events in the file, {len(events)} read")
    for f, event in zip(checked, events):
        same = (int(f[10]) == int(event["id"]) and int(f[8]) == int(event["process"]) and int(f[9]) == int(event["thread"])
                and int(f[6]) == len(event["data"]) // 2 and int(f[13]) == int(event["level"])
                and int(f[16]) == int(event["keyword"], 16) and abs(int(f[1]) - event["time"]) <= 10)
        check(same, "the file and the consumer tell different things", f, event)


def events_come_in_real_time():
    run("trace_session", "start", "Live", "-", PROVIDER)
    reader = begin("live.txt", "read_events", "-session", "Live", str(STEPS + 2))
    run("write_events", str(STEPS), "60")
    out = end(reader, "live.txt", "read_events -session")
    check_steps(read_lines(out))
    session_stopped("Live")


def described_events_are_decoded():
    """The program gets TDH's functions from openetw.dll, from a copy of opentdh.dll named tdh.dll, or through `openpla
    run`."""
    shop = "{7D4C9E11-52A0-4E5B-8C1F-6A2B0D9E3F77}"
    path = "Z:" + os.path.abspath("described.etl").replace("/", "\\")
    run("trace_session", "start", "Described", path, shop)
    check("3 events written, 0 of them in vain" in run("write_described", "3", "60"), "the provider")
    session_stopped("Described")
    expected = [f"Example.Shop/Sold/Info: Number={n} Article=Apple Price={struct.pack('<d', n / 4).hex().upper()}E282AC00 "
                f"Codes.Count=3 Codes=010203" for n in (1, 2, 3)]
    read = run("decode_events", path)
    check([line for line in read.splitlines() if line.startswith("Example")] == expected, "decoded", read)
    check("4 events, 0 undecoded" in read, "the file's own event", read)


def classic_events_are_decoded_by_their_mof():
    shop = "{2E8B7A54-91C3-4D0F-B6A2-5C7D3E1F9084}"
    path = "Z:" + os.path.abspath("classic.etl").replace("/", "\\")
    run("trace_session", "start", "Classic", path, shop)
    check("3 events written, 0 of them in vain" in run("write_classic", "3", "60"), "the provider")
    session_stopped("Classic")
    read = run("decode_events", path)
    check("4 events, 3 undecoded" in read, "nobody has said yet what they are", read)
    mof = "Z:" + os.path.join(HERE, "..", "..", "examples", "classic_events.mof").replace("/", "\\")
    run("openpla", "mof", "add", mof)
    try:
        read = run("decode_events", path)
        reported = run("openpla", "tracerpt", path, "-of", "CSV", "-o", "classic.csv", "-y")
    finally:
        run("openpla", "mof", "remove", "classic_events.mof")
    expected = [f"ExampleClassicShop/Sale/{'Returned' if n == 3 else 'Sold'}: Number={n} Article=Apple "
                f"Paid={'cash' if n % 2 else 'card'} Price={-25 * n} Seller={shop.lower()}" for n in (1, 2, 3)]
    check([line for line in read.splitlines() if line.startswith("Example")] == expected, "decoded", read)
    with open("classic.csv", encoding="utf-8", errors="replace") as f:
        rows = f.read()
    check("Returned" in rows and "Apple" in rows and "card" in rows and "-75" in rows, "as CSV", reported, rows)


def stop_all():
    """Stops all sessions of this test, because a session outlives the program that started it."""
    for session in ("Programs", "Live", "Described", "Classic"):
        begin("end.txt", "trace_session", "stop", session).wait()


def main():
    stop_all()  # sessions of an earlier test that was killed
    ours = ("-L", f"{LIBRARIES}/lib", "-lopenetw")
    link("write_events", *ours)
    link("trace_session", "-municode", *ours, "-lole32")
    link("read_events", "-municode", *ours)
    the_file_has_what_was_written()
    events_come_in_real_time()
    described_events_are_decoded()
    classic_events_are_decoded_by_their_mof()
    link("decode_events", "-municode", "-ltdh", *ours)
    shutil.copy(f"{LIBRARIES}/opentdh.dll", "tdh.dll")
    overrides = os.environ.get("WINEDLLOVERRIDES", "")
    os.environ["WINEDLLOVERRIDES"] = overrides + ";tdh=n"
    described_events_are_decoded()
    os.remove("decode_events.exe")
    for name, more in (("write_events", ()), ("trace_session", ("-municode", "-lole32")), ("read_events", ("-municode",))):
        link(name, *more, *(ours if IS_32 else ()))
    if IS_32:
        the_file_has_what_was_written()
        events_come_in_real_time()
        return
    LAUNCHER[:] = [f"{BIN}/openpla.exe", "run"]
    the_file_has_what_was_written()
    events_come_in_real_time()
    # The program imports TDH's functions from Wine's tdh.dll and looks them up by name. `openpla run` replaces them
    # with ours in both cases.
    os.environ["WINEDLLOVERRIDES"] = overrides
    os.remove("tdh.dll")
    del os.environ["WINEPATH"]
    link("decode_events", "-municode", "-ltdh")
    described_events_are_decoded()


with tempfile.TemporaryDirectory() as top:
    os.chdir(top)
    os.environ["OPENPLA_DATA"] = "Z:" + os.path.join(top, "data").replace("/", "\\")
    try:
        main()
    finally:
        stop_all()
