#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""languages.py WINE-RUN: the examples in C++, Python, PowerShell and C# are correct. Otherwise a user would copy a
wrong name. The C++ example is run. Wine has no Python, PowerShell or .NET here, so for the other examples the syntax is
checked if this system has a parser, and each member that they call must exist in the interfaces (idl/pla.idl). The
PowerShell scripts, including the registration scripts, are parsed by pwsh, or by the npm grammar in the folder
OPENPLA_POWERSHELL (powershell.js)."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

TREE, BIN = os.environ["OPENPLA_SOURCE_DIR"], os.environ["OPENPLA_BIN_DIR"]
EXAMPLES = os.path.join(TREE, "examples")
# The variables that hold objects of OpenPLA in each example. OWN are members that the language adds to these objects.
OBJECTS = {
    "collect_win32com.py": r"(?:data_set|collector|issue)",
    "collect_comtypes.py": r"(?:data_set|collector|plain|issues)",
    "collect.ps1": r"\$(?:set|collector|issue)",
    "collect.cs": r"(?:set|collector|issue)",
}
OWN = {"QueryInterface"}
USED = {"Name", "FileName", "LogFileFormat", "SampleInterval", "PerformanceCounters", "DataCollectors", "Add", "Commit",
        "Start", "Stop", "Query", "Item", "LatestOutputLocation", "CreateDataCollector"}


def read(*path):
    with open(os.path.join(TREE, *path), encoding="utf-8") as file:
        return file.read()


def members():
    idl = "".join(read("idl", name) for name in os.listdir(os.path.join(TREE, "idl")) if name.endswith(".idl"))
    return set(re.findall(r"HRESULT (\w+)\(", idl))


def check_members():
    known = members()
    for name, objects in OBJECTS.items():
        calls = set()
        for chain in re.findall(rf"(?<![\w.]){objects}((?:\.\w+(?:\([^()]*\))?)+)", read("examples", name)):
            calls |= set(re.findall(r"\.(\w+)", re.sub(r"\([^()]*\)", "", chain)))
        assert not calls - known - OWN, f"{name} calls members that no interface has: {calls - known - OWN}"
        assert USED <= calls, f"{name} does another job: it does not call {USED - calls}"


def check_syntax(folder):
    """Checks the syntax; returns the parsers that this host OS lacks."""
    for name in OBJECTS:
        if name.endswith(".py"):
            compile(read("examples", name), name, "exec")
    source = os.path.join(EXAMPLES, "collect.cs")
    for compiler, options in (("mcs", ["-r:Microsoft.CSharp"]), ("csc", [])):
        if shutil.which(compiler):
            subprocess.run([compiler, *options, "-warnaserror", f"-out:{folder}/collect.exe", source], check=True, timeout=600)
    subprocess.run(["sh", f"{TREE}/reg/forms/build.sh", f"{folder}/registration"], check=True, timeout=600)
    scripts = [f"{EXAMPLES}/collect.ps1", *sorted(glob.glob(f"{folder}/registration/*.ps1"))]
    assert len(scripts) == 4, scripts
    for script in scripts if shutil.which("pwsh") else []:
        subprocess.run(["pwsh", "-NoProfile", "-Command", "$e = $null; [void][System.Management.Automation.Language.Parser]::"
                        f"ParseFile('{script}', [ref]$null, [ref]$e); exit $e.Count"], check=True, timeout=600)
    grammar = os.environ.get("OPENPLA_POWERSHELL")
    if grammar:
        subprocess.run(["node", os.path.join(os.path.dirname(os.path.abspath(__file__)), "powershell.js"), grammar, *scripts],
                       check=True, timeout=600)
    return [what for what, there in (("a C# compiler (Debian: mono-mcs)", shutil.which("mcs") or shutil.which("csc")),
                                     ("PowerShell, or npm's grammar of it", shutil.which("pwsh") or grammar)) if not there]


def check_cpp():
    program = os.path.join(BIN, "collect_cpp.exe")
    if not os.path.exists(program):
        print("the C++ example was not built, because the C++ compiler is missing")
        sys.exit(77)
    for _ in range(2):
        done = subprocess.run([sys.argv[1], program, "test-languages-cpp", "2"], capture_output=True, timeout=600, check=False)
        output = done.stdout.decode("cp1252").replace("\r\n", "\n")
        assert not done.returncode and re.fullmatch(
            r"Committed: test-languages-cpp \(\d+ issues\)\nStarted\nLog: C:\\PerfLogs\\Admin\\.*Counters.*\.csv\nDone\.\n",
            output), output
        log = output.split("Log: C:")[1].split("\n")[0].replace("\\", "/")
        with open(os.environ["WINEPREFIX"] + "/drive_c" + log, encoding="cp1252") as file:
            lines = file.read().splitlines()
        assert lines[0].startswith('"(PDH-CSV 4.0)') and lines[0].count(",") == 3 and len(lines) > 1, lines
    assert subprocess.run([sys.argv[1], program, "a", "0"], capture_output=True, timeout=600, check=False).returncode == 2


def main():
    check_members()
    with tempfile.TemporaryDirectory() as folder:
        lacking = check_syntax(folder)
    check_cpp()
    if lacking:
        print("syntax not checked, because these are missing: " + " and ".join(lacking))
        sys.exit(77)


main()
