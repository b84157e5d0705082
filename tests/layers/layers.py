#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""layers.py [TREE | --self-test]: checks that each layer includes only lower layers, that objects of clients are called
in one place, that libraries are loaded only from specified folders, and that every source file has its license line, a
reasonable size and a descriptive name."""
import collections
import os
import re
import sys
import tempfile

from tree import read, tree_files, write_all

# The libraries of the engine; each may use only those before it. Headers in a library's own folder are public; its
# subfolders are private to the library and to tests. base/win32 is for all Windows files.
LIBRARIES = ("base", "rpc", "logs", "etw", "pdh", "report", "export", "pla")
# The parts of a library that are linked separately: openpdh.dll has no XML library, and libraries that open logs have
# no sets. A folder without an entry belongs to the part of its parent folder.
PARTS = ("engine/base/xml", "engine/etw/kernel", "engine/etw/decode", "engine/pdh/perflib", "engine/pdh/remote",
         "engine/pdh/client", "engine/pdh/dll", "engine/report/rules", "engine/report/page", "engine/report/compare",
         "engine/pla/model", "engine/pla/store", "engine/pla/task", "engine/pla/cabinet", "engine/pla/retention",
         "engine/pla/collect", "engine/pla/remote",
         *(f"engine/{library}" for library in LIBRARIES),
         "engine/etw/types", "com", "cli/logman", "cli/doctor", "cli", "reg", "idl", "library")
# A public header or file of rows belongs to the part whose C file has the same name. For the following ones there is no
# such C file, or there are two.
ALONE = {f"engine/{path}": f"engine/{part}" for part, paths in {
    "etw/types": "etw/etw_types.h",
    "etw/kernel": "etw/kernel_event.h",
    "etw/decode": "etw/manifest_reader.h etw/tmf.h etw/winmeta.def",
    "pdh": "pdh/absent_counters.def",
    "pdh/client": "pdh/host_pdh.h",
    "report/rules": "report/rules.h",
    "pla/model": "pla/model.h pla/classes.def pla/enumerations.def pla/folder_action.def pla/value_map_item.def "
                 "pla/alert_collector.def pla/api_tracing_collector.def pla/configuration_collector.def "
                 "pla/performance_counter_collector.def pla/data_manager.def",
    "pla/cabinet": "pla/cabinet.h",
    "pla/retention": "pla/retention.h",
    "pla": "pla/run.h",
}.items() for path in paths.split()}
# counter_manifest.c needs libxml2 for event decoding, although the rest of its part does not. So it is linked as a
# separate library.
COUNTER_MANIFEST = re.compile(r"engine/pdh/(perflib/)?counter_manifest\.[ch]$")
BASE, LOGS = ["engine/base"], ["engine/logs", "engine/base"]
RPC = ["engine/rpc"] + BASE
XML = ["engine/base/xml"] + BASE
TYPES = ["engine/etw/types"] + LOGS
KERNEL = ["engine/etw/kernel"] + TYPES
DECODE = ["engine/etw/decode", "engine/base/xml"] + TYPES
ETW = ["engine/etw", "engine/etw/kernel"] + DECODE
PERFLIB = ["engine/pdh/perflib"] + LOGS
PDH = ["engine/pdh"] + PERFLIB
CLIENT = ["engine/pdh/client"] + LOGS
REMOTE = ["engine/pdh/remote", "engine/rpc"] + PDH
REPORT = ["engine/report", "engine/pdh", "engine/pdh/client"] + ETW
EXPORT = ["engine/export"] + REPORT
RULES = ["engine/report/rules"] + REPORT
PAGE = ["engine/report/page", "engine/report", "engine/base/xml"] + LOGS
COMPARE = ["engine/report/compare"] + PAGE
MODEL = ["engine/pla/model", "engine/logs"] + XML
STORE = ["engine/pla/store"] + MODEL
TASK = ["engine/pla/task"] + STORE
CABINET = ["engine/pla/cabinet"] + LOGS
RETENTION = ["engine/pla/retention", "engine/pla/cabinet", "engine/report"] + STORE
COLLECT = ["engine/pla/collect", "engine/pla/model", "engine/pdh/client"] + ETW
PLA = [part for part in PARTS if part.startswith("engine/pla") and part != "engine/pla/remote"] + RULES + PAGE + EXPORT
REMOTE_SETS = ["engine/pla/remote", "engine/rpc"] + PLA
ALLOWED = {
    "engine/base": BASE, "engine/base/xml": XML, "engine/rpc": RPC, "engine/logs": LOGS,
    "engine/etw": ETW, "engine/etw/types": TYPES, "engine/etw/kernel": KERNEL, "engine/etw/decode": DECODE,
    "engine/pdh": PDH, "engine/pdh/perflib": PERFLIB, "engine/pdh/client": CLIENT, "engine/pdh/remote": REMOTE,
    "engine/pdh/dll": ["engine/pdh/dll"] + REMOTE,
    "engine/report": REPORT, "engine/report/rules": RULES, "engine/report/page": PAGE,
    "engine/report/compare": COMPARE, "engine/export": EXPORT,
    "engine/pla/model": MODEL, "engine/pla/store": STORE, "engine/pla/task": TASK, "engine/pla/cabinet": CABINET,
    "engine/pla/retention": RETENTION, "engine/pla/collect": COLLECT, "engine/pla": PLA, "engine/pla/remote": REMOTE_SETS,
    "com": ["com", "reg", "idl", "engine/pdh/remote"] + REMOTE_SETS,
    # The shared library for other programs: reads and writes logs and traces; it has no live counters and no sets.
    "library": ["library"] + REPORT,
    "reg": ["reg", "idl"] + BASE,
    "idl": ["idl"],
    # A client of sets like any other. On Windows it uses the COM wrapper, in a native build the engine directly.
    "cli/logman": ["cli/logman", "cli", "com"] + REMOTE_SETS,
    # Inspects everything: the registration, the server, the store and its runs.
    "cli/doctor": ["cli/doctor", "cli", "com", "reg", "engine/pdh/remote", "engine/rpc"] + PLA,
    "cli": ["cli", "com", "engine/pdh/perflib", "engine/pdh/remote", "engine/report/compare"] + REMOTE_SETS,
}
# Generated by widl and com/remote/make_slots.py; only COM code includes them.
GENERATED = re.compile(r"(mspla(_i|_p)?|perflib_server)\.[hc]$|remote_slots\.inc$")
GENERATED_FOR = ("com", "reg", "cli")
# Standard C11 headers, and the XML library's headers where XML is read.
PORTABLE = {f"{name}.h" for name in (
    "complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic "
    "stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype").split()}
XML_HEADER = re.compile(r"(libxml|libxslt|libexslt)/")
XML_FOR = ("engine/base/xml", "engine/pla/model", "engine/report", "engine/report/rules", "engine/report/page", "engine/etw/decode")
# The library that unpacks cabinets; it also packs them if the host OS has no cabinet.dll.
PACKING_HEADER, PACKING_FOR = "zlib.h", "engine/pla/cabinet"
# The build's configuration. The C library's assert() would show a message box on Windows.
SETTINGS_HEADER, SETTINGS_FOR = "openpla_settings.h", "engine/base/assert.h"
# The only engine files that may include the host OS's own headers.
HOST_FILES = re.compile(r"engine/\w+/(?:\w+/)*(win32|posix)/|engine/.*\b(wintypes|pdh_types|etw_types|odbc_library)\.h$|engine/.*_(dll|api)\.c$")

# Calls on a client's objects, and COM security calls, are allowed only in the files that handle them safely.
# VariantChangeType calls the object for its value.
CALLS = {
    re.compile(r"\bCoInitializeSecurity\b"): ("com/server/server.c",),
    re.compile(r"\bCoSetProxyBlanket\b"): ("com/objects/foreign_object.c", "com/facade/server_call.c", "engine/base/win32/windows_services.c"),
    re.compile(r"\bIDispatch_(?:Invoke|GetIDsOfNames)\b"): ("com/objects/foreign_object.c", "com/facade/server_call.c"),
    re.compile(r"\bVariantChangeType\b"): ("com/objects/foreign_object.c",),
    re.compile(r"\bVariantChangeTypeEx\b"): ("com/objects/convert.c",),
    re.compile(r"\blate_invoke\b"): ("com/objects/foreign_object.c", "com/facade/server_call.c"),
}
COMMENT = re.compile(r"/\*.*?\*/", re.S)
# Code is loaded only from specified folders: a library's own, the program's, the system's. LoadLibrary searches the
# current folder and PATH, as does LoadLibraryEx without a LOAD_LIBRARY_SEARCH_ flag; loading as a data file runs no
# code.
LOADS = re.compile(r"\bLoad(?:Library|PackagedLibrary|Module)(?:Ex)?[AW]?\s*\(([^;]*)")
LOADS_SAFELY = re.compile(r"LOAD_LIBRARY_SEARCH_|LOAD_LIBRARY_AS_DATAFILE")

INCLUDE = re.compile(r"^[ \t]*#[ \t]*(?:include|include_next|import)\b[ \t]*(.*?)[ \t]*$", re.M)
# A file of rows that is included through a macro is checked where the macro is defined.
ROWS = re.compile(r"\w*ROWS$")
ROWS_DEFINED = re.compile(r"^[ \t]*#[ \t]*define[ \t]+\w*ROWS[ \t]+(\".*?\")[ \t]*$", re.M)
C_LIKE = (".c", ".h", ".def", ".inc", ".rc", ".idl")
LICENSED = C_LIKE + (".cmake", ".py", ".sh", ".vbs", ".js", ".ps1", "CMakeLists.txt", ".clang-tidy", ".clang-format")
EMPTY_NAMES = re.compile(r"util|helper|manager|misc")
LONGEST = 900
FOLDER_SOURCES = 30


def part_of(path, sources):
    """Returns the part that a file belongs to; `sources` are the paths of all C files."""
    folder, name = path.rsplit("/", 1) if "/" in path else ("", path)
    if path in ALONE:
        return ALONE[path]
    library = re.fullmatch(r"engine/\w+", folder)
    if library and not name.endswith(".c"):
        same = [c for c in sources if c.startswith(folder + "/") and c.endswith("/" + os.path.splitext(name)[0] + ".c")]
        if len(same) == 1 and same[0].rsplit("/", 1)[0] != folder:
            return part_of(same[0], sources)
    while folder and folder not in PARTS:
        folder = folder.rpartition("/")[0]
    return folder


def is_public(path):
    return path.count("/") == 2 or path.startswith("engine/base/win32/")


def check_include(path, part, written, sources):
    """Returns the complaint about one include line of a file, or None."""
    match = re.match(r'"([^"]+)"|<([^>]+)>', written)
    if ROWS.match(written):
        return None
    if not match:
        return f"cannot be checked: #include {written}"
    quoted, angled = match.groups()
    if quoted and GENERATED.match(quoted):
        return None if part.split("/")[0] in GENERATED_FOR else f"{part} knows no COM: {quoted}"
    if quoted:
        below = part_of(quoted, sources)
        if "/" not in quoted or ".." in quoted or below not in ALLOWED:
            return f"not a path from the top of the tree: {quoted}"
        if below not in ALLOWED[part] and not (COUNTER_MANIFEST.match(path) and below in ETW):
            return f"{part} may not include {below}: {quoted}"
        if quoted.startswith("engine/") and quoted.split("/")[:2] != path.split("/")[:2] and not is_public(quoted):
            return f"not a public header of its library: {quoted}"
        return None
    if not part.startswith("engine/") or HOST_FILES.search(path) or angled in PORTABLE:
        return None
    if XML_HEADER.match(angled) and part in XML_FOR or angled == PACKING_HEADER and part == PACKING_FOR:
        return None
    if (angled, path) == (SETTINGS_HEADER, SETTINGS_FOR):
        return None
    if angled == "assert.h":
        return f'<assert.h>: "{SETTINGS_FOR}" has the assert() of this tree'
    return f"not portable C11 outside win32/ and posix/: <{angled}>"


def check_file(path, text, sources):
    """Yields complaints about one file as (line, text) pairs."""
    lines = text.split("\n")
    name = os.path.basename(path)
    if path.endswith(LICENSED) or lines[0].startswith("#!"):
        at = 1 if lines[0].startswith("#!") else 0
        if "SPDX-License-Identifier: MIT" not in (lines[at:at + 1] or [""])[0]:
            yield at + 1, "the licence line is missing: SPDX-License-Identifier: MIT"
        # An IDL file describes one library and may be long.
        if len(lines) - 1 > LONGEST and not path.endswith(".idl"):
            yield len(lines) - 1, f"more than {LONGEST} lines: this holds more than one thing"
        if EMPTY_NAMES.search(name.lower().replace("data_manager", "")):
            yield 1, "the file's name says nothing (util, helper, manager, misc)"
    top = path.split("/")[0]
    if top in ("engine", "com", "cli", "reg", "idl", "library") and path.endswith(C_LIKE):
        part = part_of(path, sources)
        if part not in ALLOWED:
            yield 1, f"'{path}' is in no library that tests/layers/layers.py knows"
            return
        code = COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
        for called, files in CALLS.items():
            for match in called.finditer(code) if path.endswith((".c", ".inc")) and path not in files else ():
                yield text.count("\n", 0, match.start()) + 1, f"{match.group()} is for {' and '.join(files)}"
        for match in LOADS.finditer(code):
            if not LOADS_SAFELY.search(match.group(1)):
                yield text.count("\n", 0, match.start()) + 1, "a library is loaded from whatever folder"
        for match in [*INCLUDE.finditer(text), *ROWS_DEFINED.finditer(text)]:
            complaint = check_include(path, part, match.group(1), sources)
            if complaint:
                yield text.count("\n", 0, match.start()) + 1, complaint


def check_folders(texts):
    """Yields folders with too many C files, and public headers that no other library includes."""
    folders = collections.Counter(path.rpartition("/")[0] for path in texts if path.endswith(".c"))
    for folder, count in sorted(folders.items()):
        if count > FOLDER_SOURCES:
            yield f"{folder}: {count} C files, more than {FOLDER_SOURCES}"
    used = {(included, "/".join(path.split("/")[:2]))
            for path, text in texts.items() if not path.startswith("tests/")
            for included in [match.group(1).strip('"') for match in [*INCLUDE.finditer(text), *ROWS_DEFINED.finditer(text)]]}
    outside = {included for included, user in used if not included.startswith(user + "/")}
    for path in sorted(texts):
        # Headers of engine/base and engine/rpc need no other user.
        if re.fullmatch(r"engine/(?!base|rpc)\w+/\w+\.(h|def|inc)", path) and path not in outside:
            yield f"{path}: no other library includes it: it belongs in a folder of its library"


def check_tree(top):
    texts = {path: read(top, path) for path in tree_files(top)}
    sources = [path for path in texts if path.endswith(".c") and path.startswith("engine/")]
    complaints = [f"{path}:{line}: {what}" for path, text in texts.items() for line, what in check_file(path, text, sources)]
    return complaints + list(check_folders({p: t for p, t in texts.items() if p.endswith(C_LIKE)})), len(texts)


def self_test():
    """Each rule finds the file that violates it. In a valid tree, the rules find nothing."""
    spdx = "/* SPDX-License-Identifier: MIT */\n"
    good = {
        "engine/base/text.h": spdx + "#include <stddef.h>\n",
        "engine/base/assert.h": spdx + "#include <openpla_settings.h>\n",
        "engine/base/wintypes.h": spdx + "#include <windef.h>\n",
        "engine/base/win32/file.c": spdx + "#include <windows.h>\n",
        "engine/base/posix/file.c": spdx + "#include <unistd.h>\n",
        "engine/pdh/dll/openpdh_dll.c": spdx + "#include <windows.h>\n",
        "engine/pdh/core/query.h": spdx,
        "engine/pdh/core/query.c": spdx + '#include "engine/pdh/core/query.h"\n',
        "engine/pdh/perflib/counter_manifest.c": spdx + '#include "engine/etw/manifest_reader.h"\n',
        "engine/etw/manifest_reader.h": spdx,
        "engine/logs/log.h": spdx,
        "engine/logs/core/log.c": spdx + '#include "engine/logs/log.h"\n',
        "engine/pla/model/xml.c": spdx + '#include <libxml/parser.h>\n#include "engine/base/text.h"\n',
        "engine/pla/model/set.def": spdx,
        "engine/pla/collect/collect.h": spdx,
        "engine/pla/run/run.c": spdx + '#include "engine/pla/collect/collect.h"\n#  include "engine/pla/model/set.def"\n'
                                       '#include "engine/logs/log.h"\n',
        "engine/pla/run.h": spdx,
        "com/objects/set.c": spdx + '#include "mspla.h"\n#include <windows.h>\n#include "engine/pla/run.h"\n',
        "com/objects/foreign_object.c": spdx + "/* late_invoke */\nint x = VariantChangeType(a, b, 0, c);\n",
        "engine/base/win32/load.c": spdx + 'm = LoadLibraryExW(n, NULL,\n LOAD_LIBRARY_SEARCH_SYSTEM32);\n/* LoadLibraryW(x); */\n'
                                           "d = LoadLibraryExW(n, NULL, LOAD_LIBRARY_AS_DATAFILE);\n",
        "engine/pla/model/object.inc": spdx + "#include ROWS\n",
        "engine/pla/model/object.c": spdx + '#define ROWS "engine/pla/model/set.def"\n#include "engine/pla/model/object.inc"\n',
        "reg/data_manager.def": spdx,
        "tests/run.sh": "#!/bin/sh\n# SPDX-License-Identifier: MIT\n",
        "build/x.c": "int x;\n",
    }
    bad = {
        "engine/logs/core/up.c": spdx + '#include "engine/pdh/counter.h"\n',
        "engine/logs/core/def.c": spdx + 'int x;\n  # include   "engine/pla/run/list.def"\n',
        "engine/pla/run/private.c": spdx + '#include "engine/pdh/core/query.h"\n',
        "engine/pla/unused.h": spdx,
        "engine/pdh/core/manifest.c": spdx + '#include "engine/etw/manifest_reader.h"\n',
        "engine/base/model.c": spdx + '#include "engine/pla/model.h"\n',
        "engine/pdh/core/xml.c": spdx + "#include <libxml/parser.h>\n",
        "engine/pla/collect/win.c": spdx + "#include <windows.h>\n",
        "engine/pla/collect/unix.c": spdx + "#include <unistd.h>\n",
        "engine/pla/run/box.c": spdx + "#include <assert.h>\n",
        "engine/pla/run/settings.c": spdx + "#include <openpla_settings.h>\n",
        "engine/pla/run/com.c": spdx + '#include "mspla.h"\n',
        "engine/pla/run/beside.c": spdx + '#include "run.h"\n',
        "engine/pla/run/dots.c": spdx + '#include "engine/pla/run/../../com/set.h"\n',
        "engine/pla/run/macro.c": spdx + "#include HEADER\n",
        "engine/pla/run/rows.c": spdx + '#define BASE_ROWS "com/set.def"\n',
        "engine/other/new.c": spdx,
        "com/server/load.c": spdx + "m = LoadLibraryW(name);\n",
        "cli/load.c": spdx + "m = LoadLibraryExA(name, NULL, 0);\n",
        "engine/pdh/core/load_api.c": spdx + "m = LoadLibraryExW(path, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);\n",
        "com/objects/value.c": spdx + "\nint x = VariantChangeType(a, b, 0, c);\n",
        "reg/above.c": spdx + '#include "engine/pla/run.h"\n',
        "tests/unlicensed.c": "int x;\n",
        "tests/long.c": spdx + "\n" * LONGEST,
        "engine/base/string_utils.h": spdx,
    }
    bad.update({f"engine/etw/crowd/{i}.c": spdx for i in range(FOLDER_SOURCES + 1)})
    with tempfile.TemporaryDirectory() as top:
        write_all(top, {**good, **bad})
        complaints, _ = check_tree(top)
    found = {c.split(":")[0] for c in complaints}
    expected = {path for path in bad if "/crowd/" not in path} | {"engine/etw/crowd"}
    for path in sorted(expected - found):
        print(f"not found: {path}")
    for path in sorted(found - expected):
        print(f"found though right: {path}")
    return found != expected


def main():
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(self_test())
    complaints, checked = check_tree(sys.argv[1] if len(sys.argv) > 1 else ".")
    print("\n".join(complaints))
    print(f"{checked} files, {len(complaints)} complaints")
    sys.exit(1 if complaints or checked < 30 else 0)


main()
