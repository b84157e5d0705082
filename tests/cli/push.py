#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""push.py PROGRAM [EMULATOR]: everything that openpla push sends by OTLP arrives exactly once, even if the server
refuses it, closes the connection, hangs or is down, and after the sender was killed. Bugs would leave gaps in graphs,
or show a password in the process list.

protoc decodes the requests by the field numbers below. If OPENPLA_OTLP names a node_modules with npm's otlp-transformer
(npm install @opentelemetry/otlp-transformer@0.52.1), the published schema decodes them too; otherwise that part is
skipped."""
import base64
import collections
import json
import os
import re
import ssl
import subprocess
import tempfile

from program import EMULATOR, check, host_path, openpla
from receiver import Push, Receiver, wait_until, waiting

COUNTERS = (r"\Memory\Committed Bytes", r"\System\Context Switches/sec", r"\Processor(*)\% User Time")
PAGES = "openpla.export.pages"  # the metric that counts samples
PROTO = """syntax = "proto3";
message Request { repeated ResourceMetrics resource_metrics = 1; }
message ResourceMetrics { Resource resource = 1; repeated ScopeMetrics scope_metrics = 2; }
message Resource { repeated KeyValue attributes = 1; }
message ScopeMetrics { Scope scope = 1; repeated Metric metrics = 2; }
message Scope { string name = 1; string version = 2; }
message KeyValue { string key = 1; Value value = 2; }
message Value { string string_value = 1; }
message Metric { string name = 1; string description = 2; string unit = 3; Points gauge = 5; Points sum = 7; Points summary = 11; }
message Points { repeated Point data_points = 1; int32 aggregation_temporality = 2; bool is_monotonic = 3; }
message Point { fixed64 start = 2; fixed64 time = 3; double as_double = 4; double quantile = 5; sfixed64 as_int = 6;
  repeated KeyValue attributes = 7; }
"""
Point = collections.namedtuple("Point", "name kind unit value time start labels monotonic")


def parse_text(words):
    """Returns protoc's output as nested lists of (name, value)."""
    fields = []
    for word in words:
        if word == "}":
            return fields
        if word.endswith("{"):
            fields.append((word[:-1].strip(), parse_text(words)))
        else:
            name, value = word.split(": ", 1)
            fields.append((name, json.loads(re.sub(r"\\(\d{3})", lambda m: f"\\u{int(m[1], 8):04x}", value).replace("\\'", "'"))
                           if value[0] == '"' else value))
    return fields


def values_named(fields, name):
    return [value for key, value in fields if key == name]


def decode(body):
    """Returns the points of a request."""
    done = subprocess.run(["protoc", "--decode=Request", "otlp.proto"], input=body, capture_output=True, check=False)
    check(done.returncode == 0, "protoc reads the request", done.stderr)
    text = done.stdout.decode("utf-8")
    check(not re.search(r"^\s*\d+[:{ ]", text, re.MULTILINE), "a field that the schema does not have", text)
    points = []
    for resource in values_named(parse_text(iter(line.strip() for line in text.splitlines())), "resource_metrics"):
        keys = [values_named(a, "key")[0] for a in values_named(values_named(resource, "resource")[0], "attributes")]
        check(keys == ["service.name", "host.name"], "the resource", keys)
        for scope in values_named(resource, "scope_metrics"):
            for metric in values_named(scope, "metrics"):
                [(kind, data)] = [(k, v) for k, v in metric if k in ("gauge", "sum", "summary")]
                for point in values_named(data, "data_points"):
                    value = values_named(point, "as_int") or values_named(point, "as_double") or ["0"]
                    labels = {values_named(a, "key")[0]: values_named(values_named(a, "value")[0], "string_value")[0] for a in values_named(point, "attributes")}
                    points.append(Point(values_named(metric, "name")[0], kind, (values_named(metric, "unit") or [""])[0], float(value[0]),
                                        int(values_named(point, "time")[0]), int((values_named(point, "start") or ["0"])[0]), labels,
                                        values_named(data, "is_monotonic") == ["true"]))
    return points


def points_of(receiver):
    return [point for body in receiver.bodies for point in decode(body)]


def pages(receiver):
    return [int(p.value) for p in points_of(receiver) if p.name == PAGES]


