#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rules.py PROGRAM [EMULATOR]: "openpla rules" of PROGRAM (openpla.exe) checks a report that "openpla report" created
from a log, and its exit code tells a script the worst severity."""
import datetime
import json
import os
import random
import re
import tempfile
import xml.etree.ElementTree as xml

from program import check, openpla, openpla_streams

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "user", "rules.md")


def write(name, text):
    with open(name, "w", encoding="utf-8", newline="") as f:
        f.write(text)


def write_log(name, paths, values):
    lines = [",".join(f'"{cell}"' for cell in ["(PDH-CSV 4.0) (UTC)(0)"] + [f"\\\\HOST\\{p}" for p in paths])]
    for i in range(10):
        lines.append(",".join(f'"{cell}"' for cell in [f"02/28/2021 15:33:{i:02}.000"] + [str(v) for v in values]))
    write(name, "\r\n".join(lines) + "\r\n")


def report_of(memory, processor):
    write_log("a.csv", [r"Memory\% Committed Bytes In Use", r"Processor(_Total)\% Processor Time"], [memory, processor])
    openpla(0, "report", "a.csv", "-o", "report.xml", "-y")


def exit_codes_show_worst_severity():
    for memory, processor, code, words in ((10, 10, 0, []), (85, 10, 3, ["warning: 85 % of the commit limit"]),
                                           (95, 60, 4, ["error: 95 % of the commit limit", "warning: Processor time averaged 60 %"])):
        report_of(memory, processor)
        output, messages = openpla_streams(code, "rules", "report.xml")
        for word in words or ["nothing found"]:
            check(word in output, word, output)
        check("openpla rules:" not in messages, messages)
    output, _ = openpla_streams(4, "rules", "report.xml", "--json")
    reported = json.loads(output)
    check(reported["worst"] == "error" and len(reported["warnings"]) == 2, output)
    check(all(w["cause"] and w["details"] and w["resolution"] for w in reported["warnings"]), output)
    check(not reported["errors"] and not reported["remarks"], output)


def checks_log_directly():
    """A log or a run's folder is checked without a separate report, and no file is left behind."""
    report_of(95, 10)
    openpla(0, "relog", "a.csv", "-o", "a.blg", "-y")
    os.makedirs("run", exist_ok=True)
    write_log("run/b.csv", [r"Memory\% Committed Bytes In Use"], [85])
    before = sorted(os.listdir(".")) + os.listdir("run")
    for name, code, word in (("a.blg", 4, "error: 95 %"), ("a.csv", 4, "error: 95 %"), ("run", 3, "warning: 85 %")):
        output, _ = openpla_streams(code, "rules", name)
        check(word in output, name, output)
    check(sorted(os.listdir(".")) + os.listdir("run") == before, "no file is left behind", os.listdir("."))
    check("is an input file" in openpla(1, "rules", "a.csv", "-o", "a.csv", "-y"), "the log is not overwritten")
    write_log("other.csv", [r"Web Service(shop)\Response Time"], [250])
    check("no rule applies" in openpla(5, "rules", "other.csv"), "counters that no rule knows")


OVERLOADED = [r"Processor(_Total)\% Processor Time", r"Memory\Available MBytes", r"PhysicalDisk(0 C:)\Avg. Disk sec/Read"]


def write_day(name, paths, hot_samples, hot=(100.0, 9100, 0.35), usual=None):
    """Writes eight hours of samples every 15 s from 08:00; processor and disk are overloaded in the samples
    `hot_samples`."""
    chance = random.Random(1)
    lines = [",".join(f'"{cell}"' for cell in ["(PDH-CSV 4.0) (UTC)(0)"] + [f"\\\\HOST\\{p}" for p in paths])]
    for i in range(8 * 240):
        at = datetime.datetime(2026, 3, 2, 8) + datetime.timedelta(seconds=15 * i)
        quiet = (chance.uniform(5, 15), 9100, chance.uniform(0.002, 0.006)) if usual is None else (usual,) * len(paths)
        values = hot if i in hot_samples else quiet
        lines.append(f'"{at:%m/%d/%Y %H:%M:%S}.000",' + ",".join(f'"{v:.6f}"' for v in values))
    write(name, "\r\n".join(lines) + "\r\n")


