#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints how many of the operating system's counters used by templates are available here: template_share.py OPENPLA
TEMPLATE.xml ...

OPENPLA is the openpla program of any native build; its list of counters is used. Each counter of an object counts once, however
many templates use it; "*" is available if its object is. Objects of separate programs and of Windows roles are excluded,
because those programs must provide them.
"""
import html
import re
import subprocess

import arguments

# Objects of Windows itself, independent of other programs.
SYSTEM = """cache|icmp|icmpv6|ipv4|ipv6|logicaldisk|memory|network adapter|network interface|numa node memory|objects|
paging file|per processor network activity cycles|per processor network interface card activity|physicaldisk|process|
processor|processor information|processor performance|redirector|server|server work queues|smb client shares|
smb server sessions|smb server shares|system|tcpv4|tcpv6|thermal zone information|thread|udpv4|udpv6"""
SYSTEM = {name.strip() for name in SYSTEM.replace("\n", "").split("|")}
PATH = re.compile(r"^(?:\\\\[^\\]+)?\\([^\\]+?)(?:\(.*\))?\\([^\\]+)$")


def counters(lines):
    found = (PATH.match(line.strip()) for line in lines)
    return {(match[1].lower(), match[2].lower()) for match in found if match}


def counters_of_template(path):
    raw = open(path, "rb").read()
    text = raw.decode("utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig", "replace")
    return counters(html.unescape(name) for name in re.findall(r"<Counter>(.*?)</Counter>", text, re.S))


def main():
    program, templates = arguments.parse_arguments(__doc__, ("OPENPLA", arguments.program), rest=("TEMPLATE.xml", arguments.file))
    if not templates:
        arguments.reject("TEMPLATE.xml", "", "expected at least one template")
    here = counters(subprocess.run([program, "typeperf", "-q"], capture_output=True, text=True, check=True).stdout.splitlines())
    objects = {name for name, _ in here}
    expected = {counter for path in templates for counter in counters_of_template(path) if counter[0] in SYSTEM}
    missing = sorted((name, counter) for name, counter in expected
                     if (name, counter) not in here and not (counter == "*" and name in objects))
    for name, counter in missing:
        print(f"not here: \\{name}\\{counter}")
    print(f"{len(expected) - len(missing)} of {len(expected)} counters of the operating system")


main()