def live_counters_arrive():
    receiver = Receiver()
    text = openpla(0, "push", "-otlp", receiver.url, "-si", "1", "-sc", "3", "-queue", host_path("q1"), *COUNTERS)
    points = points_of(receiver)
    check(f"sent {len(points)} points in 3 requests" in text and "accept" not in text, "the summary", text)
    check(all(path == "/v1/metrics" and headers["Content-Type"] == "application/x-protobuf" and "Authorization" not in headers
              for path, headers, _, _ in receiver.requests), "the requests", receiver.requests)
    check(pages(receiver) == [1, 2, 3], "each sample once", pages(receiver))
    by_name = collections.defaultdict(list)
    for p in points:
        by_name[p.name].append(p)
    memory, switches = by_name["windows.memory.committed"], by_name["windows.system.context_switches"]
    check(len(memory) == 3 and all(p.kind == "gauge" and p.unit == "By" and p.value > 1e6 for p in memory), "a gauge", memory)
    check(len(switches) == 3 and all(p.kind == "sum" and p.monotonic for p in switches), "a sum", switches)
    check(switches[0].value <= switches[1].value <= switches[2].value, "a sum does not decrease", switches)
    check({p.start for p in switches} == {switches[0].time} and switches[0].time < switches[1].time, "times", switches)
    user = by_name["windows.processor.user_time"]
    check(user and all(p.unit == "s" and set(p.labels) == {"name"} and p.labels["name"].isdigit() for p in user), "labels", user)
    receiver.end()
    return receiver.bodies


def keeps_data_while_server_is_busy():
    """The server is busy, then does not answer for half a minute, and then closes the connection."""
    receiver = Receiver()
    busy = (503, {"Retry-After": "1"}, b"\x12\x04busy")
    receiver.answers = [busy, ("hang",), ("cut",), (429, {}, b"")]
    push = Push("-otlp", receiver.url, "-si", "1", "-queue", host_path("q2"), *COUNTERS)
    receiver.wait("eight samples", lambda: len(receiver.bodies) >= 8)
    text = push.end()
    found = pages(receiver)
    check(found == list(range(1, len(found) + 1)), "each sample once, in order", found)
    check(text.count("is not accepting data: HTTP status 503: busy") == 1 and "accepts data again" in text, "the warnings", text)
    receiver.end()


def queue_survives_both_processes():
    receiver = Receiver()
    receiver.end()  # the port is known, but no process listens on it
    arguments = ("-otlp", receiver.url, "-si", "1", "-queue", host_path("q3"), *COUNTERS)
    push = Push(*arguments)
    push.wait("is not accepting data")
    wait_until("the queue", lambda: waiting("q3") > 0)
    text = push.end()
    if not EMULATOR:
        check(re.search(r"sent 0 points in 0 requests, \d+ points wait in the queue", text), "the summary", text)
    first = waiting("q3")
    push = Push(*arguments)
    push.wait("is not accepting data")
    wait_until("more in the queue", lambda: waiting("q3") > first)
    push.kill()
    second = waiting("q3")
    receiver = Receiver(receiver.port)
    text = openpla(0, "push", *arguments, "-sc", "1")
    times = [p.time for p in points_of(receiver) if p.name == PAGES]
    check(len(times) == second + 1 and times == sorted(set(times)), "all queued points arrive, oldest first", times, second)
    check(waiting("q3") == 0 and "wait" not in text, "the queue is empty", text)
    receiver.end()


def ctrl_c_ends_a_request_that_hangs():
    receiver = Receiver()
    receiver.answers = [("hang",)]
    push = Push("-otlp", receiver.url, "-si", "1", "-queue", host_path("q4"), *COUNTERS)
    receiver.wait("a request", lambda: receiver.requests)
    text = push.end()
    check("wait in the queue" in text and os.listdir("q4") != ["lock"], "the request is in the queue", text)
    receiver.end()


