#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""interact.py PROGRAM [--axe axe.min.js] [--pictures FOLDER]: uses the charts of a report page in Chromium as a reader
does. The test points at a value, zooms, hides a series, selects instances and counters, follows a warning to its time
and back, changes the time zone, and saves the visible range as CSV. With scripts disabled, the page must show its SVG
charts. If it failed, a reader could not find the time or the counter of a problem on the page. Skipped without
Chromium."""
import argparse
import os
import subprocess
import sys
import tempfile

from browser import SKIPPED, Browser

INSTANCES = 500
SECONDS = 120
SETTLED = "new Promise(done => requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(() => done()), 0)))"
RULES = """axe.run(document,{resultTypes:["violations","incomplete"]}).then(r=>["violations","incomplete"].flatMap(
k=>r[k].map(v=>k+": "+v.id+" x"+v.nodes.length+" "+v.nodes[0].target)))"""


def check(right, what, *more):
    if not right:
        print("\n".join(["FAILED: " + what, *map(str, more)]))
        sys.exit(1)


def log():
    """Returns a CSV log of two minutes in UTC-03:00: a processor that is busy from 12:00:40 to 12:00:59, and 500
    processes."""
    head = ["(PDH-CSV 4.0) (Zone)(180)", "\\\\H\\Processor(_Total)\\% Processor Time", "\\\\H\\Memory\\Available MBytes", "\\\\H\\System\\Threads"]
    head += [f"\\\\H\\Process(p{i})\\Handle Count" for i in range(INSTANCES)]
    lines = [head]
    for second in range(SECONDS):
        lines.append([f"02/28/2021 12:{second // 60:02}:{second % 60:02}.000", "95" if 40 <= second < 60 else str(10 + second % 7), "23552", "1234"] +
                     [str(1000 + i) for i in range(INSTANCES)])
    return "".join(",".join(f'"{cell}"' for cell in line) + "\r\n" for line in lines)


def report_of(program, folder):
    """Creates the report page of the log with a warning about its processor, and returns the page's path."""
    with open(os.path.join(folder, "a.csv"), "w", encoding="utf-8", newline="") as f:
        f.write(log())
    path = os.path.join(folder, "report.xml")
    subprocess.run([program, "report", os.path.join(folder, "a.csv"), "-o", path], check=True, stdout=subprocess.DEVNULL)
    with open(path, encoding="utf-8") as f:
        text = f.read()
    warning = ('<Section name="advice" key="0"><Table name="warning"><Item><Data name="symptom" img="warning" link="CPU" limit="80">'
               "Processor time was high</Data></Item></Table></Section>")
    row = text.index("% Processor Time</Data>")
    cell = text.index('<Data name="mean"', row)
    text = text[:cell] + '<Data name="mean" tag="CPU"' + text[cell + len('<Data name="mean"'):]
    at = text.index("<Section ")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text[:at] + warning + text[at:])
    subprocess.run([program, "report", path, "-html"], check=True, stdout=subprocess.DEVNULL)
    return path[:-4] + ".html"


class Reader:
    def __init__(self, browser, page):
        self.browser, self.page = browser, page

    def open(self):
        complaints = self.browser.show(self.page, 1280, "", prefers_color_scheme="light")
        check(not complaints, "the page complains or loads", *complaints)
        self.browser.ask("document.querySelectorAll('details').forEach(d => d.open = false); document.getElementById('charts').scrollIntoView()")
        self.until("document.querySelector('.alive .dygraph-axis-label')", "no interactive chart")

    def until(self, condition, what):
        ok = self.browser.ask(f"""new Promise(done => {{ let left = 600; const look = () => {{ let is = {condition};
          if (is || !left--) done(!!is); else setTimeout(look, 50); }}; look(); }})""")
        check(ok, what)

    def text(self, selector):
        return self.browser.ask(f"[...document.querySelectorAll({selector!r})].map(e => e.textContent)")

    def box(self, figure):
        return self.browser.ask(f"""(() => {{ const f = document.querySelectorAll('figure.alive')[{figure}]; f.scrollIntoView();
          const b = f.querySelector('.canvas').getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; }})()""")

    def mouse(self, kind, x, y, **more):
        self.browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)
        self.browser.ask(SETTLED)

    def press(self, text, within="document"):
        found = self.browser.ask(f"""(() => {{ const b = [...{within}.querySelectorAll('button')].find(b => b.textContent === {text!r});
          if (b) b.click(); return !!b; }})()""")
        check(found, f"no button {text}")

    def window(self):
        return self.text(".panel > p")[0]


def svg_without_script(browser, page):
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.show(page, 1280, "")
    browser.call("Emulation.setScriptExecutionDisabled", value=False)
    shown = browser.ask("[...document.querySelectorAll('.plot svg')].every(s => s.getBoundingClientRect().height > 100)")
    check(shown and browser.ask("!document.querySelector('.live')"), "without its script the page has its SVG charts")


