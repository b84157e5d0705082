#!/bin/sh
# SPDX-License-Identifier: MIT
# wine-prefix.sh setup|cleanup: manages the Wine prefix $WINEPREFIX. setup creates the prefix if it does not exist and
# keeps its wineserver running for five minutes after the last program; cleanup stops the wineserver. No process that
# this script starts keeps the caller's streams open.
# If $OPENPLA_WINE_TEMPLATE is set, a new prefix is also saved there, and later prefixes are copied from it, which takes
# a tenth of the time.
# $WINEPREFIX/.openpla has the files of this tree's scripts: lock, log, marker files and the output of running programs.
set -eu
: "${WINEPREFIX:?}"
# As in wine-run.sh: without address randomization, Wine programs and their children fail less often at startup.
if [ "${OPENPLA_PLACED:-}" != yes ] && setarch -R true 2>/dev/null; then
    OPENPLA_PLACED=yes exec setarch -R sh "$0" "$@"
fi
case $WINEPREFIX in
/*) ;;
*) WINEPREFIX=$(pwd)/$WINEPREFIX ;;
esac
export WINEPREFIX WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml=;winemenubuilder.exe,winedbg.exe=d" LC_ALL=C.UTF-8
unset DISPLAY WAYLAND_DISPLAY
# wineserver and the services outlive this script, so they must not inherit the caller's descriptors.
exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
own="$WINEPREFIX/.openpla"

quiet() {
    "$@" >>"$own/log" 2>&1 </dev/null 9>&-
}

# copy_prefix FROM TO: copies a prefix without .openpla. Large files in drive_c/windows are Wine's own programs, which
# nobody changes, so they become hard links if the file system allows that. Registry files must not be hard links:
# wineserver replaces a file that has one name, but writes into a file that has several, and would change the other
# prefixes.
copy_prefix() {
    mkdir -p "$2" && cd "$1" || return 1
    find . -mindepth 1 -path ./.openpla -prune -o -type d -print0 | (cd "$2" && xargs -0 mkdir -p) || return 1
    # shellcheck disable=SC2016 # for that shell
    find . -path './drive_c/windows/*' -type f -size +127k -print0 |
        xargs -0 -r sh -c 'cp -l --parents -t "$0" "$@" 2>/dev/null || cp -a --parents -t "$0" "$@"' "$2" || return 1
    find . -path ./.openpla -prune -o ! -type d ! \( -path './drive_c/windows/*' -type f -size +127k \) -print0 |
        xargs -0 cp -a --parents -t "$2"
}

# Templates are named by Wine version. A template with its final name is complete, because it is renamed last.
copy_from_template() {
    [ -n "${OPENPLA_WINE_TEMPLATE:-}" ] && [ -d "$OPENPLA_WINE_TEMPLATE-$(wine --version)" ] || return 1
    (copy_prefix "$OPENPLA_WINE_TEMPLATE-$(wine --version)" "$WINEPREFIX") >>"$own/log" 2>&1
}

save_template() {
    [ -n "${OPENPLA_WINE_TEMPLATE:-}" ] || return 0
    if ! (copy_prefix "$WINEPREFIX" "$OPENPLA_WINE_TEMPLATE.$$") >>"$own/log" 2>&1 ||
        ! mv -T "$OPENPLA_WINE_TEMPLATE.$$" "$OPENPLA_WINE_TEMPLATE-$(wine --version)" >>"$own/log" 2>&1; then
        rm -rf "$OPENPLA_WINE_TEMPLATE.$$"
    fi
}

# Three quarters of each copy of a Wine program in a prefix are debug information. Wine loads the programs from its
# library folder, so the debug information is not needed here. Files that are not programs stay unchanged.
strip_programs() {
    for strip in x86_64-w64-mingw32-strip strip; do
        command -v "$strip" >/dev/null || continue
        find "$WINEPREFIX/drive_c/windows" -type f -size +127k -print0 |
            xargs -0 "$strip" --strip-debug >/dev/null 2>&1 || true
        break
    done
}

empty_prefix() {
    find "$WINEPREFIX" -mindepth 1 -maxdepth 1 ! -name .openpla -exec rm -rf {} +
}

make_prefix() {
    if [ -e "$own/making" ]; then
        # An earlier setup was interrupted.
        quiet wineserver -k || true
        empty_prefix
    fi
    : >"$own/making"
    : >"$own/log"
    if copy_from_template; then
        rm "$own/making"
        return
    fi
    empty_prefix
    # Windows 10, without a window system; a crash ends the program without a dialog. The server writes the settings to
    # disk when it exits.
    quiet wineboot -i &&
        quiet wine reg add 'HKCU\Software\Wine' /v Version /d win10 /f &&
        quiet wine reg add 'HKCU\Software\Wine\Drivers' /v Graphics /d null /f &&
        quiet wine reg add 'HKCU\Software\Wine\WineDbg' /v ShowCrashDialog /t REG_DWORD /d 0 /f &&
        quiet wineserver -k && quiet wineserver -w && [ -e "$WINEPREFIX/system.reg" ] || return 1
    strip_programs
    save_template
    rm "$own/making"
}

case "${1:-}" in
setup)
    # A prefix that already exists is used unchanged, with its owner's settings.
    if [ -d "$WINEPREFIX" ] && [ ! -e "$WINEPREFIX/system.reg" ] && [ ! -d "$own" ] && [ -n "$(ls -A "$WINEPREFIX")" ]; then
        echo "$WINEPREFIX is neither empty nor a Wine prefix" >&2
        exit 1
    fi
    mkdir -p "$own"
    exec 9>"$own/lock"
    flock 9
    if [ -e "$own/making" ] || [ ! -e "$WINEPREFIX/system.reg" ]; then
        make_prefix || {
            echo "Wine could not create the prefix $WINEPREFIX; the end of $own/log:" >&2
            tail -n 10 "$own/log" >&2
            exit 1
        }
    fi
    # Debian's wrapper passes -p0, but this later option wins: the server exits 300 s after its last client.
    quiet wineserver -p300 || true
    quiet wine cmd /c exit 0
    ;;
cleanup)
    [ -d "$own" ] || exit 0
    quiet wineserver -k || true
    quiet wineserver -w || true
    ;;
*)
    echo "usage: WINEPREFIX=DIR $0 setup|cleanup" >&2
    exit 2
    ;;
esac
