#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""trace_export.py PROGRAM [EMULATOR]: `openpla trace export` writes the contents of one trace in each format, and the
tools for these formats can read the result.

The tools are babeltrace2 and protoc (Debian: babeltrace2, protobuf-compiler), and npm's profiler-cli, speedscope, ajv
and node (24 or newer) in the node_modules that OPENPLA_PROFILERS names: npm install node@24
@firefox-devtools/profiler-cli speedscope ajv. If one is missing, the test ends with "skipped" after all checks that do
not need it."""
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from built_trace import SECOND, START, trace
from merged_trace import method, method_definition
from stacked_trace import APP, KERNEL, OTHER, PROCESS, SAMPLES, THREAD, stacked

PROGRAM, EMULATOR = sys.argv[1], sys.argv[2:]
PROFILERS = os.environ.get("OPENPLA_PROFILERS")
CALLER, IN_CALL = "app.exe+0x1080", ["app.exe+0x1080", "ntdll.dll+0x124", "ntoskrnl.exe+0x900", "ntoskrnl.exe+0x500"]
MAIN, WORKER = "main (101)", "worker (102)"
# Fields of profile.proto, which protoc decodes by their numbers.
PROFILE_PROTO = """syntax = "proto3";
message ValueType { int64 type = 1; int64 unit = 2; }
message Label { int64 key = 1; int64 str = 2; int64 num = 3; int64 num_unit = 4; }
message Sample { repeated uint64 location_id = 1; repeated int64 value = 2; repeated Label label = 3; }
message Mapping { uint64 id = 1; uint64 memory_start = 2; uint64 memory_limit = 3; uint64 file_offset = 4; int64 filename = 5;
  int64 build_id = 6; bool has_functions = 7; bool has_filenames = 8; bool has_line_numbers = 9; bool has_inline_frames = 10; }
message Line { uint64 function_id = 1; int64 line = 2; }
message Location { uint64 id = 1; uint64 mapping_id = 2; uint64 address = 3; repeated Line line = 4; bool is_folded = 5; }
message Function { uint64 id = 1; int64 name = 2; int64 system_name = 3; int64 filename = 4; int64 start_line = 5; }
message Profile { repeated ValueType sample_type = 1; repeated Sample sample = 2; repeated Mapping mapping = 3;
  repeated Location location = 4; repeated Function function = 5; repeated string string_table = 6; int64 drop_frames = 7;
  int64 keep_frames = 8; int64 time_nanos = 9; int64 duration_nanos = 10; ValueType period_type = 11; int64 period = 12; }
