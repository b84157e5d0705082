#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""page.py PROGRAM [EMULATOR]: "openpla report -html" of PROGRAM (openpla.exe) creates a page from a report. The page is
complete, loads nothing from elsewhere, runs nothing that a process name contains, and never grows to a hundred
megabytes."""
import base64
import hashlib
import html.parser
import json
import os
import random
import re
import subprocess
import tempfile
import xml.etree.ElementTree as xml

from program import EMULATOR, PROGRAM, check, openpla, openpla_streams

MOST_BYTES = 8 << 20
VOID = {"meta", "input", "br", "hr", "img", "link"}
HOSTILE = ["<script>alert(1)</script>", "\"' onmouseover='alert(1)", "</td></tr></table>", "&amp;&#60;b&#62;", "a\u202etxt.exe\u2066",
           "javascript:alert(1)", "]]>", "<!--", "<!--\" onmouseover=\"alert(1)\"-->", "&{\" onload=\"x\"};", "{@id}", "x" * 5000, "\u00e4\u4e2d\U0001f600"]


class Page(html.parser.HTMLParser):
    """Checks that a page is well-formed, and collects its content by kind."""

    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.open, self.text, self.ids, self.links, self.tables, self.scripts, self.styles = [], [], [], [], 0, [], []
        self.paths, self.cells, self.policy, self.waves = [], [], "", ""
        with open(path, encoding="utf-8", newline="") as f:
            self.source = f.read()
        self.feed(self.source)
        self.close()
        check(not self.open, f"{path}: unclosed elements: {self.open}")
        check(len(set(self.ids)) == len(self.ids), f"{path}: an id twice", sorted(self.ids))
        for link in self.links:
            check(link.startswith("#") and link[1:] in self.ids, f"{path}: a link to nothing: {link}")

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            check(not name.startswith("on") and name not in ("src", "srcset", "style", "action", "data", "poster"),
                  f"<{tag} {name}={value!r}>")
            check(name != "href" or tag == "a", f"<{tag} href={value!r}>")
            if name == "id":
                check(re.fullmatch(r"[a-z0-9]+", value), f"id {value!r}")
                self.ids.append(value)
            if name == "href":
                self.links.append(value)
            if name == "content" and "default-src" in value:
                self.policy = value
            if name == "d":
                self.paths.append(value)
        self.tables += tag == "table"
        if tag not in VOID:
            self.open.append("waves" if ("id", "waves") in attrs else tag)

    def handle_endtag(self, tag):
        check(self.open and self.open[-1] == ("waves" if self.open[-1] == "waves" and tag == "div" else tag),
              f"</{tag}> in {self.open}")
        self.open.pop()

    def handle_data(self, data):
        where = self.open[-1] if self.open else ""
        if where == "waves":
            self.waves += data
        elif where in ("script", "style"):
            (self.scripts if where == "script" else self.styles).append(data)
        else:
            self.text.append(data)
        if "td" in self.open or "th" in self.open:
            self.cells.append(data)

    def words(self):
        return re.sub(r"\s+", " ", " ".join(self.text))


def hash_of(text):
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def read(path):
    page = Page(path)
    check(len(page.scripts) == 1 and len(page.styles) == 1, "one script, one style")
    check("default-src 'none'" in page.policy and f"style-src 'sha256-{hash_of(page.styles[0])}'" in page.policy and
          f"script-src 'sha256-{hash_of(page.scripts[0])}'" in page.policy, "the policy names both", page.policy)
    check(os.path.getsize(path) <= MOST_BYTES, f"{path}: {os.path.getsize(path)} bytes")
    for path_text in page.paths:
        check(re.fullmatch(r"[MlhvzHV0-9 -]*", path_text), "a path", path_text)
    return page


def write(name, text):
    with open(name, "w", encoding="utf-8", newline="") as f:
        f.write(text)


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;").replace(">", "&gt;")


def row(**cells):
    return "<Item>" + "".join(f'<Data name="{name}">{escaped(str(text))}</Data>' for name, text in cells.items()) + "</Item>"


def report(sections, strings=""):
    return ('<?xml version="1.0" encoding="UTF-8"?>\n<Report name="demo" version="1"><Header><Data name="computer">HOST</Data>'
            '<Data name="start">2026-01-02T03:04:05.000Z</Data><Data name="duration" units="s">300</Data></Header>'
            f"{sections}<StringTable>{strings}</StringTable></Report>")


def page_of(text, expected=0, name="made"):
    write(f"{name}.xml", text)
    openpla(expected, "report", f"{name}.xml", "-html", "-y")
    return read(f"{name}.html")


def run_has_report_and_page():
    os.mkdir("run")
    lines = ['"(PDH-CSV 4.0) (UTC)(0)","\\\\HOST\\Processor(_Total)\\% Processor Time","\\\\HOST\\Memory\\Available MBytes"']
    for i in range(60):
        if not 20 <= i < 30:
            lines.append(f'"02/28/2021 15:33:{i:02}.000","{99.5 if i == 40 else 12.345678}","{7000 + i}"')
    write("run/a.csv", "\r\n".join(lines) + "\r\n")
    output, messages = openpla_streams(0, "report", "run", "-html", "-schema", "Report.System.Summary.xml")
    check([line.replace("\\", "/") for line in output.split()[:2]] == ["run/report.xml", "run/report.html"], "where", output, messages)
    page = read("run/report.html")
    words = page.words()
    for wanted in ("HOST", "% Processor Time", "12.35", "99.5", "Available MBytes", "7,0", "2021-02-28 15:33:00 UTC"):
        check(wanted in words, f"the page lacks {wanted}", words)
    lines = [p for p in page.paths if p.count("l") + p.count("h") + p.count("v") > 10]
    check(lines and all(p.count("M") == 2 for p in lines), "ten seconds without a sample leave a gap in the line", page.paths)
    # The page is written outside the folder of logs, and its report is written beside it.
    output, _ = openpla_streams(0, "report", "run", "-html", "-o", "other.html")
    check(os.path.exists("other.xml") and read("other.html").tables, "the other page", output)
    check("already exists" in openpla(1, "report", "run", "-html", "-o", "other.html"), "it is not overwritten unasked")
    check("-sheet: requires -html" in openpla(2, "report", "run", "-sheet", "x.xsl"), "a sheet without a page")


def shows_times_of_log():
    """A chart shows the times that -b and -e accept, whatever the reader's time zone."""
    rows = [f'"02/28/2021 23:{minute:02}:00.000","{7000 + minute}"' for minute in range(10)]
    for name, bias, zone in (("east", -330, "UTC+05:30"), ("west", 300, "UTC-05:00")):
        write(f"{name}.csv", "\r\n".join([f'"(PDH-CSV 4.0) (Zone)({bias})","\\\\HOST\\Memory\\Available MBytes"', *rows]) + "\r\n")
        openpla(0, "plot", f"{name}.csv", "-o", f"{name}.html", "-b", "2021-02-28", "23:02:00", "-e", "2021-02-28", "23:06:00")
        words = read(f"{name}.html").words()
        check(f"2021-02-28 23:02:00 {zone}" in words and f"Times are {zone}." in words and "23:06:00" in words and
              "7,006" in words, f"{name}: the chosen part of the time", words)
        check(" UTC " not in words, f"{name}: the log's time zone", words)
        openpla(0, "report", f"{name}.csv", "-o", f"{name}.xml", "-html", "-y")
        check(f"2021-02-28 23:09:00 {zone}" in read(f"{name}.html").words(), f"{name}: a report", read(f"{name}.html").words())


