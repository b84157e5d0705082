#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""If the store's disk is full, or fills up during Start, the error names the file and the reason instead of a timeout
of the set host process. The set does not count as interrupted, and can be started when space is available again.
Otherwise a user would not learn that the disk is full."""
import os
import subprocess
import sys
import tempfile

from faults import SKIPPED, check, windows_path, wine

PAGE = 4096  # bytes that a small file occupies on tmpfs
SET = ("<DataCollectorSet><RootPath>{}</RootPath><PerformanceCounterDataCollector><Name>c</Name>"
       "<SampleInterval>1</SampleInterval><LogFileFormat>0</LogFileFormat><LogOverwrite>-1</LogOverwrite>"
       "<Counter>\\System\\Processes</Counter></PerformanceCounterDataCollector></DataCollectorSet>\n"
       "<?openpla-set name=\"full\"?>\n")


def fill_except(path, pages):
    """Fills the file system except for this number of pages."""
    with open(path, "wb", buffering=0) as ballast:
        try:
            while ballast.write(b"x" * PAGE) == PAGE:
                pass
        except OSError:
            pass
        ballast.truncate(ballast.tell() - ballast.tell() % PAGE - pages * PAGE)


def start(folder, pages):
    """Starts the set with this number of free pages. Returns the error; if there is none, stops the run and returns
    None."""
    host = os.path.join(os.environ["OPENPLA_BIN_DIR"], "run_test_host.exe")
    ballast = os.path.join(folder, "ballast")
    os.environ["OPENPLA_DATA"], os.environ["OPENPLA_HOST"] = windows_path(folder), windows_path(host)
    fill_except(ballast, pages)
    _, text = wine(host, "start", "Service", "full")
    os.remove(ballast)
    if text.startswith("0x00000000"):
        check(wine(host, "stop", "Service", "full")[0] == 0, "the run stops")
        return None
    path = os.path.join(folder, "sets/Service/full.run")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as record:
            check("\nrunning 1\n" not in record.read(), f"{pages} pages: the run does not count as interrupted")
    return text


def main():
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as output:
        mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", folder], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, check=False)
        if mount.returncode:
            print("skipped: a small file system cannot be mounted here:", mount.stdout.decode().strip())
            sys.exit(SKIPPED)
        try:
            os.makedirs(os.path.join(folder, "sets/Service"))
            with open(os.path.join(folder, "sets/Service/full.xml"), "w", encoding="utf-8") as file:
                file.write(SET.format(windows_path(output)))
            refused = 0
            for pages in range(6):
                text = start(folder, pages)
                refused += text is not None
                check(not text or text.startswith("0x80070070 '"), f"{pages} pages: the error names the file: {text}")
                check(not text or "\\sets\\Service\\" in text, f"{pages} pages: the file is in the store: {text}")
            check(refused >= 2 and not text, f"{refused} starts were refused, the last one was not: {text}")
        finally:
            subprocess.run(["umount", "-l", folder], check=False)


main()