def finds_short_overload_in_long_log():
    """Both "openpla rules" and the page show when the overload occurred. A healthy day has no warning. A day whose
    counters no rule knows is not called healthy."""
    write_day("day.csv", OVERLOADED, range(960, 1040))
    output, _ = openpla_streams(4, "rules", "day.csv", "--json")
    found = json.loads(output)["warnings"]
    check(len(found) == 2 and "Processor time" in found[0]["symptom"] and "disk 0 C:" in found[1]["symptom"], output)
    for warning, worst in zip(found, ("100 %", "350 ms")):
        check(warning["when"] == f"2026-03-02 12:00 to 12:20, 20 min in total; worst at 12:00: {worst}", output)
        check(warning["first"] == "2026-03-02T12:00:00.000Z" and warning["last"] == "2026-03-02T12:20:00.000Z", output)
    openpla(0, "report", "day.csv", "-html", "-o", "day.html", "-y")
    with open("day.html", encoding="utf-8") as f:
        page = re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", f.read()))
    for words in ("By time", "2026-03-02 12:00 to 12:20, 20 min in total", "overloaded", "1 counter, 1920 values"):
        check(words in page, f"the page lacks {words}")
    check("12:25:00" not in page, "the page does not show the slices that rules use")
    write_day("healthy.csv", OVERLOADED, ())
    check("nothing found" in openpla(0, "rules", "healthy.csv"), "a healthy day")
    write_day("peaks.csv", OVERLOADED, range(0, 1920, 40))
    check("nothing found" in openpla(0, "rules", "peaks.csv"), "single samples are no overload")
    write_day("unknown.csv", [r"Processzor(_Total)\Processzorhasz", r"Mem\Szabad", r"Lemez(0 C:)\Olvas"], range(960, 1040))
    check("no rule applies" in openpla(5, "rules", "unknown.csv"), "an unknown day")


