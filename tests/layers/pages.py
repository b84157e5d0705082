#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pages.py TREE | --self-test: checks what the pages say about the tree. Each link has an existing target and heading;
each path and code name in architecture.md and CONTRIBUTING.md exists; each command is run by a test according to
tests/layers/commands.txt, or is marked there as not tested; and README is short enough."""
import glob
import os
import re
import sys
import tempfile

from tree import read, tree_files, write_all

COMMANDS = "tests/layers/commands.txt"
README_LINES = 90
GENERATED = "docs/reference/"
# Pages that contain names of the code.
NAMING = ("docs/developer/architecture.md", "docs/user/security.md", "CONTRIBUTING.md")
SOURCES = (".c", ".h", ".def", ".inc", ".cmake", ".py", ".sh", "CMakeLists.txt", "CMakePresets.json")
# Run with every full check, in addition to the tests that tests/ registers.
CHECKS = (".ci/run", "installer/bootstrap.sh")

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
SPAN = re.compile(r"(?<!`)`([^`\n]+(?:\n[^`\n]+)?)`(?!`)")
LINK = re.compile(r"(?<!!)\[[^\]\n]*(?:\n[^\]\n]*)?\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*?)\s*$", re.M)
# Commands that a shell could run, if arguments follow. A block with another language than `text` contains commands.
RUNS = re.compile(r"(openpla|openplasrv\.exe|sh|python3|cmake|ctest|cscript|wine|git|[\w/]+\.(?:py|sh)) +[^ ]")
PATH = re.compile(r"(?:\.ci|cli|cmake|com|docs|engine|examples|idl|installer|library|reg|tests)/[\w./*-]*$")
NAME = re.compile(r"[a-z]\w*_\w+(?:\(\))?$")
FILE = re.compile(r"[a-z]\w*\.(?:c|h|def|inc|S)$")


def anchors(text):
    """Returns the anchors of a page's headings, as repository web pages generate them."""
    found, count = set(), {}
    for heading in HEADING.findall(FENCE.sub("", text)):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        found.add(f"{anchor}-{count[anchor]}" if anchor in count else anchor)
        count[anchor] = count.get(anchor, 0) + 1
    return found | set(re.findall(r'<a (?:id|name)="([^"]+)"', text))


def spans(text):
    return [re.sub(r"\s+", " ", span) for span in SPAN.findall(FENCE.sub("", text))]


def check_links(top, path, text):
    for match in LINK.finditer(FENCE.sub(lambda m: "\n" * m.group().count("\n"), text)):
        target = match.group(1)
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        there = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
        if not os.path.exists(os.path.join(top, there)):
            yield f"{path}: no file for the link to {target}"
        elif anchor and anchor not in anchors(read(top, there)):
            yield f"{path}: no heading for the link to {target}"


def check_names(top, path, text, words, files):
    """Checks paths in any page, and names of code and files in pages about the code."""
    for span in spans(text):
        if PATH.match(span) and not glob.glob(os.path.join(top, span)):
            yield f"{path}: there is no {span}"
        elif path in NAMING and NAME.match(span) and span.removesuffix("()") not in words:
            yield f"{path}: nothing in the code is called {span}"
        elif path in NAMING and FILE.match(span) and span not in files:
            yield f"{path}: no file is called {span}"


def commands_of(text):
    """Returns the commands of a page: the lines of its blocks, and code spans that are a program with arguments."""
    shown = []
    for language, body in FENCE.findall(text):
        if language in ("text", "c"):
            continue
        for line in body.splitlines():
            if line.startswith(" ") and shown:
                shown[-1] += " " + line.strip()
            elif line.strip() and not line.startswith(("#", "'")):
                shown.append(line.strip())
    return shown + [span for span in spans(text) if RUNS.match(span)]


class Commands:
    def __init__(self, top):
        self.top, self.lines, self.used = top, [], set()
        for line in read(top, COMMANDS).splitlines():
            if line and not line.startswith("#"):
                beginning, _, how = (part.strip() for part in line.partition("=>"))
                self.lines.append((beginning, how))
        self.registered = "\n".join(read(top, path) for path in tree_files(top, ("CMakeLists.txt", ".cmake")))

    def check(self, path, command):
        matches = [line for line in self.lines if command.startswith(line[0])]
        if not matches:
            yield f"{path}: {COMMANDS} does not say what runs: {command}"
            return
        beginning, how = max(matches, key=lambda line: len(line[0]))
        self.used.add(beginning)
        file, _, words = (part.strip() for part in how.partition(":"))
        if file == "not tested":
            if not words:
                yield f"{COMMANDS}: no reason why it is not tested: {beginning}"
            return
        if not os.path.exists(os.path.join(self.top, file)):
            yield f"{COMMANDS}: there is no {file}"
            return
        stem = os.path.splitext(os.path.basename(file))[0]
        if file not in CHECKS and not re.search(rf"(?<!\w){re.escape(stem)}(?!\w)", self.registered):
            yield f"{COMMANDS}: no CMake file makes a test of {file}"
        text = read(self.top, file)
        wanted = [w.strip() for w in words.split(",")] if words else beginning.split()[1:]
        wanted += re.findall(r"(?<=\s)--?[a-z][\w-]*", command) if not words else []
        for word in wanted:
            if not re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text):
                yield f"{path}: {file} does not run {word} of: {command}"


