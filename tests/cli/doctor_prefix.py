#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""doctor_prefix.py TREE PROGRAM EMULATOR: runs openpla doctor in a separate Wine prefix, in which the registration, the
service, its server and the files are broken one after the other. It must name the broken part, and its advice must
repair it. Otherwise a user's script would get no object, without a reason."""
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
from doctor_findings import OF_THE_HOST, examine, wanted
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


def look(*arguments):
    return examine(*arguments, program=INSTALLED)


def sound(what):
    found = look()
    check(set(found) <= OF_THE_HOST, what, found)


def mend(finding):
    """Does what it says."""
    quoted = re.fullmatch(r'"([^"]*)" (.*)', finding["do"])
    wine(*([quoted[1], *quoted[2].split()] if quoted else finding["do"].split(";")[0].split()))


def server():
    """The process of the host that this prefix's server is."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as line, open(f"/proc/{pid}/environ", "rb") as environ:
                if b"openplasrv.exe" in line.read() and os.environ["WINEPREFIX"].encode() in environ.read():
                    return int(pid)
        except OSError:
            pass
    sys.exit("there is no server")


def registration():
    wine("reg", "delete", CLASSES + r"\PLA.DataCollectorSet\CLSID", "/f")
    found = look()
    wanted(found, "registration-damaged", r"PLA.DataCollectorSet\CLSID")
    mend(found["registration-damaged"][0])
    sound("registered again")
    wine("reg", "add", SET + r"\LocalServer32", "/v", "ServerExecutable", "/d", r"C:\other\pla.exe", "/f")
    wanted(look(), "registered-other", r"C:\other\pla.exe")
    wine("reg", "delete", SET + r"\LocalServer32", "/f")
    found = look()
    wanted(found, "not-registered")
    mend(found["not-registered"][0])
    sound("registered anew")


def files(installed):
    for name, finding in (("opentdh.dll", "file-missing"), ("openapitrace.dll", "file-missing"),
                          ("openpdh.dll", "no-counters")):
        os.rename(f"{installed}/{name}", f"{installed}/{name}.away")
        wanted(look(), finding, name)
        os.rename(f"{installed}/{name}.away", f"{installed}/{name}")
    wide = os.path.join(os.environ["WINEPREFIX"], "drive_c/windows/syswow64/cscript.exe")
    if not os.path.exists(wide):
        os.makedirs(os.path.dirname(wide), exist_ok=True)
        with open(wide, "wb"):
            wanted(look(), "programs-32", r"x86\openpla.dll")
        os.remove(wide)
    other = os.path.join(os.environ["WINEPREFIX"], "drive_c", "other")
    os.mkdir(other)
    for name in FILES:
        shutil.copy(f"{installed}/{name}", other)
    found = examine(program=r"C:\other\openpla.exe")
    wanted(found, "registered-elsewhere", FOLDER)
    check("versions-differ" not in found, "the same build", found)
    with open(f"{other}/openpla.exe", "ab") as program:
        program.write(b"another")
    wanted(examine(program=r"C:\other\openpla.exe"), "versions-differ", "openpla.exe")
    if os.geteuid() == 0:
        windows = os.path.join(os.environ["WINEPREFIX"], "drive_c/windows")
        os.chown(windows, 65534, 65534)
        found = look()
        os.chown(windows, 0, 0)
        wanted(found, "prefix-foreign", "windows")


def service(installed):
    wine("net", "stop", "OpenPLA")
    found = look()
    wanted(found, "service-stopped")
    mend(found["service-stopped"][0])
    sound("the service runs again")
    now = time.time() + 60
    os.utime(f"{installed}/openpla.dll", (now, now))
    wanted(look(), "server-outdated", "openpla.dll")
    os.utime(f"{installed}/openpla.dll", (now - 7200, now - 7200))
    os.kill(server(), signal.SIGSTOP)
    found = look("-wait", "2")
    wanted(found, "server-hangs")
    os.kill(server(), signal.SIGKILL)
    found = look()
    if "service-stopped" not in found:  # Wine 10 sees that the process of a service has ended
        wanted(found, "service-dead")
        wanted(found, "server-dead-entry")
        check("server-dead-entry" in look(), "it only looks")
    wine(rf"{FOLDER}\openpla.exe", "logman", "query")
    wine("net", "start", "OpenPLA")  # Wine 10, whose activation need not be the service
    sound("mended as it says")


def ports():
    """Where counters are to be offered to other computers."""
    key = r"HKLM\Software\OpenPLA"
    wine("reg", "add", key, "/v", "CounterQueryPort", "/d", "no number", "/f")
    wanted(look(), "port-setting", "no number")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    wine("reg", "add", key, "/v", "CounterQueryPort", "/d", port, "/f")  # the service has not heard of it
    wanted(look(), "port-closed", port)
    with socket.create_server(("127.0.0.1", int(port))):
        check("port-closed" not in look(), "a port that is open")
    wine("reg", "delete", key, "/v", "CounterQueryPort", "/f")


def disabled(script):
    wine("reg", "add", r"HKLM\System\CurrentControlSet\Services\OpenPLA", "/v", "Start", "/t", "REG_DWORD", "/d", "4", "/f")
    for step in ("cleanup", "setup"):  # the services' manager reads it when it starts
        subprocess.run(["sh", script, step], stdin=subprocess.DEVNULL, timeout=600, check=True)
    found = look()
    wanted(found, "service-disabled")
    mend(found["service-disabled"][0])
    wine("net", "start", "OpenPLA")
    sound("it may be started again")


def without_service():
    wine(FOLDER + r"\openplasrv.exe", "/regserver", "/noservice")
    found = look()
    check(set(found) <= OF_THE_HOST | {"no-service"}, "without the service", found)
    wanted(found, "no-service")
    mend(found["no-service"][0])
    wine("net", "start", "OpenPLA")
    sound("with it again")
    wine("net", "stop", "OpenPLA")
    wine("sc", "delete", "OpenPLA")
    found = look()
    wanted(found, "service-missing")
    wine("sc", "create", "OpenPLA", "binPath=", r"C:\other\openplasrv.exe /service", "type=", "own", "start=", "demand")
    wanted(look(), "service-other", r"C:\other\openplasrv.exe")


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
        # As the installer does where the prefix has 32-bit programs.
        programs_32 = os.path.join(os.path.dirname(PROGRAM), "x86")
        if os.path.exists(os.path.join(prefix, "drive_c/windows/syswow64/cscript.exe")) and os.path.isdir(programs_32):
            os.makedirs(os.path.join(installed, "x86"))
            for name in FILES_32:
                shutil.copy(os.path.join(programs_32, name), os.path.join(installed, "x86"))
        found = look()
        wanted(found, "not-registered")
        mend(found["not-registered"][0])
        wine("net", "start", "OpenPLA")
        sound("a prefix where all is well")
        registration()
        files(installed)
        service(installed)
        ports()
        disabled(script)
        without_service()
        print("each is found, and mended as it says")
    finally:
        subprocess.run(["sh", script, "cleanup"], stdin=subprocess.DEVNULL, timeout=600, check=False)
        shutil.rmtree(prefix, ignore_errors=True)


main()
