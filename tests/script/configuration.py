#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs examples/configuration.vbs twice. The set stops without a call, and one XML document per run contains the
requested files, registry keys and other data. Each run has its own folder, and `openpla config` shows the documents and
their differences. Otherwise a user could not see what has changed on a computer."""
import os
import re
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fault"))
import cscript  # noqa: E402
from faults import check, host_path, windows_path, wine  # noqa: E402

OPENPLA = os.path.join(os.environ["OPENPLA_BIN_DIR"], "openpla.exe")
EXAMPLE = os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "examples", "configuration.vbs")


def run(*arguments):
    for _ in range(cscript.ATTEMPTS):
        code, text = wine("cscript", "//nologo", windows_path(EXAMPLE), *arguments)
        if not cscript.never_ran(code, text):
            break
    check(code == 0 and text.endswith("\nDone.\n"), f"exit code {code}: {text}")
    return {key: value for key, value in re.findall(r"^(\w+): (.*)$", text, re.M)}


def rows(report, section):
    """Returns the Items of a section as {column: text}."""
    return [{data.get("name"): data.text or "" for data in item.findall("Data")}
            for item in report.findall(f"Section[@name='{section}']/Table/Item")]


def config(expected, *arguments):
    code, text = wine(OPENPLA, "config", *arguments)
    check(code == expected, f"openpla config {arguments}: exit code {code}: {text}")
    return text


def compare(before, after, source):
    """Checks that `openpla config diff` reports exactly the files that this test changed between the runs, and no change
    of registry keys and network settings."""
    path = windows_path(source)
    text = config(0, before, "-t", "files")
    check(f"{path}\\sub\\a.txt" in text and "(2 rows)" in text, f"the files are shown: {text}")
    text = config(1, "diff", before, after, "-t", "files", "-ignore", "modified")
    for line in (f'  + path="{path}\\sub\\c.txt", copy="c.txt"', f'  ~ path="{path}\\sub\\a.txt"\n      size: "9" -> "12"',
                 "Rows: 1 changed, 1 added, 0 removed, 1 unchanged"):
        check(line in text, f"{line} is missing: {text}")
    config(0, "diff", before, after, "-t", "registry*", "networkInformation")


def main():
    folders, documents = set(), []
    with tempfile.TemporaryDirectory() as source:
        os.makedirs(os.path.join(source, "sub"))
        for name in "a.txt", "sub/a.txt", "sub/b.log":
            with open(os.path.join(source, name), "w", encoding="utf-8") as file:
                file.write(name)
        for _ in range(2):
            output = run(f"Configuration{os.getpid()}", windows_path(source) + "\\\\*.txt")
            check(output["Status"] == "0", f"the run did not end without a call: {output}")
            check("complete" in output["Message"], f"the message does not say why the run ended: {output}")
            folder = host_path(output["Folder"])
            documents.append(output["XML"])
            report = ElementTree.parse(host_path(output["XML"])).getroot()
            check(report.get("complete") == "1", "the document is marked as incomplete")
            copies = [row["copy"] for row in rows(report, "files")]
            check(copies[:2] == ["a.txt", "a_1.txt"], f"both files, in their order: {copies}")
            with open(os.path.join(folder, "a_1.txt"), encoding="utf-8") as file:
                check(file.read() == ("sub/a.txt" if len(documents) == 1 else "sub/changed!"), "the copy is the file's")
            keys = rows(report, "registry")
            check(any(row["name"].lower() == "currentversion" for row in keys), f"the key's values: {keys}")
            code, text = wine(os.path.join(os.environ["OPENPLA_BIN_DIR"], "openpla.exe"), "events", "-set",
                              f"Configuration{os.getpid()}")
            check(re.search(r"\b1011\b.*Name=Machine", text), f"the event of a collector that is done: {code}: {text}")
            system = rows(report, "management")
            check(len(system) == 1 and "Windows" in system[0]["Caption"], f"WMI's answer: {system}")
            adapters = rows(report, "network")
            check(any("127.0.0.1/8" in row["addresses"] for row in adapters), f"the adapters: {adapters}")
            folders.add(folder)
            for name, text in ("sub/a.txt", "sub/changed!"), ("sub/c.txt", "new"):
                with open(os.path.join(source, name), "w", encoding="utf-8") as file:
                    file.write(text)
        compare(*documents, source)
    check(len(folders) == 2, f"each run has a folder of its own: {folders}")
    print("ok: both runs recorded the configuration, and the differences are reported")


main()
