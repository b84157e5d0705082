#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""help.py PROGRAM EMULATOR: help pages, verbs and bash completion agree on the options. For a mistyped verb or option
the error names it and suggests the nearest one. bash itself runs the completion script that the program writes."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.dom.minidom

PROGRAM, EMULATOR = os.path.abspath(sys.argv[1]), sys.argv[2:]

# Undocumented options: one that tracerpt accepts without effect, and the old name of an option.
UNSHOWN = {"tracerpt": {"pdb"}, "store": {"mend"}}
# Words of the last option in a help page that begin with a dash but are not options of the verb.
FOREIGN = {"?", "x"}


def openpla(*words, code=0):
    done = subprocess.run([*EMULATOR, PROGRAM, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=600)
    assert done.returncode == code & 0xFF, (words, done)
    # The emulator merges both streams.
    return [stream.decode("utf-8").replace("\r\n", "\n") for stream in (done.stdout, done.stdout if EMULATOR else done.stderr)]


def documented_options(text):
    """Returns the options that a help page documents, without their dashes."""
    found = set()
    for match in re.finditer(r"(?<![\w\\/.:{-])(?:-\[-\]|--|-)([a-z?][a-z]*(?:-[a-z]+)*)(?![\w-])", text):
        found.add(match.group(1))
    return found - FOREIGN


def help_lists_accepted_options(verbs):
    for verb in verbs:
        name = verb["verb"]
        page = openpla("help", name)[0]
        taken = {option["name"] for option in verb["options"]} - UNSHOWN.get(name, set())
        assert page.startswith(f"openpla {name}"), page
        assert documented_options(page) == taken, (name, "only in help:", documented_options(page) - taken, "not in help:", taken - documented_options(page))
        if EMULATOR and name not in ("events", "mof"):
            continue  # under Wine each call takes a second, and the code is the same
        assert openpla(name, "-?")[0] == page, name
        for sub in verb["verbs"]:
            assert f" {sub} " in page or f" {sub}|" in page or f"{sub}\n" in page, (name, sub)
            if verb["verb"] != "logman":
                assert openpla(name, sub, "-?")[0] == page, (name, sub)


def logman_help_lists_accepted_options(verbs):
    logman = next(verb for verb in verbs if verb["verb"] == "logman")
    subs = {option["of"] for option in logman["options"]} - {""}
    assert {"create counter", "query providers", "stop"} < subs, subs
    # Under Wine only three pages are checked: each call takes a second, and the code is the same.
    for sub in sorted(subs) if not EMULATOR else ["create counter", "start", "query providers"]:
        page = openpla("logman", *sub.split(), "-?")[0]
        options = page.split("For example:")[0]
        taken = {option["name"] for option in logman["options"] if option["of"] == sub}
        table = {name for line in options.splitlines() if line.startswith("  -") for name in documented_options(line[:26])}
        assert table == taken, (sub, table ^ taken)
        assert openpla("help", "logman", *sub.split())[0] == page, sub


def suggests_names_for_mistyped_words():
    for words, code, says in (
            (("manifset",), 2, "unknown verb 'manifset' (did you mean 'manifest'?)"),
            (("zzzzz",), 2, "unknown verb 'zzzzz'\n"),
            (("create", "counter"), 2, "(did you mean 'openpla logman create'?)"),
            (("relog", "x.csv", "-jsno"), 2, "unknown option '-jsno' (did you mean -json?)"),
            (("events", "-zzz"), 2, "unknown option '-zzz'\n"),
            (("mof", "shwo"), 2, "unknown verb 'shwo': expected one of add, list, show, remove (did you mean 'show'?)")):
        assert says in "".join(openpla(*words, code=code)), (words, says)
    for words, says in ((("crate", "counter", "x"), "unknown verb 'crate' (did you mean 'create'?)"),
                        (("create", "conter", "x"), "unknown collector type 'conter' (did you mean 'counter'?)"),
                        (("query", "-est"), "unknown option '-est' (did you mean -ets?)"),
                        (("create", "counter", "x", "-duration", "5"), "unknown option '-duration' (use -rf)")):
        assert says in openpla("logman", *words, code=0x80070057)[1], words


def complete(script, *words):
    """Returns bash's completions for the last of the words."""
    quoted = " ".join("'" + word + "'" for word in words)
    done = subprocess.run(
        ["bash", "--norc", "-c", f". '{script}'; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; "
         "_openpla; printf '%s\\n' \"${COMPREPLY[@]}\"; complete -p openpla logman"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600, check=True)
    assert not done.stderr, done.stderr
    lines = done.stdout.decode().splitlines()
    assert len([line for line in lines if line.startswith("complete ") and "-F _openpla" in line]) == 2, lines
    return sorted(line for line in lines if line and not line.startswith("complete "))


def bash_completes(verbs, folder):
    script = os.path.join(folder, "openpla.bash")
    with open(script, "w", encoding="utf-8", newline="\n") as file:
        file.write(openpla("completion", "bash")[0])
    assert complete(script, "openpla", "") == sorted(["help", *(verb["verb"] for verb in verbs)])
    assert complete(script, "openpla", "help", "tra") == ["trace", "tracerpt"]
    for verb in verbs:
        name = verb["verb"]
        assert complete(script, "openpla", name, "") == sorted(verb["verbs"]), name
        for sub in {option["of"] for option in verb["options"]}:
            taken = {"-" + option["name"] for option in verb["options"] if option["of"] == sub}
            assert complete(script, "openpla.exe", name, *sub.split(), "-") == sorted(taken), (name, sub)
    assert complete(script, "/usr/bin/logman.exe", "create", "") == ["alert", "api", "cfg", "counter", "trace"]
    assert complete(script, "logman", "Base", "update", "-rd") == ["-rdcs"]
    assert complete(script, "openpla", "LOGMAN", "CREATE", "Trace", "x", "-m") == ["-m", "-max", "-mode"]
    assert complete(script, "openpla", "logman", "export", "x", "-xml", "") == [], "a file name has no completions here"
    assert complete(script, "logman", "create", "counter", "x", "-f", "") == ["bin", "bincirc", "csv", "sql", "tsv"]
    assert complete(script, "tracerpt", "x.etl", "-OF", "e") == ["EVTX"]
    assert complete(script, "openpla", "relog", "-f", "t") == ["TSV"]
    assert complete(script, "openpla", "trace", "show", "-process", "") == [], "any process"
    assert complete(script, "logman", "create", "trace", "x", "-mode", "") == [], "words that are joined have no completions"
    # Set names as their files spell them; files that are not a user's set are ignored.
    for name in ("base", "two words", "a%25b", "%~0123", "store"):
        path = os.path.join(folder, "sets", "Service", name[0].replace("%", "_"), name + (".lock" if name == "store" else ".xml"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii"):
            pass
    os.environ["OPENPLA_DATA"] = folder
    assert complete(script, "openpla", "logman", "start", "") == ["a%b", "base", "two\\ words"]
    assert complete(script, "logman", "query", "B") == ["base"]
    assert complete(script, "logman", "query", "-ets", "p") == ["providers"]
    assert complete(script, "logman", "create", "counter", "b") == []
    del os.environ["OPENPLA_DATA"]


def schemas_are_printed():
    """Each schema that `openpla schema` lists is printed as XML that contains its name."""
    names = [line.split()[0] for line in openpla("schema")[0].splitlines()]
    assert names == ["set", "report", "report-schema", "rules"], names
    for name in names:
        schema = xml.dom.minidom.parseString(openpla("schema", name)[0])
        assert schema.documentElement.tagName == "xs:schema", name


def the_version_is_shown():
    """The version for a bug report, printed by each of the usual options."""
    lines = {openpla(word)[0] for word in ("version", "--version", "-V")}
    assert len(lines) == 1, lines
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "CMakeLists.txt"), encoding="utf-8") as file:
        version = re.search(r"project\(openpla VERSION ([\d.]+)", file.read()).group(1)
    assert lines == {f"OpenPLA {version}\n"}, (lines, version)


def main():
    verbs = json.loads(openpla("help", "--json")[0])
    shown = openpla(code=2)[1]
    assert openpla("help")[0] == shown == openpla("-?")[0]
    for verb in verbs:
        assert f"  {verb['verb']} " in shown and ", ".join(verb["verbs"]) in shown, verb
    help_lists_accepted_options(verbs)
    logman_help_lists_accepted_options(verbs)
    suggests_names_for_mistyped_words()
    the_version_is_shown()
    schemas_are_printed()
    if not shutil.which("bash"):
        print("bash is not installed")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        bash_completes(verbs, folder)


main()
