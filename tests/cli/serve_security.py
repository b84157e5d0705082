#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""serve_security.py PROGRAM [EMULATOR]: -web of openpla serve admits only the accounts and certificates of its file,
and accepts renewed certificates without a restart."""
import base64
import os
import random
import shutil
import socket
import ssl
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
import warnings

from certificates import OPENSSL, copy_certificate, make_certificate
from program import EMULATOR, PROGRAM, check, host_path, openpla
from served import PATIENCE, Served

COUNTER = r"\Memory\Committed Bytes"
# bcrypt of "secret of tests" with the lowest cost
HASH = "$2b$05$abcdefghijklmnopqrstuuKL2hlVXxuZp5cQ3U8W5PfhhiohRZzKS"


def write(name, text):
    with open(name, "w", encoding="utf-8", newline="") as f:
        f.write(text)
    return host_path(name)


def basic(user, password):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def status(server, authorization=None):
    answer, body = server.get("/metrics", **({"Authorization": authorization} if authorization else {}))
    check((answer.status == 200) == (b"windows_memory_committed_bytes" in body), "only an answer 200 has counters", answer.status, body[:200])
    return answer.status


def admits_only_accounts():
    write("tokens", "first token\n\nsecond\n")
    server = Served("serve", "0", COUNTER, "-web", write("web.yml", f"""# accounts
---
basic_auth_users:
    alice: {HASH}   # a comment
    "bob: x": '{HASH}'
