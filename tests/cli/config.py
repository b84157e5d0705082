#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""config.py PROGRAM [EMULATOR]: "openpla config" of PROGRAM (openpla.exe) shows what a configuration collector wrote
and reports the differences between two of its files. A missing row or a false difference would mislead the user."""
import json
import os
import subprocess
import tempfile
from xml.sax.saxutils import escape

from program import EMULATOR, PROGRAM, check, verb

openpla = verb("config")


def openpla_json(expected, *arguments):
    output = openpla(expected, *arguments, "--json")
    begin = min(at for at in (output.find(mark) for mark in ("[\n", "{\n", "[]", "{}")) if at >= 0)
    return json.JSONDecoder().raw_decode(output, begin)[0]


def row(cells, inside=""):
    return "<Item>" + "".join(f'<Data name="{n}">{escape(t)}</Data>' for n, t in cells.items()) + inside + "</Item>"


def table(name, columns, rows, source=None):
    """Returns a table. In the column names, * marks a key, and ~ a column that always changes."""
    marks = {"*": ' key="1"', "~": ' volatile="1"'}
    head = "".join(f'<Data name="{c.lstrip("*~")}"{marks.get(c[0], "")}/>' for c in columns)
    about = f' source="{escape(source)}"' if source else ""
    return f'<Table name="{name}"{about}><Header>{head}</Header>{"".join(rows)}</Table>'


def write(name, *tables, complete=1, computer="HOST"):
    with open(name, "w", encoding="utf-8", newline="") as f:
        f.write(f'<?xml version="1.0" encoding="UTF-8"?>\n<Report name="configuration" version="1" complete="{complete}">'
                f'<Header><Data name="computer">{computer}</Data></Header><Section name="s">{"".join(tables)}</Section>'
                '</Report>\n')


def values(*rows):
    return table("registryKeys", ["*key", "*name", "value", "error", "result"],
                 [row(dict(zip(("key", "name", "value", "error", "result"), (*r, "", "")[:5]))) for r in rows])


def disks(*rows):
    return table("disks", ["*DeviceID", "~FreeSpace", "Size"],
                 [row(dict(zip(("DeviceID", "FreeSpace", "Size"), r))) for r in rows], "SELECT * FROM <disks>")


def shows_what_was_collected():
    write("a.xml", values(("HKLM\\X", "a", "one\ntwo"), ("HKLM\\Y", "longer name", "\u009b2J", "no access", "0x80070005")),
          disks(("C:", "10", "100")))
    output = openpla(0, "a.xml")
    lines = [line.rstrip() for line in output.split("\n")]
    check(lines[1] == "computer:   HOST" and "[s]" in lines and "openpla config:" not in output, "head", output)
    # The columns are aligned; control characters are escaped.
    at = lines.index("registryKeys")
    places = [lines[at + 1].index(name) for name in ("key", "name", "value", "error", "result")]
    check(lines[at + 2][places[1]:] == "a            one\\ntwo", "first row", output)
    check([lines[at + 3][p:].split("  ")[0] for p in places] ==
          ["HKLM\\Y", "longer name", "\\u009b2J", "no access", "0x80070005"], "second row", output)
    check("disks: SELECT * FROM <disks>" in lines and "  (1 row)" in lines, "disks", output)
    # A long key, as in the registry, followed by a long text.
    write("long.xml", values(("HKEY_LOCAL_MACHINE\\" + "k" * 60, "a", "v" * 500), ("HKEY", "b", "w")))
    lines = openpla(0, "long.xml").split("\n")
    at = lines.index("registryKeys")
    check(lines[at + 1].index("value") == lines[at + 2].index("vvv") == lines[at + 3].index("w"), "a long key", "\n".join(lines))
    output = openpla(0, "a.xml", "-t", "dis?s")
    check("C:" in output and "HKLM" not in output, "one table", output)
    # If the columns do not fit a line, each row becomes a paragraph without its empty cells.
    write("wide.xml", table("wide", [f"column{i}" for i in range(60)],
                            [row({f"column{i}": str(i) if i % 2 else "" for i in range(60)})]))
    output = openpla(0, "wide.xml")
    check("  column59: 59\n" in output and "column58" not in output, "wide", output)


def shows_late_columns_and_many_rows():
    """Columns that are empty in the first rows are not lost."""
    rows = [row({"path": f"/f{i}", "error": "gone" if i == 4999 else ""}) for i in range(5000)]
    write("many.xml", table("files", ["*path", "error"], rows))
    output = openpla(0, "many.xml")
    check(output.count("/f") == 5000 and "  /f4999  error=gone\n" in output and "(5000 rows)" in output, "many rows",
          output[-500:])


def json_has_all():
    inner = table("threads", ["*tid"], [row({"tid": "7"})])
    write("j.xml", table("p", ["*image"], [row({"image": 'a"\\\u00e4'}, inner), row({"image": "b"})]), disks(("C:", "1", "2")))
    shown = openpla_json(0, "j.xml", "a.xml")
    check([f["file"] for f in shown] == ["j.xml", "a.xml"] and shown[0]["facts"] == {"computer": "HOST"} and
          shown[0]["complete"] == "1" and shown[0]["remarks"] == [], f"{shown}")
    processes, disk_table = shown[0]["sections"][0]["tables"]
    check(processes["rows"][0] == {"image": 'a"\\\u00e4', "$tables": [{"name": "threads", "columns": [
        {"name": "tid", "key": "1"}], "rows": [{"tid": "7"}]}]} and processes["rows"][1] == {"image": "b"}, f"{processes}")
    check(disk_table["source"] == "SELECT * FROM <disks>" and
          disk_table["columns"][1] == {"name": "FreeSpace", "volatile": "1"}, f"{disk_table}")
    shown = openpla_json(0, "j.xml", "-t", "none*")
    check(shown[0]["sections"] == [{"name": "s", "tables": []}], f"{shown}")


def reports_corruption_and_keeps_complete_rows():
    with open("a.xml", "rb") as f:
        whole = f.read()
    with open("cut.xml", "wb") as f:
        f.write(whole[:whole.index(b"longer name")])
    output = openpla(3, "cut.xml")
    check("one\\ntwo" in output and "cut.xml: line" in output and "the file ends here" in output, "cut", output)
    shown = openpla_json(3, "cut.xml")
    check(len(shown[0]["sections"][0]["tables"][0]["rows"]) == 1 and len(shown[0]["remarks"]) == 1, f"{shown}")
    write("stopped.xml", values(("k", "n", "1")), complete=0)
    check("stopped before it was complete" in openpla(3, "stopped.xml"), "a stopped collection")
    with open("no.xml", "w", encoding="ascii") as f:
        f.write("<DataCollectorSet/>")
    output = openpla(1, "no.xml", "a.xml")
    check("no.xml" in output and "'DataCollectorSet', not 'Report'" in output and "one\\ntwo" in output, "no report",
          output)
    shown = openpla_json(1, "no.xml")
    check("not 'Report'" in shown[0]["error"], f"{shown}")
    check("(0x80070002)" in openpla(1, "none.xml"), "no file")
    check("missing file" in openpla(2), "no argument")
    check("unknown option" in openpla(2, "-z", "a.xml"), "an option")


def diff_names_what_changed():
    write("before.xml", values(("k", "a", "1"), ("k", "b", "2"), ("k", "c", "3")), disks(("C:", "10", "100")))
    write("same.xml", disks(("C:", "11", "100")), values(("k", "c", "3"), ("K", "B", "2"), ("k", "a", "1")), computer="X")
    write("after.xml", values(("k", "c", "4"), ("k", "d", "5"), ("k", "a", "1")), disks(("C:", "12", "100")))
    openpla(0, "diff", "before.xml", "before.xml")
    output = openpla(1, "diff", "before.xml", "same.xml")
    check('key: "k" -> "K"' in output and "Rows: 1 changed, 0 added, 0 removed, 3 unchanged" in output, "case", output)
    openpla(0, "diff", "before.xml", "same.xml", "-ignore", "key", "registryKeys/n*")
    output = openpla(1, "diff", "before.xml", "after.xml")
    check("""
