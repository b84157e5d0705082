#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cmake/fetch-sources.sh with a small Debian mirror on this computer. It gets a library's source even from a mirror
that lacks files in its index, never uses an unverified file, and as a last resort prints one command that fetches it.
Otherwise a first build could fail at "Configure"."""
import functools
import hashlib
import http.server
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading

TREE = pathlib.Path(os.environ["OPENPLA_SOURCE_DIR"])
SKIPPED = 77
RELEASES = ("trixie", "bookworm")
POOL = "pool/main/c/cmocka"
ORIG = "cmocka_1.0.orig.tar.xz"
PATCH = """--- a/origin.txt
+++ b/origin.txt
@@ -1 +1 @@
-upstream
+{}
"""
failures = []


def check(good, what):
    if not good:
        failures.append(what)
        print("FAILED:", what)


def tar_of(files):
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:xz") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    return content.getvalue()


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def line_of(name, content):
    return f" {sha256(content)} {len(content)} {name}\n"


class Mirror(http.server.SimpleHTTPRequestHandler):
    """Serves the files below a folder, except those whose name ends with one of `lacks`."""
    lacks = ()

    def do_GET(self):
        if self.path.replace("%2b", "+").endswith(Mirror.lacks):
            self.send_error(404)
        else:
            super().do_GET()

    def log_message(self, *_):
        pass


def make_source(pool, version, package="cmocka"):
    """Creates a source package whose patch writes its version into origin.txt; returns its paragraph for an index."""
    debian = tar_of({"debian/patches/series": "origin.patch\n", "debian/patches/origin.patch": PATCH.format(version)})
    orig = f"{package}_{version.split('-')[0]}.orig.tar.xz"
    files = {orig: (pool / orig).read_bytes(), f"{package}_{version}.debian.tar.xz": debian}
    sums = "".join(line_of(name, content) for name, content in files.items())
    md5 = "".join(f" {hashlib.md5(content).hexdigest()} {len(content)} {name}\n" for name, content in files.items())
    dsc = (f"Format: 3.0 (quilt)\nSource: {package}\nBinary: lib{package}-dev\nArchitecture: any\nVersion: {version}\n"
           f"Maintainer: A Test <test@example.com>\nChecksums-Sha256:\n{sums}Files:\n{md5}").encode()
    (pool / f"{package}_{version}.debian.tar.xz").write_bytes(debian)
    (pool / f"{package}_{version}.dsc").write_bytes(dsc)
    name = f"{package}_{version}.dsc"
    return (f"Package: {package}\nBinary: lib{package}-dev\nVersion: {version}\nArchitecture: any\nFormat: 3.0 (quilt)\n"
            f"Directory: {POOL}\nChecksums-Sha256:\n{line_of(name, dsc)}{sums}"
            f"Files:\n {hashlib.md5(dsc).hexdigest()} {len(dsc)} {name}\n{md5}\n")


def make_release(debian, suite, paragraphs):
    index = "".join(paragraphs).encode()
    folder = debian / "dists" / suite
    (folder / "main/source").mkdir(parents=True)
    (folder / "main/source/Sources").write_bytes(index)
    (folder / "Release").write_text(
        f"Origin: Test\nSuite: {suite}\nCodename: {suite}\nDate: Sat, 01 Aug 2026 00:00:00 UTC\nArchitectures: amd64\n"
        f"Components: main\nSHA256:\n{line_of('main/source/Sources', index)}")


class Host:
    """A computer whose packages come from that mirror, with a tree that needs cmocka."""

    def __init__(self, folder, uri, pins):
        self.folder = folder
        self.sources = folder / "third_party"
        (folder / "cmake").mkdir(parents=True)
        (folder / "apt/parts").mkdir(parents=True)
        shutil.copy(TREE / "cmake/fetch-sources.sh", folder / "cmake")
        (folder / "cmake/sources.txt").write_text(pins)
        (folder / "apt/sources.list").write_text(f"deb [trusted=yes] {uri} any main\n")
        (folder / "apt.conf").write_text(
            f'Dir::Etc::sourcelist "{folder}/apt/sources.list";\nDir::Etc::sourceparts "{folder}/apt/parts";\n'
            'Dir::Etc::main "/dev/null";\nDir::Etc::parts "/dev/null";\n')

    def fetch(self, package="cmocka", **more):
        """Returns the exit code, the output, and the source's origin."""
        environment = {name: value for name, value in os.environ.items()
                       if not name.lower().endswith("_proxy") and not name.startswith("OPENPLA_")}
        done = subprocess.run(["sh", str(self.folder / "cmake/fetch-sources.sh"), str(self.sources), package],
                              env=dict(environment, APT_CONFIG=str(self.folder / "apt.conf"), LC_ALL="C.UTF-8", **more),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)
        origin = self.sources / package / "origin.txt"
        return done.returncode, done.stdout, origin.read_text().strip() if origin.exists() else None


