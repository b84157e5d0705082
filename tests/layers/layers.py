#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""layers.py [TREE | --self-test]: proves from the include lines that each layer includes only layers below it, from the
calls that objects of clients are called in one place and that libraries are loaded from folders that are said, and that every source file has its licence line, a fair size and
a name that says something."""
import os
import re
import sys
import tempfile

from tree import read, tree_files, write_all

# What each folder may include, itself always among it. Order: com > run > page > {collect, rules > report} > {counters, pdh, etw} > {tdh, kernel} > log > os,
# where pdh has no use of tdh. pdh becomes a DLL that carries no XML library, and neither becomes one with model.
OS, LOG = ["engine/os"], ["engine/log", "engine/os"]
XML = ["engine/xml"] + OS
MODEL = ["engine/model"] + XML
STORE = ["engine/store"] + MODEL
TASK = ["engine/task"] + STORE
PERFLIB = ["engine/perflib"] + OS
CABINET = ["engine/cabinet"] + LOG
RETENTION = ["engine/retention"] + CABINET + STORE
TDH = ["engine/tdh", "engine/perflib", "engine/xml"] + LOG
KERNEL = ["engine/kernel"] + LOG
CORES = ["engine/pdh", "engine/etw", "engine/kernel"] + TDH
COUNTERS = ["engine/counters"] + LOG
COLLECT = ["engine/collect", "engine/model", "engine/counters"] + CORES
REPORT = ["engine/report", "engine/model"] + CORES
PAGE = ["engine/page", "engine/report", "engine/xml"] + OS
RULES = ["engine/rules"] + REPORT
RUN = ["engine/run", "engine/retention", "engine/rules", "engine/page", "engine/collect", "engine/report", "engine/cabinet", "engine/task", "engine/store", "engine/model"] + CORES
ALLOWED = {
    "engine/os": OS,
    "engine/log": LOG,
    "engine/perflib": PERFLIB,
    "engine/cabinet": CABINET,
    "engine/retention": RETENTION,
    "engine/xml": XML,
    "engine/model": MODEL,
    "engine/store": STORE,
    "engine/task": TASK,
    "engine/counters": COUNTERS,
    "engine/pdh": ["engine/pdh", "engine/perflib"] + LOG,
    "engine/pcq": ["engine/pcq", "engine/pdh", "engine/perflib"] + LOG,
    "engine/tdh": TDH,
    "engine/kernel": KERNEL,
    "engine/etw": ["engine/etw", "engine/kernel"] + TDH,
    "engine/collect": COLLECT,
    "engine/report": REPORT,
    "engine/page": PAGE,
    "engine/rules": RULES,
    "engine/run": RUN,
    "com": ["com", "reg", "idl", "engine/pcq"] + RUN,
    "reg": ["reg", "idl"] + OS,
    "idl": ["idl"],
    # A client of sets as any other: through the façade under Windows, the engine itself natively.
    "cli/logman": ["cli/logman", "cli", "com"] + RUN,
    # Looks at all that there is: what is registered, the server, the store and its runs.
    "cli/doctor": ["cli/doctor", "cli", "com", "reg", "engine/pcq", "engine/counters"] + RUN,
    "cli": ["cli", "engine/xml", "engine/retention", "engine/cabinet", "engine/perflib", "engine/pdh", "engine/etw", "engine/kernel", "engine/tdh", "engine/rules", "engine/report", "engine/page", "engine/task", "engine/store", "engine/model"] + COUNTERS,
}
# Rows of constants, which nothing is linked for: what the one folder says once, the other may read.
ROWS_BESIDE = {("engine/model", "engine/log/log_formats.def")}
# Made by widl; only who speaks COM sees them.
GENERATED = re.compile(r"(mspla(_i|_p)?|perflib_server)\.[hc]$")
GENERATED_FOR = ("com", "reg", "cli")
# What C11 gives on every host, and the XML library where XML is read.
PORTABLE = {f"{name}.h" for name in (
    "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic "
    "stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype").split()}
XML_HEADER = re.compile(r"(libxml|libxslt|libexslt)/")
XML_FOR = ("engine/xml", "engine/model", "engine/report", "engine/rules", "engine/page", "engine/tdh")
# The library that unpacks cabinets, and packs them where the host has no cabinet.dll.
PACKING_HEADER, PACKING_FOR = "zlib.h", "engine/cabinet"
# The engine's only files that may name the host's own headers.
HOST_FILES = re.compile(r"engine/os/(win32|posix)/|engine/os/(wintypes|pdh_types|etw_types|odbc_types)\.h$|engine/.*_(dll|api)\.c$")

# Calls on objects that came from a client, and COM's security, are made where they are made with care. VariantChangeType
# asks an object for its value.
CALLS = {
    re.compile(r"\bCoInitializeSecurity\b"): ("com/server.c",),
    re.compile(r"\bCoSetProxyBlanket\b"): ("com/foreign_call.c", "com/server_call.c", "engine/os/win32/management.c"),
    re.compile(r"\bIDispatch_(?:Invoke|GetIDsOfNames)\b"): ("com/foreign_call.c", "com/server_call.c"),
    re.compile(r"\bVariantChangeType\b"): ("com/foreign_call.c",),
    re.compile(r"\bVariantChangeTypeEx\b"): ("com/convert.c",),
    re.compile(r"\blate_invoke\b"): ("com/foreign_call.c", "com/foreign_object.c", "com/server_call.c"),
}
COMMENT = re.compile(r"/\*.*?\*/", re.S)
# Code comes from folders that are said: a library's own, the program's, the system's. LoadLibrary looks into the current
# folder and PATH, and so does LoadLibraryEx without a LOAD_LIBRARY_SEARCH_ flag; a file of data runs no code.
LOADS = re.compile(r"\bLoad(?:Library|PackagedLibrary|Module)(?:Ex)?[AW]?\s*\(([^;]*)")
LOADS_SAFELY = re.compile(r"LOAD_LIBRARY_SEARCH_|LOAD_LIBRARY_AS_DATAFILE")

INCLUDE = re.compile(r"^[ \t]*#[ \t]*(?:include|include_next|import)\b[ \t]*(.*?)[ \t]*$", re.M)
# A file of rows that another file includes by the macro's name is judged where the macro is defined.
ROWS = re.compile(r"\w*ROWS$")
ROWS_DEFINED = re.compile(r"^[ \t]*#[ \t]*define[ \t]+\w*ROWS[ \t]+(\".*?\")[ \t]*$", re.M)
C_LIKE = (".c", ".h", ".def", ".inc", ".rc", ".idl")
LICENSED = C_LIKE + (".cmake", ".py", ".sh", ".vbs", ".js", ".ps1", "CMakeLists.txt", ".clang-tidy", ".clang-format")
EMPTY_NAMES = re.compile(r"util|helper|manager|misc")
LONGEST = 900


def layer_of(path):
    parts = path.split("/")
    below = "/".join(parts[:2])
    return below if len(parts) > 2 and (parts[0] == "engine" or below in ALLOWED) else parts[0]


def check_include(path, layer, written):
    """The complaint about one include line of a file, or None."""
    match = re.match(r'"([^"]+)"|<([^>]+)>', written)
    if ROWS.match(written):
        return None
    if not match:
        return f"cannot be judged: #include {written}"
    quoted, angled = match.groups()
    if quoted and GENERATED.match(quoted):
        return None if layer in GENERATED_FOR else f"{layer} knows no COM: {quoted}"
    if quoted:
        below = layer_of(quoted)
        if "/" not in quoted or ".." in quoted or below not in ALLOWED:
            return f"not a path from the top of the tree: {quoted}"
        return None if below in ALLOWED[layer] or (layer, quoted) in ROWS_BESIDE else f"{layer} may not include {below}: {quoted}"
    if not layer.startswith("engine/") or HOST_FILES.search(path) or angled in PORTABLE:
        return None
    if XML_HEADER.match(angled) and layer in XML_FOR or angled == PACKING_HEADER and layer == PACKING_FOR:
        return None
    return f"not portable C11 outside os/win32 and os/posix: <{angled}>"


def check_file(path, text):
    """Complaints about one file as (line, text) pairs."""
    lines = text.split("\n")
    name = os.path.basename(path)
    if path.endswith(LICENSED) or lines[0].startswith("#!"):
        at = 1 if lines[0].startswith("#!") else 0
        if "SPDX-License-Identifier: MIT" not in (lines[at:at + 1] or [""])[0]:
            yield at + 1, "the licence line is missing: SPDX-License-Identifier: MIT"
        # One IDL file describes one library.
        if len(lines) - 1 > LONGEST and not path.endswith(".idl"):
            yield len(lines) - 1, f"more than {LONGEST} lines: this holds more than one thing"
        if EMPTY_NAMES.search(name.lower().replace("data_manager", "")):
            yield 1, "the file's name says nothing (util, helper, manager, misc)"
    top = path.split("/")[0]
    if top in ("engine", "com", "cli", "reg", "idl") and path.endswith(C_LIKE):
        layer = layer_of(path)
        if layer not in ALLOWED:
            yield 1, f"{layer} is no layer that tests/layers/layers.py knows"
            return
        code = COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
        for called, files in CALLS.items():
            for match in called.finditer(code) if path.endswith((".c", ".inc")) and path not in files else ():
                yield text.count("\n", 0, match.start()) + 1, f"{match.group()} is for {' and '.join(files)}"
        for match in LOADS.finditer(code):
            if not LOADS_SAFELY.search(match.group(1)):
                yield text.count("\n", 0, match.start()) + 1, "a library is loaded from whatever folder"
        for match in [*INCLUDE.finditer(text), *ROWS_DEFINED.finditer(text)]:
            complaint = check_include(path, layer, match.group(1))
            if complaint:
                yield text.count("\n", 0, match.start()) + 1, complaint


def check_tree(top):
    complaints, checked = [], 0
    for path in tree_files(top):
        checked += 1
        complaints += [f"{path}:{line}: {what}" for line, what in check_file(path, read(top, path))]
    return complaints, checked


def self_test():
    """Every rule finds the file that breaks it, and nothing in a tree that keeps them."""
    spdx = "/* SPDX-License-Identifier: MIT */\n"
    good = {
        "engine/os/text.h": spdx + "#include <stddef.h>\n",
        "engine/os/wintypes.h": spdx + "#include <windef.h>\n",
        "engine/os/win32/file.c": spdx + "#include <windows.h>\n",
        "engine/os/posix/file.c": spdx + "#include <unistd.h>\n",
        "engine/pdh/openpdh_dll.c": spdx + "#include <windows.h>\n",
        "engine/model/xml.c": spdx + '#include <libxml/parser.h>\n#include "engine/os/text.h"\n',
        "engine/model/format.c": spdx + '#include "engine/log/log_formats.def"\n',
        "engine/run/run.c": spdx + '#include "engine/collect/collect.h"\n#  include "engine/model/set.def"\n',
        "com/set.c": spdx + '#include "mspla.h"\n#include <windows.h>\n#include "engine/run/run.h"\n',
        "com/foreign_call.c": spdx + "/* late_invoke */\nint x = VariantChangeType(a, b, 0, c);\n",
        "engine/os/win32/load.c": spdx + 'm = LoadLibraryExW(n, NULL,\n LOAD_LIBRARY_SEARCH_SYSTEM32);\n/* LoadLibraryW(x); */\n'
                                         "d = LoadLibraryExW(n, NULL, LOAD_LIBRARY_AS_DATAFILE);\n",
        "com/object.inc": spdx + "#include ROWS\n",
        "com/object.c": spdx + '#define ROWS "engine/model/set.def"\n#include "com/object.inc"\n',
        "reg/data_manager.def": spdx,
        "tests/run.sh": "#!/bin/sh\n# SPDX-License-Identifier: MIT\n",
        "build/x.c": "int x;\n",
    }
    bad = {
        "engine/log/up.c": spdx + '#include "engine/pdh/counter.h"\n',
        "engine/log/def.c": spdx + 'int x;\n  # include   "engine/run/list.def"\n',
        "engine/model/log.c": spdx + '#include "engine/log/log_formats.h"\n',
        "engine/os/model.c": spdx + '#include "engine/model/model.h"\n',
        "engine/pdh/xml.c": spdx + "#include <libxml/parser.h>\n",
        "engine/collect/win.c": spdx + "#include <windows.h>\n",
        "engine/collect/unix.c": spdx + "#include <unistd.h>\n",
        "engine/run/com.c": spdx + '#include "mspla.h"\n',
        "engine/run/beside.c": spdx + '#include "run.h"\n',
        "engine/run/dots.c": spdx + '#include "engine/run/../../com/set.h"\n',
        "engine/run/macro.c": spdx + "#include HEADER\n",
        "engine/run/rows.c": spdx + '#define BASE_ROWS "com/set.def"\n',
        "engine/other/new.c": spdx,
        "com/load.c": spdx + "m = LoadLibraryW(name);\n",
        "cli/load.c": spdx + "m = LoadLibraryExA(name, NULL, 0);\n",
        "engine/pdh/load_api.c": spdx + "m = LoadLibraryExW(path, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);\n",
        "com/value.c": spdx + "\nint x = VariantChangeType(a, b, 0, c);\n",
        "cli/above.c": spdx + '#include "engine/run/run.h"\n',
        "tests/unlicensed.c": "int x;\n",
        "tests/long.c": spdx + "\n" * LONGEST,
        "engine/os/string_utils.h": spdx,
    }
    with tempfile.TemporaryDirectory() as top:
        write_all(top, {**good, **bad})
        complaints, _ = check_tree(top)
    found = {c.split(":")[0] for c in complaints}
    for path in sorted(set(bad) - found):
        print(f"not found: {path}")
    for path in sorted(found - set(bad)):
        print(f"found though right: {path}")
    return found != set(bad)


def main():
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(self_test())
    complaints, checked = check_tree(sys.argv[1] if len(sys.argv) > 1 else ".")
    print("\n".join(complaints))
    print(f"{checked} files, {len(complaints)} complaints")
    sys.exit(1 if complaints or checked < 30 else 0)


main()