bearer_token_file: tokens
"""))
    try:
        check(status(server) == 401 and status(server, "") == 401, "nobody")
        for _ in range(2):  # the second request uses the cached result
            check(status(server, basic("alice", "secret of tests")) == 200, "a user")
        for user, password in (("alice", "Secret of tests"), ("alice", ""), ("alice", "secret of tests "), ("bob", "secret of tests"),
                               ("", ""), ("alice\0", "secret of tests"), ("carol", "secret of tests")):
            check(status(server, basic(user, password)) == 401, f"{user} with {password}")
        check(status(server, "Bearer second") == 200 and status(server, "bearer first token") == 200, "tokens")
        for wrong in ("Bearer", "Bearer ", "Bearer secon", "Bearer secondd", "Bearer first", "Basic", "Basic =", "Basic ====", "Basic QQ",
                      "Basic " + "A" * 4000, "Digest second", "second", "Bearer " + "x" * 2000):
            check(status(server, wrong) == 401, f"refused: {wrong[:40]}")
        answer, _ = server.get("/")
        check(answer.status == 401 and "Basic" in str(answer.headers) and "Bearer" in str(answer.headers), "the challenge", answer.headers)
        two = b"Authorization: Bearer second\r\nAuthorization: Bearer other\r\n"
        check(server.raw(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n" + two + b"\r\n") == 400, "two Authorization headers")
    finally:
        server.end()


def tokens_change_while_server_runs():
    server = Served("serve", "0", COUNTER, "-web", write("web.yml", "bearer_token_file: tokens\n"))
    try:
        check(status(server, "Bearer second") == 200, "the first token")
        write("tokens", "renewed\n")
        end = time.monotonic() + PATIENCE
        while status(server, "Bearer renewed") != 200:
            check(time.monotonic() < end, "the new token is accepted")
        check(status(server, "Bearer second") == 401, "the old token is refused")
        write("tokens", "\n")
        end = time.monotonic() + PATIENCE
        while "stay in use" not in server.log_text():
            check(status(server, "Bearer renewed") == 200 and time.monotonic() < end, "a file without tokens leaves the tokens unchanged")
        check(server.log_text().count("stay in use") == 1, "it is reported once", server.log_text())
    finally:
        server.end()


def explains_wrong_files():
    for text, why in (("basic_auth_users:\n  alice: plain\n", "line 2: the password is not a bcrypt hash"), ("tls_server_config:\n", "missing cert_file"),
                      ("tls_server_config:\n  cert_file: a\n", "missing key_file"), ("other: 1\n", "line 1: unsupported key: 'other'"),
                      ("tls_server_config:\n\tcert_file: a\n", "tabs"), ("tls_server_config:\n  cipher_suites: [a]\n", "line 2"),
                      ("tls_server_config:\n  min_version: TLS10\n", "use TLS12 or TLS13"), ("bearer_token_file: missing\n", "missing"),
                      ("tls_server_config:\n  client_auth_type: Maybe\n", "unknown client_auth_type"), ("words\n", "expected 'key: value'")):
        output = openpla(1, "serve", "-http", "0", COUNTER, "-web", write("web.yml", text))
        check(why in output, f"{text!r}", output)
    openpla(1, "serve", "-http", "0", COUNTER, "-web", "no such file")


def live_page_requires_accounts():
    check("-web requires -http" in openpla(2, "live", COUNTER, "-web", "web.yml"), "-web alone")
    server = Served("live", "0", COUNTER, "-si", "0.1", "-web", write("web.yml", "bearer_token_file: tokens\n"))
    try:
        check(server.get("/counters")[0].status == 401, "nobody")
        check(server.get("/counters", Authorization="Bearer second")[0].status == 200, "a token")
    finally:
        server.end()


def context_for(trusted, client=None, version=None):
    context = ssl.create_default_context(cafile=trusted + ".crt")
    if client:
        context.load_cert_chain(client + ".crt", client + ".key")
    if version:
        context.minimum_version = context.maximum_version = version
    return context


def fetch(server, trusted, client=None, version=None, **headers):
    """Returns the status; None if TLS failed."""
    request = urllib.request.Request(f"https://127.0.0.1:{server.port}/metrics", headers=headers)
    try:
        with urllib.request.urlopen(request, context=context_for(trusted, client, version), timeout=PATIENCE) as answer:
            check(b"windows_memory_committed_bytes" in answer.read(), "the page")
            return answer.status
    except urllib.error.HTTPError as e:
        return e.code
    except (urllib.error.URLError, ssl.SSLError, ConnectionError):
        return None


def wait_until(right, what):
    end = time.monotonic() + PATIENCE
    while not right():
        check(time.monotonic() < end, what)


def tls_server(*more, settings=""):
    return Served("serve", "0", COUNTER, *more, "-web", write("web.yml", f"tls_server_config:\n  cert_file: used.crt\n  key_file: used.key\n{settings}"))


def serves_pages_by_tls():
    copy_certificate("server", "used")
    server = tls_server()
    try:
        check(server.scheme == "https" and fetch(server, "server") == 200 and fetch(server, "stranger") is None, "its certificate")
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            check(fetch(server, "server", None, version) == 200, version)
        check(server.raw(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n") is None, "no page without TLS")
        with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as silent:
            check(fetch(server, "server") == 200, "a silent client delays no other client", silent)
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
        with warnings.catch_warnings(action="ignore"):
            old.maximum_version = ssl.TLSVersion.TLSv1_1
        try:
            with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as s, old.wrap_socket(s):
                check(False, "TLS 1.1 is refused")
        except (ssl.SSLError, ConnectionError):
            pass
        for name in ("renewed", "ec"):  # the second one has a key of another type
            copy_certificate(name, "used")
            wait_until(lambda: fetch(server, name) == 200, f"a certificate that is replaced by '{name}' is used without a restart")  # pylint: disable=W0640
        check(fetch(server, "ec", None, ssl.TLSVersion.TLSv1_2) == 200, "with TLS 1.2")
        copy_certificate("leaf", "used")
        with open("used.crt", "ab") as chain, open("middle.crt", "rb") as middle:
            chain.write(middle.read() * 8)  # at the maximum chain length, and longer
        wait_until(lambda: fetch(server, "ca") == 200, "a chain of certificates")
        check(fetch(server, "ca", None, ssl.TLSVersion.TLSv1_2) == 200, "with TLS 1.2")
    finally:
        server.end()
    copy_certificate("ec", "used")
    server = tls_server(settings="  min_version: TLS13\n")
    try:
        check(fetch(server, "ec", None, ssl.TLSVersion.TLSv1_2) is None and fetch(server, "ec") == 200, "min_version")
    finally:
        server.end()


def requires_client_certificate():
    """Only certificates that the file's CA issued, and that are made for clients, are accepted."""
    copy_certificate("server", "used")
    both = f"  client_ca_file: ca.crt\nbasic_auth_users:\n  alice: {HASH}\n"
    server = tls_server(settings="  client_auth_type: RequireAndVerifyClientCert\n" + both)
    try:
        check(fetch(server, "server") is None and fetch(server, "server", "stranger") is None, "clients need a certificate of the file")
        for name, status_of in (("client", 401), ("for_clients", 401), ("for_servers", None)):
            for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
                check(fetch(server, "server", name, version) == status_of, f"the certificate '{name}'", version)
        check(fetch(server, "server", "client", Authorization=basic("alice", "secret of tests")) == 200, "a certificate and an account")
    finally:
        server.end()
    for kind, answers in (("RequestClientCert", (200, 200, 200, 200)), ("RequireAnyClientCert", (None, 200, 200, 200)),
                          ("VerifyClientCertIfGiven", (200, 200, None, None))):
        server = tls_server(settings=f"  client_auth_type: {kind}\n" + ("  client_ca_file: ca.crt\n" if kind[0] == "V" else ""))
        try:
            found = tuple(fetch(server, "server", name) for name in (None, "client", "stranger", "for_servers"))
            check(found == answers, kind, found)
        finally:
            server.end()


