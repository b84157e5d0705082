#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rules_import.py PROGRAM [EMULATOR]: "openpla rules import-pal" of PROGRAM (openpla.exe) converts a PAL threshold file
to rules that find the same problems in a log. Rules that take too long are stopped."""
import datetime
import os
import re
import signal
import subprocess
import tempfile
import time

from program import EMULATOR, PROGRAM, check, openpla, openpla_streams

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "user", "rules.md")

BASE = r"""<?xml version="1.0" encoding="UTF-8"?>
<PAL PALVERSION="2.0" NAME="Base">
  <QUESTION QUESTIONVARNAME="Share" DATATYPE="string" DEFAULTVALUE="0.10">Which share of memory should be free?</QUESTION>
  <QUESTION QUESTIONVARNAME="RamGb" DATATYPE="string" DEFAULTVALUE="8">How many GB of memory?</QUESTION>
  <ANALYSIS NAME="Busy" ENABLED="True" CATEGORY="Processor" ID="{B1}">
    <DATASOURCE TYPE="CounterLog" COLLECTIONVARNAME="Busy" EXPRESSIONPATH="\Processor(*)\% Processor Time" DATATYPE="integer">
      <EXCLUDE INSTANCE="_Total"/></DATASOURCE>
    <THRESHOLD NAME="busy" CONDITION="Warning" COLOR="Yellow" PRIORITY="50"><CODE><![CDATA[
# a comment
StaticThreshold -CollectionOfCounterInstances $Busy -Operator 'gt' -Threshold 60]]></CODE></THRESHOLD>
    <DESCRIPTION><![CDATA[One <b>processor</b> is busy.<BR>See <a href="https://example.org/busy">this</a>]]></DESCRIPTION>
  </ANALYSIS>
  <ANALYSIS NAME="Little memory" ENABLED="True" CATEGORY="Memory" ID="{B2}">
    <DATASOURCE TYPE="CounterLog" COLLECTIONVARNAME="Free" EXPRESSIONPATH="\Memory\Available MBytes" DATATYPE="integer"/>
    <THRESHOLD NAME="little" CONDITION="Waning" PRIORITY="50"><CODE><![CDATA[$l = $([Int] $RamGb * 1024) * $Share
StaticThreshold -CollectionOfCounterInstances $Free -Operator 'lt' -Threshold $l]]></CODE></THRESHOLD>
  </ANALYSIS>
</PAL>
"""
TOP = r"""<?xml version="1.0"?>
<PAL PALVERSION="2.0" NAME="Top">
  <INHERITANCE FILEPATH="BASE.xml"/><INHERITANCE FILEPATH=""/>
  <ANALYSIS NAME="Link" ENABLED="True" CATEGORY="Network" ID="{T1}">
    <DATASOURCE TYPE="CounterLog" COLLECTIONVARNAME="B" EXPRESSIONPATH="\Network Interface(*)\Bytes Total/sec" DATATYPE="integer"/>
    <DATASOURCE TYPE="CounterLog" COLLECTIONVARNAME="BW" EXPRESSIONPATH="\Network Interface(*)\Current Bandwidth" DATATYPE="integer"/>
    <DATASOURCE TYPE="Generated" COLLECTIONVARNAME="Used" EXPRESSIONPATH="\Network Interface(*)\% Used" DATATYPE="round2">
      <CODE><![CDATA[For ($i=0; $i -lt $B.Count; $i++) { For ($t=0; $t -lt $B[$i].Value.Count; $t++) {
        $Used[$t] = [int] (100 * (8 * $B[$i].Value[$t]) / $BW[$i].Value[$t]) } }]]></CODE></DATASOURCE>
    <THRESHOLD NAME="used" CONDITION="Critical" PRIORITY="50"><CODE><![CDATA[StaticThreshold -CollectionOfCounterInstances $Used -Operator 'gt' -Threshold 30]]></CODE></THRESHOLD>
    <THRESHOLD NAME="old" CONDITION="Warning" PRIORITY="40"><CODE><![CDATA[For Each x in y
If z > 1 Then
End If
Next]]></CODE></THRESHOLD>
  </ANALYSIS>
  <ANALYSIS NAME="Pages" ENABLED="True" CATEGORY="SQL" ID="{T2}">
    <DATASOURCE TYPE="CounterLog" COLLECTIONVARNAME="P" EXPRESSIONPATH="\SQLServer:Buffer Manager\Page life expectancy"
      DATATYPE="integer" ISCOUNTEROBJECTREGULAREXPRESSION="True"
      REGULAREXPRESSIONCOUNTERPATH="\(MSSQL|SQLServer).*:Buffer Manager\Page life expectancy"/>
    <THRESHOLD NAME="falls" CONDITION="Critical" PRIORITY="100"><CODE><![CDATA[StaticThreshold -CollectionOfCounterInstances $P -Operator 'lt' -Threshold -300 -IsTrendOnly $True]]></CODE></THRESHOLD>
  </ANALYSIS>
