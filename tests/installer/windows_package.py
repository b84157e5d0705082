#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""windows_package.py [--whole]: the MSI in a Wine prefix of its own: install, the main job, upgrade over a running set,
uninstall; and whether registry and files are then what they were, to the byte. Who installs OpenPLA must be able to get
rid of it. --whole, which takes minutes, also: steps that fail and must leave nothing, what is refused, repair, another
mode, the zip. Ends with 77 where wixl is missing."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

TREE = pathlib.Path(os.environ["OPENPLA_SOURCE_DIR"])
BIN = os.environ["OPENPLA_BIN_DIR"]
PROGRAM = r"C:\Program Files\OpenPLA"
REFUSED = (91, 67)  # ERROR_INSTALL_FAILURE; a package for another version is 1638 or 1603: the low byte is what Unix sees
# What Wine itself writes when it is used: its installer's empty lists, devices, how many services there ever were.
OF_WINE = re.compile(r"^\[HKEY_LOCAL_MACHINE\\(Hardware|Software\\Classes\\Installer|Software\\Microsoft\\Windows\\"
                     r"CurrentVersion\\Installer|System\\(Current)?ControlSet(\d+)?\\(Control|Enum|Hardware Profiles))",
                     re.I)
RUNS = """
Dim dataSet, collector
Set dataSet = CreateObject("PLA.DataCollectorSet")
Set collector = dataSet.DataCollectors.CreateDataCollector(0)
collector.Name = "C"
collector.SampleInterval = 1
collector.PerformanceCounters = Array("\\Memory\\Available MBytes")
dataSet.DataCollectors.Add collector
dataSet.Commit "Runs", vbNullString, 3
dataSet.Start True
WScript.Echo "status " & dataSet.Status
"""
failures = []


def check(good, what, *details):
    if not good:
        failures.append(what)
        print("FAILED:", what, *details)


