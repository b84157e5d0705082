#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""citations.py TREE | --self-test: every citation in comments, tests and pages can be looked up. `DECISIONS 13` is a
record in docs/developer/decisions.md, `behaviour 7` a heading of docs/developer/behaviour.md, `MS-PLA 3.2.4.12` and
`MS-PLA note 2` are in the specification's index tests/layers/ms_pla_sections.txt. Documents outside the repository are
not cited."""
import os
import re
import sys
import tempfile

from tree import read, tree_files, write_all

ENDINGS = (".c", ".h", ".def", ".inc", ".rc", ".idl", ".cmake", ".py", ".sh", ".vbs", ".js", ".md", ".txt")
SECTIONS = "tests/layers/ms_pla_sections.txt"
# A citation can continue in the next line of a comment.
GAP = r"(?:[ \t]+|[ \t]*\n[ \t]*(?:\*|//|#)?[ \t]*)"
END = r"(?!\w|\.\d)"
NUMBERS = rf"\d+(?:(?:,{GAP}|{GAP}and{GAP})\d+{END})*"
SECTION = r"[1-9]\d*(?:\.[1-9]\d*)*"
OURS = re.compile(rf"\b(DECISIONS|behaviour){GAP}({NUMBERS}){END}")
MS_PLA = re.compile(rf"\bMS-PLA,?{GAP}(?:sections?{GAP})?\(?({SECTION}(?:(?:[,;]{GAP}|{GAP}and{GAP}){SECTION})*){END}")
NOTES = re.compile(rf"\bMS-PLA{GAP}notes?{GAP}<?({NUMBERS})>?")
# Our own pages cite sections without the specification's name.
BARE = re.compile(r"(?<![\w.])((?:2\.2|3\.[12])(?:\.\d+)+)(?!\w)")
BARE_IN = ("docs/developer/decisions.md", "docs/developer/behaviour.md")
OUTSIDE = re.compile(r"\bpla-behaviour\b|\bwine-(?:com|data)\b|\bARCHITECTURE \d|\bfacts/")


def numbered(text, pattern):
    """Returns the numbers in a page's headings, and the duplicates."""
    found = [int(n) for n in re.findall(pattern, text, re.M)]
    return set(found), sorted({n for n in found if found.count(n) > 1})


class Sources:
    def __init__(self, top):
        self.doubled = []
        self.numbers = {}
        for word, page, pattern in (("DECISIONS", "docs/developer/decisions.md", r"^### (\d+)\. "),
                                    ("behaviour", "docs/developer/behaviour.md", r"^## (\d+)\. ")):
            self.numbers[word], twice = numbered(read(top, page), pattern)
            self.doubled += [f"{page}: {n} is there twice" for n in twice]
        counts = dict(line.split() for line in read(top, SECTIONS).splitlines() if not line.startswith("#"))
        self.notes = int(counts.pop("notes"))
        self.below = {section: int(count) for section, count in counts.items()}

    def has_section(self, section):
        above, _, last = section.rpartition(".")
        return int(last) <= self.below.get(above or "top", 0) and (not above or self.has_section(above))


def check(path, text, sources):
    """Returns (line, complaint) for each invalid citation, and the number of all citations."""
    complaints, cited = [], 0

    def check_citation(match, items, known, what):
        nonlocal cited
        for item in items:
            cited += 1
            if not known(item):
                complaints.append((text.count("\n", 0, match.start()) + 1, what.format(item)))

    for match in OURS.finditer(text):
        known = sources.numbers[match.group(1)]
        check_citation(match, re.findall(r"\d+", match.group(2)), lambda n: int(n) in known, match.group(1) + " has no {}")
    for match in MS_PLA.finditer(text):
        check_citation(match, re.findall(SECTION, match.group(1)), sources.has_section, "MS-PLA has no section {}")
    for match in NOTES.finditer(text):
        check_citation(match, re.findall(r"\d+", match.group(1)), lambda n: 1 <= int(n) <= sources.notes, "MS-PLA has no note {}")
    if path in BARE_IN:
        for match in BARE.finditer(text):
            check_citation(match, [match.group(1)], sources.has_section, "MS-PLA has no section {}")
    for match in OUTSIDE.finditer(text):
        check_citation(match, [match.group()], lambda _: False, "{} is not in the repository")
    return complaints, cited


def check_tree(top):
    sources = Sources(top)
    complaints, cited = list(sources.doubled), 0
    own = f"tests/layers/{os.path.basename(__file__)}"
    for path in tree_files(top, ENDINGS):
        if path != own:
            found, count = check(path, read(top, path), sources)
            complaints += [f"{path}:{line}: {what}" for line, what in found]
            cited += count
    return complaints, cited


def self_test():
    files = {
        "docs/developer/decisions.md": "### 1. One\n\n### 2. Two\n\nSee 3.2.1.\n",
        "docs/developer/behaviour.md": "## 1. One\n\n## 5. Five\n",
        SECTIONS: "top 4\nnotes 38\n3 2\n3.2 4\n3.2.4 12\n",
        "good.c": "/* DECISIONS 1, 2. behaviour 5: because. MS-PLA 3.2.4.12, behaviour 1; (MS-PLA 3.2.4, 3.2.1)\n"
                  "   MS-PLA section 4, MS-PLA notes 36 and 37, MS-PLA note <6>, MS-PLA's 7 things, DECISIONS\n   2 */\n",
    }
    bad = {
        "DECISIONS 3": "DECISIONS has no 3", "DECISIONS 1, 9.": "DECISIONS has no 9", "behaviour 2": "behaviour has no 2",
        "DECISIONS\n   7)": "DECISIONS has no 7", "MS-PLA 3.2.4.13": "no section 3.2.4.13",
        "MS-PLA 3.2.4, 3.3": "no section 3.3", "MS-PLA section 5": "no section 5", "MS-PLA note 39": "no note 39",
        "pla-behaviour 5": "not in the repository", "(ARCHITECTURE 6)": "not in the repository",
    }
    wrong = []
    with tempfile.TemporaryDirectory() as top:
        write_all(top, files)
        complaints, cited = check_tree(top)
        wrong += [f"kept rules, but: {c}" for c in complaints]
        if cited != 13:
            wrong.append(f"{cited} citations found, not 13")
        sources = Sources(top)
    for text, expected in bad.items():
        found, _ = check("bad.c", f"/* {text} */\n", sources)
        if not any(expected in what for _, what in found):
            wrong.append(f"{text!r}: expected {expected!r}, found {found}")
    print("\n".join(wrong))
    return 1 if wrong else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(self_test())
    complaints, cited = check_tree(sys.argv[1])
    print("\n".join(complaints))
    print(f"{cited} citations, {len(complaints)} complaints")
    sys.exit(1 if complaints or cited < 50 else 0)


main()