def plots_logs():
    """Plots use the charts of pages: one chart per counter, with its instances. A picture is well-formed XML."""
    write("all.html.report", "mine")
    openpla(0, "plot", "run/a.csv", "-o", "all.html")
    with open("all.html.report", encoding="utf-8") as f:
        check(f.read() == "mine", "an existing file is not replaced")
    os.remove("all.html.report")
    page = read("all.html")
    check("Processor: % Processor Time" in page.words() and "Memory: Available MBytes" in page.words(), "both", page.words())
    check("Warnings" not in page.words(), "plots have no warnings", page.words())
    with open("many.csv", "w", encoding="utf-8", newline="") as f:
        f.write(",".join(['"(PDH-CSV 4.0) (UTC)(0)"'] + [f'"\\\\HOST\\Process(p{i})\\Handle Count"' for i in range(30)]) + "\r\n")
        for second in range(5):
            f.write(",".join([f'"02/28/2021 15:33:0{second}.000"'] + [f'"{i}"' for i in range(30)]) + "\r\n")
    openpla(0, "plot", "many.csv", "-o", "many.html")
    names = {wave["n"] for wave in json.loads(read("many.html").waves)["waves"]}
    check(len(names) == 30 and read("many.html").source.count("<figure") == 1, "every instance can be selected", names)
    openpla(0, "plot", "run/a.csv", "-o", "one.svg", "-counter", "\\memory\\avail*")
    picture = xml.parse("one.svg").getroot()
    check(picture.tag == "{http://www.w3.org/2000/svg}svg" and float(picture.get("height")) > 300, "a picture", picture.attrib)
    words = " ".join(picture.itertext())
    check("Memory: Available MBytes" in words and "% Processor Time" not in words and "6.836 GB to 6.894 GB" in words, "one chart", words)
    lines = [p.get("d") for p in picture.iter("{http://www.w3.org/2000/svg}path") if p.get("class") == "s1"]
    check(lines[0].count("M") == 2, "the gap", lines)
    check(sorted(f for f in os.listdir(".") if "report" in f) == [], "no report is left behind", os.listdir("."))
    check("already exists" in openpla(1, "plot", "run/a.csv", "-o", "one.svg"), "it is not overwritten unasked")
    # A time range of ten samples, given in the log's time zone, and a title that contains markup.
    openpla(0, "plot", "run/a.csv", "-o", "part.svg", "-counter", "\\memory\\avail*", "-b", "2021-02-28", "15:33:35", "-e",
            "02/28/2021 15:33:44", "-title", HOSTILE[0])
    words = " ".join(xml.parse("part.svg").getroot().itertext())
    check("6.87 GB to 6.879 GB" in words and words.count(HOSTILE[0]) == 2, "a time range with a title", words)
    openpla(0, "plot", "run/a.csv", "-o", "part.html", "-b", "2021-02-28 15:33:58", "-title", HOSTILE[0])
    words = read("part.html").words()
    check(f"{HOSTILE[0]} on HOST" in words and "7058" in words.replace(",", ""),
          "the end of the time range with a title", words)
    # Limit lines chosen by the reader, in all charts or in the charts of one counter.
    openpla(0, "plot", "run/a.csv", "-o", "limit.svg", "-limit", "50", "7100", "\\memory\\avail*=7050", "-50")
    picture = xml.parse("limit.svg").getroot()
    words = " ".join(picture.itertext())
    check(words.count("Limit 6.885 GB") == words.count("Limit 6.934 GB") == words.count("Limit 7100 %") == 2 and
          words.count("Limit 50") == 4, "limits in the legend and the text", words)
    paths = [(p.get("class"), p.get("d")) for p in picture.iter("{http://www.w3.org/2000/svg}path")]
    lines = [d for c, d in paths if c == "limit" and d.startswith("M0") and "H" in d]
    check(len(lines) == 3 + 4, "limit lines in each chart", lines)
    top, legend = float(picture.get("height")), [float(t.get("y")) for t in picture.iter("{http://www.w3.org/2000/svg}text")]
    check(top >= 2 * 330 + 20 * (2 + 7) + 20 and max(legend) < top, "room for the legend", top, max(legend))
    openpla(0, "plot", "run/a.csv", "-o", "limit.html", "-counter", "\\memory\\avail*", "-limit", "7.2e3")
    page = read("limit.html")
    check(page.words().count("Limit 7.031 GB") == 2 and page.source.count('class="limit"') == 2 and "warning" not in page.words().lower(),
          "a limit line without a warning", page.words())
    for wrong, message in (("much", "invalid limit"), ("=", "invalid limit"), ("1e300", "invalid limit"), ("\\None\\*=5", "no counter"),
                           ("\\system\\*=x", "invalid limit")):
        check(message in openpla(1, "plot", "run/a.csv", "-o", "none.svg", "-limit", wrong), f"-limit {wrong}")
    check("the maximum is 4 per chart" in openpla(1, "plot", "run/a.csv", "-o", "none.svg", "-limit", "1", "2", "3", "4", "5"), "five limits")
    check("no sample in the time range" in openpla(1, "plot", "run/a.csv", "-o", "none.svg", "-b", "2022-01-01"), "a range without samples")
    check("is before the start" in openpla(2, "plot", "run/a.csv", "-o", "none.svg", "-b", "2022-01-01", "-e", "2021-01-01"), "an invalid range")
    check("invalid time" in openpla(2, "plot", "run/a.csv", "-o", "none.svg", "-b", "soon"), "no time")
    check("none" in openpla(1, "plot", "run/a.csv", "-o", "none.svg", "-counter", "\\none\\*"), "an unknown counter")
    check(not os.path.exists("none.svg"), "no empty picture is left")
    for wrong in (["run/a.csv"], ["run/a.csv", "-o", "x.png"], ["-o", "x.svg"]):
        openpla(2, "plot", *wrong)
    openpla(0, "tracerpt", "run/a.csv", "-report", "trace.html", "-f", "html")
    check("Processor" in read("trace.html").words() and os.path.exists("trace.xml"), "tracerpt -f html")


