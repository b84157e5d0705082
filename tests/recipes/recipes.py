#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""recipes.py BUILD CMAKE NINJA: checks that the recipes in docs/developer/architecture.md, "Adding things", are
complete. Otherwise a contributor who follows one would not get a working addition. Applies five recipes to a copy of
the tree (a property, a logman option, a counter object, a log format, a field of a kernel event), builds openpla and
the reference there, and uses the additions. Fails if a recipe does not name a file that must be changed, or names any
other file.

Objects of BUILD that no change affects are reused, so this takes a small part of a build's time."""
import atexit
import glob
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TREE = pathlib.Path(os.environ["OPENPLA_SOURCE_DIR"])
HERE = pathlib.Path(__file__).resolve().parent
PAGE = "docs/developer/architecture.md"
COPIED = ("CMakeLists.txt", "LICENSE", "README.md", "cli", "cmake", "com", "docs", "engine", "idl", "library", "reg")
# Options of the build that affect its objects.
OPTIONS = ("CMAKE_BUILD_TYPE", "CMAKE_C_COMPILER", "OPENPLA_ASSERTS", "OPENPLA_SANITIZE", "OPENPLA_WERROR",
           "OPENPLA_LIBRARIES", "OPENPLA_SOURCES_DIR", "OPENPLA_PRECOMPILE")
OPTION_ROW = """OPTION(RECIPE, "recipe", NULL, WORDS_ONE, false, ON_CHANGE, LOGMAN_COUNTER, NULL,
       OF_COLLECTOR(NUMBER, "RecipeLimit"), "NUMBER", "limit of the recipe")
"""
PROPERTY_ROW = """PROPERTY(RW, U32, RecipeLimit, STORED("RecipeLimit"), NUMBER(7) RANGE(1, 1000), PLAIN,
         "Limit of the recipe.")
"""
MEMBERS = """    [propget, helpstring("Limit of the recipe")] HRESULT RecipeLimit([out, retval] ULONG *limit);
    [propput, helpstring("Limit of the recipe")] HRESULT RecipeLimit([in] ULONG limit);
"""
FORMAT_ROW = """LOG_FORMAT(LOG_RECIPE, recipe, "Recipe", "RECIPE", ".rcp", '\\0', 0x52435000, true, false, false, false,
           true, false, false, false)
"""
FORMAT_TABLES = """extern const struct log_format_functions log_recipe_functions;
extern const struct log_reader_functions log_recipe_reader;
"""
VERSION_5 = """class Process_V5 : MSNT_SystemTrace
{
};
"""


def append(text):
    return lambda old: old + text


def insert_after(anchor, text):
    """Inserts `text` after `anchor`, which must occur exactly once."""
    return lambda old: replaced(old, anchor, anchor + text)


def replace(anchor, text):
    return lambda old: replaced(old, anchor, text)


def replaced(old, anchor, text):
    if old.count(anchor) != 1:
        raise ValueError(f"{old.count(anchor)} places with {anchor!r}")
    return old.replace(anchor, text)


def new(file):
    return lambda old: (HERE / file).read_text(encoding="utf-8")


def all_of(*changes):
    def change(old):
        for one in changes:
            old = one(old)
        return old
    return change


def next_process_class(old):
    """Adds a copy of the newest process event class with one more field."""
    newest = re.search(r"\[[^\]]*\]\nclass Process_V4_TypeGroup1.*?\n};\n", old, re.S).group(0)
    newest = newest.replace("V4", "V5").replace(", 39}", "}").replace(', "Defunct"}', "}")
    newest = newest.replace("};\n", '    [WmiDataId(13), read] uint32 Recipe;\n};\n')
    return replaced(old, VERSION_5, VERSION_5 + "\n" + newest)


