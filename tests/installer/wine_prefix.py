#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cmake/wine-prefix.sh with programs in place of Wine's: a prefix that is copied from another is complete, and later
changes in one do not appear in the other. Otherwise a test's registrations would appear in later prefixes."""
import os
import pathlib
import subprocess
import sys
import tempfile

SCRIPT = pathlib.Path(os.environ["OPENPLA_SOURCE_DIR"]) / "cmake/wine-prefix.sh"
LARGE = 200 * 1024  # the size of Wine's programs and its registry
FIRST = "#arch=win64\n" + "x" * LARGE
# Behaves like wineserver, which writes into a registry file with several names instead of replacing it.
WINE = f"""#!/bin/sh
case "$(basename "$0") $1" in
"wine --version") echo wine-0 "(a test)" ;;
"wineboot -i")
    echo made >>"$MADE"
    [ "$BROKEN" != 1 ] || exit 1
    mkdir -p "$WINEPREFIX/dosdevices" "$WINEPREFIX/drive_c/windows/system32" "$WINEPREFIX/drive_c/users/a b"
    ln -s ../drive_c "$WINEPREFIX/dosdevices/c:"
    for file in system.reg drive_c/windows/system32/large.dll "drive_c/users/a b/large"; do
        {{ echo "#arch=win64"; head -c {LARGE} /dev/zero | tr '\\0' x; }} >"$WINEPREFIX/$file"
    done
    echo small >"$WINEPREFIX/user.reg"
    ;;
esac
"""
failures = []


def check(good, what):
    if not good:
        failures.append(what)
        print("FAILED:", what)


def content(prefix):
    return {str(path.relative_to(prefix)): os.readlink(path) if path.is_symlink() else
            path.read_text() if path.is_file() else None
            for path in prefix.rglob("*") if ".openpla" not in path.parts}


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        programs = folder / "programs"
        programs.mkdir()
        for name in ("wine", "wineboot", "wineserver"):
            (programs / name).write_text(WINE)
            (programs / name).chmod(0o755)
        created = folder / "made"

        def prefix(name, **more):
            environment = dict(os.environ, PATH=f"{programs}:{os.environ['PATH']}", MADE=str(created),
                               WINEPREFIX=str(folder / name), OPENPLA_WINE_TEMPLATE=str(folder / "template"), **more)
            done = subprocess.run(["sh", SCRIPT, "setup"], env=environment, stdin=subprocess.DEVNULL, check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            return done.returncode, folder / name

        check(prefix("broken", BROKEN="1")[0] != 0, "a prefix that Wine does not make")
        check(not list(folder.glob("template*")), "nothing is left of it for others")
        check(prefix("broken")[0] == 0, "it is made when it is asked for again")
        first = folder / "broken"
        expected = content(first)
        check(expected["system.reg"] == FIRST and expected["dosdevices/c:"] == "../drive_c", "what the first one has")
        for name in ("second", "third"):
            code, copy = prefix(name)
            check(code == 0 and content(copy) == expected, f"the {name} prefix is as the first one was made")
            # Only Wine's programs are shared between all prefixes.
            for path in ("system.reg", "user.reg", "drive_c/users/a b/large"):
                with open(copy / path, "a", encoding="utf-8") as file:
                    file.write("written in " + name)
        with open(first / "system.reg", "a", encoding="utf-8") as file:
            file.write("written in the first")
        check(content(prefix("fourth")[1]) == expected, "what others write is not in a prefix that is made later")
        check(len(created.read_text().split()) == 2, "Wine is asked for the first one alone")
    return bool(failures)


sys.exit(main())