def check_tree(top):
    commands, complaints = Commands(top), []
    words = set()
    for path in tree_files(top, SOURCES):
        words.update(re.findall(r"\w+", read(top, path)))
        words.add(os.path.splitext(os.path.basename(path))[0])  # CMake names tests after files
    files = {os.path.basename(path) for path in tree_files(top)}
    for path in tree_files(top, ("CMakeLists.txt", ".cmake")):
        files.update(re.findall(r"\w+\.\w+", read(top, path)))  # the names of generated files
    pages = list(tree_files(top, (".md",)))
    for path in pages:
        text = read(top, path)
        complaints += check_links(top, path, text)
        if not path.startswith(GENERATED):
            complaints += check_names(top, path, text, words, files)
            for command in commands_of(text):
                complaints += commands.check(path, command)
    complaints += [f"{COMMANDS}: no page shows: {beginning}" for beginning, _ in commands.lines
                   if beginning not in commands.used]
    if "README.md" in pages and len(read(top, "README.md").splitlines()) > README_LINES:
        complaints.append(f"README.md: more than {README_LINES} lines")
    return complaints, len(pages)


def self_test():
    good = {
        "README.md": "# A b, c\n\n[x](docs/a.md#two-words) [y](#a-b-c) `tests/run.py` `tests/*.py` `openpla show -x`\n\n"
                     "```sh\nopenpla show -x \\\n    -y\nsh build.sh\n```\n\n```text\nopenpla none\n```\n",
        "docs/a.md": "## Two `words`\n\n[up](../README.md)\n",
        "CONTRIBUTING.md": "`run_it` `run_it()` `test_it` `test_it.c`\n",
        "engine/a.c": "int run_it;\n",
        "tests/test_it.c": "",
        "tests/run.py": 'run("show", "-x", "-y")\n',
        "tests/CMakeLists.txt": "add_test(NAME run COMMAND run.py)\n",
        COMMANDS: "openpla show => tests/run.py\nsh build.sh => not tested: takes a day\n",
    }
    bad = {
        "no file for the link to gone.md": ("docs/a.md", "[x](gone.md)"),
        "no heading for the link to a.md#three": ("docs/a.md", "## Two words\n[x](a.md#three)"),
        "there is no engine/gone.c": ("docs/a.md", "## Two words\n`engine/gone.c`"),
        "nothing in the code is called run_that": ("CONTRIBUTING.md", "`run_that()`"),
        "no file is called run_that.c": ("CONTRIBUTING.md", "`run_that.c`"),
        "does not say what runs: openpla hide": ("CONTRIBUTING.md", "`openpla hide`"),
        "does not run -z of": ("CONTRIBUTING.md", "`openpla show\n-z`"),
        "no CMake file makes a test of tests/run.py": ("tests/CMakeLists.txt", "\n"),
        "no page shows: openpla old": (COMMANDS, good[COMMANDS] + "openpla old => tests/run.py\n"),
        "no reason why": (COMMANDS, "openpla show => tests/run.py\nsh build.sh => not tested:\n"),
        "more than 90 lines": ("README.md", good["README.md"] + "x\n" * 100),
    }
    wrong = []
    for expected, change in [(None, None), *bad.items()]:
        with tempfile.TemporaryDirectory() as top:
            write_all(top, {**good, **dict([change] if change else [])})
            found, _ = check_tree(top)
        if (expected is None and found) or (expected and not any(expected in what for what in found)):
            wrong.append(f"expected {expected}, found {found}")
    print("\n".join(wrong))
    return 1 if wrong else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(self_test())
    complaints, pages = check_tree(sys.argv[1])
    print("\n".join(complaints))
    print(f"{pages} pages, {len(complaints)} complaints")
    sys.exit(1 if complaints or pages < 10 else 0)


main()