class Prefix:
    def __init__(self, path):
        self.path = path
        self.drive = path / "drive_c"
        os.environ["WINEPREFIX"] = str(path)

    def step(self, verb):
        subprocess.run(["sh", TREE / "cmake/wine-prefix.sh", verb], check=True, stdin=subprocess.DEVNULL, timeout=170)

    def run(self, *arguments, folder=None):
        done = subprocess.run(["sh", TREE / "cmake/wine-run.sh", *arguments], stdin=subprocess.DEVNULL, timeout=120,
                              cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.returncode, done.stdout.decode("utf-8", "replace").replace("\r", "").strip()

    def script(self, text, *arguments):
        (self.path / "script.vbs").write_text(text)
        return self.run("cscript", "//nologo", "script.vbs", *arguments, folder=self.path)[1]

    def collect(self, name, product="PLA"):
        """The main job, by the first example."""
        text = (TREE / "examples/collect.vbs").read_text()
        output = self.script(text.replace('"PLA.', f'"{product}.'), name, "1", "csv")
        logs = list((self.drive / "PerfLogs/Admin" / name).rglob("*.csv"))
        check(output.endswith("Done.") and logs and all(log.stat().st_size for log in logs), "the main job: " + name,
              output)

    def keys(self):
        """The machine's registry: a block of text for each key."""
        self.run("regedit", "/E", r"C:\registry.reg", "HKEY_LOCAL_MACHINE")
        file = self.drive / "registry.reg"
        blocks = file.read_bytes().decode("utf-16").replace("\r", "").split("\n\n")
        file.unlink()
        return {block.split("\n", 1)[0]: block for block in blocks if block.startswith("[") and not OF_WINE.match(block)}

    def files(self):
        """Of the system and of users, without what is installed by Wine's installer for itself."""
        found = {}
        for file in sorted(self.drive.rglob("*")):
            name = file.relative_to(self.drive).as_posix()
            if not name.startswith(("windows/Installer", "users/", "windows/temp")) and not file.is_symlink():
                found[name] = file.read_bytes() if file.is_file() else b""
        return found


def msi(prefix, what, *arguments, good=True):
    began = time.monotonic()
    code, output = prefix.run("msiexec", *[str(a) for a in arguments], "/qn")
    print(f"{what}: {time.monotonic() - began:.1f} s", flush=True)
    check((code == 0) == good, what, "ended with", code, output)
    return code


def same(before, after, what):
    differ = [name for name in sorted(before.keys() | after.keys()) if before.get(name) != after.get(name)]
    for name in differ[:10]:
        print(what, name, "was", repr(before.get(name))[:200], "is", repr(after.get(name))[:200])
    check(not differ, what, f"{len(differ)} differ")


def build(out, version):
    environment = dict(os.environ, OPENPLA_MSI_VERSION=version, SOURCE_DATE_EPOCH="1700000000")
    done = subprocess.run(["sh", TREE / "installer/windows/build.sh", BIN, out], env=environment, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    check(done.returncode == 0, "build.sh", done.stdout.decode())
    return out / f"openpla-{version}.msi"


def failing(package, sequence):
    """The package with a step that fails there."""
    copy = package.with_name(f"fails-{sequence}.msi")
    shutil.copy(package, copy)
    subprocess.run(["msibuild", copy,
                    "-q", "INSERT INTO CustomAction (Action, Type, Source, Target) VALUES ('Fails', 3090, 'server', '/x')",
                    "-q", "INSERT INTO InstallExecuteSequence (Action, Sequence) VALUES ('Fails', %d)" % sequence],
                   check=True)
    return copy


def states(prefix):
    return prefix.keys(), prefix.files()


def compare(prefix, before, what):
    after = states(prefix)
    same(before[0], after[0], what + ": registry")
    same(before[1], after[1], what + ": file")


def rollback(prefix, package, before):
    """After files and registry are written, and after the service and all that the installer itself writes is there."""
    for sequence in (5500, 6450):
        msi(prefix, f"install that fails at {sequence}", "/i", failing(package, sequence), good=False)
    compare(prefix, before, "after installs that failed")


def in_place(prefix, first, second, whole):
    """Under Wine, which has no PLA: what there is without a word."""
    server = PROGRAM + r"\openplasrv.exe"
    msi(prefix, "install", "/i", first)
    check("RUNNING" in prefix.run("sc", "query", "OpenPLA")[1], "the service runs after the install")
    prefix.collect("Main")
    if whole:
        code, findings = prefix.run(PROGRAM + r"\openpla.exe", "doctor")
        check(code == 0 and "regist" not in findings and "service" not in findings, "doctor of the installed", findings)
    check(prefix.script(RUNS) == "status 1", "a set that runs")
    msi(prefix, "upgrade over a running set", "/i", second, good=False)
    check("Service\\Runs runs" in prefix.run(server, "/sets")[1], "the set runs on after the refused upgrade")
    if whole:
        msi(prefix, "uninstall over a running set", "/x", first, good=False)
    msi(prefix, "upgrade that stops it", "/i", second, "STOPSETS=1")
    check(prefix.run(server, "/sets") == (0, ""), "no set runs after the upgrade")
    if whole:
        prefix.collect("Upgraded")
        check(msi(prefix, "downgrade", "/i", first, good=False) in REFUSED, "how the downgrade is refused")
        (prefix.drive / "Program Files/OpenPLA/openpdh.dll").unlink()
        msi(prefix, "repair", "/i", second, "REINSTALL=ALL", "REINSTALLMODE=amus")
        check((prefix.drive / "Program Files/OpenPLA/openpdh.dll").exists(), "what the repair puts back")
    msi(prefix, "uninstall", "/x", second)
    check((prefix.drive / "ProgramData/OpenPLA/sets").is_dir(), "users' sets stay")


def beside(prefix, package):
    """As on Windows; with as little as can be chosen. The last uninstall takes users' sets too."""
    msi(prefix, "install beside", "/i", package, "MODE=beside", "ADDLOCAL=Main")
    prefix.collect("Beside", product="OpenPLA")
    check(not [k for k in prefix.keys() if re.search(r"Classes\\(PLA\.|CLSID\\\{038375[0-9A-F]{2}-098B)", k, re.I)],
          "Windows' names are not taken")
    check(not (prefix.drive / "Program Files/OpenPLA/docs").exists(), "what was not chosen is not there")
    msi(prefix, "uninstall with PURGE", "/x", package, "PURGE=1")
    check(not (prefix.drive / "ProgramData/OpenPLA").exists(), "PURGE takes users' sets")


def unpacked(prefix, archive, before):
    """Of the zip, by its script: the same programs and the same names, and nothing once it is gone."""
    with zipfile.ZipFile(archive) as files:
        files.extractall(prefix.drive / "Unpacked")
    folder = prefix.drive / "Unpacked" / archive.stem
    code, output = prefix.run("cscript", "//nologo", "install.vbs", folder=folder)
    check(code == 0 and output.endswith("Done."), "install.vbs", code, output)
    prefix.collect("Unpacked")
    code, output = prefix.run("cscript", "//nologo", "install.vbs", "remove", folder=folder)
    check(code == 0 and output.endswith("Done."), "install.vbs remove", code, output)
    shutil.rmtree(prefix.drive / "Unpacked")
    same(before[0], prefix.keys(), "after the zip: registry")


def main():
    whole = sys.argv[1:] == ["--whole"]
    if not shutil.which("wixl") or not shutil.which("msibuild"):
        print("wixl and msitools make the installer, and are not here")
        return 77
    with tempfile.TemporaryDirectory(prefix="openpla-msi-") as folder:
        out = pathlib.Path(folder)
        prefix = Prefix(out / "prefix")
        prefix.step("setup")
        try:
            first, second = build(out, "0.1.0"), build(out, "0.2.0")
            for file in (first, out / "openpla-0.1.0.zip"):
                print(f"{file.name}: {file.stat().st_size} bytes")
            prefix.run("cscript", "//nologo", "check.vbs", folder=TREE / "installer")  # Wine registers what scripts need
            before = states(prefix)
            if whole:
                rollback(prefix, first, before)
            in_place(prefix, first, second, whole)
            if whole:
                beside(prefix, first)
                unpacked(prefix, out / "openpla-0.1.0.zip", before)
            shutil.rmtree(prefix.drive / "ProgramData/OpenPLA", ignore_errors=True)
            shutil.rmtree(prefix.drive / "PerfLogs", ignore_errors=True)
            compare(prefix, before, "after all")
        finally:
            prefix.step("cleanup")
    return bool(failures)


sys.exit(main())
