#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""deb_package.py: installer/deb/build.sh creates a Debian package of the server that contains the programs, the
command, units and copyright, and no name of the build machine. Its command works from any folder: it creates a Wine
prefix, installs OpenPLA in it and forwards its arguments. lintian checks the package if it is installed."""
import os
import tempfile

from packages import TREE, lintian, manual_page, run, unpack

BIN = os.environ["OPENPLA_BIN_DIR"]
MODES = {"usr/lib/openpla/openpla-server": 0o755, "usr/lib/openpla/service": 0o755, "usr/lib/openpla/tracefs": 0o755,
         "usr/lib/openpla/openpla.exe": 0o644, "usr/lib/openpla/openplasrv.exe": 0o644,
         "usr/lib/systemd/system/openpla.service": 0o644, "usr/lib/systemd/system/openpla-tracefs.service": 0o644,
         "usr/share/doc/openpla/copyright": 0o644}


def refuses_assertions(out):
    """Programs that were built for tests are refused."""
    with open(f"{BIN}/openpla.dll", "rb") as library:
        if b"assertion '%s' failed" in library.read():
            refusal = run("sh", f"{TREE}/installer/deb/build.sh", BIN, out, code=1)
            assert "-DOPENPLA_ASSERTS=OFF" in refusal, refusal


def contents(package, folder):
    """The package does not contain the files of openpla-tools, on which it depends; dpkg would refuse to install
    both."""
    fields = unpack(package, folder, MODES)
    assert fields["Package"] == "openpla" and fields["Architecture"] == "amd64", fields
    assert "wine " in fields["Depends"] and "openpla-tools " in fields["Depends"], fields
    assert not os.path.exists(f"{folder}/usr/bin"), os.listdir(f"{folder}/usr/bin")
    assert os.listdir(f"{folder}/usr/share/man/man1") == ["openpla-server.1.gz"]
    text = manual_page(f"{folder}/usr/share/man/man1/openpla-server.1.gz")
    assert "--native" in text and "--system" in text, text


def command(folder, scratch):
    """Runs the command as a user would. Its first use creates the prefix; the path ends with a slash, as a shell
    completes it. There is no terminal, and the output is a pipe that must be closed when the command exits."""
    environment = {**os.environ, "OPENPLA_PREFIX": f"{scratch}/d\u00e4 ta/prefix/"}
    for name in ("WINEPREFIX", "OPENPLA_DATA"):
        environment.pop(name, None)
    openpla = f"{folder}/usr/lib/openpla/openpla-server"
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
    """Tests the switch with a fake mount that logs its arguments, so that this host's tracefs is not changed."""
    os.mkdir(f"{scratch}/tools")
    for name, does in ("mount", f'echo mount "$@" >>{scratch}/told'), ("id", "echo 123"), ("rmdir", "exit 1"):
        with open(f"{scratch}/tools/{name}", "w", encoding="utf-8") as tool:
            tool.write(f"#!/bin/sh\n{does}\n")
        os.chmod(f"{scratch}/tools/{name}", 0o755)
    environment = {**os.environ, "PATH": f"{scratch}/tools:{os.environ['PATH']}"}
    for switch in "on", "off":
        run(f"{folder}/usr/lib/openpla/tracefs", switch, env=environment)
    run(f"{folder}/usr/lib/openpla/tracefs", code=2, env=environment)
    with open(f"{scratch}/told", encoding="utf-8") as reported:
        lines = [line for line in reported.read().splitlines() if "remount" in line]
    assert lines == ["mount -o remount,uid=123 /sys/kernel/tracing", "mount -o remount,uid=0 /sys/kernel/tracing"], lines


def main():
    with tempfile.TemporaryDirectory() as scratch:
        refuses_assertions(f"{scratch}/refused")
        package = run("sh", f"{TREE}/installer/deb/build.sh", BIN, f"{scratch}/out",
                      env={**os.environ, "OPENPLA_DEB_COMPRESSION": "none", "OPENPLA_PACKAGE_OF_TESTS": "1"}).splitlines()[-1]
        folder = f"{scratch}/unpacked"
        contents(package, folder)
        tracefs(folder, scratch)
        command(folder, scratch)
        lintian(package)


main()
