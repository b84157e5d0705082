# SPDX-License-Identifier: MIT
"""Checks that are common to the tests of Debian packages."""
import gzip
import os
import re
import shutil
import subprocess
import sys

TREE = os.environ["OPENPLA_SOURCE_DIR"]
SANITIZERS = {"libgcc-s1", "libstdc++6"}  # additional dependencies of the sanitizers' runtime library


def run(*words, code=0, **more):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600,
                          check=False, **more)
    output = done.stdout.decode("utf-8", "replace").replace("\r\n", "\n")
    if done.returncode != code:
        sys.exit(f"{words}: exit code {done.returncode}, not {code}\n{output}")
    return output


def unpack(package, folder, modes):
    """Returns the control fields. All files belong to root, those in `modes` have the given modes, and none names this
    machine."""
    run("dpkg-deb", "--raw-extract", package, folder)
    with open(f"{folder}/DEBIAN/control", encoding="utf-8") as control:
        fields = dict(line.split(": ", 1) for line in control.read().split("\n") if re.match(r"[\w-]+: ", line))
    assert not any("@" in fields[name] for name in fields if name != "Maintainer"), fields
    for path, mode in modes.items():
        assert os.stat(f"{folder}/{path}").st_mode & 0o777 == mode, path
    owners = {line.split()[1] for line in run("dpkg-deb", "-c", package).splitlines()}
    assert owners == {"root/root"}, owners
    for place, _, names in os.walk(folder):
        for name in names:
            if os.path.islink(os.path.join(place, name)):
                continue
            with open(os.path.join(place, name), "rb") as file:
                content = file.read()
            # Sanitizers' messages contain the source paths as given to the compiler.
            assert b"__ubsan_" in content or TREE.encode() not in content, f"{name} names {TREE}"
    return fields


def manual_page(path):
    """Returns the text of a manual page, in which groff finds no error."""
    with gzip.open(path, "rt", encoding="utf-8") as page:
        text = page.read().replace("\\-", "-")
    assert re.match(r"\.TH OPENPLA[A-Z-]* 1 ", text) and ".SH NAME" in text, path
    if shutil.which("groff"):
        run("gunzip", "--keep", path)
        warnings = run("groff", "-man", "-ww", "-Tutf8", "-Kutf8", "-z", path.removesuffix(".gz"))
        os.remove(path.removesuffix(".gz"))
        assert not warnings, (path, warnings)
    return text


def lintian(package, *tags):
    """Runs lintian, ignoring the compression, which tests omit, and the given tags."""
    if shutil.which("lintian"):
        run("lintian", "--fail-on", "error,warning", "--suppress-tags",
            ",".join(("uses-no-compression-for-control-tarball", "uses-no-compression-for-data-tarball", *tags)), package)
