#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""skips.py PRESET RESULTS.xml: fails for each test that ctest skipped and that tests/expected-skips.txt does not list.
RESULTS.xml is ctest's JUnit file; what the skipped test said is printed."""
import os
import sys
import xml.etree.ElementTree as ElementTree

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "expected-skips.txt")


def expected_skips(path):
    """(preset, test) -> reason; one per line, # begins a comment."""
    expected = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            words = line.split("#")[0].split(None, 2)
            if words and len(words) < 3:
                sys.exit(f"{path}: a line needs preset, test and reason: {line.strip()}")
            if words:
                expected[words[0], words[1]] = words[2].strip()
    return expected


def main():
    preset, results = sys.argv[1:]
    expected = expected_skips(LIST)
    total = skipped = unexpected = 0
    for case in ElementTree.parse(results).getroot().iter("testcase"):
        total += 1
        if case.find("skipped") is None:
            continue
        skipped += 1
        name = case.get("name")
        reason = expected.get((preset, name))
        if reason:
            print(f"skipped as expected: {name}: {reason}")
            continue
        unexpected += 1
        said = (case.findtext("system-out") or "").strip().splitlines()[-5:] or ["(it said nothing)"]
        print(f"SKIPPED, and not listed in tests/expected-skips.txt: {name}: " + " | ".join(said))
    print(f"{preset}: {total} tests, {skipped} skipped, {unexpected} of them unexpected")
    sys.exit(1 if unexpected or not total else 0)


main()