def formats_numbers_by_mask():
    head = '<Header><Data name="what" align="left"/><Data name="n" format="#,##0.0"/><Data name="m"/></Header>'
    page = page_of(report(f'<Section name="s"><Table name="t">{head}{row(what=7.25, n="1234567.85", m="0.00012345")}'
                          f'{row(what="b", n="-0.04", m="123456789012345678901")}{row(what="c", n="", m="-5")}</Table></Section>'))
    for wanted in ("7.25", "1,234,567.9", "0.000123", "0.0", "123456789012345678901", "-5"):
        check(wanted in page.cells, f"no cell {wanted}", page.cells)
    check("-0.0" not in page.cells and "NaN" not in page.words(), "no number", page.cells)
    check('data-v="1234567.85"' in page.source, "the sort key is the unformatted value")


def links_warnings_and_rows():
    sections = ('<Section name="advice" key="1"><Table name="warning">'
                '<Item><Data name="symptom" img="warning" link="DQ">Disk queue is long</Data><Data name="cause">slow</Data>'
                '<Data name="details">9.5</Data><Data name="resolution">Buy another.</Data>'
                '<Data name="resolution">Or wait.</Data></Item>'
                '<Item><Data name="symptom" img="Red" link="none">It burns</Data></Item></Table></Section>'
                '<Section name="disk"><Table name="queue"><Header><Data name="instance" align="left"/><Data name="mean"/></Header>' +
                "".join(f'<Item><Data name="instance">{i}</Data><Data name="mean"{" tag=" + chr(34) + "DQ" + chr(34) if i == 8500 else ""}>'
                        f"{i}.5</Data></Item>" for i in range(9000)) + "</Table></Section>")
    page = page_of(report(sections))
    words = page.words()
    check(words.index("It burns") < words.index("Disk queue is long"), "the worst warning comes first")
    for wanted in ("Critical", "Warning", "What to do", "Buy another.", "Or wait.", "8,500.5" if "8,500.5" in words else "8,501"):
        check(wanted in words, f"the page lacks {wanted}", words[:2000])
    check("#w2" in page.links and any(re.fullmatch(r"#d\d+", link) for link in page.links), "links there and back", page.links)
    check(words.index("1: It burns") < words.index("2: Disk queue is long"), "the warnings are numbered", words[:2000])
    check(words.index("1 critical") < words.index("300"), "the state before the facts", words[:500])
    check("of 9000 rows" in words, "omitted rows are counted", words[-500:])
    # The tag of a whole row marks its first visible cell. A row of the warning table is not marked, even with this tag.
    page = page_of(report('<Section name="advice"><Table name="warning"><Item tag="DQ"><Data name="symptom" link="DQ" tag="DQ">Busy</Data>'
                          '</Item></Table></Section><Section name="disk"><Table name="queue"><Header><Data name="instance" visible="0"/>'
                          '<Data name="mean"/></Header><Item tag="DQ"><Data name="instance">0</Data><Data name="mean">77</Data></Item>'
                          "</Table></Section>"))
    check(re.search(r'<td[^>]* id="d[0-9]+"[^>]*>77', page.source) or re.search(r'id="d[0-9]+"[^>]*>77', page.source),
          "the row that has the tag", page.source[-3000:])
    check("#w1" in page.links and sum(link.startswith("#d") for link in page.links) == 1, "links of a row", page.links)
    # Rules can create two warning tables. Warnings are numbered across both tables, and a row links back to its warning
    # by this number.
    page = page_of(report("".join('<Section name="advice"><Table name="warning"><Item><Data name="symptom" img="warning" '
                                  f'link="{tag}">{tag} is long</Data></Item></Table></Section>' for tag in ("one", "two")) +
                          '<Section name="s"><Table name="t"><Header><Data name="a"/></Header>'
                          '<Item><Data name="a" tag="two">5</Data></Item></Table></Section>'))
    check("#w2" in page.links and "#w1" not in page.links, "the second warning", page.links)
    page = page_of(report('<Section name="advice"><Table name="warning"/></Section>'))
    check("found no problems" in page.words(), "a report without warnings")


