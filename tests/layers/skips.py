#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""skips.py PRESET RESULTS.xml | --self-test: fails for each test that ctest skipped without an entry for this host in
tests/expected-skips.txt. RESULTS.xml is ctest's JUnit file; the output of the skipped tests is printed."""
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "expected-skips.txt")
OS_RELEASE = "/etc/os-release"


def codename(os_release):
    """Returns VERSION_CODENAME, or "" if there is none."""
    found = re.search(r"^VERSION_CODENAME=[\"']?([^\"'\n]*)", os_release, re.M)
    return found.group(1) if found else ""


def wine32_installed():
    try:
        query = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Abbrev}", "wine32:i386"], capture_output=True,
                               text=True)
    except FileNotFoundError:
        return False
    return query.stdout.startswith("ii")


def this_host():
    """Returns the names by which the list refers to this host."""
    names = {"any"} if wine32_installed() else {"any", "no-wine32"}
    if os.geteuid() != 0:
        names.add("no-root")
    if os.path.exists(OS_RELEASE):
        with open(OS_RELEASE, encoding="utf-8") as file:
            names.add(codename(file.read()))
    return names


def expected_skips(lines, host):
    """Returns (preset, test) -> reason for the lines that apply to a host with these names; # begins a comment."""
    expected = {}
    for line in lines:
        words = line.split("#")[0].split(None, 3)
        if words and len(words) < 4:
            sys.exit(f"{LIST}: a line needs preset, test, hosts and reason: {line.strip()}")
        if words and host & set(words[2].split(",")):
            expected[words[0], words[1]] = words[3].strip()
    return expected


def check_skips(preset, results, expected):
    """Returns the messages, and whether all skips are expected. `results`: the JUnit file's root element."""
    messages = []
    total = skipped = unexpected = 0
    for case in results.iter("testcase"):
        total += 1
        if case.find("skipped") is None:
            continue
        skipped += 1
        name = case.get("name")
        reason = expected.get((preset, name))
        if reason:
            messages.append(f"skipped as expected: {name}: {reason}")
            continue
        unexpected += 1
        why = (case.findtext("system-out") or "").strip().splitlines()[-5:] or ["(it said nothing)"]
        messages.append(f"SKIPPED, and not listed in tests/expected-skips.txt for this host: {name}: " + " | ".join(why))
    messages.append(f"{preset}: {total} tests, {skipped} skipped, {unexpected} of them unexpected")
    return messages, total > 0 and not unexpected


def self_test():
    lines = ["# comment", "mingw a any no right", "mingw b sid,trixie no tool", ""]
    results = ElementTree.fromstring('<testsuite><testcase name="a"><skipped/></testcase><testcase name="b"><skipped/>'
                                     "<system-out>why</system-out></testcase><testcase name=\"c\"/></testsuite>")
    bad = [what for what, ok in {
        "a codename with and without quotes": codename('ID=x\nVERSION_CODENAME="a"\n') == "a" ==
                                              codename("VERSION_CODENAME=a"),
        "no codename": codename("ID=x") == "",
        "what the list says of this host": check_skips("mingw", results, expected_skips(lines, {"any", "trixie"}))[1],
        "a line of another host does not count": not check_skips("mingw", results, expected_skips(lines, {"any", "bookworm"}))[1],
        "nor does that of another preset": not check_skips("native-asan", results, expected_skips(lines, {"any", "trixie"}))[1],
        "what the test said is shown": any(
            line.endswith("b: why") for line in check_skips("mingw", results, expected_skips(lines, {"any", "bookworm"}))[0]),
        "no test at all is a failure": not check_skips("mingw", ElementTree.fromstring("<testsuite/>"), {})[1],
    }.items() if not ok]
    for what in bad:
        print(f"self-test: {what}")
    return 1 if bad else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    preset, results = sys.argv[1:]
    with open(LIST, encoding="utf-8") as lines:
        expected = expected_skips(lines, this_host())
    messages, well = check_skips(preset, ElementTree.parse(results).getroot(), expected)
    print("\n".join(messages))
    return 0 if well else 1


sys.exit(main())