def drops_refused_data():
    receiver = Receiver()
    receiver.otherwise = (400, {}, b"\x08\x03\x12\x08bad data")
    arguments = ("-otlp", receiver.url, "-si", "1", "-queue", host_path("q5"), *COUNTERS)
    text = openpla(1, "push", "-sc", "3", *arguments)
    check(text.count("refuses data, so the data is dropped: HTTP status 400: bad data") == 1, "the reason is reported once", text)
    check(re.search(r"sent 0 points in 0 requests, \d+ points dropped", text) and len(receiver.requests) == 3, "dropped points are counted", text)
    receiver.answers, receiver.otherwise = [(400, {}, b"")], (200, {}, b"\x0a\x09\x08\x02\x12\x05wrong")
    text = openpla(3, "push", "-sc", "2", *arguments)
    check("dropped: wrong" in text and "points dropped" in text, "a partly refused request", text)
    receiver.end()


def reads_credentials_from_file():
    receiver = Receiver()
    arguments = ("push", "-otlp", receiver.url, "-si", "1", "-sc", "1", "-queue", host_path("q6"), COUNTERS[0])
    for lines, header in (("token: secret-of-tests\n", "Bearer secret-of-tests"),
                          ("user: me\npassword: a:b\n", "Basic " + base64.b64encode(b"me:a:b").decode())):
        with open("credentials", "w", encoding="utf-8") as f:
            f.write(lines)
        openpla(0, *arguments, "-credentials", host_path("credentials"))
        check(receiver.requests[-1][1]["Authorization"] == header, "the header", receiver.requests[-1][1])
    with open("credentials", "w", encoding="utf-8") as f:
        f.write("token: a\nsecret\n")
    messages = openpla(1, *arguments, "-credentials", host_path("credentials"))
    check("line 2" in messages and "secret" not in messages.replace("credentials", ""), "a faulty file", messages)
    messages = openpla(1, "push", "-otlp", f"http://me:hidden@127.0.0.1:{receiver.port}", "-sc", "1", COUNTERS[0])
    check("hidden" not in messages and "credentials file" in messages, "a password in the URL", messages)
    receiver.end()


def certificates_are_verified():
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "key.pem",
                    "-out", "cert.pem", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"],
                   check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain("cert.pem", "key.pem")
    receiver = Receiver(context=context)
    arguments = ("push", "-otlp", receiver.url, "-si", "1", "-sc", "1", "-queue", host_path("q7"), COUNTERS[0])
    messages = openpla(0, *arguments)
    check("certificate" in messages and "wait in the queue" in messages and not receiver.requests, "an unknown certificate", messages)
    if EMULATOR:
        messages = openpla(1, *arguments, "-ca", host_path("cert.pem"))
        check("not supported on Windows and Wine" in messages, "-ca", messages)
    else:
        messages = openpla(0, *arguments, "-ca", "cert.pem")
        check("sent" in messages and len(receiver.bodies) == 2, "a known certificate; the queued request is sent too", messages)
        messages = openpla(1, *arguments, "-ca", "missing.pem")
        check("'missing.pem'" in messages, "a missing file", messages)
    receiver.end()


def logs_are_sent_with_their_times():
    receiver = Receiver()
    log = host_path("log.blg")
    openpla(0, "typeperf", "-f", "BIN", "-o", log, "-si", "1", "-sc", "4", *COUNTERS)
    receiver.answers = [(503, {}, b"")]
    text = openpla(0, "push", "-otlp", receiver.url, "-log", log)
    points = points_of(receiver)
    memory = [p for p in points if p.name == "windows.memory.committed"]
    check(len(memory) == 4 and f"sent {len(points)} points in 1 requests" in text, "all samples of a log", text, memory)
    openpla(0, "relog", log, "-f", "CSV", "-o", host_path("log.csv"), "-c", COUNTERS[0])
    with open("log.csv", encoding="utf-8") as f:
        values = [float(line.split(",")[1].strip().strip('"')) for line in f.readlines()[1:]]
    check([p.value for p in memory] == values, "its values", memory, values)
    check(all(memory[i].time < memory[i + 1].time for i in range(3)), "its times", memory)
    receiver.bodies.clear()
    openpla(0, "push", "-otlp", receiver.url, "-log", host_path("log.csv"))
    check([p.value for p in points_of(receiver) if p.name == "windows.memory.committed"] == values, "a text log", points_of(receiver))
    receiver.bodies.clear()
    openpla(0, "push", "-otlp", receiver.url, "-log", log, "-c", COUNTERS[2])
    check({p.name for p in points_of(receiver)} == {"windows.processor.user_time"}, "some counters")
    receiver.otherwise = (400, {}, b"")
    text = openpla(1, "push", "-otlp", receiver.url, "-log", log)
    check("points dropped" in text, "dropped", text)
    receiver.end()


