#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""doctor_prefix.py TREE PROGRAM EMULATOR: breaks the registration, the service, its server and the files one by one in
a separate Wine prefix. openpla doctor identifies each problem, and its suggested command repairs it. Without it, a
script that cannot create its object would give its user no reason."""
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

TREE = sys.argv.pop(1)
from doctor_findings import HOST_FINDINGS, examine, expect_finding
from program import EMULATOR, PROGRAM, check

FOLDER = r"C:\Program Files\OpenPLA"
FILES = ("openpla.dll", "openplasrv.exe", "openplahost.exe", "openpdh.dll", "openetw.dll", "opentdh.dll",
         "openapitrace.dll", "openetwhost.exe", "openpla.exe")
FILES_32 = ("openpla.dll", "openpdh.dll", "openetw.dll", "opentdh.dll", "openapitrace.dll")
INSTALLED = FOLDER + r"\openpla.exe"
CLASSES = r"HKLM\Software\Classes"
SET = CLASSES + r"\CLSID\{03837521-098B-11D8-9414-505054503030}"


def wine(*arguments):
    done = subprocess.run([*EMULATOR, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=600, check=False)
    return done.stdout.decode("utf-8", "replace")


def run_doctor(*arguments):
    return examine(*arguments, program=INSTALLED)


def expect_no_findings(what):
    found = run_doctor()
    check(set(found) <= HOST_FINDINGS, what, found)


def apply_suggestion(finding):
    """Runs the command that the finding suggests."""
    quoted = re.fullmatch(r'"([^"]*)" (.*)', finding["do"])
    wine(*([quoted[1], *quoted[2].split()] if quoted else finding["do"].split(";")[0].split()))


def find_server_process():
    """Returns the Linux process id of this prefix's server."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as line, open(f"/proc/{pid}/environ", "rb") as environ:
                if b"openplasrv.exe" in line.read() and os.environ["WINEPREFIX"].encode() in environ.read():
                    return int(pid)
        except OSError:
            pass
    sys.exit("no server process found")


def check_registration():
    wine("reg", "delete", CLASSES + r"\PLA.DataCollectorSet\CLSID", "/f")
    found = run_doctor()
    expect_finding(found, "registration-damaged", r"PLA.DataCollectorSet\CLSID")
    apply_suggestion(found["registration-damaged"][0])
    expect_no_findings("registered again")
    wine("reg", "add", SET + r"\LocalServer32", "/v", "ServerExecutable", "/d", r"C:\other\pla.exe", "/f")
    expect_finding(run_doctor(), "registered-other", r"C:\other\pla.exe")
    wine("reg", "delete", SET + r"\LocalServer32", "/f")
    found = run_doctor()
    expect_finding(found, "not-registered")
    apply_suggestion(found["not-registered"][0])
    expect_no_findings("registered anew")


def check_files(installed):
    for name, finding in (("opentdh.dll", "file-missing"), ("openpdh.dll", "no-counters")):
        os.rename(f"{installed}/{name}", f"{installed}/{name}.away")
        expect_finding(run_doctor(), finding, name)
        os.rename(f"{installed}/{name}.away", f"{installed}/{name}")
    wide = os.path.join(os.environ["WINEPREFIX"], "drive_c/windows/syswow64/cscript.exe")
    if not os.path.exists(wide):
        os.makedirs(os.path.dirname(wide), exist_ok=True)
        with open(wide, "wb"):
            expect_finding(run_doctor(), "programs-32", r"x86\openpla.dll")
        os.remove(wide)
    other = os.path.join(os.environ["WINEPREFIX"], "drive_c", "other")
    os.mkdir(other)
    for name in FILES:
        shutil.copy(f"{installed}/{name}", other)
    found = examine(program=r"C:\other\openpla.exe")
    expect_finding(found, "registered-elsewhere", FOLDER)
    check("versions-differ" not in found, "copies of the same build do not differ", found)
    with open(f"{other}/openpla.exe", "ab") as program:
        program.write(b"another")
    expect_finding(examine(program=r"C:\other\openpla.exe"), "versions-differ", "openpla.exe")
    if os.geteuid() == 0:
        windows = os.path.join(os.environ["WINEPREFIX"], "drive_c/windows")
        os.chown(windows, 65534, 65534)
        found = run_doctor()
        os.chown(windows, 0, 0)
        expect_finding(found, "prefix-foreign", "windows")


