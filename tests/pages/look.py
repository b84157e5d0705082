#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""look.py PROGRAM [--axe axe.min.js] [--pictures FOLDER]: opens pages of five reports (tiny, large, only warnings, only
events, broken input) in Chromium, light, dark and on a phone. No page may load, run or scroll what it should not, axe-core
finds nothing in either mode, and pictures of them are left in a folder for who wants to look. Without Chromium it is
skipped, without axe-core that part of it. axe-core is npm's: npm install axe-core, then node_modules/axe-core/axe.min.js."""
import argparse
import html
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SKIPPED = 77
HEAD = ('<Header><Data name="computer">HOST1</Data><Data name="set">Nightly</Data><Data name="start">2026-01-02T03:04:05.000Z</Data>'
        '<Data name="end">2026-01-02T04:04:05.000Z</Data><Data name="duration" units="s">3600</Data></Header>')
# Put behind a page's end: what is in it, and how wide it is, is shown in place of it.
RULES = """<script src="axe.js"></script><script>document.querySelectorAll("details").forEach(function(d){d.open=true});
document.querySelectorAll(".all").forEach(function(c){c.checked=true});
axe.run(document,{resultTypes:["violations","incomplete"],rules:{"td-has-header":{enabled:true},"table-fake-caption":{enabled:true}}})
.then(function(r){var p=document.createElement("pre");p.textContent="AXE "+r.violations.length+" "+r.incomplete.length+" "+
r.violations.concat(r.incomplete).map(function(v){return v.id+" x"+v.nodes.length+" "+v.nodes[0].target}).join("; ")+" END";
document.body.replaceChildren(p)});</script>"""
WIDTH = """<script>document.body.dataset.wide=document.documentElement.scrollWidth+" of "+document.documentElement.clientWidth;</script>"""


def cell(name, text, more=""):
    return f'<Data name="{name}"{more}>{html.escape(str(text))}</Data>'


def table(name, columns, rows, more=""):
    head = "".join(f'<Data name="{c}"{"" if i else " align=" + chr(34) + "left" + chr(34)}/>' for i, c in enumerate(columns))
    return (f'<Table name="{name}"{more}><Header>{head}</Header>' +
            "".join("<Item>" + "".join(cell(c, v) for c, v in zip(columns, row)) + "</Item>" for row in rows) + "</Table>")


def report(body, strings=""):
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<Report name="demo" version="1">{HEAD}{body}<StringTable>{strings}</StringTable></Report>'


def chart(name, series):
    def points(k):
        return " ".join("-" if 90 <= i < 100 else f"{40 + 30 * math.sin(i / 17 + k):.3f}:{45 + 32 * math.sin(i / 17 + k) + 20 * (i == 150):.3f}"
                        for i in range(240))
    lines = "".join(f'<Series name="% Processor Time ({k})">{points(k)}</Series>' for k in range(series))
    return f'<Chart name="{name}" start="2026-01-02T03:04:05.000Z" duration="3600">{lines}</Chart>'


WARNINGS = ('<Section name="advice" key="0"><Table name="warning">'
            '<Item><Data name="symptom" img="warning" link="DQ">The queue of disk 2 E: is long</Data><Data name="cause">The disk '
            'is slower than what asks it.</Data><Data name="details">10.25 requests waited on average.</Data>'
            '<Data name="resolution">See which process reads most, in the table of processes.</Data></Item>'
            '<Item><Data name="symptom" img="Red" link="MEM">Memory is nearly used up</Data><Data name="cause">Programs hold 15.6 '
            'of 16 GB.</Data><Data name="details">Available memory fell to 61 MB.</Data><Data name="resolution">End what is not '
            'needed, or add memory.</Data></Item><Item><Data name="symptom" img="Green">The network had room</Data></Item></Table>'
            '<Table name="sysHealthSummary"><Header><Data name="component" align="left"/><Data name="status" align="left"/>'
            '<Data name="utilization"/></Header><Item><Data name="component">CPU</Data><Data name="status" img="Yellow">busy</Data>'
            '<Data name="utilization" units="%">93</Data></Item><Item><Data name="component">Disk</Data><Data name="status" img="Red">'
            'overloaded</Data><Data name="utilization" units="%">100</Data></Item><Item><Data name="component">Network</Data>'
            '<Data name="status" img="Green">idle</Data><Data name="utilization" units="%">2</Data></Item></Table></Section>')


