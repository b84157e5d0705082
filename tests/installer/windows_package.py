#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""windows_package.py [--whole]: tests the MSI in a separate Wine prefix: install, collect a log, upgrade while a set
runs, uninstall, three failing steps. Afterwards registry and files must be as before, to the byte. --whole, which takes
minutes, additionally tests each step failing in turn, refusals, repair, the other mode, the zip, and an identical
second build. Exit status 77 without wixl."""
import concurrent.futures
import functools
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
# The low bytes of the exit codes 1627 (ERROR_FUNCTION_FAILED) and 1603 (ERROR_INSTALL_FAILURE). Unix shows only this
# byte.
REFUSED = (91, 67)
# The keys that Wine itself writes during use: its installer's empty lists, devices, the number of services ever
# created, the host OS's ODBC settings. Windows always has the keys of event publishers. In Wine they remain, empty,
# after the last publisher is removed.
OF_WINE = re.compile(r"^\[HKEY_LOCAL_MACHINE\\(Hardware|Software\\Classes\\Installer|Software\\ODBC\b|"
                     r"Software\\Microsoft\\Windows\\CurrentVersion\\(Installer|WINEVT(\\Publishers)?\])|"
                     r"System\\(Current)?ControlSet(\d+)?\\(Control|Enum|Hardware Profiles))", re.I)
# The test can add this failing step after any step. It records whether files, registry keys and service exist, then
# exits with an error.
STEP = r"""if exist "C:\Program Files\OpenPLA\openplasrv.exe" echo files>>C:\reached
reg query HKLM\Software\OpenPLA /v Mode >>C:\reached
sc query OpenPLA >>C:\reached
exit 3
"""
RUNS = """
Dim dataSet, collector
Set dataSet = CreateObject("PLA.DataCollectorSet")
Set collector = dataSet.DataCollectors.CreateDataCollector(0)
collector.Name = "C"
collector.SampleInterval = 1
collector.LogOverwrite = True
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
        subprocess.run(["sh", TREE / "cmake/wine-prefix.sh", verb], check=True, stdin=subprocess.DEVNULL, timeout=600)

    def run(self, *arguments, folder=None):
        for _ in range(3):
            done = subprocess.run(["sh", TREE / "cmake/wine-run.sh", *arguments], stdin=subprocess.DEVNULL, timeout=600,
                                  cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            # Wine's message, on a busy machine, for a program that it did not start.
            if b"ShellExecuteEx failed: Internal error" not in done.stdout:
                break
        return done.returncode, done.stdout.decode("utf-8", "replace").replace("\r", "").strip()

    def script(self, text, *arguments):
        (self.path / "script.vbs").write_text(text)
        return self.run("cscript", "//nologo", "script.vbs", *arguments, folder=self.path)[1]

    def collect(self, name, product="PLA"):
        """Collects a log with the first example."""
        text = (TREE / "examples/collect.vbs").read_text()
        output = self.script(text.replace('"PLA.', f'"{product}.'), name, "1", "csv")
        logs = list((self.drive / "PerfLogs/Admin" / name).rglob("*.csv"))
        check(output.endswith("Done.") and logs and all(log.stat().st_size for log in logs), "the main job: " + name,
              output)

    def keys(self):
        """Returns the machine's registry: a block of text per key."""
        self.run("regedit", "/E", r"C:\registry.reg", "HKEY_LOCAL_MACHINE")
        file = self.drive / "registry.reg"
        blocks = file.read_bytes().decode("utf-16").replace("\r", "").split("\n\n")
        file.unlink()
        return {block.split("\n", 1)[0]: block for block in blocks if block.startswith("[") and not OF_WINE.match(block)}

    def files(self):
        """Returns the files of the system and users, without those of Wine's own installer. Wine's own files are
        represented by their times, because writing them changes the time."""
        found = {}
        for file in sorted(self.drive.rglob("*")):
            name = file.relative_to(self.drive).as_posix()
            if name.startswith(("windows/Installer", "users/", "windows/temp")) or file.is_symlink():
                continue
            if not file.is_file():
                found[name] = b""
            elif name.startswith("windows/"):
                status = file.stat()
                found[name] = (status.st_ino, status.st_size, status.st_mtime_ns)
            else:
                found[name] = file.read_bytes()
        return found


def msi(prefix, what, *arguments, good=True):
    began = time.monotonic()
    code, output = prefix.run("msiexec", *[str(a) for a in arguments], "/qn")
    print(f"{what}: {time.monotonic() - began:.1f} s", flush=True)
    check((code == 0) == good, what, "ended with", code, output)
    return code


def check_equal(before, after, what):
    differ = [name for name in sorted(before.keys() | after.keys()) if before.get(name) != after.get(name)]
    for name in differ[:10]:
        print(what, name, "was", repr(before.get(name))[:200], "is", repr(after.get(name))[:200])
    check(not differ, what, f"{len(differ)} differ")


def build(out, version, **more):
    environment = dict(os.environ, OPENPLA_MSI_VERSION=version, SOURCE_DATE_EPOCH="1700000000",
                       OPENPLA_PACKAGE_OF_TESTS="1", **more)
    done = subprocess.run(["sh", TREE / "installer/windows/build.sh", BIN, out], env=environment, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    check(done.returncode == 0, "build.sh", done.stdout.decode())
    return out / f"openpla-{version}.msi"


def steps(package):
    """Returns a copy of the package that fails after the installation or removal step named by the property FAIL. Also
    returns the names of these steps, in order: from InstallInitialize to the step before Register. The copy's service
    has another display name, which the last step, Register, changes."""
    copy = package.with_name(package.stem + "-steps.msi")
    shutil.copy(package, copy)
    table = subprocess.run(["msiinfo", "export", package, "InstallExecuteSequence"], check=True, stdout=subprocess.PIPE)
    rows = [row.split("\t") for row in table.stdout.decode().splitlines()[3:]]
    actions = [name for _, name in sorted((int(sequence), name) for name, _, sequence in rows)]
    names = actions[actions.index("InstallInitialize"):actions.index("Register")]
    queries = ["UPDATE ServiceInstall SET DisplayName='Steps'"]
    for place, name in enumerate(actions, 1):
        queries.append(f"UPDATE InstallExecuteSequence SET Sequence={10 * place} WHERE Action='{name}'")
        if name in names:
            queries.append("INSERT INTO CustomAction (Action, Type, Source, Target) VALUES "
                           f"('Fail{name}', 3106, 'TARGETDIR', '[System64Folder]cmd.exe /c C:\\step.cmd')")
            queries.append("INSERT INTO InstallExecuteSequence (Action, Condition, Sequence) VALUES "
                           f"('Fail{name}', 'FAIL=\"{name}\"', {10 * place + 5})")
    subprocess.run(["msibuild", copy] + [word for query in queries for word in ("-q", query)], check=True)
    return copy, names


def rows(blocks):
    """Splits the blocks of a .reg file into values and keys, with lower-case key names."""
    found = set()
    for block in blocks:
        key, *lines = re.sub(r"\\\n *", "", block).split("\n")
        found |= {(key.lower(), "")} | {(key.lower(), line) for line in lines if line}
    return found


@functools.cache
def registration_form(form):
    """Returns a registration form, as the build creates it."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["sh", TREE / "reg/forms/build.sh", folder], check=True)
        return pathlib.Path(folder, f"{form}.reg").read_bytes().decode().replace("\r", "")


def has_rows(prefix, form):
    """Checks that the registry has all rows of the form; the form has the installer's default folder."""
    text = registration_form(form)
    expected = rows(block.strip("\n") for block in text.split("\n\n") if block.strip("\n").startswith("["))
    # Values that must be absent, and those that a service changes.
    expected = {row for row in expected if not row[1].endswith("=-")}
    missing = sorted(expected - rows(prefix.keys().values()))
    check(len(expected) > 100 and not missing, f"rows of {form}", len(expected), missing[:4])


def states(prefix):
    return prefix.keys(), prefix.files()


def programs(files):
    return {name: content for name, content in files.items() if name.startswith("Program Files/OpenPLA")}


def compare(prefix, before, what):
    after = states(prefix)
    check_equal(before[0], after[0], what + ": registry")
    check_equal(before[1], after[1], what + ": file")


def rollback(prefix, package, before, whole):
    """Makes the installation fail after each step in turn (by default only after the two steps with most to roll back).
    Before the rollback, files, registry and service must exist."""
    package, names = steps(package)
    script, reached = prefix.drive / "step.cmd", prefix.drive / "reached"
    signs = {"files": "InstallFiles", "Mode": "WriteRegistryValues", "SERVICE_NAME: OpenPLA": "InstallServices"}
    for name in names if whole else ("WriteRegistryValues", "RegisterBack"):
        script.write_text(STEP.replace("\n", "\r\n"))
        msi(prefix, f"install that fails behind {name}", "/i", package, f"FAIL={name}", good=False)
        there = reached.read_text() if reached.exists() else ""
        for sign, since in signs.items():
            check((sign in there) == (names.index(name) >= names.index(since)), f"{sign} behind {name}", there)
        script.unlink()
        reached.unlink(missing_ok=True)
        compare(prefix, before, f"after a failure behind {name}")
    if not whole:
        return
    # Register itself fails halfway, when all keys are written, because another service has our service's display name.
    prefix.run("sc", "create", "Other", "binPath=", r"C:\other.exe", "DisplayName=", "OpenPLA Performance Logs and Alerts")
    with_other = states(prefix)
    check(with_other != before, "a service of the same name")
    msi(prefix, "install that fails in Register", "/i", package, good=False)
    compare(prefix, with_other, "after a failure in Register")
    prefix.run("sc", "delete", "Other")


def repairs_deleted_parts(prefix, package, key):
    """Repairs a deleted file and a deleted key. Wine 8's msiexec does not implement /f."""
    program = prefix.drive / "Program Files/OpenPLA/openpdh.dll"
    program.unlink()
    prefix.run("reg", "delete", "HKLM\\" + key, "/f")
    check(prefix.run("reg", "query", "HKLM\\" + key)[0] != 0, "a deleted key")
    msi(prefix, "repair", "/i", package, "REINSTALL=ALL", "REINSTALLMODE=amus")
    check(program.exists(), "the file that the repair puts back")
    check(prefix.run("reg", "query", "HKLM\\" + key, "/ve")[0] == 0, "the key that the repair puts back")


def replaces_pla(prefix, first, second, whole):
    """Tests the default mode under Wine: OpenPLA takes the place of PLA, which Wine lacks."""
    server = PROGRAM + r"\openplasrv.exe"
    msi(prefix, "install", "/i", first)
    check("RUNNING" in prefix.run("sc", "query", "OpenPLA")[1], "the service runs after the install")
    if whole:
        has_rows(prefix, "dropin")
        if (pathlib.Path(BIN) / "x86/openpla.dll").exists():
            has_rows(prefix, "dropin-32")
    prefix.collect("Main")
    if whole:
        code, findings = prefix.run(PROGRAM + r"\openpla.exe", "doctor")
        check(code == 0 and "regist" not in findings and "service" not in findings, "doctor of the installed", findings)
    check(prefix.script(RUNS) == "status 1", "a set that runs")
    msi(prefix, "upgrade over a running set", "/i", second, good=False)
    check("Service\\Runs runs" in prefix.run(server, "/sets")[1], "the set runs on after the refused upgrade")
    installed = prefix.keys()
    msi(prefix, "uninstall over a running set", "/x", first, good=False)
    check_equal(installed, prefix.keys(), "after the refused uninstall: registry")
    check("Service\\Runs runs" in prefix.run(server, "/sets")[1], "the set runs on after the refused uninstall")
    check("RUNNING" in prefix.run("sc", "query", "OpenPLA")[1], "and so does the service")
    second, _ = steps(second)
    msi(prefix, "upgrade that stops it", "/i", second, "STOPSETS=1")
    check(prefix.run(server, "/sets") == (0, ""), "no set runs after the upgrade")
    (prefix.path / "sets").write_text("no folder")
    os.environ["OPENPLA_DATA"] = "Z:" + str(prefix.path).replace("/", "\\")
    code, output = prefix.run(server, "/sets")
    check(code == 1 and "cannot query the running sets" in output, "sets that cannot be read count as running", code, output)
    del os.environ["OPENPLA_DATA"]
    if whole:
        prefix.collect("Upgraded")
        check(msi(prefix, "downgrade", "/i", first, good=False) in REFUSED, "how the downgrade is refused")
        repairs_deleted_parts(prefix, second, r"Software\Classes\CLSID\{03837521-098B-11D8-9414-505054503030}")
        msi(prefix, "repair that fails", "/i", second, "REINSTALL=ALL", "REINSTALLMODE=amus", "FAIL=RegisterBack", good=False)
        prefix.collect("Repaired")
    keys, files = states(prefix)
    msi(prefix, "uninstall that fails behind Unregister", "/x", second, "FAIL=Unregister", good=False)
    check_equal(keys, prefix.keys(), "after the uninstall that failed: registry")
    check_equal(programs(files), programs(prefix.files()), "after the uninstall that failed: file")
    check("RUNNING" in prefix.run("sc", "query", "OpenPLA")[1], "the service runs after the uninstall that failed")
    msi(prefix, "uninstall", "/x", second)
    check((prefix.drive / "ProgramData/OpenPLA/sets").is_dir(), "users' sets stay")


def installs_beside_windows_pla(prefix, package):
    """The mode for Windows: first with as few features as possible, then with the DLLs for 32-bit programs. The last
    uninstall also deletes users' sets."""
    msi(prefix, "install with a mode that there is not", "/i", package, "MODE=both", good=False)
    msi(prefix, "install beside", "/i", package, "MODE=beside", "ADDLOCAL=Main")
    prefix.collect("Beside", product="OpenPLA")
    windows = re.compile(r"Classes\\(Wow6432Node\\)?(PLA\.|(CLSID|Interface|TypeLib|AppID)\\\{[0-9A-F]{8}-098B-)", re.I)
    check(not [key for key in prefix.keys() if windows.search(key)], "Windows' names are not taken")
    check(not (prefix.drive / "Program Files/OpenPLA/docs").exists(), "what was not chosen is not there")
    check(not (prefix.drive / "Program Files/OpenPLA/x86").exists(), "nor the libraries of 32-bit programs")
    repairs_deleted_parts(prefix, package, r"Software\Classes\CLSID\{03837521-7D7F-4CE7-B081-7C53C3F9BDF1}")
    check(prefix.script(RUNS.replace('"PLA.', '"OpenPLA.')) == "status 1", "a set that runs beside")
    code, output = prefix.run("cscript", "//nologo", "stop-sets.vbs", folder=prefix.drive / "Program Files/OpenPLA")
    check(code == 0 and "Stop Runs: 0x0" in output, "stop-sets.vbs beside", code, output)
    msi(prefix, "uninstall", "/x", package)
    if (pathlib.Path(BIN) / "x86/openpla.dll").exists():
        registers_for_32_bit_programs(prefix, package, windows)
    msi(prefix, "install beside for PURGE", "/i", package, "MODE=beside", "ADDLOCAL=Main")
    msi(prefix, "uninstall with PURGE", "/x", package, "PURGE=1")
    check(not (prefix.drive / "ProgramData/OpenPLA").exists(), "PURGE takes users' sets")


def registers_for_32_bit_programs(prefix, package, windows):
    """In the mode `beside`, the classes are registered for 32-bit programs too. If this Wine runs 32-bit programs, one
    of them uses the classes."""
    msi(prefix, "install beside, for 32-bit programs too", "/i", package, "MODE=beside", "ADDLOCAL=Main,Programs32")
    has_rows(prefix, "beside")
    has_rows(prefix, "beside-32")
    check(not [key for key in prefix.keys() if windows.search(key)], "Windows' names are not taken for 32-bit programs")
    (prefix.path / "script.vbs").write_text((TREE / "examples/collect.vbs").read_text().replace('"PLA.', '"OpenPLA.'))
    done = subprocess.run([sys.executable, TREE / "tests/programs_32/with_32_bits.py", "sh", TREE / "cmake/wine-run.sh",
                           r"C:\windows\syswow64\cscript.exe", "//nologo", "script.vbs", "Narrow", "1", "csv"],
                          cwd=prefix.path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600, check=False)
    output = done.stdout.decode("utf-8", "replace").strip()
    print("a 32-bit script:", output.splitlines()[-1] if output else done.returncode)
    check(done.returncode == 77 or (done.returncode == 0 and output.endswith("Done.")), "a 32-bit script", output)
    msi(prefix, "uninstall", "/x", package)


def installs_in_chosen_folder(prefix, first, second, before):
    """Installs in a folder chosen by the administrator; the next version keeps the folder."""
    folder = "Programme f\u00fcr \u0394 & Co"
    msi(prefix, "install elsewhere", "/i", first, f"INSTALLDIR=C:\\{folder}\\", "ADDLOCAL=Main")
    prefix.collect("Elsewhere")
    check(prefix.script(RUNS) == "status 1", "a set that runs")
    msi(prefix, "upgrade of it over a running set", "/i", second, good=False)
    msi(prefix, "upgrade of it", "/i", second, "STOPSETS=1")
    check(sorted(path.name for path in prefix.drive.glob("Program*")) == sorted(
        ["Program Files", "Program Files (x86)", "ProgramData", folder]), "where it is")
    check((prefix.drive / folder / "docs/user/install.md").exists(), "the next version is where the first one was")
    prefix.collect("ElsewhereUpgraded")
    msi(prefix, "uninstall", "/x", second)
    check_equal(before[0], prefix.keys(), "after the other folder: registry")
    check(not (prefix.drive / folder).exists(), "the folder is gone")


def unpacked(prefix, archive, before):
    """Installs with the script in the zip. The programs and names are the same as with the MSI, and nothing remains
    after the removal."""
    with zipfile.ZipFile(archive) as files:
        files.extractall(prefix.drive / "Unpacked")
    folder = prefix.drive / "Unpacked" / archive.stem
    code, output = prefix.run("cscript", "//nologo", "install.vbs", folder=folder)
    check(code == 0 and output.endswith("Done."), "install.vbs", code, output)
    prefix.collect("Unpacked")
    check(prefix.script(RUNS) == "status 1", "a set that runs of the unpacked")
    code, output = prefix.run("cscript", "//nologo", "install.vbs", "remove", folder=folder)
    check(code == 1 and "is running" in output, "removing over a running set", code, output)
    code, output = prefix.run("cscript", "//nologo", "stop-sets.vbs", folder=folder)
    check(code == 0 and output.endswith("Done."), "stop-sets.vbs", code, output)
    code, output = prefix.run("cscript", "//nologo", "install.vbs", "remove", folder=folder)
    check(code == 0 and output.endswith("Done."), "install.vbs remove", code, output)
    check_equal(before[0], prefix.keys(), "after the zip: registry")
    # Registers with the script register-beside.vbs, without a service; the folder is given relative to the current one.
    for arguments in (), ("remove",):
        code, output = prefix.run("cscript", "//nologo", r"registration\register-beside.vbs", ".", *arguments, folder=folder)
        check(code == 0 and output.endswith("Done."), "register-beside.vbs", arguments, code, output)
        if not arguments:
            prefix.collect("Rows", product="OpenPLA")
    prefix.step("cleanup")
    shutil.rmtree(prefix.drive / "Unpacked")
    check_equal(before[0], prefix.keys(), "after register-beside.vbs: registry")


def build_is_reproducible(out, package):
    """A build at another time in another folder gives the same bytes."""
    (out / "another folder").mkdir()
    second = build(out / "another folder", "0.1.0")
    for file, other in ((package, second), (package.with_suffix(".zip"), second.with_suffix(".zip"))):
        check(file.read_bytes() == other.read_bytes(), f"the same bytes of {file.name}")


def build_packages(out, prefix):
    """Builds the packages of two versions while the prefix is created."""
    with concurrent.futures.ThreadPoolExecutor() as beside_it:
        first = beside_it.submit(build, out, "0.1.0")
        prefix.step("setup")
        second = build(out, "0.2.0", OPENPLA_MSI_ONLY="1")
        return first.result(), second


def main():
    whole = sys.argv[1:] == ["--whole"]
    if not shutil.which("wixl") or not shutil.which("msibuild"):
        print("wixl and msitools make the installer, and are not here")
        return 77
    # Beside the tests' prefix, so that it shares that prefix's Wine programs.
    with tempfile.TemporaryDirectory(prefix="openpla-msi-", dir=pathlib.Path(BIN).parent) as folder:
        out = pathlib.Path(folder)
        prefix = Prefix(out / "prefix")
        try:
            first, second = build_packages(out, prefix)
            for file in (first, first.with_suffix(".zip")):
                print(f"{file.name}: {file.stat().st_size} bytes")
            prefix.run("cscript", "//nologo", "check.vbs", folder=TREE / "installer")  # Wine registers what scripts need
            before = states(prefix)
            check(not [key for key in before[0] if re.search(r"\\(OpenPLA|PLA\.)", key, re.I)], "it begins without OpenPLA")
            rollback(prefix, first, before, whole)
            replaces_pla(prefix, first, second, whole)
            if whole:
                installs_in_chosen_folder(prefix, first, second, before)
                installs_beside_windows_pla(prefix, first)
                unpacked(prefix, first.with_suffix(".zip"), before)
                build_is_reproducible(out, first)
            shutil.rmtree(prefix.drive / "ProgramData/OpenPLA", ignore_errors=True)
            shutil.rmtree(prefix.drive / "PerfLogs", ignore_errors=True)
            compare(prefix, before, "after all")
            print(f"after all {len(before[0])} keys and {len(before[1])} files were compared with those before")
        finally:
            prefix.step("cleanup")
    return bool(failures)


sys.exit(main())