def check_service(installed):
    wine("net", "stop", "OpenPLA")
    found = run_doctor()
    expect_finding(found, "service-stopped")
    apply_suggestion(found["service-stopped"][0])
    expect_no_findings("the service runs again")
    now = time.time() + 60
    os.utime(f"{installed}/openpla.dll", (now, now))
    expect_finding(run_doctor(), "server-outdated", "openpla.dll")
    os.utime(f"{installed}/openpla.dll", (now - 7200, now - 7200))
    os.kill(find_server_process(), signal.SIGSTOP)
    found = run_doctor("-wait", "2")
    expect_finding(found, "server-hangs")
    os.kill(find_server_process(), signal.SIGKILL)
    found = run_doctor()
    if "service-stopped" not in found:  # Wine 10 notices that a service's process has exited
        expect_finding(found, "service-dead")
        expect_finding(found, "server-dead-entry")
        check("server-dead-entry" in run_doctor(), "doctor repairs nothing")
    wine(rf"{FOLDER}\openpla.exe", "logman", "query")
    wine("net", "start", "OpenPLA")  # in Wine 10, activation does not always start the service
    expect_no_findings("repaired as suggested")


def check_ports():
    """Doctor reports an invalid or closed port for the counters that the service offers to other computers."""
    key = r"HKLM\Software\OpenPLA"
    wine("reg", "add", key, "/v", "CounterQueryPort", "/d", "no number", "/f")
    expect_finding(run_doctor(), "port-setting", "no number")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    wine("reg", "add", key, "/v", "CounterQueryPort", "/d", port, "/f")  # the service has not read it yet
    expect_finding(run_doctor(), "port-closed", port)
    with socket.create_server(("127.0.0.1", int(port))):
        check("port-closed" not in run_doctor(), "an open port is not reported")
    wine("reg", "delete", key, "/v", "CounterQueryPort", "/f")


def check_disabled_service(script):
    wine("reg", "add", r"HKLM\System\CurrentControlSet\Services\OpenPLA", "/v", "Start", "/t", "REG_DWORD", "/d", "4", "/f")
    for step in ("cleanup", "setup"):  # the service manager reads it when it starts
        subprocess.run(["sh", script, step], stdin=subprocess.DEVNULL, timeout=600, check=True)
    found = run_doctor()
    expect_finding(found, "service-disabled")
    apply_suggestion(found["service-disabled"][0])
    wine("net", "start", "OpenPLA")
    expect_no_findings("the service can be started again")


def check_missing_service():
    wine(FOLDER + r"\openplasrv.exe", "/regserver", "/noservice")
    found = run_doctor()
    check(set(found) <= HOST_FINDINGS | {"no-service"}, "without the service", found)
    expect_finding(found, "no-service")
    apply_suggestion(found["no-service"][0])
    wine("net", "start", "OpenPLA")
    expect_no_findings("the service is registered again")
    wine("net", "stop", "OpenPLA")
    wine("sc", "delete", "OpenPLA")
    found = run_doctor()
    expect_finding(found, "service-missing")
    wine("sc", "create", "OpenPLA", "binPath=", r"C:\other\openplasrv.exe /service", "type=", "own", "start=", "demand")
    expect_finding(run_doctor(), "service-other", r"C:\other\openplasrv.exe")


def main():
    prefix = tempfile.mkdtemp()
    os.environ["WINEPREFIX"] = prefix
    os.environ.pop("OPENPLA_DATA", None)
    script = os.path.join(TREE, "cmake", "wine-prefix.sh")
    try:
        os.rmdir(prefix)
        subprocess.run(["sh", script, "setup"], stdin=subprocess.DEVNULL, timeout=600, check=True)
        installed = os.path.join(prefix, "drive_c/Program Files/OpenPLA")
        os.makedirs(installed)
        for name in FILES:
            shutil.copy(os.path.join(os.path.dirname(PROGRAM), name), installed)
        # The installer also does this if the prefix has 32-bit programs.
        programs_32 = os.path.join(os.path.dirname(PROGRAM), "x86")
        if os.path.exists(os.path.join(prefix, "drive_c/windows/syswow64/cscript.exe")) and os.path.isdir(programs_32):
            os.makedirs(os.path.join(installed, "x86"))
            for name in FILES_32:
                shutil.copy(os.path.join(programs_32, name), os.path.join(installed, "x86"))
        found = run_doctor()
        expect_finding(found, "not-registered")
        apply_suggestion(found["not-registered"][0])
        wine("net", "start", "OpenPLA")
        expect_no_findings("a newly installed prefix")
        check_registration()
        check_files(installed)
        check_service(installed)
        check_ports()
        check_disabled_service(script)
        check_missing_service()
        print("each problem is found, and repaired as suggested")
    finally:
        subprocess.run(["sh", script, "cleanup"], stdin=subprocess.DEVNULL, timeout=600, check=False)
        shutil.rmtree(prefix, ignore_errors=True)


main()