def warned(limit, chart, series="1 2 9", tag="busy"):
    """Returns a page with a warning about a counter that has a chart."""
    return page_of(report('<Section name="advice"><Table name="warning"><Item><Data name="symptom" img="warning" link="busy" '
                          f'{limit}>It is busy</Data></Item></Table></Section><Section name="s"><Table name="t" source="Disk"><Header>'
                          '<Data name="counter" align="left"/><Data name="instance" align="left"/><Data name="mean"/></Header>'
                          f'<Item><Data name="counter">Queue</Data><Data name="instance">C:</Data><Data name="mean" tag="{tag}">5</Data>'
                          f'</Item></Table><Chart name="t" source="Disk" start="2026-01-02T03:04:05.000Z" duration="3" {chart}>'
                          f'<Series name="Queue (D:)">1 1 1</Series><Series name="Queue (C:)">{series}</Series></Chart></Section>'))


def charts_show_exceeded_limits():
    page = warned('limit="4"', "")
    words = page.words()
    check(page.source.count('class="limit"') == 2, "a limit line and its label", page.source[-3000:])
    check("Limit 4 of warning 1" in words and "Over time: " in words, "the text about the limit", words)
    check(page.links.count("#w1") == 2 and "#c1" in page.links, "links from chart and row to the warning, and back", page.links)
    check(re.search(r"Lines over time.*? C:.*? D:", words), "the counter of the warning comes first", words)
    # The scale includes a limit above or below all values.
    for limit, mark in (("20", " 20 "), ("-4", " -5 ")):
        check(mark in warned(f'limit="{limit}"', "").words(), f"a scale to {limit}")
    for limit in ("", 'limit="about 4"', 'limit="nan"', 'limit="1e300"', 'limit=""'):
        page = warned(limit, "")
        check("#w1" in page.links and 'class="limit"' not in page.source, f"no line for {limit!r}", page.source[-2000:])
    check('class="limit"' not in warned('limit="4"', "", "- - -", "other").source, "a warning about something else")
    # A chart that is shown only with a warning.
    check("Lines over time" in warned('limit="4"', 'watch="1"').words(), "a watched chart with a warning is shown")
    check("Lines over time" not in warned('limit="4"', 'watch="1"', tag="other").words(), "a watched chart without a warning is hidden")