def values_at_the_cursor(reader):
    x, y, width, height = reader.box(0)
    reader.mouse("mouseMoved", x + width / 2, y + height / 2)
    at = reader.text(".cursor")
    check("12:0" in at[0] and len(set(at[:2])) == 1, "all charts have one cursor", at)
    values = reader.text("figure.alive .keys .value")
    check(any("%" in value for value in values), "a value with its unit", values)
    reader.browser.ask("document.querySelectorAll('figure.alive')[0].querySelector('.canvas').focus()")
    for key in ("ArrowRight", "ArrowRight"):
        for kind in ("keyDown", "keyUp"):
            reader.browser.call("Input.dispatchKeyEvent", type=kind, key=key, code=key)
    check(reader.text(".cursor")[0] != at[0], "arrow keys move it", at)


def zooming_changes_all_charts(reader):
    before = reader.window()
    x, y, width, height = reader.box(0)
    reader.mouse("mouseMoved", x + width * 0.4, y + height / 2)
    reader.mouse("mousePressed", x + width * 0.4, y + height / 2, button="left", buttons=1, clickCount=1)
    reader.mouse("mouseMoved", x + width * 0.6, y + height / 2, button="left", buttons=1)
    reader.mouse("mouseReleased", x + width * 0.6, y + height / 2, button="left", clickCount=1)
    after = reader.window()
    check(after != before and after.startswith("2021-02-28 12:00:4"), "dragging zooms", before, after)
    labels = [[label for label in reader.browser.ask(
        f"[...document.querySelectorAll('figure.alive')[{at}].querySelectorAll('.dygraph-axis-label-x')].map(e => e.textContent)")]
        for at in (0, 1)]
    check(labels[0] == labels[1] and labels[0] and all(label.startswith(("12:00:", "12:01:")) for label in labels[0]),
          "the other chart follows, at round times", labels)
    reader.press("Whole time")
    check(reader.window() == before, "and back", reader.window())


def instances_and_counters_are_selected(reader):
    reader.browser.ask("document.querySelector('.panel input[type=search]').value = 'Process: Handle Count'")
    reader.press("Add a chart")
    added = "[...document.querySelectorAll('figure')].find(f => f.querySelector('h3').textContent === 'Process: Handle Count')"
    check(reader.browser.ask(f"{added}.querySelectorAll('.keys li').length") == 8, "the eight greatest of 500")
    choose = "s => { s.value = %r; s.dispatchEvent(new Event('change')); }"
    reader.browser.ask(f"({choose % '50'})({added}.querySelector('select'))")
    names = reader.browser.ask(f"[...{added}.querySelectorAll('.keys label')].map(e => e.textContent)")
    check(len(names) == 50 and names[0] == "p499" and names[49] == "p450", "the fifty greatest", names)
    reader.browser.ask(f"({choose % str(INSTANCES)})({added}.querySelector('select'))")
    check(reader.browser.ask(f"{added}.querySelectorAll('.keys li').length") == INSTANCES, "all of them")
    reader.browser.ask(f"(i => {{ i.value = 'P42'; i.dispatchEvent(new Event('input')); }})({added}.querySelector('.live input[type=search]'))")
    check(reader.browser.ask(f"{added}.querySelectorAll('.keys li').length") == 11, "those with a text in their name")
    box = f"{added}.querySelector('.keys input')"
    before = reader.browser.ask(f"{added}.querySelector('canvas').toDataURL()")
    reader.browser.ask(f"{box}.click()")
    reader.browser.ask(SETTLED)
    check(before != reader.browser.ask(f"{added}.querySelector('canvas').toDataURL()"), "a hidden series")
    reader.press("Remove", added)
    check(reader.browser.ask(f"!({added})"), "the chart is gone")
    reader.browser.ask("document.querySelector('.panel input[type=search]').value = 'No: such'")
    reader.press("Add a chart")
    check(not reader.browser.ask("document.querySelector('.panel input[type=search]').validity.valid"), "no such counter")


def warnings_and_times_link_to_each_other(reader):
    check(reader.text("#w1 .when button") == ["2021-02-28 12:00:40 to 12:00:59"], "when it was", reader.text("#w1 .when button"))
    reader.browser.ask("document.querySelector('#w1 .when button').click()")
    check(reader.window().startswith("2021-02-28 12:00:3") and " to 2021-02-28 12:01:" in reader.window(), "its time", reader.window())
    reader.until("document.querySelector('.marks-of-warnings a')", "no mark of the warning")
    check(reader.browser.ask("document.querySelector('.marks-of-warnings a').getAttribute('aria-label')") ==
          "Warning 1, 2021-02-28 12:00:40 to 2021-02-28 12:00:59", "what the mark says")
    reader.browser.ask("document.querySelector('.marks-of-warnings a').click()")
    check(reader.browser.ask("location.hash") == "#w1", "the mark leads to the warning")
    reader.press("Whole time")


