#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs one Windows program, of the tests or of a user, under Wine, headless and quiet. winedbg is off: with it a crash can exit 0.
: "${WINEPREFIX:?WINEPREFIX is not set; run the tests through ctest}"
export WINEPREFIX LC_ALL=C.UTF-8
export WINEDEBUG="${WINEDEBUG:--all}"
export WINEDLLOVERRIDES="${WINEDLLOVERRIDES:-mscoree,mshtml=;winemenubuilder.exe,winedbg.exe=d}"
unset DISPLAY WAYLAND_DISPLAY
# Services and COM servers that the program brings up would inherit the caller's pipe and hold it open; so the program
# writes to a file, which is shown at its end and stays if the program is killed.
# Where 32-bit programs run too, Debian's wine starts as one, and would take cscript and the registry of those.
wine=wine
[ ! -x /usr/lib/wine/wine64 ] || wine=/usr/lib/wine/wine64
# Where addresses are dealt out at random, one Wine program in some 7,700 has its heap where Wine's own data must be: it
# ends with 1 before it says a word. What it starts has its places as it does.
! setarch -R true 2>/dev/null || wine="setarch -R $wine"
# For people: what they type and read goes through. Who says so has started the prefix' services before.
[ "${OPENPLA_WINE_RUN:-}" != through ] || exec $wine "$@"
mkdir -p "$WINEPREFIX/.openpla/out" || exit 1
out=$(mktemp "$WINEPREFIX/.openpla/out/${1##*[/\\]}.XXXXXX") || exit 1
$wine "$@" >"$out" 2>&1 </dev/null 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
program=$!
trap 'kill "$program" 2>/dev/null; exit 143' HUP INT TERM
wait "$program"
rc=$?
if [ ! -s "$out" ] && [ "$rc" -ne 0 ]; then
    echo "$1 ended with $rc and wrote nothing" >&2
fi
cat "$out"
rm -f "$out"
exit $rc