def checked_run_has_limits():
    """A run is checked with the built-in schemas and rules. Of twelve disks, one has a long queue, another is slow."""
    os.mkdir("judged")
    disks = [f"{i} {chr(67 + i)}:" for i in range(12)]
    heads, rows = ["(PDH-CSV 4.0) (UTC)(0)"], []
    for counter in ("Avg. Disk Queue Length", "Avg. Disk sec/Read", "Disk Bytes/sec"):
        heads += [f"\\\\HOST\\PhysicalDisk({disk})\\{counter}" for disk in disks]
    heads += ["\\\\HOST\\Processor(_Total)\\% Processor Time", "\\\\HOST\\Processor(_Total)\\% Privileged Time"]
    for i in range(30):
        rows.append([f"02/28/2021 15:33:{i:02}.000", *("5" if d == 7 else "0.1" for d in range(12)),
                     *("0.060" if d == 11 else "0.001" for d in range(12)), *(str(1000 - d) for d in range(12)), "95", "5"])
    write("judged/a.csv", "".join(",".join(f'"{cell}"' for cell in cells) + "\r\n" for cells in [heads, *rows]))
    openpla(0, "report", "judged", "-o", "judged.xml")
    openpla(4, "rules", "judged.xml", "-o", "judged.xml", "-y")
    openpla(0, "report", "judged.xml", "-html", "-y")
    words = read("judged.html").words()
    for wanted in ("Limit 2 of", "Limit 15 ms of", "Limit 50 % of", "Avg. Disk sec/Read", "11 N:", "7 J:"):
        check(wanted in words, f"the page lacks {wanted}", words)
    check("% Privileged Time 0" not in words and "Processor: % Privileged Time" not in words, "no rule warns about this counter", words)


