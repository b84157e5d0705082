#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""imports.py OBJDUMP FILE... | --32 OBJDUMP FILE... | --self-test: each shipped program imports only the system DLLs
listed here, is hardened, and exports only its own names. An additional DLL could prevent a program from starting on
some computers. The files are all that the build creates outside tests/; each needs an entry here. --32: the DLLs for
32-bit programs."""
import os
import re
import subprocess
import sys

# advapi32: the stack protector gets its random number from it.
BASE = {"kernel32.dll", "msvcrt.dll", "advapi32.dll"}
# Contains the engine, whose locks wait by address (Windows 8 and later, and Wine).
ENGINE = BASE | {"api-ms-win-core-synch-l1-2-0.dll"}
IMPORTS = {
    # ntdll: catches exceptions of called code. iphlpapi: network adapters in configuration documents. crypt32:
    # passwords of sets, if the system has no better store. ws2_32: serves counters under Wine.
    "openpla.dll": ENGINE | {"ole32.dll", "oleaut32.dll", "rpcrt4.dll", "ntdll.dll", "iphlpapi.dll", "crypt32.dll", "ws2_32.dll"},
    # There is one copy of the engine: these programs are thin, and use the engine in openpla.dll (DECISIONS 19).
    "openplasrv.exe": BASE | {"openpla.dll"},
    "openplahost.exe": BASE | {"openpla.dll"},
    # Works without a server and without registration. ntdll: inspects the processes that it starts. ole32, oleaut32:
    # "openpla task" calls Windows' Task Scheduler. Because of "openpla logman", it contains the façade of sets and its
    # dependencies; crypt32: passwords of sets.
    "openpla.exe": ENGINE | {"ntdll.dll", "ole32.dll", "oleaut32.dll", "rpcrt4.dll", "iphlpapi.dll", "crypt32.dll", "ws2_32.dll"},
    # Client examples: they use only the interfaces.
    "query_counters.exe": BASE | {"ole32.dll", "oleaut32.dll"},
    "collect_cpp.exe": BASE | {"ole32.dll", "oleaut32.dll"},
    "control_provider.exe": BASE | {"ole32.dll", "oleaut32.dll", "openetw.dll"},
    # Built only from Windows' headers, as third-party programs are.
    "write_events.exe": BASE | {"openetw.dll"},
    "send_packets.exe": BASE | {"openetw.dll"},
    "trace_session.exe": BASE | {"ole32.dll", "openetw.dll"},
    "read_events.exe": BASE | {"openetw.dll"},
    "relog_events.exe": BASE | {"ole32.dll", "oleaut32.dll"},
    "write_described.exe": BASE | {"openetw.dll"},
    "write_typed.exe": BASE | {"openetw.dll"},
    "write_classic.exe": BASE | {"openetw.dll"},
    "decode_events.exe": BASE | {"openetw.dll"},
    # Any program under Wine can load it, so it uses neither COM nor XML. rpcrt4, ws2_32: queries other computers;
    # ntdll: reads kernel files through handles that it keeps open; crypt32: the stored passwords for other computers.
    "openpdh.dll": ENGINE | {"ntdll.dll", "rpcrt4.dll", "ws2_32.dll", "crypt32.dll"},
    # Loaded into every traced program: imports only DLLs that every process has.
    "openapitrace.dll": ENGINE | {"ntdll.dll"},
    # Like openpdh.dll, any program can load it.
    "openetw.dll": ENGINE | {"ntdll.dll"},
    # openetw.dll forwards the TDH names to it; only programs that decode load it. It contains libxml2 without exporting
    # it.
    "opentdh.dll": ENGINE | {"ntdll.dll"},
    # Every session has one: imports only DLLs that every process has.
    "openetwhost.exe": {"kernel32.dll"},
}
# Every event function of Windows' advapi32. A program that imports a missing name would not start.
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../cli/reach/names.def")) as names_file:
    EVENT_FUNCTIONS = set(re.findall(r"^NAME\((\w+)\)$", names_file.read(), re.M))
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../cli/reach/tdh_names.def")) as names_file:
    TDH_FUNCTIONS = set(re.findall(r"^NAME\((\w+)\)$", names_file.read(), re.M))
EXPORTS = {
    # Pla: the flat functions of pla.dll.
    "openpla.dll": {"DllCanUnloadNow", "DllGetClassObject", "OpenPlaHost", "OpenPlaServer", "PlaDeleteReport",
                    "PlaExpandTaskArguments", "PlaExtractCabinet"},
    "openplasrv.exe": set(),
    "openplahost.exe": set(),
    "openpla.exe": set(),
    "query_counters.exe": set(),
    "collect_cpp.exe": set(),
    "control_provider.exe": set(),
    "write_events.exe": set(),
    "send_packets.exe": set(),
    "trace_session.exe": set(),
    "read_events.exe": set(),
    "write_described.exe": set(),
    "write_typed.exe": set(),
    "write_classic.exe": set(),
    "decode_events.exe": set(),
    "relog_events.exe": set(),
    "openpdh.dll": re.compile(r"(Pdhi?|Pla|Perf)[A-Z]\w+$"),
    "openetwhost.exe": set(),
    "openapitrace.dll": set(),
    "opentdh.dll": TDH_FUNCTIONS,
    "openetw.dll": EVENT_FUNCTIONS | TDH_FUNCTIONS | {"OpenEtwRun", "OpenEtwRunChildren", "OpenEtwSessionHost"}
    | {"DllCanUnloadNow", "DllGetClassObject"},  # ITraceRelogger
}
# HIGH_ENTROPY_VA | DYNAMIC_BASE | NX_COMPAT
HARDENED = 0x0160


def for_32_bits():
    """Changes the lists for 32-bit programs (DECISIONS 42): no server, and no high-entropy addresses."""
    global HARDENED
    HARDENED = 0x0140
    for name in set(IMPORTS) - {"openpla.dll", "openpdh.dll", "openetw.dll", "opentdh.dll", "openapitrace.dll"}:
        del IMPORTS[name]
    EXPORTS["openpla.dll"] = {"DllCanUnloadNow", "DllGetClassObject", "PlaDeleteReport", "PlaExpandTaskArguments",
                              "PlaExtractCabinet"}


def complaints_of_import_library():
    """Checks the import library that 32-bit programs link; its names have suffixes."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../engine/etw/dll/openetw_32.def")
    with open(path, encoding="utf-8") as file:
        names = set(re.findall(r"^    (\w+)(?:@\d+)?$", file.read(), re.M))
    return [f"openetw_32.def: {name} is there or in names.def alone" for name in sorted(names ^ (EVENT_FUNCTIONS | TDH_FUNCTIONS))]