[s] registryKeys
  - key="k", name="b", value="2"
  ~ key="k", name="c"
      value: "3" -> "4"
  + key="k", name="d", value="5"

Rows: 1 changed, 1 added, 1 removed, 2 unchanged
""" in output and "disks" not in output, "text", output)
    output = openpla(1, "diff", "before.xml", "after.xml", "-all", "-t", "disks")
    check('FreeSpace: "10" -> "12"' in output and "registryKeys" not in output, "volatile columns", output)
    found = openpla_json(1, "diff", "before.xml", "after.xml")
    check([(d["difference"], d["key"]["name"]) for d in found["differences"]] ==
          [("went", "b"), ("changed", "c"), ("came", "d")], f"{found}")
    check(found["differences"][1]["columns"] == [{"column": "value", "before": "3", "after": "4"}] and
          found["differences"][2]["row"]["value"] == "5" and found["same"] == 2 and found["changed"] == 1 and
          found["before"] == {"computer": "HOST"}, f"{found}")
    # The same text with another type is another value; types are shown where they differ.
    for name, kind in (("text.xml", "string"), ("number.xml", "uint32")):
        write(name, values(("k", "a", "1")).replace('name="value">', f'name="value" type="{kind}">'))
    check('value: "1" (string) -> "1" (uint32)' in openpla(1, "diff", "text.xml", "number.xml"), "types")
    (change,) = openpla_json(1, "diff", "text.xml", "number.xml")["differences"][0]["columns"]
    check(change == {"column": "value", "before": "1", "after": 1, "typeBefore": "string", "typeAfter": "uint32"}, f"{change}")
    shown = openpla_json(0, "number.xml")[0]["sections"][0]["tables"][0]["rows"]
    check([row["value"] for row in shown] == [1], f"{shown}")
    write("less.xml", disks(("C:", "10", "100")))
    found = openpla_json(1, "diff", "before.xml", "less.xml")
    check((found["tablesWent"], found["went"]) == (1, 3) and found["differences"][0]["of"] == "table", f"{found}")


def diff_reports_incomplete_data():
    output = openpla(3, "diff", "a.xml", "cut.xml")
    check("cut.xml: line" in output and "Rows:" in output, "cut", output)
    check("(0x80070002)" in openpla(2, "diff", "a.xml", "none.xml"), "no file")
    check("none.xml" in openpla_json(2, "diff", "none.xml", "a.xml")["error"], "no file, as JSON")
    check("not 'Report'" in openpla(2, "diff", "no.xml", "a.xml"), "no report")
    for arguments in (["a.xml"], [], ["a.xml", "a.xml", "a.xml"], ["-ignore", "-x", "a.xml", "a.xml"]):
        openpla(2, "diff", *arguments)


def peak_memory(rows, *arguments):
    """Returns the peak memory in kilobytes of a process that reads that many rows."""
    write("big.xml", table("files", ["*path"], ["ROWS"]))
    with open("big.xml", encoding="utf-8") as f:
        head, tail = f.read().split("ROWS")
    # The file is written row by row, because memory that this process holds when it starts a child counts as the
    # child's peak.
    with open("big.xml", "w", encoding="utf-8") as f:
        f.write(head)
        for i in range(rows):
            f.write(row({"path": f"/f{i}" + "x" * 100}).replace("<Data", '<Data type="&amp;"'))
        f.write(tail)
    # Excludes freed memory that the sanitizer keeps.
    environment = dict(os.environ, ASAN_OPTIONS="quarantine_size_mb=0:thread_local_quarantine_size_kb=0")
    process = subprocess.Popen([PROGRAM, "config", *arguments], stdout=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    check(process.returncode == 0, f"{arguments}: exit code {process.returncode}")
    return usage.ru_maxrss


def memory_does_not_grow_with_the_file():
    if EMULATOR:
        return  # the peak would include Wine's own memory
    for arguments in (["big.xml"], ["--json", "big.xml"]):
        few, many = peak_memory(20000, *arguments), peak_memory(200000, *arguments)
        check(many < few + 8192, f"{arguments}: {few} KB for 20,000 rows, {many} KB for 200,000")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for test in (shows_what_was_collected, shows_late_columns_and_many_rows, json_has_all,
                     reports_corruption_and_keeps_complete_rows, diff_names_what_changed, diff_reports_incomplete_data,
                     memory_does_not_grow_with_the_file):
            test()


main()
