#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""examples/configuration.vbs as users run it: its set ends by itself, and files, keys and what else was asked for are in
one XML, twice in a row, each run in a folder of its own."""
import os
import re
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fault"))
import cscript  # noqa: E402
from faults import check, host_path, windows_path, wine  # noqa: E402

EXAMPLE = os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "examples", "configuration.vbs")


def run(*arguments):
    for _ in range(cscript.ATTEMPTS):
        code, text = wine("cscript", "//nologo", windows_path(EXAMPLE), *arguments)
        if not cscript.never_ran(code, text):
            break
    check(code == 0 and text.endswith("\nDone.\n"), f"exit code {code}: {text}")
    return {key: value for key, value in re.findall(r"^(\w+): (.*)$", text, re.M)}


def rows(report, section):
    """Of the Items of a section: {column: text}."""
    return [{data.get("name"): data.text or "" for data in item.findall("Data")}
            for item in report.findall(f"Section[@name='{section}']/Table/Item")]


def main():
    folders = set()
    with tempfile.TemporaryDirectory() as source:
        os.makedirs(os.path.join(source, "sub"))
        for name in "a.txt", "sub/a.txt", "sub/b.log":
            with open(os.path.join(source, name), "w", encoding="utf-8") as file:
                file.write(name)
        for _ in range(2):
            said = run(f"Configuration{os.getpid()}", windows_path(source) + "\\\\*.txt")
            check(said["Status"] == "0", f"the run has ended by itself: {said}")
            check("complete" in said["Message"], f"and says why: {said}")
            folder = host_path(said["Folder"])
            report = ElementTree.parse(host_path(said["XML"])).getroot()
            check(report.get("complete") == "1", "all was collected")
            copies = [row["copy"] for row in rows(report, "files")]
            check(copies == ["a.txt", "a_1.txt"], f"both files, in their order: {copies}")
            with open(os.path.join(folder, "a_1.txt"), encoding="utf-8") as file:
                check(file.read() == "sub/a.txt", "the copy is the file's")
            keys = rows(report, "registry")
            check(any(row["name"].lower() == "currentversion" for row in keys), f"the key's values: {keys}")
            folders.add(folder)
    check(len(folders) == 2, f"each run has a folder of its own: {folders}")
    print("both runs have recorded the machine")


main()
