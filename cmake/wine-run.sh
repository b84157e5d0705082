#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs one Windows program of the tests or of a user under Wine, without a display or debug output. winedbg is disabled,
# because a crash under it can exit with 0.
: "${WINEPREFIX:?WINEPREFIX is not set; run the tests through ctest}"
export WINEPREFIX LC_ALL=C.UTF-8
export WINEDEBUG="${WINEDEBUG:--all}"
export WINEDLLOVERRIDES="${WINEDLLOVERRIDES:-mscoree,mshtml=;winemenubuilder.exe,winedbg.exe=d}"
unset DISPLAY WAYLAND_DISPLAY
# Services and COM servers that the program starts would inherit the caller's pipe and keep it open. So the program
# writes to a file, which is printed when the program exits and is kept if the program is killed.
# If 32-bit programs are supported too, Debian's `wine` is a 32-bit program and would use the 32-bit cscript and
# registry. So wine64 is run instead.
wine=wine
[ ! -x /usr/lib/wine/wine64 ] || wine=/usr/lib/wine/wine64
# With address space randomization, about one Wine program in 7,700 gets its heap where Wine's own data must be and
# exits with 1 without a message. Child processes inherit the setting.
! setarch -R true 2>/dev/null || wine="setarch -R $wine"
# For interactive use: standard streams are passed through. The caller must have started the prefix's services before.
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
