#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""deb_package.py: installer/deb/build.sh makes a Debian package that holds the programs, the command, a manual page for each
verb, completion, units and copyright, and names nothing of the machine that built it. Unpacked anywhere, its command makes
a Wine prefix, installs OpenPLA in it and hands on what it is told. lintian is asked where it is installed. A user would
have a package that does not install, or a command that does nothing."""
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

TREE, BIN = os.environ["OPENPLA_SOURCE_DIR"], os.environ["OPENPLA_BIN_DIR"]
MODES = {"usr/bin/openpla": 0o755, "usr/lib/openpla/service": 0o755, "usr/lib/openpla/tracefs": 0o755,
         "usr/lib/openpla/openpla.exe": 0o644, "usr/lib/openpla/openplasrv.exe": 0o644,
         "usr/lib/systemd/system/openpla.service": 0o644, "usr/lib/systemd/system/openpla-tracefs.service": 0o644,
         "usr/share/bash-completion/completions/openpla": 0o644, "usr/share/doc/openpla/copyright": 0o644}


def run(*words, code=0, **more):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600,
                          check=False, **more)
    output = done.stdout.decode("utf-8", "replace").replace("\r\n", "\n")
    if done.returncode != code:
        sys.exit(f"{words}: exit code {done.returncode}, not {code}\n{output}")
    return output


def refuses_assertions(out):
    """Programs that were built for tests do not reach users."""
    with open(f"{BIN}/openpla.dll", "rb") as library:
        if b"assertion '%s' failed" in library.read():
            refusal = run("sh", f"{TREE}/installer/deb/build.sh", BIN, out, code=1)
            assert "-DOPENPLA_ASSERTS=OFF" in refusal, refusal


def contents(package, folder):
    run("dpkg-deb", "--raw-extract", package, folder)
    with open(f"{folder}/DEBIAN/control", encoding="utf-8") as control:
        fields = dict(line.split(": ", 1) for line in control.read().split("\n") if re.match(r"[\w-]+: ", line))
    assert fields["Package"] == "openpla" and fields["Architecture"] == "amd64" and "wine" in fields["Depends"], fields
    assert not any("@" in fields[name] for name in fields if name != "Maintainer"), fields
    for path, mode in MODES.items():
        assert os.stat(f"{folder}/{path}").st_mode & 0o777 == mode, path
    owners = {line.split()[1] for line in run("dpkg-deb", "-c", package).splitlines()}
    assert owners == {"root/root"}, owners
    for place, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(place, name), "rb") as file:
                assert TREE.encode() not in file.read(), f"{name} names {TREE}"


def manual(folder):
    verbs = json.loads(run("sh", f"{TREE}/cmake/wine-run.sh", f"{BIN}/openpla.exe", "help", "--json"))
    pages = f"{folder}/usr/share/man/man1"
    assert set(os.listdir(pages)) == {"openpla.1.gz"} | {f"openpla-{verb['verb']}.1.gz" for verb in verbs}
    for name in os.listdir(pages):
        with gzip.open(f"{pages}/{name}", "rt", encoding="utf-8") as page:
            text = page.read().replace("\\-", "-")
        assert re.match(r"\.TH OPENPLA[A-Z-]* 1 ", text) and ".SH NAME" in text, name
        verb = next((v for v in verbs if name == f"openpla-{v['verb']}.1.gz"), None)
        for option in verb["options"] if verb and verb["verb"] not in ("logman", "tracerpt") else []:
            assert re.search(rf"-{re.escape(option['name'])}\b", text), (name, option)
        assert verb or ("--package-help" in text and all(v["summary"] in text for v in verbs)), name
        if shutil.which("groff"):
            run("gunzip", "--keep", f"{pages}/{name}")
            warnings = run("groff", "-man", "-ww", "-Tutf8", "-Kutf8", "-z", f"{pages}/{name[:-3]}")
            assert not warnings, (name, warnings)


def command(folder, scratch):
    """As a user has it, in a prefix that its first use makes, named as a shell completes it; without a terminal, through a
    pipe that ends."""
    environment = {**os.environ, "OPENPLA_PREFIX": f"{scratch}/d\u00e4 ta/prefix/"}
    for name in ("WINEPREFIX", "OPENPLA_DATA"):
        environment.pop(name, None)
    openpla = f"{folder}/usr/bin/openpla"
    try:
        output = run(openpla, "typeperf", r"\System\Processes", "-sc", "1", env=environment)
        assert "creating the Wine prefix" in output and "(PDH-CSV 4.0)" in output, output
        assert "making" not in run(openpla, "help", env=environment), "the prefix is made again"
        answer = run(openpla, "--wine", "cscript", "//nologo", "check.vbs", env=environment,
                     cwd=f"{folder}/usr/lib/openpla")
        assert answer == "OpenPLA is ready\n", answer
        with open(f"{folder}/usr/lib/openpla/build", "a", encoding="utf-8") as build:
            build.write("another\n")
        run(openpla, "--update", env=environment)
        environment["OPENPLA_PREFIX"] = "d\u00e4 ta/prefix"
        run(openpla, "help", env=environment, cwd=scratch)
        with open(f"{scratch}/d\u00e4 ta/prefix/.openpla/build", encoding="utf-8") as build:
            assert build.read().endswith("another\n"), "the prefix is not brought up to date"
        run(openpla, "nonsense", code=2, env=environment, cwd=scratch)
    finally:
        run(openpla, "--end", env=environment, cwd=scratch)


def tracefs(folder, scratch):
    """The switch, with a mount that says what it is told: this host's tracefs stays as it is."""
    os.mkdir(f"{scratch}/tools")
    for name, does in ("mount", f'echo mount "$@" >>{scratch}/told'), ("id", "echo 123"), ("rmdir", "exit 1"):
        with open(f"{scratch}/tools/{name}", "w", encoding="utf-8") as tool:
            tool.write(f"#!/bin/sh\n{does}\n")
        os.chmod(f"{scratch}/tools/{name}", 0o755)
    environment = {**os.environ, "PATH": f"{scratch}/tools:{os.environ['PATH']}"}
    for switch in "on", "off":
        run(f"{folder}/usr/lib/openpla/tracefs", switch, env=environment)
    run(f"{folder}/usr/lib/openpla/tracefs", code=2, env=environment)
    with open(f"{scratch}/told", encoding="utf-8") as told:
        lines = [line for line in told.read().splitlines() if "remount" in line]
    assert lines == ["mount -o remount,uid=123 /sys/kernel/tracing", "mount -o remount,uid=0 /sys/kernel/tracing"], lines


def main():
    with tempfile.TemporaryDirectory() as scratch:
        refuses_assertions(f"{scratch}/refused")
        package = run("sh", f"{TREE}/installer/deb/build.sh", BIN, f"{scratch}/out",
                      env={**os.environ, "OPENPLA_DEB_COMPRESSION": "none", "OPENPLA_PACKAGE_OF_TESTS": "1"}).splitlines()[-1]
        folder = f"{scratch}/unpacked"
        contents(package, folder)
        manual(folder)
        tracefs(folder, scratch)
        command(folder, scratch)
        if shutil.which("lintian"):
            run("lintian", "--fail-on", "error,warning", package)


main()
