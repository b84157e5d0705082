#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""messages.py TREE [PATH ...] | TREE --list [PATH ...] | --self-test: checks the messages that users of the engine, the
COM classes and the command line see. --list prints each with its file and line. An error names what failed, the object
in quotes and why, on one line in lower case without a full stop. No error exists in two wordings, because translators,
scripts and searches would need both. english.py checks the words."""
import re
import sys
import tempfile

from tree import read, tree_files, write_all

FOLDERS = ("engine/", "com/", "cli/", "library/")
# Functions that receive error messages.
ERRORS = re.compile(r"\b(error_set|error_prefix|cli_error|cli_usage|\w*_refuse|refuse|\w*_failed|failed|fail|\w*_error)\s*\(")
# Windows' own messages in their original wording.
WINDOWS = ("engine/base/result_texts.def", "cli/logman/errors.def")
OF_WINDOWS = ("No data to return", "No valid counters")
LITERAL = r'(?:u8|u|L)?"(?:\\.|[^"\\\n])*"'
JOINED = re.compile(rf"{LITERAL}(?:\s*(?:{LITERAL}|\b(?:PRI\w+|[A-Z][A-Z0-9_]*)\b(?=\s*\")|(?<=\")\s*PRI\w+\b))*")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
CONVERSION = re.compile(r"%[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:hh|h|ll|l|z|j|t)?[a-zA-Z]")
ENDINGS = (".c", ".h", ".def", ".inc")
SMALL = set("a an the is are was were be it its of to in on at by for with and or not no that this than then cannot could".split())


def literals(code):
    """Yields (position, string) of all string literals; adjacent ones are joined."""
    for match in JOINED.finditer(code):
        text = "".join(p[1:-1] if p.startswith('"') else re.sub(r"^(?:u8|u|L)", "", p).strip('"') if '"' in p else "%u"
                       for p in re.findall(rf"{LITERAL}|\b[A-Z]\w*\b", match.group()))
        yield match.start(), text


def is_message(text):
    words = re.findall(r"[A-Za-z]{2,}", CONVERSION.sub(" ", text))
    return len(words) >= 3 and text.count(" ") >= 2 and not re.search(r"<\w+[^>]*>|\b(?:SELECT|INSERT|CREATE TABLE|UPDATE) |://|\{[0-9A-Fa-f]{8}", text)


def enclosing(code, at):
    """Returns the function whose argument list contains the position, or ''."""
    depth = 0
    for i in range(at - 1, max(0, at - 2000), -1):
        if code[i] == ")":
            depth += 1
        elif code[i] == "(":
            if depth == 0:
                name = re.search(r"(\w+)\s*$", code[max(0, i - 80):i])
                return name.group(1) if name else ""
            depth -= 1
        elif code[i] in ";{}":
            return ""
    return ""


def messages(path, text):
    """(line, function, message)."""
    blank = lambda m: re.sub(r"[^\n]", " ", m.group())
    strings = []
    kept = re.sub(rf"{LITERAL}", lambda m: (strings.append(m.group()), f'"\x01{len(strings) - 1}\x01"')[1], text)
    kept = COMMENT.sub(blank, kept)
    code = re.sub(r'"\x01(\d+)\x01"', lambda m: strings[int(m.group(1))], kept)
    for at, message in literals(code):
        if is_message(message):
            yield code.count("\n", 0, at) + 1, enclosing(code, at), message


def stem(word):
    for end in ("ing", "ed", "es", "s"):
        if word.endswith(end) and len(word) > len(end) + 2:
            return word[:-len(end)]
    return word


def wording_key(message):
    words = re.findall(r"[a-z0-9]{2,}", CONVERSION.sub(" ", re.sub(r"\\.", " ", message)).lower())
    return tuple(sorted({stem(w) for w in words if w not in SMALL}))


def normalized(message):
    return re.sub(r"\s+", " ", CONVERSION.sub("%", message)).strip()


def all_messages(top, paths=()):
    for path in tree_files(top, ENDINGS):
        if path.startswith(FOLDERS) and (not paths or any(path == p or path.startswith(p.rstrip("/") + "/") for p in paths)):
            for line, function, message in messages(path, read(top, path)):
                yield path, line, function, message


def check_tree(top, paths=()):
    seen = {}
    for path, line, function, message in all_messages(top, paths):
        if path in WINDOWS or not ERRORS.match(function + "(") or message.lstrip("\\nr").startswith(OF_WINDOWS):
            continue
        if re.search(r"(?<!\.)\.$", message):
            yield f"{path}:{line}: ends with a full stop: {message}"
        if re.match(r"(?:The|A|An|This|Cannot|Could|Failed|Unable|Invalid|No)\b", message):
            yield f"{path}:{line}: begins with a capital: {message}"
        key = wording_key(message)
        if len(key) >= 3:
            other = seen.setdefault(key, (normalized(message), path, line))
            if other[0] != normalized(message):
                yield f"{path}:{line}: another wording of {other[1]}:{other[2]}: '{normalized(message)}', there '{other[0]}'"


def self_test():
    files = {
        "engine/a.c": '/* "a comment is no message" */\nvoid f(void) { error_set(E_FAIL, "cannot open \'%s\': "\n "access denied"); }\n',
        "engine/b.c": 'void g(void) { error_set(1, "The file \'%s\' is open."); }\n'
                      'void h(void) { error_set(1, "access denied: \'%s\' cannot be opened"); }\n',
    }
    expected = ["engine/b.c:1: begins with a capital: The file '%s' is open.",
                "engine/b.c:1: ends with a full stop: The file '%s' is open.",
                "engine/b.c:2: another wording of engine/a.c:2: 'access denied: '%' cannot be opened', there 'cannot open '%': access denied'"]
    with tempfile.TemporaryDirectory() as top:
        write_all(top, files)
        listed = [m[3] for m in all_messages(top)]
        found = sorted(check_tree(top))
    if listed != ["cannot open '%s': access denied", "The file '%s' is open.", "access denied: '%s' cannot be opened"]:
        print("listed:", listed)
        return 1
    for complaint in sorted(set(expected) ^ set(found)):
        print(("missing: " if complaint in expected else "unexpected: ") + complaint)
    return 1 if sorted(expected) != found else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(self_test())
    arguments = [a for a in sys.argv[1:] if a != "--list"]
    if "--list" in sys.argv:
        for path, line, _, message in all_messages(arguments[0], arguments[1:]):
            print(f"{path}:{line}: {message}")
        return
    complaints = list(check_tree(arguments[0], arguments[1:]))
    print("\n".join(complaints))
    print(f"{len(complaints)} complaints")
    sys.exit(1 if complaints else 0)


main()