def escapes_foreign_names():
    """Names from foreign data are always shown as text, in every place of a page."""
    for first in range(0, len(HOSTILE), 7):
        sections = warnings = strings = ""
        for name in map(escaped, HOSTILE[first:first + 7]):
            sections += (f'<Section name="{name}" note="{name}"><Table name="{name}" note="{name}" source="{name}" tag="{name}">'
                         f'<Header><Data name="{name}" units="{name}" note="{name}" align="left"/><Data name="b"/></Header>'
                         f'<Item><Data name="{name}" img="{name}" units="{name}" tag="{name}" link="{name}">{name}</Data><Data name="b"/>'
                         f'<Table name="{name}"><Item><Data name="{name}">{name}</Data></Item></Table></Item></Table>'
                         f'<Chart name="{name}" start="{name}" duration="{name}"><Series name="{name}">1 2:{name} 3</Series></Chart></Section>')
            warnings += (f'<Item><Data name="symptom" link="{name}" img="{name}">{name}</Data><Data name="{name}">{name}</Data></Item>')
            strings += f'<String ID="x">{name}</String>'
        page = page_of(report(f'{sections}<Section name="advice"><Table name="warning">{warnings}</Table></Section>', strings))
        words = "".join(page.text)
        check(not re.search("[\u202a-\u202e\u2066-\u2069]", page.source), "no text changes the direction of other texts")
        for text in HOSTILE[first:first + 7]:
            shown = re.sub("[\u202a-\u202e\u2066-\u2069]", "\ufffd", text)[:190]
            check(words.count(shown) >= 25, f"{text!r} is there {words.count(shown)} times")


def creates_page_from_any_report():
    """Reports are put together from pieces in random order, because rules or other programs may write any report."""
    random.seed(24)
    pieces = ['<Section name="s">', "</Section>", '<Table name="t" threshold="2">', "</Table>", "<Item>", "</Item>",
              '<Header><Data name="a"/><Data name="b" align="left" visible="0"/></Header>', '<Data name="a">-12.75</Data>',
              '<Data name="b" img="Red" tag="q">x</Data>', '<Data name="symptom" link="q">y</Data>', "<Footer>", "</Footer>",
              '<Section name="advice">', '<Table name="warning">', '<Chart name="c" start="2026-01-02T03:04:05.000Z" duration="1e9">',
              "</Chart>", '<Series name="z">1:2 - 1e30 -5:5 nan inf 0x10</Series>', '<Series name="">-</Series>', "text", "<x/>",
              '<Chart name="c" duration="-1">', '<Section name="howMade">', '<Table name="">', "<Item><Data/></Item>"]
    for _ in range(6): # fuzz_page tests more of them
        body = "".join(random.choice(pieces) for _ in range(random.randrange(1, 60)))
        write("any.xml", f'<Report name="r">{body}</Report>')
        done = openpla_any("report", "any.xml", "-html", "-y")
        check(done in (0, 1, 3), f"exit code {done}", body)
        if done != 1:
            read("any.html")
    # A truncated report is reported, and its complete part is shown.
    write("half.xml", report(f'<Section name="s"><Table name="t"><Header><Data name="a" align="left"/></Header>{row(a="whole")}')[:-60])
    openpla(3, "report", "half.xml", "-html")
    words = read("half.html").words()
    check("are missing" in words and "complete part" in words, "half a report", words)
    write("empty.xml", "")
    check("no XML" in openpla(1, "report", "empty.xml", "-html"), "nothing")
    check(not os.path.exists("empty.html"), "no page of an empty report")


