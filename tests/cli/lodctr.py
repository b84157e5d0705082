#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lodctr.py PROGRAM [EMULATOR]: lodctr and unlodctr install and remove counters and counter manifests, called as
installers and users call them. In a native build, each process has a separate registry. So only under Wine does one
program see what another has registered."""
import json
import os
import shutil
import subprocess
import tempfile

from program import EMULATOR, PROGRAM, check, host_path, openpla

MANIFEST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "shop_counters.man")
GUID = "{6d3c1e52-84b7-4c0e-9a1f-3be27d605c18}"
SERVICE = "OpenPlaTestLodctr"
KEY = f"HKLM\\SYSTEM\\CurrentControlSet\\Services\\{SERVICE}"
INI = f"""[info]
drivername={SERVICE}
symbolfile=shop.h
[languages]
009=English
[text]
SHOP_009_NAME=Shop of Lodctr
SHOP_009_HELP=A shop
SALES_009_NAME=Sales
"""


def reg(*arguments):
    subprocess.run([*EMULATOR, "reg", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, timeout=600, check=True)


def manifests():
    """A user registers the example's counters, sees their names and help before its program runs, and removes them."""
    shown = json.loads(openpla(0, "manifest", "show", "-json", host_path(MANIFEST)))[0]
    check(shown["guid"] == GUID.upper() and [s["name"] for s in shown["countersets"]] == ["Shop Till", "Shop House"],
          "manifest show", shown)
    check([c["base"] for c in shown["countersets"][0]["counters"] if "base" in c] == [4], "the base", shown)
    with open(MANIFEST, "rb") as f:
        xml = f.read()
    with open("bad.man", "wb") as f:
        f.write(xml.replace(b'type="perf_counter_rawcount"', b'type="perf_counter"'))
    for line in ("manifest", "add", host_path("bad.man")), ("lodctr", f"/M:{host_path('bad.man')}"):
        output = openpla(1, *line)
        check('bad.man: line 31: counter type="perf_counter": unknown counter type' in output, "a mistake", output)
    output = openpla(0, "lodctr", f"/m:{host_path(MANIFEST)}")
    check(output.startswith("Info: Successfully installed performance counters in "), "lodctr /M", output)
    output = openpla(0, "manifest", "add", host_path(MANIFEST))
    check(output == f"Example-Shop {GUID.upper()}, 2 countersets\n", "manifest add", output)
    if EMULATOR:
        listed = [p for p in json.loads(openpla(0, "manifest", "list", "-json")) if p["guid"] == GUID.upper()]
        check(listed and listed[0]["countersets"] == 2 and listed[0]["manifest"].endswith("shop_counters.man"), "list",
              listed)
        counters = {c["path"].split("\\", 1)[1]: c for c in json.loads(openpla(0, "typeperf", "-q", "Shop House", "--json"))}
        output = counters["Shop House\\Visitors"]
        check(output["help"] == "People in the shop." and output["type"] == "PERF_COUNTER_RAWCOUNT", "typeperf -q",
              counters)
        check("Visitors" in openpla(0, "manifest", "show", "Example-Shop"), "show what is registered")
        output = openpla(0, "unlodctr", f"/g:{GUID}")
        check("Successfully uninstalled" in output, "unlodctr /G", output)
    output = openpla(1, "unlodctr", "/p:Example-Shop")
    check("provider 'Example-Shop' is not registered" in output, "unlodctr of what is not there", output)
    output = openpla(1, "manifest", "remove", host_path(MANIFEST))
    check("is not registered" in output, "manifest remove of what is not there", output)


def extensions():
    """An installer first creates the service's key, then calls lodctr with the ini file."""
    with open("shop.h", "w", encoding="ascii") as f:
        f.write("#define SHOP 0\n#define SALES 2\n")
    with open("shop.ini", "w", encoding="utf-16") as f:
        f.write(INI)
    output = openpla(1, "lodctr", host_path("shop.ini"))
    check("Error: Unable to install" in output and f"Services\\{SERVICE}\\Performance" in output, "no service", output)
    with open("bad.ini", "w", encoding="utf-8") as f:
        f.write(INI.replace("SALES_009", "SOLD_009"))
    output = openpla(1, "lodctr", host_path("bad.ini"))
    check("bad.ini: line 9: SOLD_009_NAME=Sales: the header file does not define" in output, "a mistake", output)
    if not EMULATOR:
        return
    reg("add", f"{KEY}\\Performance", "/v", "Library", "/d", "C:\\shop.dll", "/f")
    try:
        output = openpla(0, "lodctr", host_path("shop.ini"))
        check(output.startswith(f"Info: Successfully installed the performance counters of {SERVICE}"), "lodctr", output)
        output = openpla(0, "lodctr", f"/q:{SERVICE}")
        for line in ("Performance Counter ID Queries [PERFLIB]:", "    Base Index: 0x00000737 (1847)",
                     f"[{SERVICE}] Performance Counters (Enabled)", "    DLL Name: C:\\shop.dll", "    First Counter ID: 0x"):
            check(line in output, line, output)
        openpla(0, "lodctr", f"/d:{SERVICE}")
        output = json.loads(openpla(0, "lodctr", f"/q:{SERVICE}", "-json"))["services"][0]
        check(not output["enabled"] and output["lastHelp"] == output["firstCounter"] + 3, "/D, /Q as JSON", output)
        openpla(0, "lodctr", f"/e:{SERVICE}")
        check("needs no trust" in openpla(0, "lodctr", f"/t:{SERVICE}"), "/T")
        check("Info: Successfully rebuilt performance counter setting" in openpla(0, "lodctr", "/r"), "/R")
        shutil.copy(PROGRAM, "unlodctr.exe")
        done = subprocess.run([*EMULATOR, os.path.abspath("unlodctr.exe"), SERVICE], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600, check=False)
        check(done.returncode == 0 and b"Successfully uninstalled" in done.stdout, "a copy named unlodctr.exe", done.stdout)
        check("has no registered counters" in openpla(1, "unlodctr", SERVICE), "unlodctr twice")
    finally:
        reg("delete", KEY, "/f")


with tempfile.TemporaryDirectory() as top:
    os.chdir(top)
    os.environ["OPENPLA_DATA"] = host_path(os.path.join(top, "data"))
    for wrong in (["lodctr"], ["lodctr", "/M:"], ["lodctr", "/Z"], ["unlodctr"], ["unlodctr", "/Q:x"], ["lodctr", "a", "b"]):
        openpla(2, *wrong)
    for word, says in (("/S:all.txt", "-r without a file"), ("/R:all.txt", "-q -json"), ("/C:c.txt", "are built in"),
                       ("/H:h.txt", "are built in"), ("/L:009", "all languages")):
        output = openpla(2, "lodctr", word)
        check(says in output and word in output, f"lodctr {word}", output)
    output = openpla(0, "diskperf", "-y")
    check("are always on" in output, "diskperf", output)
    manifests()
    extensions()
