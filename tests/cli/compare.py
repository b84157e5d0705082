#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare.py PROGRAM [EMULATOR]: "openpla compare" of PROGRAM (openpla.exe) reports whether the second of two runs is
worse, with exit codes that a script can use."""
import json
import os
import random
import re
import tempfile

from program import check, openpla, openpla_streams

COUNTERS = [r"PhysicalDisk(0 C:)\Avg. Disk sec/Read", r"Processor(_Total)\% Processor Time", r"Memory\Available MBytes",
            r"PhysicalDisk(0 C:)\Disk Bytes/sec"]


def write_log(name, scales, day=1, counters=None, seconds=600):
    """Writes ten minutes of noise around the values in `scales`."""
    lines = [["(PDH-CSV 4.0) (UTC)(0)"] + [f"\\\\HOST\\{c}" for c in counters or COUNTERS]]
    for i in range(seconds):
        lines.append([f"03/{day:02}/2026 10:{i // 60:02}:{i % 60:02}.000"] + [f"{scale * random.uniform(0.6, 1.4):.6g}" for scale in scales])
    with open(name, "w", encoding="utf-8", newline="") as f:
        f.write("".join(",".join(f'"{cell}"' for cell in line) + "\r\n" for line in lines))


def exit_codes_show_the_result():
    quiet = [0.002, 20, 8000, 1e7]
    write_log("a.csv", quiet)
    for name, scales, code, words in (("same", quiet, 0, "0 much worse, 0 worse, 0 better, 0 changed"),
                                      ("worse", [0.002, 25, 8000, 1e7], 3, "0 much worse, 1 worse"),
                                      ("much", [0.02, 20, 8000, 1e7], 4, "1 much worse, 0 worse"),
                                      ("better", [0.002, 10, 8000, 1e7], 0, "1 better"),
                                      ("memory", [0.002, 20, 2000, 1e7], 4, "1 much worse, 0 worse"),
                                      ("bytes", [0.002, 20, 8000, 3e7], 0, "1 changed")):
        write_log(f"{name}.csv", scales, day=2)
        output, messages = openpla_streams(code, "compare", "a.csv", f"{name}.csv")
        check(words in output and "openpla compare:" not in messages, f"{name}: {words}", output, messages)
    check("new" not in output and "MB/s" in output, "values have units, and no counter is listed as new", output)
    output, _ = openpla_streams(4, "compare", "a.csv", "much.csv", "--json")
    result = json.loads(output)
    first = result["counters"][0]
    check(first["counter"] == "Avg. Disk sec/Read" and first["instance"] == "0 C:" and first["verdict"] == "much worse" and
          first["effect"] > 0.9 and first["p"] < 0.01 and first["b"]["mean"] > 5 * first["a"]["mean"], "the worst counter is first", first)
    check(len(result["counters"]) == 4 and result["counts"]["same"] == 3, "all counters", result["counts"])


def accepts_reports_and_folders_as_runs():
    os.mkdir("run")
    write_log("run/b.csv", [0.02, 20, 8000, 1e7])
    openpla(0, "report", "a.csv", "-o", "a.xml")
    before = sorted(os.listdir("."))
    for a, b in (("a.xml", "run"), ("a.csv", "run"), ("a.xml", "much.csv")):
        check("1 much worse" in openpla(4, "compare", a, b), f"{a} and {b}")
    check(sorted(os.listdir(".")) == before and os.listdir("run") == ["b.csv"], "no file is left behind", os.listdir("."))


def a_page_shows_both_runs():
    output = openpla(4, "compare", "a.csv", "much.csv", "-html", "x.html")
    check("x.html" in output, "the page's path is printed", output)
    with open("x.html", encoding="utf-8") as f:
        page = f.read()
    words = re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", page.split('id="waves"')[0]))
    for expected in ("Comparison of two runs", "1 critical", "PhysicalDisk: Avg. Disk sec/Read, 0 C: is much worse", "aligned" if "aligned" in words
                     else "Aligned", "Mean, A \u2192 B", "much.csv"):
        check(expected in words, f"the page lacks {expected}", words[:3000])
    check(page.count("<figure") == 4 and page.count('<path class="s2"') >= 4, "a chart of each counter, with two lines")
    check("already exists" in openpla(1, "compare", "a.csv", "much.csv", "-html", "x.html"), "an existing page is not overwritten without -y")
    check("is an input file" in openpla(1, "compare", "a.csv", "much.csv", "-html", "a.csv", "-y"), "an input log is never overwritten")
    openpla(0, "compare", "a.csv", "same.csv", "-html", "x.html", "-y")
    with open("x.html", encoding="utf-8") as f:
        check("Nothing is worse in B than in A." in f.read(), "a page without worse counters")


def rejects_runs_that_cannot_be_compared():
    write_log("other.csv", [1], counters=[r"System\Threads"])
    messages = openpla(2, "compare", "a.csv", "other.csv")
    check("cannot compare 'a.csv' with 'other.csv': they have no counter with values in common" in messages, "two logs without a common counter", messages)
    with open("empty.csv", "w", encoding="utf-8", newline="") as f:
        f.write('"(PDH-CSV 4.0) (UTC)(0)","\\\\HOST\\Memory\\Available MBytes"\r\n')
    messages = openpla(1, "compare", "a.csv", "empty.csv")
    check("empty.csv" in messages and ("no sample" in messages or "no counter" in messages or "no data" in messages.lower()), "a log without values: its name and the reason", messages)
    write_log("short.csv", [0.02, 20, 8000, 1e7], seconds=5)
    output = openpla(0, "compare", "a.csv", "short.csv")
    check("too short" in output and "4 undecided" in output, "five seconds are too short for a verdict", output)
    check("no time of day" not in openpla(4, "compare", "a.csv", "much.csv", "-align", "clock"), "runs aligned by the time of day")
    check("no time in common" in openpla(2, "compare", "a.csv", "much.csv", "-skip", "1h"), "-skip leaves no common time")
    for wrong in (["a.csv"], ["a.csv", "b.csv", "c.csv"], ["a.csv", "much.csv", "-align", "moon"], ["a.csv", "much.csv", "-skip", "x"],
                  ["a.csv", "much.csv", "-min", "5m"], ["a.csv", "much.csv", "-slice", "-1"]):
        openpla(2, "compare", *wrong)
    openpla(1, "compare", "a.csv", "missing.blg")
    check("0 much worse" in openpla(0, "compare", "a.csv", "much.csv", "-min", "2000"), "changes below -min are ignored")


def main():
    random.seed(11)
    with tempfile.TemporaryDirectory(prefix="openpla-compare.", dir=os.environ.get("WINEPREFIX")) as folder:
        os.chdir(folder)
        exit_codes_show_the_result()
        accepts_reports_and_folders_as_runs()
        a_page_shows_both_runs()
        rejects_runs_that_cannot_be_compared()
        os.chdir("/")


main()
