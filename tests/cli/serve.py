#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""serve.py PROGRAM [EMULATOR]: "openpla serve" of PROGRAM (openpla.exe) offers counters to Prometheus. A series keeps
its process, one missing counter does not empty the page, and rates are right."""
import gzip
import os
import re
import select
import shutil
import socket
import subprocess
import tempfile
import time

from metrics import Page
from program import EMULATOR, check, openpla
from served import PATIENCE, Served

os.environ["OPENPLA_SAMPLE_LIMIT"] = "0"  # on a busy machine a sample is slow
OPENMETRICS = "application/openmetrics-text"
PROMETHEUS = (f"{OPENMETRICS};version=1.0.0,{OPENMETRICS};version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1")
COUNTERS = (r"\Processor(*)\*", r"\Memory\*", r"\System\*", r"\Nothing of it(*)\*", r"\Memory\Nothing of it",
            r"\Process(*)\Handle Count", r"\Process(*)\% User Time", r"\PhysicalDisk(*)\*", r"\Thread(*)\% User Time")


def page(server, accept=None):
    answer, body = server.get("/metrics", **({"Accept": accept} if accept else {}))
    check(answer.status == 200, "the page", answer.status, body[:500])
    kind = answer.headers["Content-Type"]
    check(kind in (f"{OPENMETRICS}; version=1.0.0; charset=utf-8", "text/plain; version=0.0.4; charset=utf-8"), "the type", kind)
    return Page(body.decode(), kind.startswith(OPENMETRICS))


def formats_by_negotiation(server):
    for accept, openmetrics in ((None, False), (PROMETHEUS, True), ("*/*", False), ("text/plain", False), (OPENMETRICS, True),
                                (f"{OPENMETRICS};version=2.0.0", False), (f"{OPENMETRICS};q=0,*/*", False),
                                (f"{OPENMETRICS};q=0.3,text/plain;q=0.4", False), (f'{OPENMETRICS} ; version="1.0.0" , */*;q=0.1', True),
                                ("text/plain;version=0.0.4;q=0.5," + OPENMETRICS, True), (f"{OPENMETRICS};q=2", False), (";,=;q", False)):
        check(page(server, accept).openmetrics == openmetrics, f"Accept: {accept}")
    text, metrics = page(server), page(server, PROMETHEUS)
    check({k[0] for k in text.series} == {k[0] for k in metrics.series}, "both have the same names")


def pages_are_compressed(server):
    """A client that requests compression gets the same series."""
    for accept, packed in ((None, False), ("", False), ("gzip", True), ("gzip, deflate, br", True), ("deflate,  X-GZip ;q=0.5", True), ("*", True),
                           ("identity", False), ("gzip;q=0", False), ("*;q=0", False), ("gzip;q=0,*", False), ("gzip;q=0.4, identity;q=0.5", False),
                           ("br;q=1.0, gzip;q=0.8, *;q=0.1", True), ("gzip;q=2", False), ("gzipped", False), (",;=,q=;", False), ("g" * 4000, False)):
        answer, body = server.get("/metrics", **({"Accept-Encoding": accept} if accept is not None else {}))
        check((answer.headers["Content-Encoding"] == "gzip") == packed, f"Accept-Encoding: {accept}", answer.headers)
        check("Accept-Encoding" in answer.headers["Vary"] and int(answer.headers["Content-Length"]) == len(body), "the headers", answer.headers)
        text = gzip.decompress(body) if packed else body
        check({k[0] for k in Page(text.decode(), False).series} == {k[0] for k in page(server).series}, "the same page")
        check(not packed or 4 * len(body) < len(text), "it is smaller", len(body), len(text))
    check(server.get("/", **{"Accept-Encoding": "gzip"})[0].headers["Content-Encoding"] is None, "a page that fits a packet is not compressed")
    answer, body = server.get("/metrics", "HEAD", **{"Accept-Encoding": "gzip"})
    check(answer.headers["Content-Encoding"] == "gzip" and not body, "HEAD", answer.headers)


def types_of_counters(server):
    text, metrics = page(server), page(server, PROMETHEUS)
    for name, kind, unit in (("windows_system_context_switches", "counter", None), ("windows_memory_available_bytes", "gauge", "bytes"),
                             ("windows_system_system_up_time_seconds", "gauge", "seconds"),
                             ("windows_processor_user_time_seconds", "counter", "seconds")):
        check(metrics.families.get(name) == kind and metrics.units.get(name) == unit, f"{name} is a {kind}", metrics.families)
        check(text.families.get(name + ("_total" if kind == "counter" else "")) == kind, f"{name} as text", text.families)
    later = page(server)
    for name in ("windows_system_context_switches_total", "windows_system_system_up_time_seconds"):
        check(later.value(name) >= text.value(name) > 0, f"{name} rises")


def missing_counter_keeps_others(server):
    answer = page(server)
    check("no such object" in server.log_text() and "no such counter" in server.log_text(), "the missing counters are named", server.log_text())
    missing, processes = answer.value("openpla_export_missing"), answer.value("windows_system_processes")
    named = server.log_text().count("openpla serve: ")  # includes counters that this host OS lacks
    check(missing == named >= 2 and processes >= 1, "the other counters are served", missing, processes, server.log_text())


def totals_are_omitted(server):
    names = [dict(key[1]).get("name") for key in page(server).of("windows_processor_user_time_seconds_total")]
    check("0" in names and "_Total" not in names, "no _Total beside the instances", names)


def serves_total_on_request():
    for arguments in ((r"\Processor(_Total)\% User Time",), (r"\Processor(*)\% User Time", "-total")):
        server = Served("serve", "0", *arguments)
        try:
            check(page(server).of("windows_processor_user_time_seconds_total", name="_Total"), "_Total by its name and by -total")
        finally:
            server.end()


def series_keep_their_process(server):
    """If two processes have the same name and the first one exits, the second one keeps its labels. An exited process
    has no series."""
    shutil.copy(shutil.which("sleep"), "served_sleep")
    name, handles = "served_sleep", "windows_process_handles"
    first = subprocess.Popen([os.path.abspath(name), "1000"])
    second = subprocess.Popen([os.path.abspath(name), "1000"])
    try:
        end = time.monotonic() + PATIENCE
        while len(page(server).of(handles, name=name)) != 2:
            check(time.monotonic() < end, "both processes appear")
        before = page(server).of(handles, name=name)
        check({dict(k[1])["pid"] for k in before} == {str(first.pid), str(second.pid)}, "with their process IDs", before)
        first.kill()
        first.wait()
        end = time.monotonic() + PATIENCE
        while len(page(server).of(handles, name=name)) != 1:
            check(time.monotonic() < end, "the ended process disappears")
        after = page(server).of(handles, name=name)
        check(set(after) < set(before) and dict(next(iter(after))[1])["pid"] == str(second.pid), "the other process keeps its labels", after)
        threads = page(server).of("windows_thread_user_time_seconds_total", pid=str(second.pid))
        check([dict(k[1]) for k in threads] == [{"parent": name, "pid": str(second.pid), "tid": str(second.pid)}], "its thread", threads)
    finally:
        for process in (first, second):
            process.kill()
            process.wait()


def values_equal_typeperf(server):
    """Compares a counter that does not change between the two reads."""
    before = page(server).value("windows_memory_commit_limit_bytes")
    shown = openpla(0, "typeperf", r"\Memory\Commit Limit", "-sc", "1", "-si", "0.1")
    check(f'"{before:.6f}"' in shown, "the same value as typeperf", before, shown)


def no_path_serves_files(server):
    host = b"Host: localhost\r\n"
    for path in ("/metrics/", "/metrics/../../etc/passwd", "/etc/passwd", "//metrics", "/%6detrics", "/favicon.ico", "metrics", "*"):
        check(server.raw(f"GET {path} HTTP/1.1\r\n".encode() + host + b"\r\n") in (400, 404), f"no path serves a file: {path}")
    check(server.get("/")[0].status == 200 and b"/metrics" in server.get("/")[1], "the front page")
    check(server.get("/metrics", "HEAD")[0].status == 200 and server.get("/metrics", "POST")[0].status == 405, "HEAD, not POST")
    check(server.raw(b"GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n") == 403, "a request with another site's Host header")


def connections_are_kept(server):
    """A scraper reuses its connection and may send requests without waiting for responses. If there are many idle
    connections, the server closes some of them."""
    request = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as s:
        for count in (1, 1, 3):
            s.sendall(request * count)
            for _ in range(count):
                check(read_answer(s).startswith(b"HTTP/1.1 200 "), "an answer")
        s.sendall(request.replace(b"\r\n\r\n", b"\r\nAccept-Encoding: gzip\r\n\r\n") * 2)
        for _ in range(2):
            check(b"\r\nContent-Encoding: gzip\r\n" in read_answer(s), "a compressed answer")
        s.sendall(request.replace(b"\r\n\r\n", b"\r\nConnection: Close\r\n\r\n"))
        check(b"\r\nConnection: close\r\n" in read_answer(s) and s.recv(1) == b"", "Connection: close ends the connection")
    kept = []
    try:
        for _ in range(12):
            kept.append(socket.create_connection(("127.0.0.1", server.port), PATIENCE))
            kept[-1].sendall(request)
            read_answer(kept[-1])
        end = time.monotonic() + PATIENCE
        while len(select.select(kept, [], [], 0.1)[0]) < 4:  # until the server has closed four
            check(time.monotonic() < end, "eight at most stay open")
        check(page(server).series, "a new client is answered")
    finally:
        for s in kept:
            s.close()


def read_answer(s):
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += s.recv(1)
    head, length = answer, int(re.search(rb"Content-Length: (\d+)", answer)[1])
    while length:
        length -= len(s.recv(min(length, 65536)))
    return head


def refused_client_gets_reason(server):
    """The client can read the response even if it is still sending: a request of a megabyte is refused after some
    kilobytes."""
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as s:
        s.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * (1 << 20))
        check(read_answer(s).startswith(b"HTTP/1.1 431 ") and s.recv(1) == b"", "the reason")


def slow_client_delays_no_other(server):
    """Clients that never read the page or send half a request do not delay other clients."""
    slow = [socket.create_connection(("127.0.0.1", server.port), PATIENCE) for _ in range(8)]
    try:
        for i, s in enumerate(slow):
            s.sendall(b"GET /metrics HTTP/1.1\r\n" + (b"Host: localhost\r\n\r\n" if i % 2 else b""))
        for _ in range(3):
            check(page(server).series, "another scraper has its page")
    finally:
        for s in slow:
            s.close()


def has_windows_exporter_names():
    """The page has the metric names of windows_exporter, including the older ones, with its labels and factors."""
    server = Served("serve", "0", "-preset", "windows_exporter")
    try:
        answer, metrics = page(server), page(server, PROMETHEUS)
        check(not server.log_text().strip().count("\n"), "counters that this computer lacks are no errors", server.log_text())
        for name, labels in (("windows_cpu_time_total", {"core": "0,0", "mode": "idle"}), ("windows_memory_commit_limit", {}),
                             ("windows_os_virtual_memory_bytes", {}), ("windows_system_threads", {}), ("windows_cs_logical_processors", {}),
                             ("windows_tcp_segments_received_total", {"af": "ipv4"}), ("windows_exporter_collector_success", {"collector": "cpu"})):
            check(answer.value(name, **labels) > 0, name)
        check(answer.of("windows_physical_disk_reads_total").keys() <= {("windows_physical_disk_reads_total", (("disk", str(n)),)) for n in range(99)},
              "disks by number", answer.of("windows_physical_disk_reads_total"))
        check(metrics.families["windows_udp_datagram_received_total"] == "gauge" and metrics.families["windows_cpu_time"] == "counter", "types")
        started = answer.of("windows_process_start_time_seconds_timestamp", process_id=str(server.process.pid))
        check(EMULATOR or abs(next(iter(started.values())) - time.time()) < PATIENCE, "a process's start time", started)
        check(abs(answer.value("windows_time_current_timestamp_seconds") - time.time()) < PATIENCE, "the time")
        answer, body = server.get("/metrics?collect%5B%5D=cpu&collect[]=system&other=1")
        names = {key[0] for key in Page(body.decode(), False).series if key[0].startswith("windows_")}
        check(all(re.match("windows_(cpu|cs|system|os_processes|exporter)", name) for name in names), "collect[]", names)
        check(server.get("/metrics?collect[]=nothing")[0].status == 400, "an unknown collector")
    finally:
        server.end()
    for which, new, old in (("new", True, False), ("old", False, True)):
        server = Served("serve", "0", "-preset", "windows_exporter", "-names", which)
        try:
            names = {key[0] for key in page(server).series}
            check(("windows_system_processes" in names) == new and ("windows_os_processes" in names) == old, f"-names {which}")
            check("windows_cpu_time_total" in names, "names that have not changed")
        finally:
            server.end()


def promtool_accepts_page(server):
    promtool = shutil.which("promtool")
    if not promtool:
        print("promtool is not installed (package prometheus): its check was skipped")
        return
    text = server.get("/metrics")[1]
    done = subprocess.run([promtool, "check", "metrics"], input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    check(done.returncode == 0 and not done.stdout, "promtool check metrics", done.stdout.decode())


def explains_wrong_arguments():
    check("missing -http" in openpla(2, "serve", r"\Memory\Available Bytes"), "-http")
    check("missing counter" in openpla(2, "serve", "-http", "0"), "no counter")
    check("not found" in openpla(1, "serve", "-http", "0", "-set", "no such set"), "an unknown set")
    openpla(1, "serve", "-http", "0", "-cf", "missing.txt")
    check("unknown preset 'x'" in openpla(2, "serve", "-http", "0", "-preset", "x"), "an unknown preset")
    check("invalid value 'x'" in openpla(2, "serve", "-http", "0", "-preset", "windows_exporter", "-names", "x"), "-names")
    check("requires -preset" in openpla(2, "serve", "-http", "0", r"\Memory\Available Bytes", "-names", "new"), "-names alone")
    check("invalid port" in openpla(1, "serve", "-http", "x", r"\Memory\Available Bytes"), "an invalid port")


def counters_of_a_set():
    openpla(0, "logman", "create", "counter", "serve_test", "-c", r"\Memory\Available Bytes", r"\Processor(*)\% User Time", "-si", "1")
    try:
        server = Served("serve", "0", "-set", "serve_test")
        try:
            names = {key[0] for key in page(server).series}
            check({"windows_memory_available_bytes", "windows_processor_user_time_seconds_total"} <= names, "the set's counters", names)
        finally:
            server.end()
    finally:
        openpla(0, "logman", "delete", "serve_test")


def main():
    with tempfile.TemporaryDirectory(prefix="openpla-serve.", dir=os.environ.get("WINEPREFIX")) as folder:
        os.chdir(folder)
        explains_wrong_arguments()
        with open("list.txt", "w", encoding="utf-8") as f:
            f.write("; what to serve\n" + "\n".join(COUNTERS) + "\n")
        server = Served("serve", "0", "-cf", "list.txt")
        try:
            formats_by_negotiation(server)
            pages_are_compressed(server)
            types_of_counters(server)
            missing_counter_keeps_others(server)
            totals_are_omitted(server)
            if not EMULATOR:
                series_keep_their_process(server)
            values_equal_typeperf(server)
            no_path_serves_files(server)
            connections_are_kept(server)
            refused_client_gets_reason(server)
            slow_client_delays_no_other(server)
            promtool_accepts_page(server)
        finally:
            server.end()
        serves_total_on_request()
        has_windows_exporter_names()
        if not EMULATOR:
            os.environ["OPENPLA_DATA"] = os.path.join(folder, "data")
            counters_of_a_set()
        os.chdir("/")


main()
