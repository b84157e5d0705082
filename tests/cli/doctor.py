#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""doctor.py SESSION PAGE PROGRAM [EMULATOR]: openpla doctor finds each problem that this test creates, suggests a
repair, changes nothing, and reports nothing for sound objects. Without it, users would search for hours for the reason
why a set does not run. SESSION is live_session, PAGE docs/user/doctor.md. doctor_prefix.py tests the registration
checks."""
import fcntl
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SESSION, PAGE = sys.argv[1:3]
del sys.argv[1:3]
from doctor_findings import HOST_FINDINGS, examine, expect_finding  # program.py uses the remaining arguments
from program import EMULATOR, PROGRAM, check, host_path

os.environ["OPENPLA_ETW"] = f"doctor{os.getpid()}"  # separates this test's sessions from others
XML = "<DataCollectorSet><RootPath>{}</RootPath></DataCollectorSet>\n<?openpla-set name=\"{}\"?>\n"
RECORD = ("openpla-run 1\nserial-number 3\nlast-result 0x00000000\nrunning {}\nlast-scheduled 0\nlast-message \n"
          "latest-location \n")
# Findings about the Wine prefix of the tests, which this test does not control.
PREFIX_FINDINGS = {"not-registered", "registered-elsewhere", "registration-damaged", "programs-32", "service-stopped",
                 "service-missing", "no-service", "server-outdated", "host-outdated", "versions-differ"}
skipped = []


def hash_folder(name):
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = ((value ^ byte) * 0x100000001B3) & (2 ** 64 - 1)
    return f"{value >> 56:02x}"


def file_times(top):
    """Returns all files with their times, except the lock file, which readers touch too."""
    return {os.path.join(path, name): os.stat(os.path.join(path, name)).st_mtime_ns
            for path, _, files in os.walk(top) for name in files if name != "store.lock"}


class Store:
    def __init__(self):
        self.data = tempfile.mkdtemp()
        os.chmod(self.data, 0o700)
        os.environ["OPENPLA_DATA"] = host_path(self.data)

    def write_file(self, name, text):
        path = os.path.join(self.data, name)
        folder = os.path.dirname(path)
        while not os.path.isdir(folder):
            os.makedirs(folder, mode=0o700)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o600)
        return path

    def write_set(self, name, running=0, root=""):
        base = f"sets/Service/{hash_folder(name)}/{name}"
        os.makedirs(os.path.join(self.data, "sets"), mode=0o700, exist_ok=True)
        os.makedirs(os.path.join(self.data, "sets", "Service"), mode=0o700, exist_ok=True)
        self.write_file(base + ".run", RECORD.format(running))
        return self.write_file(base + ".xml", XML.format(root, name))


def check_valid_store(store):
    store.write_set("good")
    before = file_times(store.data)
    found = examine()
    check(set(found) <= HOST_FINDINGS | (PREFIX_FINDINGS if EMULATOR else set()), "a sound store has no findings", found)
    check(file_times(store.data) == before, "doctor changes nothing", before, file_times(store.data))


def check_store(store):
    path = store.write_set("cut", running=1)
    expect_finding(examine(), "run-cut-off", "cut")
    os.remove(path[:-4] + ".run")
    os.remove(path)
    # For a built-in set the store contains only the run record.
    path = store.write_file(f"sets/System/{hash_folder('system performance')}/system performance.run", RECORD.format(1))
    found = examine()
    expect_finding(found, "run-cut-off", "System\\System Performance")
    check("store-damaged" not in found, "a built-in set's record is not reported as damaged", found)
    store.write_file(f"sets/System/{hash_folder('system performance')}/system performance.run", RECORD.format(0))
    check(not {"run-cut-off", "store-damaged"} & set(examine()), "a built-in set after a run")
    os.remove(path)
    # `store check -repair` would move a record away, and the set's next run would reuse the number of an earlier run.
    for name, text, finding in (("lost", RECORD.format(0), "record-orphaned"), ("cut", RECORD[:20], "record-damaged")):
        path = store.write_set(name)
        if finding == "record-orphaned":
            os.remove(path)
        record = store.write_file(f"sets/Service/{hash_folder(name)}/{name}.run", text)
        found = examine()
        expect_finding(found, finding, name + ".run")
        check("store-damaged" not in found, "a damaged record is not reported as a damaged definition", found)
        os.remove(record)
        if finding == "record-damaged":
            os.remove(path)
    path = store.write_file(f"sets/Service/{hash_folder('bad')}/bad.xml", "<DataCollectorSet><Desc")
    expect_finding(examine(), "store-damaged", "bad.xml")
    os.remove(path)
    os.chmod(store.data, 0o755)
    expect_finding(examine(), "store-open", os.path.basename(store.data))
    os.chmod(store.data, 0o700)
    if not EMULATOR:
        with open(os.path.join(store.data, "sets", "Service", "store.lock"), "r+b") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            expect_finding(examine(), "store-unreadable", "store.lock")
    path = store.write_file("secrets/" + "0" * 32, "set x\n")
    os.chmod(os.path.dirname(path), 0o700)
    os.utime(path, (1000000000, 1000000000))
    expect_finding(examine(), "passwords-orphaned", "0" * 32)
    shutil.rmtree(os.path.dirname(path))
    if os.geteuid() == 0:
        folder = os.path.join(store.data, "sets")
        os.chown(folder, 65534, 65534)
        expect_finding(examine(), "store-foreign", "sets")
        os.chown(folder, 0, 0)
    else:
        skipped.append("only root can change a folder's owner")


def check_disk_space_and_clock(store):
    root = os.path.join(store.data, "logs")
    os.mkdir(root, 0o700)
    path = store.write_set("writes", root=host_path(os.path.join(root, "not", "yet")))
    free = os.statvfs(store.data)
    left = free.f_bavail * free.f_frsize >> 20
    expect_finding(examine("-disk", str(left * 2)), "disk-low", host_path(store.data), "logs")
    expect_finding(examine("-disk", str(left * 20)), "disk-full", "logs")
    now = time.time()
    os.utime(path, (now + 7200, now + 7200))
    expect_finding(examine(), "clock-back", "writes.xml was written 1")
    os.utime(path, (now, now))
    check(not {"disk-low", "disk-full", "clock-back"} & set(examine("-disk", "1")), "no finding remains after the repair")


def check_host_os(store):
    expect_finding(examine(TZ="Nowhere/Land"), "zone-unknown", "Nowhere/Land")
    expect_finding(examine(TZ="/".join(["\u00e9" * 200] * 6)), "zone-unknown", "\u00e9/\u00e9")  # complete, in UTF-8
    reported = subprocess.run([*EMULATOR, PROGRAM, "doctor"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=600,
                              env={**os.environ, "TZ": "Nowhere\x1b]0;/Land"}, check=False).stdout
    check(b"Nowhere\\u001b]0;/Land" in reported and b"\x1b" not in reported, "control characters are escaped", reported)
    for zone in ("Europe/Berlin", "EST5EDT", "<+03>-3", ""):
        check("zone-unknown" not in examine(TZ=zone) or not os.path.isdir("/usr/share/zoneinfo"), f"the zone {zone}")
    if EMULATOR:
        return
    empty = os.path.join(store.data, "logs")
    found = examine(ODBCSYSINI=empty)
    if "no-odbc" not in found:
        expect_finding(found, "no-odbc-driver")
    with open(os.path.join(empty, "libodbc.so.2"), "wb") as library:
        library.write(b"no library")
    expect_finding(examine(LD_LIBRARY_PATH=empty), "no-odbc", "libodbc.so.2")
    os.remove(library.name)
    if os.geteuid() != 0:
        skipped.append("only root can hide processes")
        return
    if tuple(map(int, os.uname().release.split(".")[:2])) < (5, 8):
        skipped.append("all mounts of /proc share their options on this kernel")
        return
    hidden = ["unshare", "-m", "sh", "-c",
              'mount -t proc -o hidepid=2 proc /proc && exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"', "-"]
    if subprocess.run([*hidden, "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0:
        home = os.path.join(store.data, "nobody")
        os.mkdir(home)
        os.chown(home, 65534, 65534)
        os.chmod(store.data, 0o711)
        found = examine(before=hidden, OPENPLA_DATA=home, LD_LIBRARY_PATH="")
        os.chmod(store.data, 0o700)
        expect_finding(found, "proc-hidden")
        expect_finding(found, "no-tracefs", "/sys/kernel/tracing")
        shutil.rmtree(home)
    else:
        skipped.append("this kernel lets nobody mount /proc")


def session_hosts():
    """Finds the session host processes of this test by their environment."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/comm", encoding="utf-8") as comm, open(f"/proc/{pid}/environ", "rb") as environ:
                if "openetwhost" in comm.read() and os.environ["OPENPLA_ETW"].encode() in environ.read():
                    yield int(pid)
        except OSError:
            pass