# Heading in the documentation: {file: its change}.
RECIPES = {
    "A property": {
        "idl/pla.idl": insert_after("HRESULT SegmentMaxRecords([in] ULONG records);\n", MEMBERS),
        "reg/interfaces.def": replace('INTERFACE(IPerformanceCounterDataCollector, "03837506", 42)',
                                      'INTERFACE(IPerformanceCounterDataCollector, "03837506", 44)'),
        "engine/pla/performance_counter_collector.def": append(PROPERTY_ROW),
    },
    "A logman option": {"cli/logman/options.def": append(OPTION_ROW)},
    "A counter object": {
        "engine/pdh/objects/object_recipe.c": new("object_recipe.c"),
        "engine/pdh/objects/objects.def": append("COUNTER_OBJECT(recipe)\n"),
        "engine/pdh/core/source.h": replace(
            "X(SOURCE_STAT, ", 'X(SOURCE_RECIPE, "recipe", "/proc/self/status", true) X(SOURCE_STAT, '),
        "docs/user/counters.md": append("\n- Recipe\n"),
        "docs/generate/counters_page.c": replace("and Pressure and Control Group,",
                                                 "and Pressure, Recipe and Control Group,"),
    },
    "A log format": {
        "engine/logs/log_formats.def": append(FORMAT_ROW),
        "engine/logs/recipe/recipe_log.c": new("recipe_log.c"),
        "engine/logs/recipe/recipe_reader.c": new("recipe_reader.c"),
        "engine/logs/CMakeLists.txt": all_of(
            replace("text sql journal names metrics export sql/win32", "text sql journal names metrics export recipe sql/win32"),
            replace("text sql journal names metrics export sql/posix", "text sql journal names metrics export recipe sql/posix")),
        "engine/logs/core/log_formats.h": append(FORMAT_TABLES),
        "engine/logs/core/log.c": insert_after("readers[] = {", "&log_recipe_reader, "),
        "cli/counters/relog.c": replace("|INFLUX|OPENMETRICS", "|INFLUX|OPENMETRICS|RECIPE"),
        "cli/counters/typeperf.c": replace("-f CSV|TSV|BIN|SQL", "-f CSV|TSV|BIN|SQL|RECIPE"),
    },
    "A kernel event": {
        "engine/etw/decode/mof/classic/process.mof": next_process_class,
        "engine/etw/kernel/kernel_tasks.c": all_of(
            replace("PROCESS_VERSION = 4", "PROCESS_VERSION = 5"),
            insert_after('kernel_data_text(d, "", 0); /* its application */\n', "    kernel_data_u32(d, 12345);\n")),
        "engine/etw/decode/CMakeLists.txt": None,
    },
}


