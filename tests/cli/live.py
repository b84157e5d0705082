#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""live.py PROGRAM [EMULATOR]: "openpla live" of PROGRAM (openpla.exe) shows counters while they change. Bugs would show
old values, leave the terminal in a wrong state, or open this computer to requests from others."""
import fcntl
import json
import os
import pty
import re
import select
import socket
import struct
import tempfile
import termios
import time

from program import EMULATOR, PROGRAM, check, openpla, openpla_streams
from served import PATIENCE, Served

os.environ["OPENPLA_SAMPLE_LIMIT"] = "0"  # on a busy machine a sample is slow
IDLE, COMMITTED, SYSTEM = r"\Processor(_Total)\% Idle Time", r"\Memory\Committed Bytes", r"\System\System Up Time"


def prints_lines_without_terminal():
    output, messages = openpla_streams(0, "live", IDLE, COMMITTED, "-sc", "3", "-si", "0.2")
    lines = [line.split("\t") for line in output.splitlines()]
    check(len(lines) == 6 and all(len(line) == 3 for line in lines), "3 samples of 2 counters", output, messages)
    for line, counter in zip(lines, (IDLE, COMMITTED) * 3):
        check(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line[0]) and line[1].endswith(counter), "time and counter", line)
        check(re.fullmatch(r"[0-9.]+ (%|[KMGT]?B)", line[2]), "value and unit", line)
    check("\x1b" not in output, "no terminal control sequences", output)


def counters_of_files_and_defaults():
    with open("list.txt", "w", encoding="utf-8") as f:
        f.write(f"; a list\n{COMMITTED}\n")
    check(COMMITTED in openpla(0, "live", "-cf", "list.txt", "-sc", "1", "-si", "0.1"), "-cf")
    check(r"\Memory\Available MBytes" in openpla(0, "live", "-sc", "1", "-si", "0.1"), "the default counters")


def explains_wrong_arguments():
    messages = openpla(3, "live", COMMITTED, r"\Memory\Committed Bytess", "-sc", "1", "-si", "0.1")
    check("did you mean" in messages and COMMITTED in messages, "a mistyped counter is reported, and the others are shown", messages)
    messages = openpla(1, "live", r"\Memory\Nothing of it", "-sc", "1")
    check("no counter could be added" in messages, "no valid counter", messages)
    check("not found" in openpla(1, "live", "no such set"), "an unknown set")
    openpla(1, "live", "-cf", "missing.txt")
    check("invalid time 'x'" in openpla(2, "live", COMMITTED, "-si", "x"), "-si")
    openpla(2, "live", COMMITTED, "-sc", "0")
    for where in ("x", "65536", "127.0.0.1:", "1.2.3:8080", "[::1:8080", "-1"):
        messages = openpla(1, "live", COMMITTED, "-http", where, "-sc", "1")
        check("invalid port" in messages or "is not an IP address" in messages, f"-http {where}", messages)


def counters_of_a_set():
    openpla(0, "logman", "create", "counter", "live_test", "-c", COMMITTED, IDLE, "-si", "1")
    try:
        output = openpla(0, "live", "live_test", "-sc", "1")
        check(COMMITTED in output and IDLE in output, "the set's counters", output)
        openpla(0, "live", r"Service\live_test", "-sc", "1", "-si", "0.1")
    finally:
        openpla(0, "logman", "delete", "live_test")


class Terminal:
    """The program in a pseudo-terminal."""

    def __init__(self, columns, lines, *arguments):
        self.process, self.file = pty.fork()
        if not self.process:
            os.execv(PROGRAM, [PROGRAM, "live", *arguments])
        self.shown = ""
        self.resize(columns, lines)

    def resize(self, columns, lines):
        fcntl.ioctl(self.file, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def read(self):
        try:
            more = os.read(self.file, 65536)
        except OSError:  # the program has exited
            return False
        self.shown += more.decode("utf-8", "replace").replace("\r\r\n", "\r\n")
        return bool(more)

    def screens(self):
        return [re.sub(r"\x1b\[[?0-9;]*[a-zA-Z]", "", text).split("\r\n") for text in self.shown.split("\x1b[H")[1:]
                if "\x1b[J" in text]

    def wait_until(self, right, what):
        end = time.monotonic() + PATIENCE
        while not any(right(picture) for picture in self.screens()):
            check(time.monotonic() < end, what, self.shown[-4000:])
            if select.select([self.file], [], [], 1)[0]:
                check(self.read(), f"{what}: the program has exited", self.shown[-4000:])
        self.shown = self.shown[self.shown.rindex("\x1b[H"):]

    def keys(self, keys):
        os.write(self.file, keys)

    def end(self):
        while self.read():
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])


def has_size(columns, lines):
    return lambda picture: all(len(line) <= columns for line in picture) and len(picture) == lines and len(picture[0]) == columns


def terminal_shows_and_resizes():
    """The display fits the window, also after a resize. Keys pause, scroll and quit. The terminal's state is
    restored."""
    t = Terminal(100, 8, "-si", "0.2")
    t.wait_until(lambda p: has_size(100, 8)(p) and "\u2588" in "".join(p) and re.search(r"\d %", "".join(p)), "a picture of 100 x 8")
    t.resize(60, 6)
    t.wait_until(has_size(60, 6), "a picture of 60 x 6")
    t.wait_until(lambda p: p[2].startswith(r"\Processor(_Total)"), "the first counter is in the first row")
    t.keys(b"\x1b[B")
    t.wait_until(lambda p: not p[2].startswith(r"\Processor(_Total)"), "scrolled")
    t.keys(b"\x1b[H")
    t.wait_until(lambda p: p[2].startswith(r"\Processor(_Total)"), "the first counter is in the first row again")
    t.keys(b" ")
    t.wait_until(lambda p: "paused" in p[0], "paused")
    t.keys(b" ")
    t.wait_until(lambda p: "paused" not in p[0], "continued")
    t.resize(5, 2)
    t.wait_until(lambda p: len(p) > 2, "a tiny window")
    t.keys(b"q")
    check(t.end() == 0 and t.shown.endswith("\x1b[?25h\x1b[?1049l"), "q quits and restores the screen", t.shown[-300:])
    t = Terminal(80, 24, COMMITTED, "-si", "0.2")
    t.wait_until(has_size(80, 4), "a picture of one counter")
    t.keys(b"\x03")
    check(t.end() == 0 and t.shown.endswith("\x1b[?1049l"), "Ctrl+C quits too", t.shown[-300:])
    t = Terminal(80, 24, COMMITTED, "-si", "0.1", "-sc", "3")
    check(t.end() == 0, "-sc ends the program")


class Server(Served):
    def __init__(self, *arguments):
        super().__init__("live", *arguments)

    def samples(self, since):
        return json.loads(self.get(f"/samples?since={since}")[1])


def serves_page_and_samples(server):
    answer, page = server.get("/")
    policy = answer.headers["Content-Security-Policy"]
    check(answer.status == 200 and b"<title>" in page and "default-src 'none'" in policy and "unsafe" not in policy, "the page", policy)
    for path in re.findall(r'(?:src|href)="(/[^"]*)"', page.decode()):
        answer, body = server.get(path)
        head, nothing = server.get(path, "HEAD")
        check(answer.status == head.status == 200 and not nothing and head.headers["Content-Length"] == answer.headers["Content-Length"] ==
              str(len(body)), f"{path} by GET and HEAD")
    counters = json.loads(server.get("/counters")[1])
    check([c["name"] for c in counters["counters"]] == [IDLE, COMMITTED, SYSTEM] and counters["interval"] == 100, "the counters", counters)
    check([c["unit"] for c in counters["counters"]] == ["%", "B", ""], "their units", counters)
    seen, since, end = [], 0, time.monotonic() + PATIENCE
    while len(seen) < 5:
        check(time.monotonic() < end, "samples come", seen)
        answer = server.samples(since)
        check(answer["next"] == since + len(answer["samples"]) or since == 0, "`next` follows the samples", answer)
        seen += answer["samples"]
        since = answer["next"]
    check(all(len(row) == 4 and row[2] > 1e6 for row in seen), "values", seen)
    check(seen == sorted(seen, key=lambda row: row[0]) and len({row[0] for row in seen}) == len(seen), "each sample once, in order", seen)
    check(abs(seen[-1][0] / 1000 - time.time()) < PATIENCE and seen[-1][3] > seen[0][3], "samples are current and change", seen)
    check(server.samples(10 ** 18)["samples"] == [], "no sample of the future")


def rejects_foreign_requests(server):
    host = b"Host: localhost\r\n"
    for request, status in (
            (b"GET / HTTP/1.1\r\n" + host + b"\r\n", 200), (b"GET / HTTP/1.0\r\nHost: [::1]:80\r\n\r\n", 200),
            (b"GET / HTTP/1.1\r\n\r\n", 400), (b"GET / HTTP/1.1\r\n" + host + host + b"\r\n", 400),
            (b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403), (b"GET / HTTP/1.1\r\nHost: 127.0.0.1.evil.example:80\r\n\r\n", 403),
            (b"GET / HTTP/1.1\r\nHost: localhost:x\r\n\r\n", 400), (b"GET / HTTP/1.1\r\nHost:\r\n\r\n", 400),
            (b"GET / HTTP/2.0\r\n" + host + b"\r\n", 505), (b"GET /\r\n\r\n", 400), (b"\r\n\r\n", 400), (b"\x16\x03\x01\r\n\r\n", 400),
            (b"GET / HTTP/1.1\r\n" + host + b" folded: 1\r\n\r\n", 400), (b"GET / HTTP/1.1\r\n" + host + b"no colon\r\n\r\n", 400),
            (b"GET / HTTP/1.1\n" + host + b"\r\n", 400), (b"GET /\0 HTTP/1.1\r\n" + host + b"\r\n", 400),
            (b"POST / HTTP/1.1\r\n" + host + b"\r\n", 405), (b"GET / HTTP/1.1\r\n" + host + b"Content-Length: 5\r\n\r\nabcde", 400),
            (b"GET / HTTP/1.1\r\n" + host + b"Transfer-Encoding: chunked\r\n\r\n", 400),
            (b"GET /" + b"a" * 9000, 431), (b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 2000, 431)):
        got = server.raw(request)
        check(got == status or (status == 431 and got is None), f"{request[:80]}: {got}, not {status}")
    for path in ("/../etc/passwd", "/..%2f..%2fetc/passwd", "//etc/passwd", "/etc/passwd", "/live.js/", "/live.js?x", "/%00", "/index.html",
                 "http://127.0.0.1/", "*", "C:\\windows\\win.ini"):
        check(server.raw(f"GET {path} HTTP/1.1\r\n".encode() + host + b"\r\n") == 404, f"no path serves a file: {path}")
    for since in ("", "-1", "1e3", "0x1", "9" * 30, "99999999999999999999", "1&x"):
        check(server.raw(f"GET /samples?since={since} HTTP/1.1\r\n".encode() + host + b"\r\n") in (400, 404), f"since={since}")


def limits_idle_connections(server):
    """Clients hold all connections and send nothing or single bytes. Other clients are refused until those connections
    time out."""
    held = [socket.create_connection(("127.0.0.1", server.port), PATIENCE) for _ in range(40)]
    for s in held:
        try:
            s.sendall(b"G")
        except ConnectionError:
            pass
    statuses = []
    for s in held:
        try:
            answer = s.recv(65536)
        except ConnectionError:
            answer = b""
        statuses.append(answer[9:12])
        s.close()
    check(statuses.count(b"408") in range(1, 17) and set(statuses) <= {b"408", b"503", b""}, "all these connections end", statuses)
    end = time.monotonic() + PATIENCE
    while server.raw(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n") != 200:
        check(time.monotonic() < end, "the server answers again")


def browser_shows_samples():
    server = Server("0", IDLE, COMMITTED, SYSTEM, "-si", "0.1")
    try:
        serves_page_and_samples(server)
        rejects_foreign_requests(server)
        limits_idle_connections(server)
        if not EMULATOR:
            messages = openpla(1, "live", COMMITTED, "-http", str(server.port), "-sc", "1")
            check(str(server.port) in messages, "a port that is in use", messages)
    finally:
        server.end()
    openpla(0, "live", COMMITTED, "-http", "127.0.0.1:0", "-sc", "1", "-si", "0.1")


def main():
    with tempfile.TemporaryDirectory(prefix="openpla-live.", dir=os.environ.get("WINEPREFIX")) as folder:
        os.chdir(folder)
        prints_lines_without_terminal()
        counters_of_files_and_defaults()
        explains_wrong_arguments()
        if not EMULATOR:
            os.environ["OPENPLA_DATA"] = os.path.join(folder, "data")
            counters_of_a_set()
            terminal_shows_and_resizes()
        browser_shows_samples()
        os.chdir("/")


main()