def start_session(name):
    subprocess.run([*EMULATOR, SESSION, "start", name], stdin=subprocess.DEVNULL, check=True, timeout=600)


def kill_session_host():
    found = list(session_hosts())
    check(len(found) == 1, "one session host process", found)
    os.kill(found[0], signal.SIGKILL)
    while list(session_hosts()):
        time.sleep(0.05)


def check_sessions():
    check("session-dead" not in examine(), "no session")
    start_session("Left Behind")
    check("session-dead" not in examine(), "a running session is not reported")
    kill_session_host()
    expect_finding(examine(), "session-dead", "Left Behind")
    subprocess.run([*EMULATOR, SESSION, "stop", "Left Behind"], stdin=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=False, timeout=600)  # the killed process cannot respond
    check("session-dead" not in examine(), "a stopped session is no longer reported")


def check_session_directory():
    """Doctor reports a corrupt session directory, and the next session recreates it."""
    name = f"/dev/shm/openpla-*/openetw[0-9]*-{os.environ['OPENPLA_ETW']}"
    for corrupt, why in ((lambda file: file.write(b"x" * 64), "was overwritten"),
                         (lambda file: file.truncate(1000), "was shortened")):
        start_session("Left Behind")  # the last program deletes a directory without sessions
        kill_session_host()
        found = glob.glob(name)
        check(len(found) == 1, "the directory of sessions", found)
        with open(found[0], "r+b") as file:
            corrupt(file)
        before = os.stat(found[0]).st_size
        for _ in range(2):  # doctor repairs nothing
            expect_finding(examine(), "sessions-corrupt", os.path.basename(found[0]), why)
        check(os.stat(found[0]).st_size == before, "doctor changes nothing")
        for verb in ("start", "stop"):
            subprocess.run([*EMULATOR, SESSION, verb, "Begun Anew"], stdin=subprocess.DEVNULL, check=True, timeout=60)
        check(not {"sessions-corrupt", "sessions-unusable"} & set(examine()), "the next session recreates the directory")
    if os.path.exists(found[0]):
        os.remove(found[0])
    os.mkdir(found[0])
    expect_finding(examine(), "sessions-unusable", os.path.basename(found[0]))
    os.rmdir(found[0])


