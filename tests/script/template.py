#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Imports and runs a set that Windows exported, with collectors of several kinds. The supported collectors write their
files, and the message names the others. Otherwise a user could not use the templates that Windows exports. All files in
the folder OPENPLA_TEMPLATES are run, too; they are not part of this repository."""
import os
import re
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fault"))
import cscript  # noqa: E402
from faults import check, host_path, windows_path, wine  # noqa: E402

OWN = os.path.join(os.environ["OPENPLA_SOURCE_DIR"], "tests/golden/sets/template_all_kinds.xml")


def run(template, root):
    name = f"Template{os.getpid()}"
    # VBScript reads files in the system's code page.
    text = ElementTree.tostring(ElementTree.parse(template).getroot(), encoding="us-ascii").decode()
    ascii_file = os.path.join(root, "template.xml")
    with open(ascii_file, "w", encoding="us-ascii") as file:
        file.write(re.sub(r"^<\?xml.*?\?>\s*", "", text))
    for _ in range(cscript.ATTEMPTS):
        code, text = wine("cscript", "//nologo", windows_path(os.path.join(HERE, "template.vbs")), name,
                          windows_path(ascii_file), windows_path(root))
        if not cscript.never_ran(code, text):
            break
    check(code == 0 and text.endswith("Done.\n"), f"{template}: exit code {code}: {text}")
    return text


def main():
    folder = os.environ.get("OPENPLA_TEMPLATES")
    templates = [OWN] + ([os.path.join(folder, name) for name in sorted(os.listdir(folder))] if folder else [])
    for template in templates:
        kinds = [e.tag for e in ElementTree.parse(template).getroot() if e.tag.endswith("DataCollector")]
        with tempfile.TemporaryDirectory(dir=os.path.join(os.environ["WINEPREFIX"], "drive_c")) as root:
            text = run(template, root)
            check("status 0\n" in text, f"{template}: it has ended: {text}")
            if folder:
                print(template, kinds, text, sep="\n")
            outputs = [host_path(path) for path in re.findall(r"^collector .* ([A-Z]:\\.*\.xml)$", text, re.M)]
            expected = kinds.count("ConfigurationDataCollector")
            check(len(outputs) == expected, f"{template}: {expected} configurations: {text}")
            for path in outputs:
                report = ElementTree.parse(path).getroot()
                check(report.get("complete") == "1" and report.findall("Section"), f"{path}: complete")
    print("all that can run has run")


main()
