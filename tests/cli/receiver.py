# SPDX-License-Identifier: MIT
"""An HTTP server whose responses a test chooses, and a running openpla push that sends to it."""
import contextlib
import http.server
import os
import signal
import subprocess
import threading
import time

from program import EMULATOR, PROGRAM, check

PATIENCE = 240  # seconds


class Receiver:
    """Keeps the accepted bodies. `answers` lists the responses to the next requests: each is a status with headers and
    body, "hang" or "cut". Further requests are accepted."""

    def __init__(self, port=0, context=None):
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with receiver.changed:
                    answer = receiver.answers.pop(0) if receiver.answers else receiver.otherwise
                    receiver.requests.append((self.path, dict(self.headers), body, answer))
                    if answer[0] in range(200, 300):
                        receiver.bodies.append(body)
                    receiver.changed.notify_all()
                if answer[0] == "hang":
                    receiver.released.wait(PATIENCE)
                if answer[0] in ("hang", "cut"):
                    self.close_connection = True
                    return
                self.send_response(answer[0])
                for name, value in answer[1].items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer[2])))
                self.end_headers()
                self.wfile.write(answer[2])

            def log_message(self, *_):
                pass

            def handle(self):
                with contextlib.suppress(ConnectionError):  # the sender was killed
                    super().handle()

        self.answers, self.requests, self.bodies = [], [], []
        self.otherwise = (200, {}, b"")
        self.changed, self.released = threading.Condition(), threading.Event()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        if context:
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        self.url = f"{'https' if context else 'http'}://127.0.0.1:{self.port}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def wait(self, what, condition):
        with self.changed:
            check(self.changed.wait_for(condition, PATIENCE), f"timeout: the server did not receive {what}", self.requests)

    def end(self):
        self.released.set()
        self.server.shutdown()
        self.server.server_close()


def wait_until(what, condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        check(time.monotonic() < end, f"timeout: {what}")
        time.sleep(0.05)


def waiting(folder):
    """Returns the number of requests in a queue."""
    return len([name for name in os.listdir(folder) if name.endswith(".batch")]) if os.path.isdir(folder) else 0


class Push:
    """Runs openpla push until it is stopped."""

    def __init__(self, *arguments):
        self.out = open("push.txt", "wb")
        self.process = subprocess.Popen([*EMULATOR, PROGRAM, "push", *arguments], stdin=subprocess.DEVNULL, stdout=self.out,
                                        stderr=subprocess.STDOUT, env=dict(os.environ, OPENPLA_WINE_RUN="through"))

    def log_text(self):
        with open("push.txt", encoding="utf-8") as f:
            return f.read()

    def wait(self, text):
        end = time.monotonic() + PATIENCE
        while text not in self.log_text():
            check(self.process.poll() is None and time.monotonic() < end, f"timeout: expected the message '{text}'", self.log_text())
            time.sleep(0.05)

    def end(self, expected=0):
        """Returns the output after Ctrl+C. Under Wine the program is killed, because it cannot receive Ctrl+C from
        here."""
        check(self.process.poll() is None, "openpla push still runs", self.log_text())
        if EMULATOR:
            self.kill()
            return self.log_text()
        self.process.send_signal(signal.SIGINT)
        check(self.process.wait(PATIENCE) == expected, f"exit code {self.process.returncode}, not {expected}", self.log_text())
        self.out.close()
        return self.log_text()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.out.close()