class KeptConnection:
    """A persistent connection with repeated requests, as Prometheus uses it."""

    def __init__(self, server, trusted, client=None):
        self.socket = context_for(trusted, client).wrap_socket(socket.create_connection(("127.0.0.1", server.port), PATIENCE), server_hostname="127.0.0.1")

    def request_status(self):
        """Returns the status; None if the connection was closed without a response."""
        answer = b""
        try:
            self.socket.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            while b"</html>" not in answer:
                more = self.socket.recv(65536)
                if not more:
                    break
                answer += more
        except (ssl.SSLError, ConnectionError):
            pass
        return int(answer.split()[1]) if answer else None


def kept_connection_follows_files():
    """A client whose certificate is withdrawn must not keep reading on its open connection."""
    copy_certificate("server", "used")
    shutil.copy("ca.crt", "used_ca.crt")
    server = tls_server(settings="  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: used_ca.crt\n")
    try:
        kept, idle = KeptConnection(server, "server", "client"), KeptConnection(server, "server", "for_clients")
        for _ in range(3):
            check(kept.request_status() == 200, "a kept connection")
        check(idle.request_status() == 200, "another one")
        shutil.copy("stranger.crt", "used_ca.crt")
        wait_until(lambda: fetch(server, "server", "stranger") == 200, "the new file is used")
        check(fetch(server, "server", "client") is None, "the old certificate is refused")
        check(kept.request_status() is None, "a connection with the old certificate is closed at its next request")
        check(idle.socket.recv(1) == b"", "or before")
    finally:
        server.end()


def client_hello():
    """Returns the first bytes that a TLS client sends."""
    outgoing = ssl.MemoryBIO()
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost")
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