def openpla(*arguments):
    return subprocess.run([*EMULATOR, PROGRAM, "doctor", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=600, check=False)


def check_page_lists_all_findings():
    with open(PAGE, encoding="utf-8") as page:
        rows = dict(re.findall(r"^\| `([a-z0-9-]+)` \| (note|warning|error) \|", page.read(), re.M))
    done = openpla("-list", "--json")
    listed = json.loads(done.stdout.decode("utf-8"))
    check(done.returncode == 0 and rows == {f["id"]: f["severity"] for f in listed}, "docs/user/doctor.md has other findings",
          sorted(set(rows.items()) ^ {(f["id"], f["severity"]) for f in listed}))
    check(b"run-cut-off: warning\n  why: " in openpla("-list").stdout.replace(b"\r", b""), "-list")
    for wrong in (["-disk", "0"], ["-wait", "601"], ["more"], ["-what"]):
        done = openpla(*wrong)
        check(done.returncode == 2 and b"openpla help doctor" in done.stdout, f"{wrong}", done.stdout)


def main():
    store = Store()
    try:
        check_page_lists_all_findings()
        check_valid_store(store)
        check_store(store)
        check_disk_space_and_clock(store)
        check_host_os(store)
        text = openpla("-disk", "4000000000").stdout.decode("utf-8")
        check(re.search(r"^error: disk-full: .*\n  why: .*\n  do:  ", text, re.M), "the text output", text)
        if not EMULATOR:
            check_sessions()
            check_session_directory()
    finally:
        shutil.rmtree(store.data)
    if skipped:
        print("skipped:", *skipped)
        sys.exit(77)


main()
