#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""If a set host process is killed while it records a configuration, the XML is well-formed, is marked as incomplete and
lacks only the last rows, and the next run records everything. Otherwise a user would take half of a configuration for a
whole one, or could not read it."""
import os
import shutil
import tempfile
import time
import xml.etree.ElementTree as ElementTree

from faults import check, clean, host_path, kill_one, run_client, windows_path

NAME = "test-fault-configuration"
FILES = 600


def rows_of(file):
    report = ElementTree.parse(host_path(file)).getroot()
    items = report.findall("Section[@name='files']/Table/Item")
    return report.get("complete"), len([i for i in items if not i.findtext("Data[@name='error']")]), len(items)


def main():
    clean(NAME)
    root, source = tempfile.mkdtemp(), tempfile.mkdtemp()
    try:
        for number in range(FILES):
            with open(os.path.join(source, f"{number:05}.txt"), "w", encoding="utf-8") as file:
                file.write(str(number))
        first = run_client("configure", NAME, windows_path(root), windows_path(source) + "\\*.txt")
        check(first["status"] == "1", f"it runs: {first}")
        folder = os.path.dirname(host_path(first["file"]))
        end = time.monotonic() + 240
        while len(os.listdir(folder)) < FILES // 20:
            check(time.monotonic() < end, f"files are copied: {len(os.listdir(folder))}")
            time.sleep(0.01)
        kill_one("openplahost", NAME)
        complete, copied, items = rows_of(first["file"])
        check(complete == "0" and items < FILES, f"it was killed in the middle: {complete}, {items} rows")
        check(copied == items, f"{items - copied} rows are errors")
        while run_client("state", NAME)["status"] != "0":
            check(time.monotonic() < end + 240, "the set is stopped")
        second = run_client("again", NAME)
        check(second["file"] != first["file"], f"the next run has a file of its own: {second}")
        end = time.monotonic() + 240
        while run_client("state", NAME)["status"] != "0":
            check(time.monotonic() < end, "the second run ends by itself")
            time.sleep(0.5)
        complete, copied, items = rows_of(second["file"])
        check(complete == "1" and copied == FILES, f"all is recorded: {complete}, {copied} of {items} rows")
        run_client("delete", NAME)
    finally:
        shutil.rmtree(root)
        shutil.rmtree(source)
    print("ok:", os.path.basename(__file__))


main()