def times_in_other_zones(reader):
    set_zone = "(s => { s.value = %r; s.dispatchEvent(new Event('change')); })(document.querySelector('.panel select'))"
    for zone, expected in (("utc", "2021-02-28 15:00:00 to 2021-02-28 15:01:59 UTC"), ("log", "2021-02-28 12:00:00 to 2021-02-28 12:01:59 UTC-03:00")):
        reader.browser.ask(set_zone % zone)
        check(reader.window() == expected, f"{zone}: the range", reader.window())
        check(expected[11:14] in "".join(reader.text("figure.alive .dygraph-axis-label-x")), f"{zone}: the axis")
    reader.browser.ask(set_zone % "local")
    check("UTC" in reader.window(), "this computer's zone", reader.window())
    reader.browser.ask(set_zone % "log")


def the_visible_range_is_csv(reader):
    reader.browser.ask("URL.createObjectURL = blob => { window.taken = blob.text(); return '#'; }")
    reader.browser.ask("document.querySelector('#w1 .when button').click()")
    reader.browser.ask("[...document.querySelectorAll('figure.alive')].find(f => /Processor Time/.test(f.textContent)).querySelector('.tools button').click()")
    lines = reader.browser.ask("window.taken").split("\r\n")
    check(lines[0].startswith('"time (UTC-03:00)","Processor: % Processor Time (_Total) minimum"'), "the columns", lines[0])
    check('"2021-02-28 12:00:40",95,95,95' in lines and len(lines) == 40, "the rows of the range", len(lines), lines[:5])
    reader.press("Whole time")


def two_runs_are_in_one_chart(program, folder, browser):
    """The runs are aligned at their starts, the axis shows the time since the start, and the warning and the chart link
    to each other."""
    for name, day, value in (("quiet.csv", 1, 3), ("loaded.csv", 2, 60)):
        rows = [f'"03/0{day}/2026 12:{i // 60:02}:{i % 60:02}.000","{value + i % 5}"' for i in range(600)]
        with open(os.path.join(folder, name), "w", encoding="utf-8", newline="") as f:
            f.write("\r\n".join(['"(PDH-CSV 4.0) (UTC)(0)","\\\\H\\Processor(_Total)\\% Processor Time"', *rows]) + "\r\n")
    page = os.path.join(folder, "compare.html")
    done = subprocess.run([program, "compare", os.path.join(folder, "quiet.csv"), os.path.join(folder, "loaded.csv"), "-html", page],
                          stdout=subprocess.DEVNULL, check=False)
    check(done.returncode == 4, "much worse", done.returncode)
    reader = Reader(browser, page)
    reader.open()
    check(reader.text("figure.alive .keys label") == ["A", "B"], "both runs", reader.text("figure.alive .keys label"))
    check(reader.window() == "00:00:00 to 00:09:59", "the time since the starts", reader.window())
    x, y, width, height = reader.box(0)
    reader.mouse("mouseMoved", x + width / 2, y + height / 2)
    values = [float(value.split(" ")[0]) for value in reader.text("figure.alive .keys .value")]
    check(len(values) == 2 and values[0] < 10 and values[1] > 50, "both values at the cursor", values)
    check(reader.browser.ask("document.querySelector('#w1 a[href=\"#c1\"]') && document.querySelector('#c1 a[href=\"#w1\"]') && true"),
          "from the warning to the chart and back")
    check(reader.text(".cursor")[0].startswith("00:0"), "the cursor's time", reader.text(".cursor"))


def axe_reports_nothing(browser, path):
    """Runs axe-core on the page in its current state, in light and in dark mode."""
    if not path or not os.path.exists(path):
        return
    with open(path, encoding="utf-8") as f:
        browser.ask(f.read() + ";0")
    for scheme in ("dark", "light"):
        browser.call("Emulation.setEmulatedMedia", media="", features=[{"name": "prefers-color-scheme", "value": scheme}])
        browser.ask(SETTLED)
        found = browser.ask(RULES)
        check(not found, f"axe, {scheme}", *found)
    print("axe: 0 violations or parts to be reviewed")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--axe", default=os.environ.get("OPENPLA_AXE"))
    parser.add_argument("--pictures")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="openpla-pages.", ignore_cleanup_errors=True) as work:
        page = report_of(os.path.abspath(options.program), work)
        with open(page, encoding="utf-8") as f:
            if "dygraphs" not in f.read():
                print("this program was built without dygraphs")
                sys.exit(SKIPPED)
        browser = Browser(work)
        try:
            svg_without_script(browser, page)
            reader = Reader(browser, page)
            reader.open()
            values_at_the_cursor(reader)
            zooming_changes_all_charts(reader)
            instances_and_counters_are_selected(reader)
            warnings_and_times_link_to_each_other(reader)
            times_in_other_zones(reader)
            the_visible_range_is_csv(reader)
            complaints = [event["params"] for event in browser.events if event["method"] in ("Log.entryAdded", "Runtime.exceptionThrown")]
            check(not complaints, "the browser complains", *complaints)
            if options.pictures:
                os.makedirs(options.pictures, exist_ok=True)
                browser.picture(os.path.join(options.pictures, "interact.png"))
            axe_reports_nothing(browser, options.axe)
            two_runs_are_in_one_chart(os.path.abspath(options.program), work, browser)
            if options.pictures:
                browser.picture(os.path.join(options.pictures, "compare.png"))
            axe_reports_nothing(browser, options.axe)
        finally:
            browser.end()
    print("all of it works")


main()