def main():
    for tool in ("apt-get", "dpkg-source"):
        if not shutil.which(tool):
            print(f"{tool} is missing: this is no Debian")
            return SKIPPED
    own = re.search(r"^VERSION_CODENAME=(\w+)$", pathlib.Path("/etc/os-release").read_text(), re.M).group(1)
    other = next(suite for suite in RELEASES if suite != own)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        debian = folder / "mirror/debian"
        pool = debian / POOL
        pool.mkdir(parents=True)
        orig = tar_of({"cmocka-1.0/origin.txt": "upstream\n"})
        (pool / ORIG).write_bytes(orig)
        pins = f"# a comment\ncmocka {sha256(orig)} {POOL[len('pool/'):]}/{ORIG}\n"
        for version in ("2.28.3", "3.6.4", "4.0.0"):
            (pool / f"mbedtls_{version}.orig.tar.xz").write_bytes(tar_of({f"mbedtls-{version}/origin.txt": "upstream\n"}))
        make_release(debian, own, [make_source(pool, "1.0-3"), make_source(pool, "1.0-10"), make_source(pool, "2.28.3-1", "mbedtls")])
        make_release(debian, other, [make_source(pool, "1.0-2"), make_source(pool, "3.6.4-2", "mbedtls"), make_source(pool, "4.0.0-1", "mbedtls")])
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0),
                                                 functools.partial(Mirror, directory=str(folder / "mirror")))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        uri = f"http://127.0.0.1:{server.server_port}/debian"

        def host(name, lacks, its_pins=pins):
            Mirror.lacks = tuple(lacks)
            return Host(folder / name, uri, its_pins)

        def case(name, lacks, expected, messages=""):
            code, output, origin = host(name, lacks).fetch()
            check(code == 0 and origin == expected and messages in output,
                  f"{name}: exit code {code}, source of {origin}, expected {expected}:\n{output}")

        case("a whole mirror", [], "1.0-10")
        case("the newest version is only in the index", ["cmocka_1.0-10.dsc"], "1.0-3",
             "cmocka 1.0-10: the index of")
        case("no version of this release has its patches", ["_1.0-10.debian.tar.xz", "_1.0-3.debian.tar.xz"], "1.0-2")
        case("only upstream's file is left", [".dsc"], "upstream", f"upstream's {ORIG}, without Debian's patches")
        case("no index", ["Sources", "Release"], "upstream")

        # A version series that this tree does not support is not used, even if it was downloaded before.
        series = host("the series of Mbed TLS", [])
        (series.sources / "dl").mkdir(parents=True)
        for file in pool.glob("mbedtls_2.28.3*"):
            shutil.copy(file, series.sources / "dl")
        code, output, origin = series.fetch("mbedtls")
        check(code == 0 and origin == "3.6.4-2", f"the series of Mbed TLS: {code}, {origin}:\n{output}")

        # An interrupted download: the description without its files.
        cut = host("a download that was cut off", [])
        (cut.sources / "dl").mkdir(parents=True)
        shutil.copy(pool / "cmocka_1.0-3.dsc", cut.sources / "dl")
        code, output, origin = cut.fetch()
        check(code == 0 and origin == "1.0-10", f"a download that was cut off: {code}, {origin}:\n{output}")

        # A complete download needs no mirror, even in a folder whose name has spaces.
        whole = host("a whole download", [""])
        (whole.sources / "dl").mkdir(parents=True)
        for file in (pool / ORIG, *pool.glob("cmocka_1.0-3.*")):
            shutil.copy(file, whole.sources / "dl")
        code, output, origin = whole.fetch()
        check(code == 0 and origin == "1.0-3", f"a whole download: {code}, {origin}:\n{output}")

        # The tar file of a download was exchanged: it is fetched again, or nothing is built.
        exchanged = tar_of({"cmocka-1.0/origin.txt": "upstream\n", "cmocka-1.0/CMakeLists.txt": "exchanged\n"})
        for lacks, expected in (([], (0, "1.0-10")), ([""], (1, None))):
            changed = host(f"an exchanged file and a mirror without {lacks}", lacks)
            (changed.sources / "dl").mkdir(parents=True)
            for file in pool.glob("cmocka_1.0-3.*"):
                shutil.copy(file, changed.sources / "dl")
            (changed.sources / "dl" / ORIG).write_bytes(exchanged)
            code, output, origin = changed.fetch()
            check((code, origin) == expected and not (changed.sources / "cmocka/CMakeLists.txt").exists(),
                  f"an exchanged file and a mirror without {lacks}: {code}, source of {origin}:\n{output}")

        # The mirror's file does not match the pinned hash.
        code, output, origin = host("another file", [".dsc"], pins.replace(sha256(orig), "0" * 64)).fetch()
        check(code == 1 and origin is None, f"another file: taken, {code}, {origin}:\n{output}")

        # Nothing is available: the script prints one command, and then uses the file that the command fetched.
        nothing = host("nothing", [".dsc", ORIG])
        code, output, origin = nothing.fetch()
        commands = re.findall(r"^    (/usr/lib/apt/apt-helper download-file \S+ \S+ \S+)$", output, re.M)
        check(code == 1 and origin is None and "cannot fetch the source of 'cmocka'" in output and len(commands) == 1,
              f"nothing: {code}, {origin}:\n{output}")
        if len(commands) == 1:
            Mirror.lacks = (".dsc",)
            _, _, remote, local, expected = commands[0].split()
            remote = uri + remote[remote.index("/pool/"):]
            done = subprocess.run(["/usr/lib/apt/apt-helper", "-o", "APT::Sandbox::User=", "download-file", remote, local,
                                   expected], env=dict(os.environ, APT_CONFIG=str(nothing.folder / "apt.conf")),
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
            Mirror.lacks = ("",)
            code, output, origin = nothing.fetch()
            check(done.returncode == 0 and code == 0 and origin == "upstream",
                  f"after the command: {code}, {origin}:\n{done.stdout}{done.stderr}{output}")

        # A tar file named by a variable.
        code, output, origin = host("a tar file", [""]).fetch(OPENPLA_CMOCKA_TAR=str(pool / ORIG))
        check(code == 0 and origin == "upstream", f"a tar file: {code}, {origin}:\n{output}")
        code, output, origin = host("no tar file", [""]).fetch(OPENPLA_CMOCKA_TAR=str(pool / "cmocka_1.0-3.dsc"))
        check(code == 1 and origin is None and "OPENPLA_CMOCKA_TAR must name a tar file" in output,
              f"no tar file: {code}, {origin}:\n{output}")
        server.shutdown()
        server.server_close()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