def slices_have_requested_length():
    write_day("day.csv", OVERLOADED, range(960, 1040))
    for length, options in (("300", ()), ("60", ("-slice", "60"))):
        openpla(0, "report", "day.csv", "-o", "sliced.xml", "-y", *options)
        tables = xml.parse("sliced.xml").getroot().findall(".//Table[@name='slices']")
        check(len(tables) == 3 and all(t.get("note") == length for t in tables), [t.get("note") for t in tables])
        values = [int(d.text) for d in tables[0].findall("Item/Data[@name='n']")]
        check(sum(values) == 1920 and len(values) == 8 * 3600 // int(length), values)
    check("invalid length 86401" in openpla(2, "report", "day.csv", "-slice", "86401"), "a slice of more than a day")


def page_shows_rule_results():
    """The head of the page shows the warnings. If there are none, it says that no problems were found or that no rule
    applies."""
    for log, words, options in (("a.csv", "1 critical", ()), ("fine.csv", "No problems found", ()), ("other.csv", "No rule applies to any counter", ()),
                                ("a.csv", "Not checked by rules", ("-rules", "none")), ("other.csv", "1 warning", ("-rules", "mine.xml"))):
        write_log("fine.csv", [r"Memory\% Committed Bytes In Use"], [10])
        openpla(5 if "No rule" in words else 0, "report", log, "-o", "said.html", "-html", "-y", *options)
        with open("said.html", encoding="utf-8") as f:
            head = re.sub(r"\s+", " ", re.sub("<[^>]*>", "", re.search(r"<header>.*?</header>", f.read(), re.S).group(0)))
        check(words in head, f"{log}: the head lacks {words}", head)
    with open("said.xml", encoding="utf-8") as f:
        before = f.read()
    openpla(0, "report", "said.xml", "-html")
    with open("said.xml", encoding="utf-8") as f:
        check(f.read() == before, "a page does not change its report")
    openpla(0, "report", "other.csv", "-o", "ruled.xml", "-rules", "mine.xml", "-y")
    with open("ruled.xml", encoding="utf-8") as f:
        check("answers after 250 ms" in f.read(), "rules without a page")
    check("none.xml" in openpla(1, "report", "a.csv", "-html", "-o", "said.html", "-y", "-rules", "none.xml"), "a missing rules file")


def changes_report_only_on_request():
    report_of(95, 10)
    with open("report.xml", "rb") as f:
        before = f.read()
    openpla(4, "rules", "report.xml", "-o", "ruled.xml", "-log", "log.txt")
    with open("report.xml", "rb") as f:
        check(f.read() == before, "the report is unchanged")
    root = xml.parse("ruled.xml").getroot()
    warnings = root.findall("./Section[@name='advice']/Table[@name='warning']/Item")
    check(len(warnings) == 1, xml.tostring(root, "unicode"))
    link = warnings[0].find("Data[@name='symptom']").get("link")
    check(len(root.findall(f".//Item[@tag='{link}']")) == 1, link)
    health = root.findall("./Section[@name='advice']/Table[@name='sysHealthSummary']/Item")
    check([i.find("Data[@name='status']").get("img") for i in health] == ["Green", "Red"], xml.tostring(root, "unicode"))
    with open("log.txt", encoding="utf-8") as f:
        check("rule Rules.System.Memory.xml: group 'Memory': rule" in f.read(), "log")
    openpla(1, "rules", "report.xml", "-rules", "none.xml")
    openpla(2, "rules")
    # The output is a report again; checking it a second time adds no duplicates.
    openpla(4, "rules", "ruled.xml", "-o", "ruled.xml")
    with open("ruled.xml", encoding="utf-8") as f:
        check(f.read().count('img="Red"') == 2, "doubled")
    openpla(0, "config", "ruled.xml")
    # On the page, the warning and its row link to each other.
    openpla(0, "report", "ruled.xml", "-html")
    with open("ruled.html", encoding="utf-8") as f:
        page = f.read()
    to, back = re.search(r'<a href="#(d[0-9]+)"', page), re.search(r'<a class="back" href="#(w[0-9]+)"', page)
    check(to and back and f'id="{to.group(1)}"' in page and f'id="{back.group(1)}"' in page, "links between warning and row", page)
    check("Memory: % Committed Bytes In Use 95<" in page, "the warning's row", re.findall("Seen in.{0,200}", page))


def links_two_warnings_to_one_row():
    """Each warning links to its row. The row links to each of its warnings, the worst first."""
    rule = ('<Rule name="{0}"><Step select="//Table[@source=\'Memory\']/Item"><Exists><Otherwise><Warning select="Data[@name=\'{2}\']" '
            'table="/Report/Section[@name=\'advice\']/Table[@name=\'warning\']" tag="{0}"><Item><Data name="symptom" img="{1}" link="{0}" limit="{3}">It is {0}</Data></Item></Warning>'
            "</Otherwise></Exists></Step></Rule>")
    kinds = (("long", "warning", "mean", 50), ("very long", "Red", "mean", 70), ("quite long", "Green", "max", 60))
    write("two.xml", "<Rules><Group name='g'>" + "".join(rule.format(*kind) for kind in kinds) + "</Group></Rules>")
    report_of(95, 10)
    openpla(4, "rules", "report.xml", "-rules", "two.xml", "-o", "two-ruled.xml")
    openpla(0, "report", "two-ruled.xml", "-html")
    with open("two-ruled.html", encoding="utf-8") as f:
        page = f.read()
    # Checked by what the reader sees: the numbers of the warnings, and the link targets.
    numbers = {text: number for number, text in re.findall(r"(\d): It is ([a-z ]+)", page)}
    check([numbers[kind[0]] for kind in kinds] == ["2", "1", "3"], numbers)
    for cell, expected in (("mean", ["1", "2"]), ("max", ["3"])):
        places = {number: re.search(rf'id="w{number}".*?Seen in: <a href="#(d\d+)"', page, re.S).group(1) for number in expected}
        check(len(set(places.values())) == 1, f"warnings of {cell}", places)
        there = re.search(rf'<t[dh][^>]*id="{places[expected[0]]}".*?</t[dh]>', page, re.S).group(0)
        check(re.findall(r'href="#w(\d)"', there) == expected, f"the links back from {cell}", there)
    legend = "".join(re.findall(r'<ul class="legend">.*?</ul>', page, re.S))
    check(re.findall(r"Limit (\d+) % of .*?#w(\d)", legend) == [("70", "1"), ("50", "2"), ("60", "3")], "limits", legend)


def compares_memory_with_installed_memory():
    """A limit relative to installed memory is not applied to the log of a computer with unknown memory."""
    openpla(0, "typeperf", r"\Memory\Available MBytes", "-sc", "1", "-f", "CSV", "-o", "own.csv", "-y")
    with open("own.csv", encoding="utf-8") as f:
        own = re.search(r'"\\\\(\S+?)\\Memory', f.read()).group(1)
    codes = []
    for computer in (own, "ELSEWHERE"):
        write("memory.csv", f'"(PDH-CSV 4.0) (UTC)(0)","\\\\{computer}\\Memory\\Available MBytes"\r\n"02/28/2021 15:33:00.000","70"\r\n')
        openpla(0, "report", "memory.csv", "-o", "memory.xml", "-y")
        sizes = [d.text for d in xml.parse("memory.xml").getroot().findall("Header/Data[@name='memory']")]
        check(len(sizes) == (computer == own), f"sizes of {computer}", sizes)
        code = 4 if sizes and int(sizes[0]) > 20 * 70 else 3 if sizes and int(sizes[0]) > 10 * 70 else 0
        output, _ = openpla_streams(code, "rules", "memory.xml")
        check(not code or f"fell to 70 of {sizes[0]} MB" in output, "the installed memory is shown", output)
        codes.append(code)
    check(codes[0] != 0 and codes[1] == 0, "only the computer with known memory has a warning", codes)


def custom_threshold_uses_slices(rules):
    """A user-defined threshold for a counter without built-in rule or schema. The mean of the whole log would hide the
    peak."""
    write("threshold.xml", rules)
    write_day("sites.csv", [r"Web Service(shop)\Response Time", r"Web Service(_Total)\Response Time", r"Web Service(wiki)\Other"],
              range(960, 1040), hot=(300, 900, 900), usual=50)
    output, _ = openpla_streams(3, "rules", "sites.csv", "-rules", "threshold.xml", "--json")
    found = json.loads(output)["warnings"]
    check(len(found) == 1 and found[0]["symptom"] == "shop answered after 300 ms for 20 min", output)
    check(found[0]["when"] == "2026-03-02 12:00 to 12:20, 20 min in total; worst at 12:00: 300 ms", output)
    openpla(0, "report", "sites.csv", "-html", "-o", "sites.html", "-y", "-rules", "threshold.xml")
    with open("sites.html", encoding="utf-8") as f:
        check("shop answered after 300 ms for 20 min" in f.read(), "the page")
    output = openpla(0, "rules", "-list", "threshold.xml")
    check(output == "threshold.xml\n  slow answers\n      \\Web Service(*)\\Response Time: over 200 ms, serious over 500 ms, for 10 min\n"
          "      warning, error; our contract\n\n1 rule\n", output)
    listed = json.loads(openpla(0, "rules", "-list", "-rules", "Rules.AD.xml", "threshold.xml", "--json"))["rules"]
    check({rule["pack"] for rule in listed} == {"Rules.AD.xml", "threshold.xml"} and len(listed) > 4, listed)
    write("wrong.xml", rules.replace("over=", "above="))
    check("wrong.xml: group 'mine': rule 'slow answers'" in openpla(3, "rules", "-list", "wrong.xml"), "an error in rules")
    check("none.xml" in openpla(1, "rules", "-list", "none.xml"), "a missing rules file with -list")
    check("-list cannot be combined" in openpla(2, "rules", "-list", "-o", "x.xml"), "an output of a list")


def documented_rules_work():
    with open(PAGE, encoding="utf-8") as f:
        first, second, third = re.findall(r"<Rules>.*?</Rules>", f.read(), re.S)[:3]
    check(len(first.splitlines()) == 8, "the first rule has eight lines", first)
    write("first.xml", first)
    write("mine.xml", second)
    write_log("web.csv", [r"Web Service(shop)\Response Time", r"Web Service(wiki)\Response Time"], [250, 90])
    openpla(0, "report", "web.csv", "-o", "web.xml")
    output, _ = openpla_streams(3, "rules", "web.csv", "-rules", "first.xml")
    check(output == "warning: shop answers slowly\n    Look at the database first.\n", output)
    output, messages = openpla_streams(3, "rules", "web.xml", "-rules", "mine.xml")
    check("warning: shop answers after 250 ms" in output and "Look at the database first." in output, output, messages)
    custom_threshold_uses_slices(third)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        exit_codes_show_worst_severity()
        checks_log_directly()
        changes_report_only_on_request()
        links_two_warnings_to_one_row()
        compares_memory_with_installed_memory()
        documented_rules_work()
        finds_short_overload_in_long_log()
        slices_have_requested_length()
        page_shows_rule_results()
        os.chdir("/")


if __name__ == "__main__":
    main()
