#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""style.py format TREE | dialect TREE | --self-test: checks that clang-format 14 with .clang-format leaves the C files
unchanged (other versions format differently; without version 14 the check is skipped with exit code 77). It also checks
that pointers are tested as `!p` and `p` instead of `p == NULL` and, in conditions of if and while, `p != NULL`; a
pointer that becomes a bool (`return p != NULL;`) is compared. Variables are declared where they get their first value,
not in a separate block of declarations."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from tree import read, tree_files, write_all

VERSION = "14"
SKIPPED = 77
BATCH = 64

COMMENT_OR_TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
EQUALS_NULL = re.compile(r"==\s*NULL\b|\bNULL\s*==(?!=)")
UNEQUAL_NULL = re.compile(r"!=\s*NULL\b|\bNULL\s*!=")
CONDITION = re.compile(r"\b(?:if|while)\s*\(")
COMPARISON = re.compile(r"\s*[!=]=")


# Declarations at the beginning of a function or block, followed by a blank line.
SEPARATE_DECLARATIONS = re.compile(
    r"\{\n((?:[ ]+(?:static |const )*(?:(?:struct|enum|union|unsigned|signed) )?[A-Za-z_]\w*(?:[ *]|(?<=[ *])const )+\w+"
    r"(?:\[[^\n]*\])?(?:,[^;{}\n]*)?(?: =[^;]*)?;[^\n]*\n)+)\n")
NO_DECLARATION = ("return", "goto", "else", "typedef")
NO_BLOCK = re.compile(r"\s*(?:static |const |typedef )*(?:struct|union|enum)\b|[^\n]*=")


def formatter():
    """Returns the command of that clang-format version, or None."""
    for name in (f"clang-format-{VERSION}", "clang-format"):
        command = shutil.which(name)
        if command:
            version = subprocess.run([command, "--version"], capture_output=True, text=True).stdout
            if re.search(rf"\bversion {VERSION}\.", version):
                return command
    return None


def badly_formatted(command, top, paths):
    """Returns one complaint for each file that the tool would change, with the first line that differs."""
    complaints, seen = [], set()
    for at in range(0, len(paths), BATCH):
        run = subprocess.run([command, "--dry-run", "-Werror", *paths[at:at + BATCH]], cwd=top, capture_output=True,
                             text=True)
        for match in re.finditer(r"^(\S[^:\n]*):(\d+):\d+: error: (.*)", run.stderr, re.M):
            path, line, _ = match.groups()
            if path not in seen:
                seen.add(path)
                complaints.append(f"{path}:{line}: not as {os.path.basename(command)} writes it")
        if run.returncode and not run.stderr.strip():
            complaints.append(f"{command}: exit code {run.returncode}")
        elif run.returncode and not seen:
            complaints.append(run.stderr.strip().splitlines()[0])
    return complaints