</PAL>
"""


def write(name, text):
    with open(name, "w", encoding="utf-8", newline="") as f:
        f.write(text)


def write_log(name, bad):
    """Writes two hours of samples; in a bad log all counters reach their limits for 15 minutes."""
    paths = [r"Processor(0)\% Processor Time", r"Processor(_Total)\% Processor Time", r"Memory\Available MBytes",
             r"Network Interface(e 0)\Bytes Total/sec", r"Network Interface(e 0)\Current Bandwidth",
             r"MSSQL$PROD:Buffer Manager\Page life expectancy"]
    lines = [",".join(f'"{cell}"' for cell in ["(PDH-CSV 4.0) (UTC)(0)"] + [f"\\\\HOST\\{p}" for p in paths])]
    start = datetime.datetime(2026, 3, 2, 8)
    for i in range(480):
        hot = bad and 200 <= i < 260
        values = [99 if hot else 10, 99 if hot else 10, 200 if hot else 4000, 1e7 if hot else 1000, 1e8, 5000 - 5 * i * bad]
        when = (start + datetime.timedelta(seconds=15 * i)).strftime("%m/%d/%Y %H:%M:%S.000")
        lines.append(",".join(f'"{cell}"' for cell in [when] + values))
    write(name, "\r\n".join(lines) + "\r\n")


def imports_thresholds():
    write("Base.xml", BASE)
    write("top.xml", TOP)
    output, messages = openpla_streams(3, "rules", "import-pal", "top.xml", "-o", "mine.xml")
    check("4 of 5 thresholds were imported\nmine.xml" in output, "imported", output)
    check("Which share of memory should be free?\n    answer: Share=0.10 (from the file" in output, output)
    check([line for line in (output + messages).splitlines() if line.startswith("openpla rules:")] ==
          ["openpla rules: not imported: top.xml: analysis 'Link': threshold 'old': it is VBScript for PAL 1"], output, messages)
    write_log("bad.csv", True)
    write_log("good.csv", False)
    openpla(0, "relog", "bad.csv", "-f", "BIN", "-o", "bad.blg", "-y")
    output, messages = openpla_streams(4, "rules", "bad.blg", "-rules", "mine.xml")
    check("openpla rules:" not in output + messages, output, messages)
    for expected in ("error: used: \\Network Interface(*)\\% Used e 0: 80\n",
                     "error: falls: \\MSSQL$PROD:Buffer Manager\\Page life expectancy: it grows by -1200 per hour\n",
                     "warning: busy: \\Processor(0)\\% Processor Time: the maximum is 99\n"
                     "    2026-03-02 08:50 to 09:05, 15 min in total\n",
                     "    One processor is busy.\n    See this\n    See https://example.org/busy\n",
                     "warning: little: \\Memory\\Available MBytes: the minimum is 200\n"):
        check(expected in output, expected, output)
    check(output.count("warning: ") == 2 and output.count("error: ") == 2, output)
    output, _ = openpla_streams(0, "rules", "good.csv", "-rules", "mine.xml")
    check(output == "nothing found\n", output)
    write("other.csv", '"(PDH-CSV 4.0) (UTC)(0)","\\\\H\\Other\\Counter"\r\n"02/28/2021 15:33:00.000","70"\r\n')
    openpla(5, "rules", "other.csv", "-rules", "mine.xml")


def applies_answers_to_limits():
    openpla(3, "rules", "import-pal", "top.xml", "-answer", "Share=0.01", "RAMGB=8", "-o", "mine.xml", "-y")
    output, _ = openpla_streams(4, "rules", "bad.csv", "-rules", "mine.xml")
    check("busy" in output and "little" not in output, output)
    output = openpla(1, "rules", "import-pal", "top.xml", "-answer", "Shore=1", "-y")
    check("unknown question 'Shore' (the file asks Share, RamGb)" in output, output)
    check(not os.path.exists("top.rules.xml"), "no file is written after an error")
    output = openpla(1, "rules", "import-pal", "top.xml", "-o", "top.xml", "-y")
    check("cannot write 'top.xml': it is an input file" in output, output)


def page_shows_times():
    openpla(3, "rules", "import-pal", "top.xml", "-means", "-y")
    openpla(0, "report", "bad.csv", "-rules", "top.rules.xml", "-html", "-o", "page.html")
    with open("page.html", encoding="utf-8") as f:
        page = f.read()
    check("One processor is busy." in page and "15 min in total" in page, "the page")


def stops_slow_rules():
    """Two slow rules: one is a single slow operation of libxml2; the other visits all cells once for each cell."""
    write("big.xml", "<Report name='r'><Section name='s'><Table name='t'>" + "<Item><Data name='a'/></Item>" * 100000 +
          "</Table></Section></Report>")
    write("slow.xml", "<Rules><Group name='g'><Rule name='found before'><Step select='/Report'><Exists><Otherwise><Warning><Item>"
          "<Data name='symptom'>before</Data></Item></Warning></Otherwise></Exists></Step></Rule><Rule name='the slow one'>"
          "<Step select=\"//Item[.. = 'x']\"/></Rule></Group></Rules>")
    output, messages = openpla_streams(3, "rules", "big.xml", "-rules", "slow.xml", "-timeout", "1")
    check("openpla rules: slow.xml: group 'g': rule 'the slow one': step 1: all rules together ran longer than "
          "1 seconds; no further rules are run\n" in output + messages, output, messages)
    check("warning: before" in output, output)
    if EMULATOR:
        return # Ctrl+C under Wine requires a console
    before = os.path.getsize("big.xml")
    running = subprocess.Popen([PROGRAM, "rules", "big.xml", "-rules", "slow.xml", "-o", "big.xml", "-y", "-log", "log.txt"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.1) # any phase is acceptable: starting, reading or evaluating
    while open(f"/proc/{running.pid}/status", encoding="ascii").read().find("SigBlk:\t0000000000000000") >= 0:
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    output, messages = running.communicate(timeout=600)
    check(running.returncode == 1 and b"the rules were stopped" in messages and not output, running.returncode, output, messages)
    check(os.path.getsize("big.xml") == before and sorted(f for f in os.listdir(".") if f.startswith(("big", "log"))) ==
          ["big.xml"], "no other file is left", os.listdir("."))


def documented_commands_work():
    with open(PAGE, encoding="utf-8") as f:
        part = re.search(r"^## From PAL$.*?^## ", f.read(), re.S | re.M).group(0)
    lines = re.findall(r"^openpla rules .*$", part, re.M)
    check(len(lines) >= 2, "commands", part)
    for line in lines:
        words = line.split()[1:]
        check(words[0] == "rules" and (words[1] == "import-pal" or "-rules" in words), line)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        imports_thresholds()
        applies_answers_to_limits()
        page_shows_times()
        stops_slow_rules()
        documented_commands_work()
        os.chdir("/")


if __name__ == "__main__":
    main()