def sends_counters_of_set_and_file():
    receiver = Receiver()
    openpla(0, "logman", "create", "counter", "push_test", "-c", r"\Memory\Committed Bytes", "-si", "1")
    try:
        with open("list.txt", "w", encoding="utf-8") as f:
            f.write("\\System\\Threads\n")
        openpla(0, "push", "-otlp", receiver.url, "-set", "push_test", "-cf", host_path("list.txt"), "-sc", "2", "-queue", host_path("q8"))
    finally:
        openpla(0, "logman", "delete", "push_test")
    points = [p for p in points_of(receiver) if p.name in ("windows.memory.committed", "windows.system.threads")]
    check(len(points) == 4, "the counters of the set and the file, in the set's interval", points)
    receiver.end()


def rejects_wrong_arguments():
    for line, what in (((COUNTERS[0],), "missing -otlp"), (("-otlp", "http://x", "-influx", "http://x/y", COUNTERS[0]), "cannot be combined with"),
                       (("-otlp", "http://x"), "missing counter"), (("-otlp", "http://x", "-si", "x", COUNTERS[0]), "-si"),
                       (("-influx", "http://x/y", "-preset", "windows_exporter"), "-preset requires -otlp"),
                       (("-otlp", "http://x", "-b", "1/1/2026", COUNTERS[0]), "require -log"),
                       (("-otlp", "http://x", "-log", "a.blg", "-sc", "1"), "-log cannot be combined with -set"),
                       (("-otlp", "http://x", "-log", "a.blg", "-queue", "q"), "-log cannot be combined with -queue")):
        messages = openpla(2, "push", *line)
        check(what in messages, f"{line}: expected the message '{what}'", messages)
    for url in ("x:4318", "ftp://x", "http://"):
        check("invalid URL" in openpla(1, "push", "-otlp", url, "-sc", "1", COUNTERS[0]), url)
    check("/write?db=NAME" in openpla(1, "push", "-influx", "http://x:8086", "-sc", "1", COUNTERS[0]), "the path of InfluxDB")


def published_schema_reads(bodies):
    modules = os.environ.get("OPENPLA_OTLP")
    if not modules:
        return False
    with open("read.js", "w", encoding="utf-8") as f:
        f.write("""const root = require(process.argv[2]);
const type = root.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
const request = type.decode(require('fs').readFileSync(0));
const fault = type.verify(request);
if (fault) throw new Error(fault);
console.log(JSON.stringify(type.toObject(request, {longs: String})));
""")
    for body in bodies:
        done = subprocess.run(["node", "read.js", os.path.join(modules, "@opentelemetry/otlp-transformer/build/src/generated/root.js")],
                              input=body, capture_output=True, check=False)
        check(done.returncode == 0, "the published schema reads the request", done.stderr.decode())
        metrics = [m for r in json.loads(done.stdout)["resourceMetrics"] for s in r["scopeMetrics"] for m in s["metrics"]]
        named = {m["name"]: m for m in metrics}
        check(named["windows.system.context_switches"]["sum"]["aggregationTemporality"] == 2 and
              "asInt" in named["windows.memory.committed"]["gauge"]["dataPoints"][0], "the decoded metrics", named)
    return True


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["OPENPLA_DATA"] = host_path("data")
        with open("otlp.proto", "w", encoding="utf-8") as f:
            f.write(PROTO)
        rejects_wrong_arguments()
        bodies = live_counters_arrive()
        keeps_data_while_server_is_busy()
        queue_survives_both_processes()
        if not EMULATOR:  # under Wine, the test cannot send Ctrl+C, and sets need the server
            ctrl_c_ends_a_request_that_hangs()
            sends_counters_of_set_and_file()
        drops_refused_data()
        reads_credentials_from_file()
        certificates_are_verified()
        logs_are_sent_with_their_times()
        return 0 if published_schema_reads(bodies) else 77


if __name__ == "__main__":
    raise SystemExit(main())