"""


def check(right, what, output=""):
    if not right:
        sys.exit(f"FAILED: {what}\n{output}")


def openpla(expected, *arguments):
    done = subprocess.run([*EMULATOR, PROGRAM, "trace", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env={**os.environ, "TZ": "UTC"})
    output = done.stdout.decode("utf-8") + done.stderr.decode("utf-8")
    check(done.returncode == expected, f"trace {arguments}: exit code {done.returncode}, not {expected}", output)
    return output


def exported(form, name, *more):
    openpla(0, "export", "stacked.etl", "-f", form, "-o", name, *more)
    if os.path.isdir(name):
        return None
    with open(name, "rb") as f:
        return f.read()


def tool(*arguments, **more):
    done = subprocess.run(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
    output = done.stdout.decode("utf-8", "replace")
    check(done.returncode == 0, f"{arguments}: exit code {done.returncode}", output)
    return output


def folded():
    lines = dict(line.rsplit(" ", 1) for line in exported("folded", "out.folded").decode().splitlines())
    check(lines == {f"app.exe (100);{MAIN};{CALLER};app.exe+0x1010": "20", f"app.exe (100);{MAIN};{CALLER};app.exe+0x1110": "10",
                    ";".join(["app.exe (100)", MAIN, *IN_CALL]): "10"}, "folded stacks", lines)


def speedscope():
    document = json.loads(exported("speedscope", "out.speedscope.json"))
    frames = [frame["name"] for frame in document["shared"]["frames"]]
    sampled = [p for p in document["profiles"] if p["type"] == "sampled"]
    evented = [p for p in document["profiles"] if p["type"] == "evented"]
    check(len(sampled) == 1 and len(sampled[0]["samples"]) == SAMPLES and sampled[0]["weights"] == [1000] * SAMPLES, "samples", sampled)
    check([frames[f] for f in sampled[0]["samples"][3]] == IN_CALL, "a stack, root first", sampled[0]["samples"][3])
    check(sampled[0]["endValue"] - sampled[0]["startValue"] == SAMPLES * 1000, "its time", sampled[0])
    check([(e["type"], e["at"]) for e in evented[0]["events"]] == [("O", 200000), ("C", 202000), ("O", 205000), ("C", 210001.1)] and
          evented[0]["name"] == "CPU 1", "a processor", evented)


def chrome():
    document = json.loads(exported("chrome", "out.json"))
    events = document["traceEvents"]
    check(all("cat" in e for e in events), "all events have a category (speedscope requires one in the first event)")
    runs = [e for e in events if e.get("cat") == "sched"]
    check([(e["pid"], e["tid"], e["ts"], e["dur"], e["args"]["tid"]) for e in runs][0] == (0, 1, 200000, 2000, OTHER), "runs", runs)
    waits = [e for e in events if e.get("cat") == "wait"]
    check([(e["name"], e["tid"], e["ts"], e["dur"]) for e in waits] == [("waiting (UserRequest)", OTHER, 202000, 2000),
                                                                      ("ready", OTHER, 204000, 1000)], "waits", waits)
    check(waits[0]["args"]["where"] == "ntoskrnl.exe+0x800", "the location of a wait", waits)
    sold = [e for e in events if e["name"] == "Maker/Sold"]
    check(len(sold) == 3 and sold[0]["args"] == {"Name": "pencil; red", "Count": 3, "Price": 1.25} and sold[0]["tid"] == THREAD,
          "an event with fields", sold)
    disk = [e for e in events if e["name"] == "DiskIo/ReadInit"]
    check(disk[0]["args"]["stack"][0] == "ntoskrnl.exe+0x600" and disk[0]["args"]["stack"][2] == "Shop.dll!Shop.Basket.Add(int32)",
          "the stack of an event", disk)
    counters = {(e["name"], e["ts"]): e["args"] for e in events if e["ph"] == "C"}
    check(counters["Disk read", 200000] == {"bytes": 8192} and counters["CPU", 100000] == {"percent": 40}, "counters", counters)
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    check(names[PROCESS, THREAD] == "main" and names[0, 1] == "CPU 1", "names", names)
    chunks = [e for e in events if e["name"] == "ProfileChunk" and e["args"]["data"]["cpuProfile"]["samples"]]
    check(len(chunks) == SAMPLES and sum(e["args"]["data"]["timeDeltas"][0] for e in chunks) == (SAMPLES - 1) * 1000, "samples", chunks)


def pprof():
    data = gzip.decompress(exported("pprof", "out.pb.gz"))
    check(b"app.exe+0x1010" in data and b"A1B2C3D4E5F60718293A4B5C6D7E8F901a" in data, "names and identities")
    if not shutil.which("protoc"):
        return "protoc"
    with open("profile.proto", "w") as f:
        f.write(PROFILE_PROTO)
    text = subprocess.run(["protoc", "--decode=Profile", "profile.proto"], input=data, stdout=subprocess.PIPE, check=True).stdout.decode()
    check(not re.search(r"^\s*\d+:", text, re.M), "all fields are in profile.proto", text)
    values = [[int(v) for v in re.findall(r"value: (\d+)", sample)] for sample in re.findall(r"^sample \{(.*?)^\}", text, re.M | re.S)]
    check(sorted(values) == [[10, 10000000], [10, 10000000], [20, 20000000]], "samples and nanoseconds", text)
    used = set(re.findall(r"location_id: (\d+)", text))
    check(used <= set(re.findall(r"^location \{\n  id: (\d+)", text, re.M)) and
          set(re.findall(r"function_id: (\d+)", text)) <= set(re.findall(r"^function \{\n  id: (\d+)", text, re.M)), "locations", text)
    return None


def ctf():
    exported("ctf", "out.ctf")
    check(sorted(os.listdir("out.ctf")) == ["cpu_0", "cpu_1", "metadata"], "files", os.listdir("out.ctf"))
    if not shutil.which("babeltrace2"):
        return "babeltrace2"
    lines = tool("babeltrace2", "--clock-gmt", "out.ctf").splitlines()
    switches = [line for line in lines if " sched_switch: " in line]
    check(len(switches) == 3 and "[15:33:20.200000000]" in switches[0] and "prev_tid = 0" in switches[0] and 'next_comm = "app.exe"' in
          switches[0] and f"[0] = 0x{KERNEL + 0x700:X}" in switches[0] and f"[3] = 0x{APP + 0x2080:X}" in switches[0], "switches", switches)
    sold = [line for line in lines if " Maker/Sold: " in line]
    check(len(sold) == 3 and sold[0].endswith('{ Name = "pencil; red", Count = 3, Price = 1.25 }') and "pid = 100, tid = 101" in sold[0],
          "an event with fields", sold)
    check(sum(" cpu_sample: " in line for line in lines) == SAMPLES, "samples", lines)
    check(any('name = "Disk read", unit = "bytes", value = 8192' in line for line in lines), "counters", lines)
    check(any(" undecoded: " in line and 'data = "01000000"' in line for line in lines), "events without a definition", lines)
    return None


def node():
    found = os.path.join(PROFILERS, "node", "bin", "node") if PROFILERS else None
    return found if found and os.path.exists(found) else None


def firefox():
    document = json.loads(exported("firefox", "firefox.json"))
    strings, tables = document["shared"]["stringArray"], document["shared"]
    main = next(t for t in document["threads"] if t["name"] == MAIN)
    check(main["samples"]["length"] == SAMPLES and main["samples"]["time"][:2] == [100, 101], "samples", main["samples"])
    stack, frames = main["samples"]["stack"][3], []
    while True:
        frames.append(strings[tables["funcTable"]["name"][tables["frameTable"]["func"][tables["stackTable"]["frame"][stack]]]])
        if tables["stackTable"]["prefixOffset"][stack] == 0:
            break
        stack -= tables["stackTable"]["prefixOffset"][stack]
    check(frames == ["0x500", "0x900", "0x124", "0x1080"], "a stack", frames)
    check(document["libs"][0]["breakpadId"] == "00112233445566778899AABBCCDDEEFF1", "libraries", document["libs"])
    if not node():
        return "profiler-cli"
    home = {**os.environ, "HOME": os.getcwd()}
    cli = [node(), os.path.join(PROFILERS, "@firefox-devtools", "profiler-cli", "dist", "profiler-cli.js")]
    if not os.path.exists(cli[1]):
        cli[1] = os.path.realpath(os.path.join(PROFILERS, ".bin", "profiler-cli"))
    try:
        subprocess.run([*cli, "load", "firefox.json"], env=home, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for _ in range(120):  # the daemon may take longer to start than the client waits
            info = subprocess.run([*cli, "profile", "info"], env=home, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if info.returncode == 0:
                break
            time.sleep(0.5)
        text = info.stdout.decode()
        check("This profile contains 4 threads across 2 processes." in text and "Disk read" in text, "profiler-cli", text)
        handle = re.search(rf"(t-\d+): {re.escape(MAIN)}", text).group(1)
        tool(*cli, "thread", "select", handle, env=home)
        text = tool(*cli, "thread", "samples", env=home)
        check(re.search(r"Kernel\s+\S+\s+10\s+25.0%", text) and "app.exe!0x1080 - total: 40 (100.0%)" in text, "samples in it", text)
        text = tool(*cli, "thread", "markers", env=home)
        check(re.search(r"Maker/Sold\s+3 markers", text), "markers in it", text)
    finally:
        subprocess.run([*cli, "stop"], env=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return None


def speedscope_schema():
    """speedscope.app does not check files against its schema; the importer can read a file that conforms to it."""
    schema = os.path.join(PROFILERS or "", "speedscope", "dist", "release", "file-format-schema.json")
    if not node() or not os.path.exists(schema):
        return "speedscope"
    script = ("const A=require(process.argv[1]).default,f=require('fs'),a=new A({strict:false});"
              "const v=a.compile(JSON.parse(f.readFileSync(process.argv[2])));"
              "if(!v(JSON.parse(f.readFileSync(process.argv[3])))){console.log(v.errors);process.exit(1)}")
    tool(node(), "-e", script, os.path.join(PROFILERS, "ajv"), schema, "out.speedscope.json")
    return None


def selections():
    check(exported("folded", "none.folded", "-process", "4") == b"", "another process")
    one = json.loads(exported("chrome", "one.json", "-provider", "Maker"))["traceEvents"]
    check({e["name"] for e in one if e["ph"] == "i"} == {"Maker/Sold"}, "one event provider", one)
    part = json.loads(exported("chrome", "part.json", "-b", "2021-02-28", "15:33:20.150", "-e", "2021-02-28", "15:33:20.2055"))["traceEvents"]
    names = [e["args"]["name"] for e in part if e["name"] == "thread_name"]
    check({e.get("cat") for e in part} == {"counter", "sched", "wait", "__metadata"} and "worker" in names, "a time range", part)
    output = openpla(1, "export", "stacked.etl", "-f", "folded", "-o", "out.folded")
    check("'out.folded' already exists (use -y to overwrite)" in output, "an existing file", output)
    openpla(0, "export", "stacked.etl", "-f", "ctf", "-o", "out.ctf", "-y")
    output = openpla(1, "export", "stacked.etl", "-f", "ctf", "-o", "out.ctf")
    check("'out.ctf' already exists and has files" in output, "an existing folder", output)
    output = openpla(2, "export", "stacked.etl", "-f", "perfetto")
    check("-f: unknown format 'perfetto'" in output, "an unknown format", output)
    check("missing format" in openpla(2, "export", "stacked.etl"), "no format")
    openpla(0, "export", "stacked.etl", "-f", "folded")
    check(os.path.exists("stacked.folded"), "the default name comes from the trace")


def definitions_in_the_trace():
    """Definitions are not exported as events. Definitions from before the exported time range still decode its
    events."""
    trace("early.etl", [*method_definition(START + SECOND), method(START + SECOND, 1), method(START + 9 * SECOND, 2)])
    for expected, more in ((["Method1", "Method2"], ()), (["Method2"], ("-b", "2021-02-28", "15:33:25"))):
        openpla(0, "export", "early.etl", "-f", "chrome", "-o", "early.json", "-y", *more)
        with open("early.json", encoding="utf-8") as f:
            events = [e for e in json.load(f)["traceEvents"] if e["ph"] == "i"]
        check([v for e in events for v in e["args"].values() if str(v).startswith("Method")] == expected, "fields", events)


PROFILERS = os.path.abspath(PROFILERS) if PROFILERS else None
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    stacked("stacked.etl")
    missing = [name for name in (test() for test in (folded, speedscope, speedscope_schema, chrome, pprof, ctf, firefox)) if name]
    selections()
    definitions_in_the_trace()
    os.chdir("/")
if missing:
    print(f"skipped: needs {', '.join(missing)} for the last part")
    sys.exit(77)
print("trace_export: passed")
