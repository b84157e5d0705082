#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""installer/bootstrap.sh with programs in place of CMake's and Debian's. `prefix` and `demo` build only what they
install, with the 32-bit DLLs only for a Wine prefix that has 32-bit programs, and without tests, so they need no test
library. A tree that is already configured with tests keeps them. CMake itself can configure this tree without cmocka.
`test` builds each preset that this host can build, and fails if one of them fails. `tools` builds only the native
program."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TREE = pathlib.Path(os.environ["OPENPLA_SOURCE_DIR"])
PROGRAMS = {"dpkg-query": "printf 'ii '", "apt-get": "exit 1",
            "cmake": 'echo "$*" >>"$ASKED"\n'
                     'case "$*" in "--workflow --preset "*) mkdir -p "build/$3" && : >"build/$3/tests.xml" ;;\n'
                     '"--build --preset $BROKEN"*) exit 9 ;; esac'}
failures = []


def check(good, what):
    if not good:
        failures.append(what)
        print("FAILED:", what)


def bootstrap(folder, verb, broken, cache=None, runs_32=False, architecture="amd64"):
    """Returns bootstrap.sh's exit code and the arguments of CMake's calls. The tree has the given CMakeCache.txt or
    none, and the build of the preset `broken` fails. `runs_32`: Wine creates a prefix with 32-bit programs."""
    shutil.copytree(TREE / "installer", folder / "installer")
    (folder / "cmake").mkdir()
    narrow = '"$WINEPREFIX/drive_c/windows/syswow64"'
    (folder / "cmake/wine-prefix.sh").write_text(
        f"mkdir -p {narrow} && : >{narrow}/cscript.exe\n" if runs_32 else "exit 0\n")
    (folder / "tests/layers").mkdir(parents=True)
    (folder / "tests/layers/skips.py").touch()
    (folder / "programs").mkdir()
    for name, script in {**PROGRAMS, "dpkg": f"echo {architecture}"}.items():
        (folder / "programs" / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / "programs" / name).chmod(0o755)
    if cache:
        (folder / "build/mingw").mkdir(parents=True)
        (folder / "build/mingw/CMakeCache.txt").write_text(cache)
        (folder / "build/mingw/build.ninja").touch()
    question_file = folder / "asked"
    done = subprocess.run(["sh", str(folder / "installer/bootstrap.sh"), *verb],
                          env=dict(os.environ, PATH=f"{folder / 'programs'}:{os.environ['PATH']}", ASKED=str(question_file),
                                   BROKEN=broken),
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return done.returncode, question_file.read_text().splitlines() if question_file.exists() else []


def check_tools(folder):
    """`tools` needs neither Wine nor tests, and works on other architectures."""
    (folder / "arm").mkdir()
    code, calls = bootstrap(folder / "arm" / "tree", ["tools"], "none", architecture="arm64")
    # installer/deb/native.sh then needs the build folder, which this fake CMake does not create.
    check(calls[:2] == ["--preset tools", "--build --preset tools"], f"bootstrap.sh tools: exit code {code}, {calls}")
    code, calls = bootstrap(folder / "arm" / "broken", ["tools"], "tools", architecture="arm64")
    check(code == 1 and len(calls) == 2, f"bootstrap.sh tools goes on after a failed build: exit code {code}, {calls}")
    code, calls = bootstrap(folder / "arm" / "demo", ["demo"], "none", architecture="arm64")
    check(code == 1 and not calls, f"bootstrap.sh demo builds for Wine on arm64: exit code {code}, {calls}")


def check_presets(folder):
    code, calls = bootstrap(folder / "all", ["test"], "none")
    check(code == 0, f"bootstrap.sh test: exit code {code}, {calls}")
    code, _ = bootstrap(folder / "broken", ["test"], "native-bench")
    check(code != 0, "bootstrap.sh test passed although native-bench cannot be built")
    presets = json.loads((TREE / "CMakePresets.json").read_text())
    windows = {preset["name"] for preset in presets["configurePresets"] if "condition" in preset}
    # The preset mingw32 is a part of the preset mingw (cmake/Programs32.cmake).
    check("--preset mingw32" in (TREE / "cmake/Programs32.cmake").read_text(), "mingw does not build the preset mingw32")
    names = {preset["name"] for preset in presets["configurePresets"] if not preset.get("hidden")}
    check(names == {preset["name"] for preset in presets["workflowPresets"]}, "not every preset has a workflow")
    for name in names - windows - {"mingw32"}:
        check(any(f"{verb} --preset {name}" in calls for verb in ("--build", "--workflow")),
              f"bootstrap.sh test does not build the preset {name}: {calls}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for number, verb in enumerate((["demo"], ["prefix"])):
            for built, tests in (("never", "OFF"), ("OFF", "OFF"), ("ON", "ON")):
                for runs_32, targets in ((False, "installed"), (True, "installed installed_32")):
                    cache = None if built == "never" else f"BUILD_TESTING:BOOL={built}\n"
                    tree = folder / f"{number}{built}{runs_32}"
                    words = verb + [str(folder / f"wine{runs_32}")] * (verb == ["prefix"])
                    _, calls = bootstrap(tree, words, "mingw", cache, runs_32)
                    check(calls == [f"--preset mingw -DBUILD_TESTING={tests} -DOPENPLA_ASSERTS=OFF",
                                    f"--build --preset mingw --target {targets}"],
                          f"bootstrap.sh {verb[0]} with {cache!r}: {calls}")
        check_presets(folder)
        check_tools(folder)
        # With BUNDLED libraries CMake needs the sources of libxml2 and libxslt; those of cmocka are missing.
        for library in ("libxml2", "libxslt"):
            (folder / "sources" / library).mkdir(parents=True)
            (folder / "sources" / library / "CMakeLists.txt").touch()
        configured = subprocess.run(
            ["cmake", "-S", str(TREE), "-B", str(folder / "native"), "-G", "Ninja", "-DOPENPLA_LIBRARIES=BUNDLED",
             f"-DOPENPLA_SOURCES_DIR={folder / 'sources'}", "-DBUILD_TESTING=OFF"],
            env=dict(os.environ, OPENPLA_CMOCKA_TAR=str(folder / "missing")), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        check(configured.returncode == 0, f"CMake without tests and cmocka:\n{configured.stdout}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