def hostile_handshakes():
    """If a client sends something other than a handshake, or only half of one, only its own connection ends."""
    copy_certificate("server", "used")
    server = tls_server()
    first = client_hello()
    chance = random.Random(1)
    try:
        bad = [b"\x16\x03\x01\xff\xff" + b"\1" * 70000, b"\x16\x03\x03\0\0" * 1000, b"\x15\x03\x03\0\2\2\x28", b"\x80\x2e\1\3\1", first[:5] + b"\xff" * 600,
               b"\x17\x03\x03\x40\0" + bytes(16384), first * 3, b"\0" * 20000, b"GET /" + b"x" * 100000]
        for _ in range(100):
            mutated = bytearray(first)
            for _ in range(chance.randrange(1, 8)):
                mutated[chance.randrange(len(mutated))] = chance.randrange(256)
            bad.append(bytes(mutated[:chance.randrange(1, len(mutated) + 1)]))
        for bytes_sent in bad:
            check(server.raw(bytes_sent) is None, "no page", bytes_sent[:60])
        # Each of these slow clients sends only the beginning of a hello.
        slow = [socket.create_connection(("127.0.0.1", server.port), PATIENCE) for _ in range(6)]
        for i, s in enumerate(slow):
            s.sendall(first[:1 + i * len(first) // 7])
        check(fetch(server, "server") == 200, "other clients get their page during that time")
        for s in slow:
            try:
                while s.recv(65536):
                    pass
            except ConnectionError:
                pass
            s.close()
        # A record of an established TLS session is modified.
        with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as s:
            incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            client = context_for("server").wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
            while True:
                try:
                    client.do_handshake()
                    break
                except ssl.SSLWantReadError:
                    s.sendall(outgoing.read())
                    incoming.write(s.recv(65536))
            client.write(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
            record = bytearray(outgoing.read())
            record[-1] ^= 1
            try:
                s.sendall(record)
                answer = b""
                while more := s.recv(65536):
                    answer += more
            except ConnectionError:
                pass
            # The client gets only an alert and session tickets.
            check(len(answer) < 1000, "no page for a modified record", len(answer))
        check(fetch(server, "server", Cookie="x" * 9000) == 431, "too long headers are refused")
        check(fetch(server, "server") == 200, "the server still answers at the end")
    finally:
        server.end()


def rejects_unusable_files():
    copy_certificate("server", "used")
    shutil.copy("renewed.key", "used.key")
    tls = "tls_server_config:\n  cert_file: used.crt\n  key_file: used.key\n"
    check("used.key" in openpla(1, "serve", "-http", "0", COUNTER, "-web", write("web.yml", tls)), "the key of another certificate")
    for name, text in (("used.key", "no key\n"), ("used.crt", "no certificate\n"), ("used.crt", "")):
        copy_certificate("server", "used")
        write(name, text)
        check(name in openpla(1, "serve", "-http", "0", COUNTER, "-web", "web.yml"), f"{name} with {text!r}")
    copy_certificate("server", "used")
    write("web.yml", tls + "  client_auth_type: VerifyClientCertIfGiven\n  client_ca_file: empty.crt\n")
    write("empty.crt", "nothing\n")
    check("empty.crt" in openpla(1, "serve", "-http", "0", COUNTER, "-web", "web.yml"), "a client_ca_file without certificates")


def tls():
    if not OPENSSL:
        print("openssl is not installed: TLS was skipped")
        return
    for name in ("server", "renewed", "stranger", "ca"):
        make_certificate(name)
    make_certificate("ec", kind="ec")
    make_certificate("middle", "ca")
    make_certificate("leaf", "middle")
    make_certificate("client", "ca")
    make_certificate("for_clients", "ca", "clientAuth", "ec")
    make_certificate("for_servers", "ca", "serverAuth")
    serves_pages_by_tls()
    requires_client_certificate()
    kept_connection_follows_files()
    hostile_handshakes()
    rejects_unusable_files()


def warns_about_public_address():
    if EMULATOR:
        return
    for web, warning in (([], "without a password"), (["-web", write("web.yml", "bearer_token_file: tokens\n")], "without encryption")):
        write("tokens", "second\n")
        with subprocess.Popen([PROGRAM, "serve", "-http", "0.0.0.0:0", COUNTER, *web], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as p:
            line = p.stderr.readline().decode()
            p.terminate()
        check(warning in line, "a warning", line)


def main():
    with tempfile.TemporaryDirectory(prefix="openpla-serve.", dir=os.environ.get("WINEPREFIX")) as folder:
        os.chdir(folder)
        explains_wrong_files()
        write("tokens", "second\n")
        admits_only_accounts()
        tls()
        write("tokens", "second\n")
        live_page_requires_accounts()
        tokens_change_while_server_runs()
        warns_about_public_address()
        os.chdir("/")


main()