def blank(text):
    """Returns the text with comments and literals blanked; positions do not change."""
    return COMMENT_OR_TEXT.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def closing(text, opening):
    """Returns the position of the parenthesis that closes the one at `opening`, or the text's end."""
    depth = 0
    for at in range(opening, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at
    return len(text)


def is_value(text, begin, end, at):
    """Whether the comparison at `at`, within the condition [begin, end), is used as a bool value: as an argument, an
    array index or one side of another comparison; or compares the result of an assignment."""
    stack = []
    for i in range(begin, at):
        if text[i] in "([":
            stack.append(i)
        elif text[i] in ")]":
            stack.pop()
    for opening in stack[1:]:
        before = text[:opening].rstrip()
        if text[opening] == "[" or re.search(r"\w$", before):
            return True
        after = closing(text, opening) + 1
        if re.search(r"[!=]=$", before) or COMPARISON.match(text, after, end):
            return True
    before = text[begin:at].rstrip()
    if before.endswith(")"):
        depth = 0
        for i in range(len(before) - 1, -1, -1):
            depth += {")": 1, "(": -1}.get(before[i], 0)
            if depth == 0:
                return bool(re.search(r"(?<![!=<>])=(?!=)", before[i:]))
    return False


def null_tests(text):
    """Yields (line, complaint) for each explicit test for NULL."""
    text = blank(text)
    for match in EQUALS_NULL.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, "write !p in place of p == NULL"
    for condition in CONDITION.finditer(text):
        begin = condition.end() - 1
        end = closing(text, begin)
        for match in UNEQUAL_NULL.finditer(text, begin, end):
            if not is_value(text, begin, end, match.start()):
                yield text.count("\n", 0, match.start()) + 1, "write p in place of p != NULL in a condition"


def separate_declarations(text):
    """Yields (line, complaint) for each block of declarations that is followed by a blank line."""
    text = blank(text)
    for match in SEPARATE_DECLARATIONS.finditer(text):
        head = text[text.rfind("\n", 0, match.start()) + 1:match.start() + 1]
        if match.group(1).split()[0] not in NO_DECLARATION and not NO_BLOCK.match(head):
            yield text.count("\n", 0, match.end()), "declare variables where they get their first value"


def check_dialect(top):
    complaints, paths = [], list(tree_files(top, (".c", ".h", ".inc", ".def")))
    for path in paths:
        text = read(top, path)
        complaints += [f"{path}:{line}: {what}" for line, what in (*null_tests(text), *separate_declarations(text))]
    return complaints, len(paths)


def self_test():
    wrong = []
    good = [
        "if (!p)", "if (p && *p)", "return p != NULL;", "bool ok = p != NULL;", "if (f(p != NULL))",
        "if (wants != (p != NULL))", "if ((p != NULL) == (q != NULL))", "while ((p = next(p)) != NULL)",
        "while (p < end && (p = find(p, end)) != NULL)", 'if (is("p == NULL"))', "/* p == NULL */", "if (a[p != NULL])",
        "x = '\"'; /* a quotation mark */ y = '\"';",
    ]
    bad = [
        "if (p == NULL)", "return NULL == p;", "if (p != NULL)", "while (NULL != p)", "if (ok && p != NULL)",
        "if ((p != NULL && *p) || q)", "if (f(p) && q != NULL)", "if (ok &&\n    p != NULL)", "x = p == NULL ? 1 : 2;",
    ]
    wrong += [f"complains of: {text}" for text in good if list(null_tests(text))]
    wrong += [f"does not complain of: {text}" for text in bad if not list(null_tests(text))]
    good = ["{\n    int a = 1;\n    f(a);\n\n}", "struct s {\n    int a;\n\n    int b;\n};", "{\n    f();\n\n    g();\n}",
            "{\n    return x;\n\n}", "x = {\n    int a;\n\n};"]
    bad = ["void f(void)\n{\n    HRESULT hr;\n\n    hr = g();\n}", "    if (x) {\n        struct s *p = q, *r;\n\n        f(p);\n    }",
           "{\n    char t[] = \"a\\nb\";\n    int a;\n\n    f();\n}",
           "{\n    const char *const *p;\n    bool b = true;\n\n    f();\n}"]
    wrong += [f"complains of: {text}" for text in good if list(separate_declarations(text))]
    wrong += [f"does not complain of: {text}" for text in bad if not list(separate_declarations(text))]
    command = formatter()
    if command:
        with tempfile.TemporaryDirectory() as top:
            write_all(top, {".clang-format": "BasedOnStyle: LLVM\n", "kept.c": "int x;\n", "broken.c": "int  x ;\n"})
            found = badly_formatted(command, top, list(tree_files(top, (".c",))))
            if len(found) != 1 or not found[0].startswith("broken.c:1:"):
                wrong.append(f"format finds {found}")
    print("\n".join(wrong))
    return 1 if wrong else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(self_test())
    what, top = sys.argv[1:]
    if what == "dialect":
        complaints, checked = check_dialect(top)
    else:
        command = formatter()
        if not command:
            print(f"clang-format {VERSION} is not installed (Debian 12: apt-get install clang-format-{VERSION}): "
                  "the format of the C files is not checked.")
            sys.exit(SKIPPED)
        paths = list(tree_files(top, (".c", ".h")))
        complaints, checked = badly_formatted(command, top, paths), len(paths)
    print("\n".join(complaints))
    print(f"{checked} files, {len(complaints)} complaints")
    sys.exit(1 if complaints or checked < 30 else 0)


main()
