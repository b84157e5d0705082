#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""english.py TREE [PATH ...] | --self-test: rejects wordings that readers must read twice. It searches pages, comments,
messages and names for the words and phrases listed below, and pages also for sentences of more than 35 words and for
sentences with a clause as subject ("Who asks is told ..."). Text that passes is not necessarily good English. With PATH
only files below these paths are checked."""
import os
import re
import sys
import tempfile

from tree import read, tree_files, write_all

LONGEST = 35  # words of a sentence on a page
# Words that the project does not use, and their replacements. Prose means pages, comments and messages.
PROSE = [(re.compile(rf"(?<![\w`-])(?:{form})(?![\w-])", re.I), better) for form, better in (
    (r"mend(?:s|ed|ing)?", "repair, fix"),
    (r"judg(?:e|es|ed|ing)(?: by)?", "check, evaluate"),
    (r"pass(?:es|ed|ing)? over", "skip"),
    (r"let(?:s|ting)? go|hand(?:s|ed|ing)? on", "release, forward"),
    (r"giv(?:e|es|ing) way|gave way", "yield"),
    (r"(?:is|are|was|were|be|been) told(?: of| by)?|tells? of|told of", "report, log"),
    (r"look(?:s|ed|ing)? (?:at|into|after)", "inspect, check, read"),
    (r"look(?:s|ed|ing)? for", "search"),
    (r"strangers?(?:'s?)?|somebody(?:'s| else(?:'s)?)?|nobody's|anybody's", "unknown, foreign, another user's"),
    (r"is there already|are there already", "already exists"),
    (r"(?:is|are) not there|(?:is|are) there (?:then|too|again)", "does not exist, exists"),
    (r"(?:is|are|was|were) none|(?:is|are) no (?:number|threshold|option|name|path|such)", "is not a ..., invalid ..."),
    (r"of (?:its|their|his|our|my|one's) own", "own, separate"),
    (r"all the same|by (?:it|them)sel(?:f|ves)", "nevertheless, alone: say it"),
    (r"rescue[sd]?|rescuing", "recover"),
    (r"tend(?:s|ed|ing)? (?:the|a|its|their|to (?:the|a))", "reap, maintain"),
    (r"put(?:s|ting)? aside", "quarantine, save"),
    (r"anew", "again"),
    (r"befell|meanwhile|wherefore|thereby|hereby", "say it in plain words"),
    (r"remark(?:s|ed)?", "warning, note"),
    (r"(?:is|are|was|were) wanted|wanted is", "expected, requested"),
    (r"skins?", "COM wrapper"),
    (r"(?:who|what|where|which)ever it is", "say which"),
    (r"what it takes|what it has in hand|has in hand", "say what it is"),
    (r"no (?:other )?(?:one|two|more) (?:than )?that", "say it directly"),
)]
# A clause as the subject of a sentence.
CLAUSE = re.compile(r"(?:^|(?<=[.!?:;] )|(?<=^- ))(?:Who|What|Whose|Whatever|Whoever|Where)\b(?![^.!?;:,]{0,60}\?)[^.!?;:,]{2,80}?\s"
                    r"(?:is|are|was|were|has|have|had|gets?|goes|go|comes?|stays?|stands?|counts?|ends?|can|may|must|does|do)\b", re.M)
# Parts of names, between underscores.
NAMES = {
    "mend": "repair", "mended": "repaired", "judge": "evaluate", "judged": "evaluated", "skin": "wrapper", "gate": "access",
    "remark": "warning", "remarks": "warnings", "told": "reported", "tell": "report", "tells": "reports",
    "stranger": "unknown", "strangers": "unknown", "strange": "unknown", "rescue": "recover", "rescued": "recovered",
    "tend": "reap", "aside": "quarantine", "apart": "separate", "anew": "again", "befell": "warning", "patient": "waits",
    "fellow": "peer", "dearest": "costliest",
}
PHRASES = {"work_off": "process", "pass_over": "skip", "let_go": "release", "hand_on": "forward", "give_way": "yield",
           "left_out": "skipped", "met_sort": "kind", "sets_here": "local_sets", "look_at": "inspect", "look_for": "search",
           "look_into": "inspect", "look_after": "maintain", "put_aside": "save"}
CODE = (".c", ".h", ".inc", ".def")
PAGES = (".md",)
OURS = ("engine/", "com/", "cli/", "library/", "reg/", "tests/", "examples/", "docs/", "installer/", "idl/")
# Foreign wordings: Windows' own messages and names, as its programs and headers spell them; property names.
OTHERS = ("tests/layers/english.py", "tests/unit/cli/logman_lines.txt")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
NAME = re.compile(r"\b[a-z][a-z0-9]*(?:_[a-z0-9]+)*\b")


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def prose(text):
    """Returns the text with code spans blanked, so that positions do not change."""
    return re.sub(r"`[^`\n]+`", lambda m: "`" + "x" * (len(m.group()) - 2) + "`", text)


def forbidden(path, text, first=1):
    flat = re.sub(r"\n[ \t]*(?:\*|//)?[ \t]*", lambda m: " " + "\x00" * (len(m.group()) - 1), text)
    # A phrase that continues on the next line counts too. It is reported with the line in which the text begins.
    flat = flat.replace("\x00", "")
    for pattern, better in PROSE:
        for match in pattern.finditer(text):
            yield f"{path}:{first + line_of(text, match.start()) - 1}: '{match.group()}' ({better})"
        if flat != text:
            inside = len(pattern.findall(flat)) - len(pattern.findall(text))
            if inside > 0:
                yield f"{path}:{first}: a phrase over the end of a line ({better})"


def sentences(text):
    """Yields (line, sentence) for a page's paragraphs and list items; tables, headings and code blocks are skipped."""
    blank = lambda m: "\n" * m.group().count("\n")
    text = re.sub(r"^```.*?^```$", blank, text, flags=re.M | re.S)
    for block in re.finditer(r"(?:^(?![#|\s]|- |\d+\. )[^\n]+\n?)+|^\s*(?:-|\d+\.) [^\n]+\n(?:^[ ]+(?!- )[^\n]+\n?)*", text, re.M):
        body = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"^\s*(?:-|\d+\.) ", "", block.group()))
        body = re.sub(r"`[^`]*`", "x", re.sub(r"\s+", " ", body))
        for sentence in re.split(r"(?<=[.!?:;])\s+(?=[A-Z`\"(x*])", body):
            yield line_of(text, block.start()), sentence.strip()


