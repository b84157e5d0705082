#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks OpenPLA's cabinets with cabextract: cabinet_check.py PROGRAM [EMULATOR...]. Every file of the folder must be
in a cabinet, with its name, its bytes and, to 2 seconds, its time."""
import os
import random
import shutil
import subprocess
import sys
import tempfile

PROGRAM, EMULATOR = sys.argv[1], sys.argv[2:]
FILES = {
    "Load.csv": b"".join(b'"01/02/2026 00:%02d:%02d","%d.5"\r\n' % (i // 60 % 60, i % 60, i) for i in range(40000)),
    "trace.etl": random.Random(7).randbytes(300000),
    "block.bin": b"x" * 32768,
    "blocks.bin": random.Random(8).randbytes(65536),
    "empty.log": b"",
    "report.xml": b"<Report/>",
    "sub/deeper/rules.log": b"one line\n",
    "sub/\u00e4\u4e2d\U0001F600.txt": b"a name",
}


def tree(top):
    found = {}
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, top)] = file.read()
    return found


def host_text(path):
    return "Z:" + path.replace("/", "\\") if EMULATOR else path


if not shutil.which("cabextract"):
    print("skipped: cabextract is not installed")
    sys.exit(77)
with tempfile.TemporaryDirectory() as top:
    run, cabinet, out = (os.path.join(top, name) for name in ("run", "run.cab", "out"))
    for number, (name, content) in enumerate(FILES.items()):
        path = os.path.join(run, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
        os.utime(path, (1.7e9 + 86400 * 40 * number, 1.7e9 + 86400 * 40 * number))
    done = subprocess.run([*EMULATOR, PROGRAM, host_text(run), host_text(cabinet)], capture_output=True, text=True, timeout=600)
    print(done.stdout, done.stderr)
    assert done.returncode == 0, done.returncode
    assert os.listdir(top).count("run.cab") == 1 and sorted(os.listdir(top)) == ["run", "run.cab"], os.listdir(top)
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    tested = subprocess.run(["cabextract", "-t", cabinet], capture_output=True, text=True, env=environment, timeout=600)
    assert tested.returncode == 0, tested.stdout + tested.stderr
    taken = subprocess.run(["cabextract", "-q", "-d", out, cabinet], capture_output=True, text=True, env=environment, timeout=600)
    assert taken.returncode == 0 and not taken.stderr, taken.stdout + taken.stderr
    found = tree(out)
    assert sorted(found) == sorted(FILES), sorted(found)
    for name, content in FILES.items():
        assert found[name] == content, f"{name}: other bytes"
        was, now = (os.stat(os.path.join(where, name)).st_mtime for where in (run, out))
        assert abs(was - now) <= 2, f"{name}: written {was}, taken out {now}"
    packed = os.path.getsize(cabinet)
    # Incompressible data takes little more than its own size. A text log takes at most a third of its size.
    assert packed < 300000 + 65536 + len(FILES["Load.csv"]) // 3 + 4000, packed
    print(f"{sum(map(len, FILES.values()))} bytes packed to {packed}")
