#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""man_pages.py verbs FOLDER VERSION PROGRAM [ARGUMENTS]: writes openpla.1 and a page for each verb into FOLDER, from
the output of `openpla help`. PROGRAM is openpla, or an emulator that runs it.
man_pages.py server FOLDER VERSION WRAPPER: writes openpla-server.1 from the help of the server package's command.

A help text consists of command lines up to the first empty line, then paragraphs and lists. List items begin with two
spaces; lines that are indented further continue the previous item."""
import json
import os
import re
import subprocess
import sys

FORMS = re.compile(r"  (\S(?:.*?\S)?)(?:  +(\S.*))?$")
# A name that fills its column has only one space before its text.
TIGHT = re.compile(r"  (-\S+(?: [A-Z][A-Z0-9|.]*)*) ([a-z].*)$")


def roff(text):
    """Escapes text for troff: a line must not begin with a request, and a dash must be an option's dash."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def item(line):
    """Returns the name and the text of a list item."""
    found = FORMS.match(line)
    if not found.group(2):
        found = TIGHT.match(line) or found
    return found.group(1), found.group(2) or ""


def body(lines):
    """Converts the paragraphs, lists and command lines of a help text to troff."""
    out, within = [], None  # None, "text" or "list"
    for line in lines:
        if not line:
            within = None
        elif re.match(r"  \S", line):
            name, text = item(line)
            out += [".TP", ".B " + roff(name)] + ([roff(text)] if text else [])
            within = "list"
        elif line.startswith(" ") and within == "list":
            out.append(roff(line.strip()))
        elif line.startswith("openpla "):
            out += [".PP", ".nf", roff(line), ".fi"]
            within = None
        else:
            if within != "text":
                out.append(".PP")
            out.append(roff(line.strip()))
            within = "text"
    return out


def page(name, summary, synopsis, described, also, version):
    """Returns a page. It has no date, so that the same program gives the same page."""
    out = [f'.TH {roff(name.upper())} 1 "" "OpenPLA {version}" "Performance logs and alerts"',
           ".SH NAME", f"{roff(name)} \\- {roff(summary)}", ".SH SYNOPSIS", ".nf", *map(roff, synopsis), ".fi",
           ".SH DESCRIPTION", *described, ".SH SEE ALSO"]
    out.append(",\n".join(f"\\fB{roff(other)}\\fR(1)" for other in also))
    return "\n".join(out) + "\n"


def parts(text):
    """Splits a help text into the command lines at its top and the rest."""
    lines = text.rstrip("\n").split("\n")
    end = lines.index("") if "" in lines else len(lines)
    return lines[:end], lines[end:]


def said_by(*words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=120, check=True)
    return done.stdout.decode("utf-8").replace("\r\n", "\n")


def write_verbs(write, program):
    verbs = json.loads(said_by(*program, "help", "--json"))
    for verb in verbs:
        synopsis, rest = parts(said_by(*program, "help", verb["verb"]))
        write("openpla-" + verb["verb"], verb["summary"], synopsis, body(rest), ["openpla"])
    lines = said_by(*program, "help").rstrip("\n").split("\n")
    listed = []
    for verb in verbs:
        listed += [".TP", ".B " + roff(verb["verb"]), roff(verb["summary"])]
        if verb["verbs"]:
            listed += [".br", roff(", ".join(verb["verbs"]))]
    codes = next(i for i, line in enumerate(lines) if line.startswith("Exit codes:"))
    write("openpla", "performance logs and alerts", [line for line in lines if line.startswith("openpla ")],
          listed + body(["", *lines[codes:]]), ["openpla-" + verb["verb"] for verb in verbs])


def write_server(write, wrapper):
    synopsis, rest = parts(said_by("sh", wrapper, "--package-help"))
    write("openpla-server", "openpla with the server under Wine", synopsis, body(rest), ["openpla"])


def main():
    what, folder, version, *program = sys.argv[1:]

    def write(name, *contents):
        with open(os.path.join(folder, name + ".1"), "w", encoding="utf-8", newline="\n") as out:
            out.write(page(name, *contents, version))

    if what == "server":
        write_server(write, *program)
    else:
        write_verbs(write, program)


main()