def check_page(path, text):
    shown = re.sub(r"^```.*?^```$", lambda m: "\n" * m.group().count("\n"), text, flags=re.M | re.S)
    yield from forbidden(path, prose(shown))
    for line, sentence in sentences(text):
        words = len(re.findall(r"[\w'%.-]+", sentence))
        if words > LONGEST:
            yield f"{path}:{line}: a sentence of {words} words: {sentence[:60]}..."
        if CLAUSE.match(sentence):
            yield f"{path}:{line}: a clause is the subject: {sentence[:60]}..."


def check_code(path, text):
    for match in COMMENT.finditer(text):
        yield from forbidden(path, prose(match.group()), line_of(text, match.start()))
        body = re.sub(r"\s+", " ", re.sub(r"^/\*+ ?|\*/$|^\s*\* ?", "", match.group(), flags=re.M)).strip()
        for sentence in re.split(r"(?<=[.!?;])\s+(?=[A-Z])", body):
            if CLAUSE.match(sentence):
                yield f"{path}:{line_of(text, match.start())}: a clause is the subject: {sentence[:60]}..."
    code = COMMENT.sub(lambda m: "\n" * m.group().count("\n"), text)
    for match in STRING.finditer(code):
        if match.group().count(" ") >= 2:
            yield from forbidden(path, match.group(), line_of(code, match.start()))
    seen = set()
    for match in NAME.finditer(STRING.sub(lambda m: " " * len(m.group()), code)):
        name = match.group()
        if name in seen:
            continue
        seen.add(name)
        parts = name.split("_")
        bad = next((NAMES[p] for p in parts if p in NAMES), None) or next(
            (PHRASES[p] for p in PHRASES if f"_{p}_" in f"_{name}_"), None)
        if bad:
            yield f"{path}:{line_of(code, match.start())}: the name {name} ({bad})"


def check(path, text):
    for part in os.path.basename(path).split(".")[0].split("_"):
        if part in NAMES:
            yield f"{path}: the file's name ({NAMES[part]})"
    if path.endswith(CODE):
        yield from check_code(path, text)
    elif path.endswith(PAGES):
        yield from check_page(path, text)


def check_tree(top, paths=()):
    for path in tree_files(top, CODE + PAGES):
        if path in OTHERS or path.startswith("docs/reference/") or (path.endswith(CODE) and not path.startswith(OURS)):
            continue
        if not paths or any(path == p or path.startswith(p.rstrip("/") + "/") for p in paths):
            yield from check(path, read(top, path))


def self_test():
    files = {
        "engine/good.c": '/* Reads the record before the file is renamed. */\nint read_record(void);\n',
        "docs/good.md": "# Good\n\nYou want a log. Run `openpla relog`; it writes one.\n",
        "engine/bad.c": "/* Who asks is told. */\nstatic void work_off(void) { error_set(1, \"%s: is there already\"); }\n"
                        "int mend_it;\n/* It looks\n   at the file. */\n",
        "docs/bad.md": "# Bad\n\n" + "word " * 36 + "end.\n\nWhat is damaged is as if it were not there.\n",
    }
    expected = {"engine/bad.c:1: 'is told' (report, log)", "engine/bad.c:2: 'is there already' (already exists)",
                "engine/bad.c:2: the name work_off (process)", "engine/bad.c:3: the name mend_it (repair)",
                "engine/bad.c:1: a clause is the subject: Who asks is told....",
                "engine/bad.c:4: a phrase over the end of a line (inspect, check, read)",
                "docs/bad.md:3: a sentence of 37 words: " + ("word " * 12) + "...",
                "docs/bad.md:5: a clause is the subject: What is damaged is as if it were not there...."}
    with tempfile.TemporaryDirectory() as top:
        write_all(top, files)
        found = set(check_tree(top))
    for complaint in sorted(expected ^ found):
        print(("missing: " if complaint in expected else "unexpected: ") + complaint)
    return 1 if expected != found else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(self_test())
    complaints = list(check_tree(sys.argv[1], sys.argv[2:]))
    print("\n".join(complaints))
    print(f"{len(complaints)} complaints")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