def openpla_any(*arguments):
    return subprocess.run([*EMULATOR, PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, timeout=600, check=False).returncode


def limits_page_size():
    """A report of the maximum size. Its strings have the maximum length after escaping."""
    head = "<Header>" + "".join(f'<Data name="c{i}" align="left"/>' for i in range(10)) + "</Header>"
    long = "&amp;&lt;" * 300
    rows = "".join("<Item>" + "".join(f'<Data name="c{i}">{long}</Data>' for i in range(10)) + "</Item>" for _ in range(150))
    points = " ".join(f"{random.uniform(0, 50):.5f}:{random.uniform(50, 1e6):.5f}" for _ in range(512))
    charts = "".join(f'<Chart name="c{i}" start="2026-01-02T03:04:05.000Z" duration="300">' +
                     "".join(f'<Series name="s{k}">{points}</Series>' for k in range(8)) + "</Chart>" for i in range(40))
    page = page_of(report(f'<Section name="s"><Table name="t">{head}{rows}</Table>{charts}</Section>'))
    check("28 more are in the report document" in page.words(), "omitted charts are counted", page.words()[-400:])
    short = "".join(f'<Table name="t{k}"><Header><Data name="a" align="left"/><Data name="b"/></Header>' +
                    "".join(f'<Item><Data name="a">r{i}</Data><Data name="b">{i}</Data></Item>' for i in range(1500)) + "</Table>"
                    for k in range(12))
    page = page_of(report(f'<Section name="s">{short}</Section>'))
    check(page.tables == 12, "each table has its rows", page.tables)


def applies_custom_sheet():
    style = 'xmlns:xsl="http://www.w3.org/1999/XSL/Transform" version="1.0"'
    write("own.xsl", f'<xsl:stylesheet {style}><xsl:output method="text"/><xsl:template match="/">'
                     "rows: <xsl:value-of select=\"count(//Item)\"/></xsl:template></xsl:stylesheet>")
    write("small.xml", report(f'<Section name="s"><Table name="t">{row(a=1)}{row(a=2)}</Table></Section>'))
    openpla(0, "report", "small.xml", "-html", "-sheet", "own.xsl", "-o", "own.html")
    with open("own.html", encoding="utf-8") as f:
        check(f.read().strip() == "rows: 2", "the report as it is")
    write("secret.txt", "<secret>told</secret>")
    here = os.path.abspath("secret.txt")
    bad = {"document": f'<xsl:template match="/"><x><xsl:copy-of select="document(\'{here}\')"/></x></xsl:template>',
           "import": f'<xsl:import href="{here}"/>', "include": f'<xsl:include href="{here}"/>',
           "write": '<xsl:template match="/"><xsl:document href="written.txt" method="text">x</xsl:document></xsl:template>',
           "recursion": '<xsl:template match="/"><xsl:apply-templates select="/"/></xsl:template>',
           "stop": '<xsl:template match="/"><xsl:message terminate="yes">no</xsl:message></xsl:template>',
           "expression": '<xsl:template match="/"><xsl:value-of select="1 +"/></xsl:template>'}
    if EMULATOR: # a build with sanitizers stops this loop only after ten seconds
        bad["loop"] = ('<xsl:template match="/">' + '<xsl:for-each select="//*">' * 6 + '<xsl:value-of select="count(//*)"/>' +
                       "</xsl:for-each>" * 6 + "</xsl:template>")
    for name, text in bad.items():
        write("bad.xsl", f"<xsl:stylesheet {style}>{text}</xsl:stylesheet>")
        messages = openpla(1, "report", "small.xml", "-html", "-sheet", "bad.xsl", "-o", "bad.html")
        check("bad.xsl" in messages and len(messages) < 700, f"{name}: the sheet's name", messages)
        check(not os.path.exists("bad.html") and not os.path.exists("bad.html.new"), f"{name}: no page")
    check(not os.path.exists("written.txt"), "a sheet cannot write a file")
    for text in ("<x/>", "", "<xsl:stylesheet", f'<!DOCTYPE x [<!ENTITY e SYSTEM "{here}">]><x>&e;</x>'):
        write("bad.xsl", text)
        messages = openpla(1, "report", "small.xml", "-html", "-sheet", "bad.xsl", "-o", "bad.html")
        check("bad.xsl" in messages and "told" not in messages, "no sheet", messages)


def main():
    work = tempfile.TemporaryDirectory(prefix="openpla-page.", dir=os.environ.get("WINEPREFIX"))
    os.chdir(work.name)
    run_has_report_and_page()
    shows_times_of_log()
    plots_logs()
    formats_numbers_by_mask()
    links_warnings_and_rows()
    charts_show_exceeded_limits()
    checked_run_has_limits()
    escapes_foreign_names()
    creates_page_from_any_report()
    limits_page_size()
    applies_custom_sheet()
    os.chdir("/")
    work.cleanup()


main()