def run(*words, **more):
    done = subprocess.run([str(w) for w in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, **more)
    output = done.stdout.decode("utf-8", "replace")
    if done.returncode != 0:
        sys.exit(f"{' '.join(str(w) for w in words)}: exit code {done.returncode}\n{output[-6000:]}")
    return output


def check(good, *what):
    if not good:
        sys.exit("FAILED: " + " ".join(str(w) for w in what))


def check_page():
    """Checks that each recipe names every file that RECIPES changes, or the folder of a new file, and that its steps
    name no other files."""
    text = (TREE / PAGE).read_text(encoding="utf-8")
    for title, edits in RECIPES.items():
        section = re.search(rf"^### {title}\n(.*?)(?=^##)", text, re.S | re.M)
        check(section, f"{PAGE}: the recipe is missing:", title)
        named = set(re.findall(r"`([\w./]+)`", section.group(1)))
        for path in edits:
            folders = [] if (TREE / path).exists() else [name for name in named if name.endswith("/")]
            check(path in named or any(path.startswith(name) for name in folders),
                  f"{PAGE}: '{title}' does not name {path}")
        steps = "".join(re.findall(r"^\d\. .*\n(?:   .*\n)*", section.group(1), re.M))
        for path in re.findall(r"`([\w/]+/[\w.]+)`: ", steps):
            check(path in edits, f"{PAGE}: '{title}' names {path}, which tests/recipes/recipes.py does not edit")


def apply(copy):
    """Applies all recipes. Returns the paths of the changed files."""
    changed = set()
    for title, edits in RECIPES.items():
        for path, change in edits.items():
            if not change:
                continue
            file = copy / path
            old = file.read_text(encoding="utf-8") if file.exists() else ""
            try:
                text = change(old)
            except (ValueError, AttributeError) as e:
                sys.exit(f"{title}: {path}: {e}; update tests/recipes/recipes.py")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            changed.add(str(TREE / path))
    return changed


def reusable(build, ninja, changed):
    """Returns the objects of the build that are newer than all their dependencies, if none of these is changed or
    generated."""
    objects, name, good = [], None, False
    for line in run(ninja, "-C", build, "-t", "deps").splitlines() + ["end: #deps 0"]:
        if not line.startswith(" "):
            if name and good:
                objects.append(name)
            name = line.split(":")[0] if ": #deps " in line and name != line else None
            good = name is not None and name.endswith(".o") and (build / name).exists()
            built = (build / name).stat().st_mtime if good else 0
        elif good and line.strip():
            path = os.path.normpath(build / line.strip())
            generated = path.startswith(f"{build}/") and not path.endswith("/openpla_settings.h")
            good = (path not in changed and not generated and os.path.exists(path) and os.stat(path).st_mtime <= built)
    return objects


def main():
    build, cmake, ninja = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3]
    check_page()
    cache = dict(re.findall(r"^(\w+):\w+=(.*)$", (build / "CMakeCache.txt").read_text(encoding="utf-8"), re.M))
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        copy = scratch / "tree"
        copy.mkdir()
        for name in COPIED:
            if (TREE / name).is_dir():
                shutil.copytree(TREE / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(TREE / name, copy / name)
        objects = reusable(build, ninja, apply(copy))
        (scratch / "reused").write_text("\n".join(objects) + "\n", encoding="utf-8")
        environment = dict(os.environ, RECIPES_REUSED=str(scratch / "reused"), RECIPES_BUILD=str(build))
        out = copy / "build" / build.name
        run(cmake, "-S", copy, "-B", out, "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}", "-DBUILD_TESTING=OFF",
            f"-DCMAKE_C_COMPILER_LAUNCHER={HERE / 'reuse.sh'}", "-DCMAKE_EXE_LINKER_FLAGS=-Wl,-S",
            *[f"-D{name}={cache[name]}" for name in OPTIONS if name in cache], env=environment)
        run(ninja, "-C", out, "openpla_program", "openetwhost", "generate_reference", env=environment)
        compiled = (scratch / "reused.compiled").read_text(encoding="utf-8").splitlines()
        print(f"{len(compiled)} objects compiled, {len(objects)} reusable")
        use(copy, out / "bin/openpla", scratch)


def use(copy, program, scratch):
    """Checks that the additions work as a user expects."""
    work = scratch / "work"
    work.mkdir()
    # Separate sessions for this test, and the kernel event source that needs no rights.
    sessions = f"recipes{os.getpid()}"
    atexit.register(lambda: [os.remove(left) for left in glob.glob(f"/dev/shm/openpla-*/openetw*-{sessions}[-.]*")])
    environment = dict(os.environ, OPENPLA_DATA=str(scratch / "data"), OPENPLA_ETW=sessions,
                       OPENPLA_KERNEL_SOURCE="polling")

    def openpla(*words):
        return run(program, *words, cwd=work, env=environment)

    # The property and its logman option.
    openpla("logman", "create", "counter", "Recipe", "-c", r"\Recipe\Threads", "-f", "csv", "-recipe", "12")
    openpla("logman", "export", "Recipe", "-xml", "set.xml")
    xml = (work / "set.xml").read_bytes().decode("utf-16")
    check("<RecipeLimit>12</RecipeLimit>" in xml, "the set's XML lacks the property:", xml)
    openpla("logman", "import", "Again", "-xml", "set.xml")
    sets = json.loads(openpla("logman", "query", "Again", "--json"))
    check('"RecipeLimit": 12' in json.dumps(sets), "the property did not come back from XML:", sets)
    check("-recipe" in openpla("logman", "create", "counter", "-?"), "logman's help lacks the option")
    # The counter in a log of the new format, copied to an existing format.
    openpla("typeperf", r"\Recipe\Threads", "-sc", "2", "-si", "1", "-f", "recipe", "-o", "a.rcp")
    openpla("relog", "a.rcp", "-f", "CSV", "-o", "a.csv")
    rows = (work / "a.csv").read_text(encoding="utf-8").splitlines()
    check(len(rows) == 3 and r"\Recipe\Threads" in rows[0], "the copy of the log:", rows)
    check(float(rows[1].split(",")[1].strip('"')) >= 1, "the counter has no value:", rows)
    # The reference is generated from the tables.
    for page, words in ("IPerformanceCounterDataCollector.md", "RecipeLimit"), ("counters.md", "recipe.Threads"):
        check(words in (copy / "docs/reference" / page).read_text(encoding="utf-8"), f"{page} does not show {words}")
    # The field of the kernel event.
    openpla("logman", "create", "trace", "NT Kernel Logger", "-p", "Windows Kernel Trace", "(process)", "-o", "k.etl",
            "-ets")
    openpla("logman", "stop", "NT Kernel Logger", "-ets")
    events = openpla("trace", "show", "k.etl", "--json")
    processes = [line for line in events.splitlines() if "CommandLine" in line]
    check(processes and all(re.search(r'"Recipe": ?12345', line) for line in processes), "the field:", processes[:2])


main()
