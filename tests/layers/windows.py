#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""windows.py TREE [--write] | --self-test: docs/user/windows.md lists every place where the programs behave differently
on Windows and under Wine, because no test here runs that code. These are the functions that call os_is_wine(), which
are found in the sources, and whole functions named by tests/layers/windows.txt. That file gives the reason and the
check for each. --write writes the page's table with line counts; the test compares places and texts but not line
counts, which any change can alter."""
import os
import re
import sys
import tempfile

from tree import read, tree_files, write_all

LIST, PAGE = "tests/layers/windows.txt", "docs/user/windows.md"
BEGIN, END = "<!-- written by tests/layers/windows.py -->", "<!-- end -->"
FOLDERS = ("cli/", "com/", "engine/", "reg/")
# os_is_wine() itself, and functions that only pass its result on.
ASKS = re.compile(r"\bos_is_wine\(\)")
# A test named in a row.
TEST = re.compile(r"\b(?:test_\w+|cli\.\w+|layers\.\w+)")
FUNCTION = re.compile(r"^(?!\s|#|/|\}|\{|static const \w+ \w+\[)[^;=\n]*?\b(\w+)\([^;]*?\)\n?\{\n(.*?)^\}", re.M | re.S)


def functions(text):
    """Yields (name, lines, body) for each function of a C file."""
    for match in FUNCTION.finditer(text):
        yield match.group(1), match.group().count("\n") + 1, match.group(2)


def find_calls(top):
    """Returns {(file, function): lines} of the functions that call os_is_wine()."""
    found = {}
    for path in tree_files(top, (".c",)):
        if path.startswith(FOLDERS):
            for name, lines, body in functions(read(top, path)):
                if ASKS.search(body):
                    found[path, name] = lines
    return found


def read_list(top):
    """Returns [(file, function, topic, why, how)] from blocks of three lines: "file: function", why, how it is checked;
    a line with "## " begins a topic."""
    topic, rows, block = "", [], []
    for line in [*read(top, LIST).splitlines(), ""]:
        if line.startswith("## "):
            topic = line[3:]
        elif line and not line.startswith("#"):
            block.append(line)
        elif not line and block:
            file, _, function = block[0].partition(": ")
            rows.append((file, function, topic, *block[1:]))
            block = []
    return rows


def table(top, rows):
    sizes = {}
    for path in {row[0] for row in rows}:
        for name, lines, _ in functions(read(top, path)):
            sizes[path, name] = lines
    out, topic = [], None
    for file, function, of, why, how in rows:
        if of != topic:
            out += ["", f"### {of}", "", "| place | lines | on Windows, and why | tests |", "|---|---|---|---|"]
            topic = of
        out.append(f"| `{file}` {function} | {sizes[file, function]} | {why} | {how} |")
    return "\n".join(out) + "\n"


def without_sizes(text):
    return re.sub(r"\| \d+ \|", "|", text)


def check(top, write=False):
    rows, found, complaints = read_list(top), find_calls(top), []
    complaints += [f"{LIST}: {row[0]} {row[1]}: three lines are wanted" for row in rows if len(row) != 5]
    rows = [row for row in rows if len(row) == 5]
    known = {row[:2] for row in rows}
    complaints += [f"{LIST}: {file} {name} asks os_is_wine(): say why, and how it is checked here, and run "
                   "python3 tests/layers/windows.py . --write" for file, name in sorted(set(found) - known)]
    for file, name in sorted(known):
        there = {function for function, _, _ in functions(read(top, file))} if file in set(tree_files(top)) else set()
        if name not in there:
            complaints.append(f"{LIST}: {file} has no function {name}")
    tests = {os.path.basename(path).split(".")[0] for path in tree_files(top) if path.startswith("tests/")}
    for file, name, _, _, how in rows:
        complaints += [f"{LIST}: {file} {name}: there is no {test}" for test in TEST.findall(how)
                       if test.split(".")[-1] not in tests]
    if complaints:
        return complaints
    page = read(top, PAGE)
    head, _, rest = page.partition(BEGIN)
    old, _, tail = rest.partition(END)
    new = table(top, rows)
    if write:
        write_all(top, {PAGE: head + BEGIN + "\n" + new + "\n" + END + tail})
    elif without_sizes(old).strip() != without_sizes(new).strip():
        complaints.append(f"{PAGE} is older than {LIST}: python3 tests/layers/windows.py . --write")
    return complaints


def self_test():
    code = "int ask(void)\n{\n    return os_is_wine();\n}\n\nstatic void other(int a,\n                  int b)\n{\n    a = b;\n}\n"
    rows = "# text\n\n## Topic\n\ncom/a.c: ask\nfor that reason\nby that test\n"
    good = {"com/a.c": code, LIST: rows, PAGE: f"# Page\n\n{BEGIN}\n{END}\nend\n"}
    bad = {
        "com/b.c fresh asks": ("com/b.c", code.replace("ask", "fresh", 1)),
        "has no function ask": ("com/a.c", code.replace("ask", "fresh", 1).replace("os_is_wine", "is")),
        "there is no test_gone": (LIST, rows.replace("that test", "test_gone")),
        "three lines": (LIST, rows + "com/a.c: other\nwhy\n"),
        "is older than": (LIST, rows.replace("that test", "another")),
    }
    wrong = []
    for expected, change in [(None, None), *bad.items()]:
        with tempfile.TemporaryDirectory() as top:
            write_all(top, good)
            wrong += check(top, write=True)
            write_all(top, dict([change] if change else []))
            complaints = check(top)
        if (complaints if expected is None else not any(expected in what for what in complaints)):
            wrong.append(f"expected {expected}, found {complaints}")
    print("\n".join(wrong))
    return 1 if wrong else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    complaints = check(sys.argv[1], "--write" in sys.argv)
    print("\n".join(complaints))
    return 1 if complaints else 0


sys.exit(main())
