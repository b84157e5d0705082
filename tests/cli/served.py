# SPDX-License-Identifier: MIT
"""Runs a verb of openpla.exe that serves HTTP, and its clients."""
import contextlib
import http.client
import os
import re
import signal
import socket
import subprocess
import time

from program import EMULATOR, PROGRAM, check

PATIENCE = 240  # seconds


class Served:
    """Runs a verb of the program with -http. `command`: a program to run instead, such as one of a native build;
    `environment`: additional variables."""

    count = 0

    def __init__(self, verb, *arguments, command=None, environment=None):
        Served.count += 1
        self.file, self.command = f"url{Served.count}.txt", command or [*EMULATOR, PROGRAM]
        self.out = open(self.file, "wb")  # services keep a pipe open
        self.process = subprocess.Popen([*self.command, verb, "-http", *arguments], stdin=subprocess.DEVNULL,
                                        stdout=self.out, stderr=subprocess.STDOUT,
                                        env={**os.environ, "OPENPLA_WINE_RUN": "through", **(environment or {})})
        end = time.monotonic() + PATIENCE
        while True:
            with open(self.file, encoding="utf-8") as f:
                found = re.search(r"(https?)://127\.0\.0\.1:(\d+)/\S*\s", f.read())
            if found:
                break
            check(self.process.poll() is None and time.monotonic() < end, "no address is printed", self.log_text())
            time.sleep(0.05)
        self.scheme, self.port = found[1], int(found[2])

    def log_text(self):
        with open(self.file, encoding="utf-8") as f:
            return f.read()

    def get(self, path, method="GET", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer, body

    def raw(self, request, close=True):
        """Returns the status of the response; None if the connection was closed without one."""
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE) as s:
            try:
                s.sendall(request)
                if close:
                    with contextlib.suppress(OSError):  # the server has already responded and closed the connection
                        s.shutdown(socket.SHUT_WR)
                answer = b""
                while more := s.recv(65536):
                    answer += more
            except ConnectionError:
                return None
            found = re.match(rb"HTTP/1\.1 (\d{3}) ", answer)
            return int(found[1]) if found else None

    def end(self):
        check(self.process.poll() is None, "the server still runs")
        if EMULATOR and self.command[0] == EMULATOR[0]:
            self.process.kill()
        else:
            self.process.send_signal(signal.SIGINT)
            check(self.process.wait(PATIENCE) == 0, "Ctrl+C ends the server", self.process.returncode)
        self.process.wait()
        self.out.close()
