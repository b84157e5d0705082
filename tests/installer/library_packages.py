#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""library_packages.py BUILD: the Debian packages of the library and the Python module, from the native build in BUILD.
Unpacked into one folder, as apt does it, they work: pkg-config finds the library, and Python the module. The
dependencies are those of the files."""
import os
import re
import subprocess
import sys
import tempfile

from packages import SANITIZERS, TREE, lintian, run, unpack

BUILD = os.path.abspath(sys.argv[1])
NAMES = ("libopenpla-logs0", "libopenpla-logs-dev", "python3-openpla")
with open(f"{BUILD}/CMakeCache.txt", encoding="utf-8") as cache:
    CACHE = cache.read()
SANITIZES = "OPENPLA_SANITIZE:BOOL=ON\n" in CACHE
VERSION = re.search(r"^CMAKE_PROJECT_VERSION:\w+=(.*)$", CACHE, re.M).group(1)
# What lintian reports for a build whose install prefix is not the one of packages.
OTHER_PREFIX = ["arch-dependent-file-not-in-arch-specific-directory",
                "pkg-config-unavailable-for-cross-compilation"] * ("CMAKE_INSTALL_PREFIX:PATH=/usr\n" not in CACHE)


def make(scratch):
    environment = {**os.environ, "OPENPLA_DEB_COMPRESSION": "none", "SOURCE_DATE_EPOCH": "1800000000"}
    output = run("sh", f"{TREE}/installer/deb/native.sh", BUILD, f"{scratch}/deb", *NAMES, env=environment)
    return dict(zip(NAMES, output.splitlines()[-3:]))


def files(folder):
    found = {os.path.relpath(os.path.join(place, name), folder): os.path.join(place, name)
             for place, _, names in os.walk(folder) for name in names}
    return {name: path for name, path in found.items() if not name.startswith(("DEBIAN/", "usr/share/doc/"))}


def check_contents(package, folder, expected):
    fields = unpack(package, folder, {})
    found = {os.path.basename(name) for name in files(folder)}
    assert found == expected, (package, found)
    lintian(package, *["hardening-no-relro", "hardening-no-bindnow", "library-not-linked-against-libc",
                       "undeclared-elf-prerequisites"] * SANITIZES, *OTHER_PREFIX)
    return fields


def main():
    with tempfile.TemporaryDirectory() as scratch:
        created = make(scratch)
        fields = check_contents(created["libopenpla-logs0"], f"{scratch}/0", {"libopenpla-logs.so.0", f"libopenpla-logs.so.{VERSION}"})
        needs = {one.split()[0].removesuffix("t64") for one in fields["Depends"].split(", ")} - SANITIZERS
        assert needs == {"libc6", "libxml2"}, fields
        with open(f"{scratch}/0/DEBIAN/shlibs", encoding="ascii") as shlibs:
            assert shlibs.read() == "libopenpla-logs 0 libopenpla-logs0 (>= 0.1.0)\n"
        fields = check_contents(created["libopenpla-logs-dev"], f"{scratch}/1", {"logs.h", "libopenpla-logs.so", "openpla-logs.pc"})
        assert fields["Depends"] == f"libopenpla-logs0 (= {fields['Version']})", fields
        assert fields["Architecture"] == run("dpkg", "--print-architecture").strip(), fields
        fields = check_contents(created["python3-openpla"], f"{scratch}/2", {"__init__.py", "_library.py"})
        assert fields["Architecture"] == "all" and fields["Depends"].startswith("libopenpla-logs0 (>= "), fields
        # All packages together: a link in one package refers to a file in another.
        for package in created.values():
            run("dpkg-deb", "--extract", package, f"{scratch}/root")
        whole = files(f"{scratch}/root")
        (link,) = [path for name, path in whole.items() if name.endswith("libopenpla-logs.so")]
        assert os.path.exists(link) and os.readlink(link) == "libopenpla-logs.so.0", link
        (pc,) = [path for name, path in whole.items() if name.endswith(".pc")]
        with open(pc, encoding="utf-8") as text:
            assert "prefix=/usr\n" in text.read()
        if not SANITIZES:
            code = "import openpla; print(openpla.version())"
            done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True, text=True, env={
                **os.environ, "LD_LIBRARY_PATH": os.path.dirname(link), "PYTHONDONTWRITEBYTECODE": "1",
                "PYTHONPATH": f"{scratch}/root/usr/lib/python3/dist-packages"})
            assert done.stdout == f"{VERSION}\n", done.stdout


main()