def reports():
    disks = ('<Section name="disk"><Table name="physicalDisk"><Header><Data name="instance" align="left"/><Data name="mean"/></Header>'
             '<Item><Data name="instance">0 C:</Data><Data name="mean">0.4</Data></Item><Item><Data name="instance">2 E:</Data>'
             '<Data name="mean" tag="DQ">10.25</Data></Item></Table><Table name="memory"><Header><Data name="counter" align="left"/>'
             '<Data name="mean"/><Data name="min"/></Header><Item><Data name="counter">Available MBytes</Data><Data name="mean">812.5</Data>'
             '<Data name="min" tag="MEM">61</Data></Item></Table></Section>')
    images = ('<Section name="cpu"><Table name="imageStats" threshold="3"><Header><Data name="image" align="left"/><Data name="pid"/>'
              '<Data name="cpu" units="%" sort="primary" format="0.0"/></Header>' +
              "".join(f'<Item>{cell("image", f"program{i}.exe")}{cell("pid", 4 * i)}{cell("cpu", 61.5 / (i + 1))}'
                      f'{table("threads", ["tid", "cpu"], [(7, 60), (8, 1.5)])}</Item>' for i in range(6)) +
              '<Footer><Data name="image"/><Data name="pid"/><Data name="cpu">151</Data></Footer></Table></Section>')
    large = [(f"process {i} with a name that is longer than most", i, i * 1.25, i % 7, 1e9 / (i + 1), "x" * (i % 40)) for i in range(3000)]
    events = [("Microsoft-Windows-Kernel-Process", 812, 2.71), ("OpenPLA-Demo \u4e2d\u6587", 44, 0.15)]
    return {
        "tiny": report(f'<Section name="s">{table("t", ["counter", "mean"], [("Pages/sec", 2.5)])}</Section>'),
        "large": report(WARNINGS + f'<Section name="processes">{table("processes", ["image", "pid", "mean", "threads", "bytes", "note"], large)}'
                        f'{chart("Processor", 8)}{chart("Memory", 1)}{chart("Disk", 3)}</Section>' + disks + images),
        "warnings": report(WARNINGS + disks),
        "events": report(f'<Section name="events">{table("eventsByProvider", ["provider", "count", "rate"], events)}</Section>'),
        "broken": report(WARNINGS + disks)[:-400],
    }


class Browser:
    def __init__(self, work):
        found = [b for b in map(shutil.which, BROWSERS) if b]
        if not found:
            print("no Chromium is here")
            sys.exit(SKIPPED)
        os.makedirs(os.path.join(work, "home"))
        self.environment = dict(os.environ, HOME=os.path.join(work, "home"))
        self.command = [found[0], "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr"]

    def run(self, page, *more):
        done = subprocess.run([*self.command, *more, f"file://{page}"], env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)
        said = [line for line in done.stderr.decode("utf-8", "replace").splitlines() if "CONSOLE" in line]
        if done.returncode:
            sys.exit(f"{page}: {done.stderr.decode('utf-8', 'replace')[-400:]}")
        return done.stdout.decode("utf-8", "replace"), said


def changed(page, name, behind):
    """A copy without its policy, and with something of ours behind it."""
    with open(page, encoding="utf-8") as f:
        text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", f.read())
    path = os.path.join(os.path.dirname(page), name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text + behind)
    return path


def look(browser, page, axe, pictures):
    name, faults = os.path.basename(page)[:-5], []
    for mode, options in (("light", ["--window-size=1280,1800"]), ("dark", ["--window-size=1280,1800", "--blink-settings=preferredColorScheme=0"]),
                          ("phone", ["--window-size=500,1800"])):
        _, said = browser.run(page, *options, f"--screenshot={os.path.join(pictures, f'{name}.{mode}.png')}")
        faults += [f"{name} {mode}: {line}" for line in said]
    shown, _ = browser.run(changed(page, "wide.html", WIDTH), "--window-size=500,900", "--dump-dom")
    wide = re.search(r'data-wide="(\d+) of (\d+)"', shown)
    if not wide or int(wide.group(1)) > int(wide.group(2)):
        faults.append(f"{name}: on a narrow window it scrolls sideways: {wide and wide.group()}")
    for mode, options in (("light", []), ("dark", ["--blink-settings=preferredColorScheme=0"])) if axe else ():
        shown, _ = browser.run(changed(page, "axe.html", RULES), *options, "--virtual-time-budget=90000", "--dump-dom")
        found = re.search(r"AXE (\d+) (\d+) (.*?)END", html.unescape(shown), re.S)
        print(f"{name} {mode}: axe: {found.group(1) + ' violations, ' + found.group(2) + ' to be reviewed' if found else 'nothing'}")
        if not found or found.group(1) != "0" or found.group(2) != "0":
            faults.append(f"{name} {mode}: axe: {found.group(3) if found else 'it did not end'}")
    return faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--axe")
    parser.add_argument("--pictures")
    asked = parser.parse_args()
    work = tempfile.mkdtemp(prefix="openpla-pages.")
    pictures = asked.pictures or os.path.join(work, "pictures")
    os.makedirs(pictures, exist_ok=True)
    browser, faults = Browser(work), []
    if asked.axe:
        shutil.copy(asked.axe, os.path.join(work, "axe.js"))
    for name, text in reports().items():
        path = os.path.join(work, f"{name}.xml")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        subprocess.run([asked.program, "report", path, "-html"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        faults += look(browser, path[:-4] + ".html", asked.axe, pictures)
    print("\n".join(faults) or f"nothing is wrong; pictures: {pictures if asked.pictures else 'not kept'}")
    shutil.rmtree(work)
    if not asked.axe and not faults:
        print("without axe-core")
    sys.exit(1 if faults else 0)


main()
