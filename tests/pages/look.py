#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""look.py PROGRAM [--axe axe.min.js] [--pictures FOLDER] [--suite]: opens report pages (tiny, large, mixed, only
warnings, only events, corrupt input) in Chromium: light, dark, 320 pixels wide, in forced colours and in print. A page
must not load other resources, report errors or scroll sideways, print must show collapsed parts, and axe-core must
report nothing in either mode. Otherwise some readers could not read a report. Pictures of the pages and a PDF remain in
a folder for inspection. --suite: only one page, light and dark. Without Chromium the test is skipped. Without axe-core
it is skipped after all checks that do not need axe-core. axe-core is an npm package: run npm install axe-core and pass
node_modules/axe-core/axe.min.js, or set OPENPLA_AXE to this file."""
import argparse
import html
import math
import os
import subprocess
import sys
import tempfile

from browser import SKIPPED, Browser

HEAD = ('<Header><Data name="computer">HOST1</Data><Data name="set">Nightly</Data><Data name="start">2026-01-02T03:04:05.000Z</Data>'
        '<Data name="end">2026-01-02T04:04:05.000Z</Data><Data name="duration" units="s">3600</Data></Header>')
# Expands all collapsed parts of a page and runs axe-core on it.
RULES = """document.querySelectorAll("details").forEach(d=>d.open=true);document.querySelectorAll(".all").forEach(c=>c.checked=true);
axe.run(document,{resultTypes:["violations","incomplete"],rules:{"td-has-header":{enabled:true},"table-fake-caption":{enabled:true}}})
.then(r=>["violations","incomplete"].flatMap(k=>r[k].map(v=>k+": "+v.id+" x"+v.nodes.length+" "+v.nodes[0].target)))"""
TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
FOLDED = """[...document.querySelectorAll("details>:not(summary),tr.more")].filter(e=>!e.getClientRects().length||!e.checkVisibility()).length"""
CUT = """[...document.querySelectorAll("table,svg,pre")].filter(e=>e.getBoundingClientRect().right>document.documentElement.clientWidth+1).length"""
# Chart lines that keep our colours in forced-colours mode, where they could be invisible on the reader's background.
UNSEEN = """[...document.querySelectorAll(".plot path[class],.legend path")].filter(
e=>getComputedStyle(e).stroke!=getComputedStyle(document.body).color).length"""


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
        "mixed": report(WARNINGS + f'<Section name="cpu">{chart("Processor", 3)}</Section>' + disks + images),
        "warnings": report(WARNINGS + disks),
        "events": report(f'<Section name="events">{table("eventsByProvider", ["provider", "count", "rate"], events)}</Section>'),
        "broken": report(WARNINGS + disks)[:-400],
    }


# An A4 page without Chromium's margins is about 718 pixels wide.
MODES = {"light": (1280, "", {"prefers_color_scheme": "light"}), "dark": (1280, "", {"prefers_color_scheme": "dark"}),
         "narrow": (320, "", {}), "forced": (1280, "", {"forced_colors": "active"}), "print": (718, "print", {})}


def check_page(browser, page, axe, pictures):
    name, faults = os.path.basename(page)[:-5], []
    for mode, (width, medium, features) in MODES.items():
        faults += [f"{name} {mode}: {line}" for line in browser.show(page, width, medium, **features)]
        if browser.ask(TOO_WIDE):
            faults.append(f"{name} {mode}: it scrolls sideways")
        if mode == "print" and (browser.ask(FOLDED) or browser.ask(CUT)):
            faults.append(f"{name}: in print {browser.ask(FOLDED)} parts are collapsed, {browser.ask(CUT)} are cut off")
        if mode == "forced" and browser.ask(UNSEEN):
            faults.append(f"{name}: in forced colours {browser.ask(UNSEEN)} lines keep other colours")
        if pictures:
            browser.picture(os.path.join(pictures, f"{name}.{mode}.png"))
        if pictures and mode == "print":
            browser.pdf(os.path.join(pictures, f"{name}.pdf"))
        if axe and mode in ("light", "dark"):
            browser.ask(axe + ";0")
            found = browser.ask(RULES)
            print(f"{name} {mode}: axe: {len(found)} violations or parts to be reviewed")
            faults += [f"{name} {mode}: axe: {line}" for line in found]
    return faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--axe", default=os.environ.get("OPENPLA_AXE"))
    parser.add_argument("--pictures")
    parser.add_argument("--suite", action="store_true")
    options = parser.parse_args()
    program, axe, faults = os.path.abspath(options.program), None, []
    if options.axe and os.path.exists(options.axe):
        with open(options.axe, encoding="utf-8") as f:
            axe = f.read()
    if options.pictures:
        os.makedirs(options.pictures, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="openpla-pages.", ignore_cleanup_errors=True) as work:
        browser = Browser(work)
        try:
            for name, text in reports().items():
                if options.suite and name != "mixed":
                    continue
                path = os.path.join(work, f"{name}.xml")
                with open(path, "w", encoding="utf-8") as f:
                    f.write(text)
                subprocess.run([program, "report", path, "-html"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
                faults += check_page(browser, path[:-4] + ".html", axe, options.pictures)
        finally:
            browser.end()
    print("\n".join(faults) or f"no problems; pictures: {options.pictures or 'not saved'}")
    if not axe and not faults:
        print("axe-core is missing; all other checks passed")
        sys.exit(SKIPPED)
    sys.exit(1 if faults else 0)


main()
