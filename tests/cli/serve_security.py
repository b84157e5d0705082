#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""serve_security.py PROGRAM [EMULATOR]: -web of openpla serve lets in the accounts and certificates of its file, and nobody
else. A user would show the counters to everybody, or lock out Prometheus when a certificate is renewed."""
import base64
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
import warnings

from program import EMULATOR, PROGRAM, check, host_path, openpla
from served import PATIENCE, Served

COUNTER = r"\Memory\Committed Bytes"
# bcrypt of "secret of tests" with the least cost
HASH = "$2b$05$abcdefghijklmnopqrstuuKL2hlVXxuZp5cQ3U8W5PfhhiohRZzKS"


def write(name, text):
    with open(name, "w", encoding="utf-8", newline="") as f:
        f.write(text)
    return host_path(name)


def basic(user, password):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def status(server, authorization=None):
    answer, body = server.get("/metrics", **({"Authorization": authorization} if authorization else {}))
    check((answer.status == 200) == (b"windows_memory_committed_bytes" in body), "counters with 200 alone", answer.status, body[:200])
    return answer.status


def only_accounts_are_let_in():
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
        for _ in range(2):  # the second time it is remembered
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
        check(server.raw(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n" + two + b"\r\n") == 400, "two of them")
    finally:
        server.end()


def tokens_change_while_it_runs():
    server = Served("serve", "0", COUNTER, "-web", write("web.yml", "bearer_token_file: tokens\n"))
    try:
        check(status(server, "Bearer second") == 200, "the first token")
        write("tokens", "renewed\n")
        end = time.monotonic() + PATIENCE
        while status(server, "Bearer renewed") != 200:
            check(time.monotonic() < end, "the new token counts")
        check(status(server, "Bearer second") == 401, "and the old one no longer")
        write("tokens", "\n")
        end = time.monotonic() + PATIENCE
        while "stay in use" not in server.said():
            check(status(server, "Bearer renewed") == 200 and time.monotonic() < end, "a file without tokens changes nothing")
        check(server.said().count("stay in use") == 1, "and is reported once", server.said())
    finally:
        server.end()


def mistakes_are_explained():
    for text, why in (("basic_auth_users:\n  alice: plain\n", "line 2: the password is not a bcrypt hash"), ("tls_server_config:\n", "missing cert_file"),
                      ("tls_server_config:\n  cert_file: a\n", "missing key_file"), ("other: 1\n", "line 1: unsupported key: 'other'"),
                      ("tls_server_config:\n\tcert_file: a\n", "tabs"), ("tls_server_config:\n  cipher_suites: [a]\n", "line 2"),
                      ("tls_server_config:\n  min_version: TLS10\n", "use TLS12 or TLS13"), ("bearer_token_file: missing\n", "missing"),
                      ("tls_server_config:\n  client_auth_type: Maybe\n", "unknown client_auth_type"), ("words\n", "expected 'key: value'")):
        said = openpla(1, "serve", "-http", "0", COUNTER, "-web", write("web.yml", text))
        check(why in said, f"{text!r}", said)
    openpla(1, "serve", "-http", "0", COUNTER, "-web", "no such file")


def the_page_of_live_has_them_too():
    check("-web requires -http" in openpla(2, "live", COUNTER, "-web", "web.yml"), "-web alone")
    server = Served("live", "0", COUNTER, "-si", "0.1", "-web", write("web.yml", "bearer_token_file: tokens\n"))
    try:
        check(server.get("/counters")[0].status == 401, "nobody")
        check(server.get("/counters", Authorization="Bearer second")[0].status == 200, "a token")
    finally:
        server.end()


def what_windows_lacks():
    for text, why in ((f"basic_auth_users:\n  alice: {HASH}\n", "bearer_token_file"), ("tls_server_config:\n  cert_file: tokens\n  key_file: tokens\n", "proxy")):
        said = openpla(1, "serve", "-http", "0", COUNTER, "-web", write("web.yml", text))
        check(why in said, f"what to do instead of {text!r}", said)


def make_certificate(openssl, name, *issuer):
    subprocess.run([openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", name + ".key", "-out", name + ".crt",
                    "-subj", "/CN=" + name, "-addext", "subjectAltName=IP:127.0.0.1", *issuer], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


def fetch(server, trusted, client=None):
    """The status; None: TLS failed."""
    context = ssl.create_default_context(cafile=trusted + ".crt")
    if client:
        context.load_cert_chain(client + ".crt", client + ".key")
    try:
        with urllib.request.urlopen(f"https://127.0.0.1:{server.port}/metrics", context=context, timeout=PATIENCE) as answer:
            check(b"windows_memory_committed_bytes" in answer.read(), "the page")
            return answer.status
    except urllib.error.HTTPError as e:
        return e.code
    except (urllib.error.URLError, ssl.SSLError, ConnectionError):
        return None


def pages_by_tls():
    openssl = shutil.which("openssl")
    if not openssl:
        print("openssl is not installed: TLS was left out")
        return
    for name in ("server", "renewed", "client", "stranger"):
        make_certificate(openssl, name)
    config = "tls_server_config:\n  cert_file: used.crt\n  key_file: used.key\n"
    for ending in (".crt", ".key"):
        shutil.copy("server" + ending, "used" + ending)
    server = Served("serve", "0", COUNTER, "-web", write("web.yml", config))
    try:
        check(server.scheme == "https" and fetch(server, "server") == 200 and fetch(server, "stranger") is None, "its certificate")
        check(server.raw(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n") is None, "no page without TLS")
        with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as silent:
            check(fetch(server, "server") == 200, "a client that says nothing delays no other", silent)
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
        with warnings.catch_warnings(action="ignore"):
            old.maximum_version = ssl.TLSVersion.TLSv1_1
        try:
            with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as s, old.wrap_socket(s):
                check(False, "TLS 1.1 is refused")
        except (ssl.SSLError, ConnectionError):
            pass
        for ending in (".crt", ".key"):
            shutil.copy("renewed" + ending, "used" + ending)
        end = time.monotonic() + PATIENCE
        while fetch(server, "renewed") != 200:
            check(time.monotonic() < end, "a renewed certificate is used without a restart")
    finally:
        server.end()
    server = Served("serve", "0", COUNTER, "-web", write("web.yml", config + "  client_auth_type: RequireAndVerifyClientCert\n"
                                                         f"  client_ca_file: client.crt\nbasic_auth_users:\n  alice: {HASH}\n"))
    try:
        check(fetch(server, "renewed") is None and fetch(server, "renewed", "stranger") is None, "clients need a certificate of the file")
        check(fetch(server, "renewed", "client") == 401, "and an account")
    finally:
        server.end()
    write("used.key", "no key\n")
    said = openpla(1, "serve", "-http", "0", COUNTER, "-web", "web.yml")
    check("used.key" in said, "a key that cannot be used", said)


def a_public_address_warns():
    if EMULATOR:
        return
    for web, said in (([], "without a password"), (["-web", write("web.yml", "bearer_token_file: tokens\n")], "without encryption")):
        write("tokens", "second\n")
        with subprocess.Popen([PROGRAM, "serve", "-http", "0.0.0.0:0", COUNTER, *web], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as p:
            line = p.stderr.readline().decode()
            p.terminate()
        check(said in line, "a warning", line)


def main():
    with tempfile.TemporaryDirectory(prefix="openpla-serve.", dir=os.environ.get("WINEPREFIX")) as folder:
        os.chdir(folder)
        mistakes_are_explained()
        write("tokens", "second\n")
        if EMULATOR:
            what_windows_lacks()
        else:
            only_accounts_are_let_in()
            pages_by_tls()
        write("tokens", "second\n")
        the_page_of_live_has_them_too()
        tokens_change_while_it_runs()
        a_public_address_warns()
        os.chdir("/")


main()