def complaints_of_tdh_library(objdump):
    """Checks the toolchain's import library of tdh.dll: a program that imports a name that we lack would not start."""
    tool = {name: re.sub(r"objdump(?=(\.exe)?$)", name, objdump) for name in ("gcc", "nm")}
    library = subprocess.run([tool["gcc"], "-print-file-name=libtdh.a"], check=True, capture_output=True, text=True).stdout.strip()
    if not os.path.isabs(library):
        return ["libtdh.a: the toolchain has none"]
    symbols = subprocess.run([tool["nm"], library], check=True, capture_output=True, text=True).stdout
    names = set(re.findall(r" T _?(\w+?)(?:@\d+)?$", symbols, re.M))
    print("libtdh.a:", *sorted(names))
    return [f"tdh_names.def: libtdh.a has {name}" for name in sorted(names - TDH_FUNCTIONS)]


def read_headers(dump):
    """Parses objdump -p: imported DLLs, DllCharacteristics, exported names."""
    imports = {name.lower() for name in re.findall(r"^\s*DLL Name: (\S+)", dump, re.M)}
    flags = re.search(r"^DllCharacteristics\s+([0-9a-f]+)", dump, re.M)
    table = re.search(r"^\[Ordinal/Name Pointer\] Table.*?\n(.*?)(?:\n\s*\n|\Z)", dump, re.M | re.S)
    exports = set(re.findall(r"^\s*\[\s*\d+\](?: \+base\[\s*\d+\]\s+\S+)? (\S+)$", table.group(1), re.M)) if table else set()
    return imports, int(flags.group(1), 16) if flags else 0, exports


def complaints_of(name, dump):
    if name not in IMPORTS:
        return [f"{name}: is shipped but has no list in tests/layers/imports.py"]
    imports, flags, exports = read_headers(dump)
    found = []
    if not imports:
        found.append(f"{name}: imports nothing at all, not even kernel32.dll")
    found += [f"{name}: imports {dll}, which is not on its list" for dll in sorted(imports - IMPORTS[name])]
    if flags & HARDENED != HARDENED:
        found.append(f"{name}: DllCharacteristics {flags:#06x} lack some of {HARDENED:#06x}")
    own = EXPORTS[name]
    if isinstance(own, set):
        found += [f"{name}: exports {e}, which is not its own" for e in sorted(exports - own)]
        found += [f"{name}: does not export {e}" for e in sorted(own - exports)]
    else:
        found += [f"{name}: exports {e}, which is not its own" for e in sorted(exports) if not own.match(e)]
        if not exports:
            found.append(f"{name}: exports nothing")
    return found


def self_test():
    table = "[Ordinal/Name Pointer] Table\n{}\nThe Function Table\n"
    good = "DllCharacteristics\t00000160\n\tDLL Name: KERNEL32.dll\n\tDLL Name: msvcrt.dll\n"
    names = table.format("\t[   0] PdhOpenQueryW\n\t[   1] PdhCloseQuery\n")
    newer = table.format("\t[   0] +base[   1]  0000 PdhOpenQueryW\n")
    cases = [
        ("openpdh.dll", good + names, None),
        ("openpdh.dll", good + newer, None),
        ("openpdh.dll", good + names.replace("PdhCloseQuery", "xmlFree"), "exports xmlFree"),
        ("openpdh.dll", good, "exports nothing"),
        ("openpdh.dll", good.replace("msvcrt", "libgcc_s_seh-1") + names, "imports libgcc_s_seh-1.dll"),
        ("openpdh.dll", good.replace("0160", "0140") + names, "DllCharacteristics"),
        ("openplahost.exe", good + names, "exports PdhOpenQueryW"),
        ("openpla.dll", good, "does not export DllGetClassObject"),
        ("stray.exe", good, "has no list"),
    ]
    wrong = 0
    for name, dump, expected in cases:
        found = complaints_of(name, dump)
        if (expected is None and found) or (expected and not any(expected in f for f in found)):
            print(f"{name}: expected {expected}, found {found}")
            wrong += 1
    return wrong


def main():
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(self_test() != 0)
    if sys.argv[1] == "--32":
        del sys.argv[1]
        for_32_bits()
    objdump, paths = sys.argv[1], {os.path.basename(path): path for path in sys.argv[2:]}
    complaints = [f"{name}: is not built" for name in sorted(set(IMPORTS) - set(paths))] \
        + complaints_of_import_library() + complaints_of_tdh_library(objdump)
    for name, path in sorted(paths.items()):
        dump = subprocess.run([objdump, "-p", path], check=True, capture_output=True, text=True).stdout
        complaints += complaints_of(name, dump)
        print(name, *sorted(read_headers(dump)[0]))
    print("\n".join(complaints))
    sys.exit(1 if complaints else 0)


main()
