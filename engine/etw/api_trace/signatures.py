#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes api_signatures.txt from the prototypes of MinGW-w64's headers, which are in the public domain.

signatures.py [--include FOLDER] [--check]: parses MinGW's headers with clang. --check compares the result with the
committed file, and exits with 1 if they differ, or with 77 if clang or headers of the required version are missing.
The file has one line per function: the name, a blank, a letter for the result and a letter for each argument
(engine/etw/api_trace/api_signatures.h). Variadic functions and functions that return a structure are omitted, because a
thunk cannot insert a frame between them and their caller.
"""
import os
import re
import shutil
import subprocess
import sys

# The headers, in an order in which they can be included. The headers in FIRST are included with WIN32_NO_STATUS, that
# is, without the NTSTATUS codes.
FIRST = "winsock2 ws2tcpip mswsock windows"
THEN = """winternl ntsecapi ntdef tlhelp32 psapi aclapi sddl winsvc wincrypt evntprov evntrace evntcons winevt
wct dbghelp shlobj shlwapi iphlpapi userenv wtsapi32 mmsystem securityappcontainer timezoneapi stdio
stdlib string math io process time wchar setjmp"""
SOURCE = "".join(["#define WINVER 0x0A00\n#define _WIN32_WINNT 0x0A00\n#define NTDDI_VERSION 0x0A000006\n",
                  "#define WIN32_NO_STATUS\n", *(f"#include <{name}.h>\n" for name in FIRST.split()),
                  "#undef WIN32_NO_STATUS\n", *(f"#include <{name}.h>\n" for name in THEN.split())])
VERSION = "10"  # of Debian 12's headers, from which the committed file is generated
HERE = os.path.dirname(os.path.abspath(__file__))
FUNCTION = re.compile(r"[|`]-FunctionDecl 0x\w+ .*? (?:implicit )?(?:used )?(\w+) '([^']*)'(?::'[^']*')?(.*)$")
PARAMETER = re.compile(r"[|`] [|`]-ParmVarDecl 0x\w+ .*?(?:used )?(\w+)? ?'([^']*)'(?::'([^']*)')?(?: cinit)?$")
TYPEDEF = re.compile(r"[|`]-TypedefDecl 0x\w+ .*? (?:implicit )?(?:referenced )?(\w+) '([^']*)'(?::'([^']*)')?$")
FLAGS = re.compile(r"flag|access|desired|mask|attrib|style|option|mode|protect|rights|privilege", re.I)
SPELT = {"BOOL": "b", "WINBOOL": "b", "HRESULT": "e", "NTSTATUS": "n", "LSTATUS": "l"}
SCALARS = {"int": "i", "long": "i", "short": "t", "signed char": "y", "char": "y",
           "unsigned int": "u", "unsigned long": "u", "unsigned short": "k", "unsigned char": "y", "wchar_t": "k",
           "_Bool": "y",
           "long long": "q", "__int64": "q", "unsigned long long": "z", "float": "f", "double": "d",
           "long double": "s"}
# Integers as wide as a pointer, whose types differ between 64-bit and 32-bit programs.
WIDTHS = {"INT_PTR": "j", "LONG_PTR": "j", "SSIZE_T": "j", "intptr_t": "j", "ptrdiff_t": "j", "ssize_t": "j", "time_t": "j",
          "UINT_PTR": "m", "ULONG_PTR": "m", "DWORD_PTR": "m", "SIZE_T": "m", "uintptr_t": "m", "size_t": "m"}


def resolve(spelt, typedefs):
    """Returns the type to which typedefs resolve, without leading const and volatile."""
    seen = set()
    text = spelt
    while True:
        text = re.sub(r"\b(const|volatile|struct|enum|union) (?!\*)", "", text).strip() if "(" not in text else text
        if text in seen or text not in typedefs:
            return text
        seen.add(text)
        text = typedefs[text]


def pointer_wide(bare, typedefs):
    """Returns the letter of an integer type that is as wide as a pointer; None for all other types."""
    seen = set()
    while bare not in WIDTHS and bare in typedefs.spelt and bare not in seen:
        seen.add(bare)
        bare = typedefs.spelt[bare]
    return WIDTHS.get(bare)


class Typedefs(dict):
    """name -> the type to which all typedefs resolve; `spelt`: name -> the type as written in the header."""
    def __init__(self):
        super().__init__()
        self.spelt = {}


def kind(spelt, typedefs, enums, name=""):
    """Returns the letter of a type; None: a structure or another type that has no letter."""
    bare = re.sub(r"\b(const|volatile) ", "", spelt).strip()
    if bare == "void":
        return "v"
    if bare in SPELT:
        return SPELT[bare]
    width = pointer_wide(bare, typedefs)
    if width:
        return width
    real = resolve(spelt, typedefs)
    if "(*" in real or "(^" in real:
        return "c"
    if real.endswith(("*", "]", "&")):
        target = re.sub(r"(\*|\[\d*\])$", "", real).strip()
        text = resolve(target, typedefs)
        constant = "const" in spelt or re.match(r"L?PC", bare) is not None or "const" in target
        if constant and text in ("char", "CHAR"):
            return "a"
        if constant and text in ("wchar_t", "WCHAR", "unsigned short") and re.search(r"STR|WCH|wchar_t", bare):
            return "w"
        return "h" if re.fullmatch(r"H[A-Z]+[A-Z0-9_]*|SC_HANDLE|SERVICE_STATUS_HANDLE", bare) else "p"
    if real in SCALARS:
        letter = SCALARS[real]
        return "x" if letter == "u" and FLAGS.search(name) else letter
    if real.startswith("enum ") or real in enums:
        return "u"
    return None


def prototypes(tree):
    """Returns name -> letters, without the functions that cannot have a frame before them (see above)."""
    typedefs, enums, found = Typedefs(), set(), {}
    lines = tree.splitlines()
    for line in lines:
        match = TYPEDEF.match(line)
        if match:
            typedefs.setdefault(match.group(1), match.group(3) or match.group(2))
            typedefs.spelt.setdefault(match.group(1), match.group(2))
        match = re.match(r"[|`]-EnumDecl 0x\w+ .* (\w+)$", line)
        if match:
            enums.add(match.group(1))
    current = None
    for line in lines:
        match = FUNCTION.match(line)
        if match:
            name, form, rest = match.groups()
            result = form.split(" (")[0]
            variadic = "..." in form
            skip = re.search(r"\b(static|inline)\b", rest) or name.startswith(("__builtin", "_mm"))
            implicit = " implicit " in line
            current = None
            if not skip and (name not in found or (found[name][3] and not implicit)):
                current = found[name] = [kind(result, typedefs, enums), variadic, [], implicit]
            continue
        if not line.startswith(("| ", "  ")):
            current = None
        match = PARAMETER.match(line) if current else None
        if match:
            current[2].append(kind(match.group(2), typedefs, enums, match.group(1) or "") or
                              kind(match.group(3) or "", typedefs, enums, match.group(1) or "") or "s")
    for name, entry in found.items():
        if entry[0] == "i" and re.match(r"Reg[A-Z]", name):
            entry[0] = "l"  # older headers say LONG for LSTATUS
    return {name: result + "".join(arguments) for name, (result, variadic, arguments, _) in found.items()
            if result not in (None, "s") and not variadic}


def main():
    check = "--check" in sys.argv
    include = sys.argv[sys.argv.index("--include") + 1] if "--include" in sys.argv else "/usr/share/mingw-w64/include"
    if not shutil.which("clang") or not os.path.isdir(include):
        print("no clang, or no MinGW headers in " + include)
        return 77
    with open(os.path.join(include, "_mingw_mac.h"), encoding="utf-8") as file:
        version = re.search(r"__MINGW64_VERSION_MAJOR (\d+)", file.read()).group(1)
    if check and version != VERSION:
        print(f"skipped: needs the headers of MinGW-w64 {VERSION}, has those of {version}")
        return 77
    run = subprocess.run(["clang", "-target", "x86_64-w64-mingw32", "-isystem", include, "-fsyntax-only", "-w", "-x", "c",
                          "-Xclang", "-ast-dump", "-fno-color-diagnostics", "-"],
                         input=SOURCE, capture_output=True, text=True, check=True)
    text = "".join(f"{name} {letters}\n" for name, letters in sorted(prototypes(run.stdout).items()))
    path = os.path.join(HERE, "api_signatures.txt")
    if not check:
        with open(path, "w", encoding="ascii", newline="\n") as file:
            file.write(text)
        return 0
    with open(path, encoding="ascii") as file:
        same = file.read() == text
    print("api_signatures.txt is as clang makes it" if same else "api_signatures.txt differs: run signatures.py")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
