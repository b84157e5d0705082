#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools_package.py BUILD: checks the files that `cmake --install` and the Debian package openpla-tools contain from the
native build in BUILD: the program, a manual page for each verb, completion for three shells, schemas and rules, and
nothing for Wine. Completion must offer the words that the program accepts. If the server's package is installed too,
the program must run its command; otherwise a verb that needs the server must name that package. Otherwise a user would
have pages or completion of another version, or would not learn what to install."""
import json
import os
import re
import shutil
import sys
import tempfile

from packages import SANITIZERS, TREE, lintian, manual_page, run, unpack

BUILD = os.path.abspath(sys.argv[1])
MODES = {"usr/bin/openpla": 0o755, "usr/share/bash-completion/completions/openpla": 0o644,
         "usr/share/zsh/vendor-completions/_openpla": 0o644, "usr/share/fish/vendor_completions.d/openpla.fish": 0o644,
         "usr/share/openpla/schemas/report.xsd": 0o644, "usr/share/openpla/schemas/Report.General.xml": 0o644,
         "usr/share/openpla/rules/Rules.General.xml": 0o644, "usr/share/doc/openpla-tools/copyright": 0o644}


def files(folder):
    return {os.path.relpath(os.path.join(place, name), folder) for place, _, names in os.walk(folder) for name in names}


def check_install(scratch):
    """cmake --install below DESTDIR and a prefix."""
    run("cmake", "--build", BUILD, "--target", "tools")
    run("cmake", "--install", BUILD, "--component", "tools", "--prefix", "/opt/pla",
        env={**os.environ, "DESTDIR": f"{scratch}/stage"})
    assert os.listdir(f"{scratch}/stage") == ["opt"] and os.listdir(f"{scratch}/stage/opt") == ["pla"]
    return files(f"{scratch}/stage/opt/pla")


def package(scratch, installed):
    """The package has the same files as the installation, and a second build gives an identical package."""
    environment = {**os.environ, "OPENPLA_DEB_COMPRESSION": "none", "SOURCE_DATE_EPOCH": "1800000000"}
    created = [run("sh", f"{TREE}/installer/deb/native.sh", BUILD, f"{scratch}/{out}", "openpla-tools", env=environment).strip()
               for out in ("first", "second")]
    run("cmp", *created)
    folder = f"{scratch}/unpacked"
    fields = unpack(created[0], folder, MODES)
    needs = {one.split()[0] for one in fields["Depends"].split(", ")}
    assert {"libc6", "libxml2", "libxslt1.1", "zlib1g"} == {name.removesuffix("t64") for name in needs - SANITIZERS}, fields
    assert fields["Package"] == "openpla-tools" and "unixodbc" in fields["Suggests"], fields
    assert fields["Architecture"] == run("dpkg", "--print-architecture").strip(), fields
    packed = {name.removesuffix(".gz") for name in files(f"{folder}/usr") if not name.startswith("share/doc/")}
    assert packed == installed, packed ^ installed
    with open(f"{BUILD}/CMakeCache.txt", encoding="utf-8") as cache:
        sanitizes = "OPENPLA_SANITIZE:BOOL=ON\n" in cache.read()
    lintian(created[0], *["hardening-no-pie"] * sanitizes)
    return folder


def check_manual_pages(folder, verbs):
    pages = f"{folder}/usr/share/man/man1"
    assert set(os.listdir(pages)) == {"openpla.1.gz"} | {f"openpla-{verb['verb']}.1.gz" for verb in verbs}
    for name in os.listdir(pages):
        text = manual_page(f"{pages}/{name}")
        verb = next((v for v in verbs if name == f"openpla-{v['verb']}.1.gz"), None)
        for option in verb["options"] if verb and verb["verb"] not in ("logman", "tracerpt", "store") else []:
            assert re.search(rf"-{re.escape(option['name'])}\b", text), (name, option)
        assert verb or all(v["summary"] in text for v in verbs), name


# The functions of zsh's completion, which print what they are given.
ZSH = """
compdef() {}
_files() {}
compadd() { while [[ $1 != -- ]]; do shift; done; shift; print -rl -- "$@" }
_describe() { print -rl -- "${(@P)4}" }
source "$1"
shift
words=("$@") CURRENT=$# PREFIX=${@[-1]}
_openpla
"""


def completions(shell, folder, *words):
    """What a shell offers for the last of the words."""
    if shell == "zsh":
        output = run("zsh", "-f", "-c", ZSH, "zsh", f"{folder}/usr/share/zsh/vendor-completions/_openpla", *words)
    else:
        output = run("fish", "--no-config", "-c", f"source {folder}/usr/share/fish/vendor_completions.d/openpla.fish; "
                     "cd (mktemp -d); complete -C $argv[1]", " ".join(words))
    found = {re.split(r"[\t:]", line)[0] for line in output.splitlines()} - {""}
    return {word for word in found if word.lower().startswith(words[-1].lower())}


def check_completion(shell, folder, verbs):
    if not shutil.which(shell):
        print(f"{shell} is not installed")
        return
    assert completions(shell, folder, "openpla", "") == {"help", *(verb["verb"] for verb in verbs)}, shell
    assert completions(shell, folder, "openpla", "help", "tra") == {"trace", "tracerpt"}, shell
    for name in ("relog", "logman", "trace", "run"):
        verb = next(verb for verb in verbs if verb["verb"] == name)
        assert completions(shell, folder, "openpla", name, "") == set(verb["verbs"]), (shell, name)
        for sub in sorted({option["of"] for option in verb["options"]}):
            taken = {"-" + option["name"] for option in verb["options"] if option["of"] == sub}
            assert completions(shell, folder, "openpla", name, *sub.split(), "-") == taken, (shell, name, sub)
    assert completions(shell, folder, "/usr/bin/logman", "create", "") == {"alert", "api", "cfg", "counter", "trace"}, shell
    assert completions(shell, folder, "openpla", "relog", "-f", "t") == {"TSV"}, shell
    assert completions(shell, folder, "tracerpt", "x.etl", "-OF", "E") == {"EVTX"}, shell
    # The names of sets are completed from their file names.
    for name in ("base", "two words", "a%25b", "%~0123"):
        path = f"{folder}/data/sets/Service/{name[0]}/{name}.xml"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii"):
            pass
    os.environ["OPENPLA_DATA"] = f"{folder}/data"
    assert completions(shell, folder, "openpla", "logman", "start", "") == {"a%b", "base", "two words"}, shell
    del os.environ["OPENPLA_DATA"]


def names_the_server(folder, scratch):
    openpla = f"{folder}/usr/bin/openpla"
    needs = "needs the package openpla (the server under Wine)"
    os.environ["OPENPLA_DATA"] = f"{scratch}/store"
    assert run(openpla, "run", "x.exe", code=1) == f"openpla run: {needs}\n"
    assert run(openpla, "dcom", "status", code=1) == f"openpla dcom: {needs}\n"
    run(openpla, "logman", "create", "counter", "Base", "-c", r"\System\Processes")
    for words in (("Base",), ("Net", "-p", "{11111111-2222-3333-4444-555555555555}", "-o", f"{scratch}/net.etl", "-ets")):
        assert f"a start {needs}\n" in run(openpla, "logman", "start", *words, code=2), words
    del os.environ["OPENPLA_DATA"]


def check_server_command(folder):
    """Tests the program when the server's command is installed beside it, as the server's package does."""
    openpla, command = f"{folder}/usr/bin/openpla", f"{folder}/usr/lib/openpla/openpla-server"
    own = {words: run(openpla, *words) for words in (("help",), ("help", "relog"), ("version",), ("completion", "fish"))}
    os.makedirs(os.path.dirname(command))
    with open(command, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nprintf '%s;' server \"$@\"\nexit 7\n")
    os.chmod(command, 0o755)
    # The server's package also has openpla.exe, which runs only under Wine.
    with open(f"{os.path.dirname(command)}/openpla.exe", "wb"):
        pass
    for words in (("logman", "query", "two words"), ("--wine", "cscript"), ("relog", "x.blg"), ("--system", "--end")):
        assert run(openpla, *words, code=7) == "".join(f"{word};" for word in ("server", *words)), words
    for words, output in own.items():
        assert run(openpla, *words) == output, words
    assert "missing log" in run(openpla, "--native", "relog", code=2)
    os.chmod(command, 0o644)
    refused = run(openpla, "relog", "x.blg", code=1)
    assert "cannot start '" in refused and "--native" in refused, refused


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = package(scratch, check_install(scratch))
        verbs = json.loads(run(f"{folder}/usr/bin/openpla", "help", "--json"))
        check_manual_pages(folder, verbs)
        for shell in ("zsh", "fish"):
            check_completion(shell, folder, verbs)
        names_the_server(folder, scratch)
        check_server_command(folder)


main()
