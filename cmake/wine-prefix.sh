#!/bin/sh
# SPDX-License-Identifier: MIT
# wine-prefix.sh setup|cleanup: the Wine prefix $WINEPREFIX. setup makes it once, or takes it as it is, and keeps one
# wineserver for the session; cleanup ends that. Nothing it starts holds the caller's standard streams.
set -eu
: "${WINEPREFIX:?}"
export WINEPREFIX WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml=;winemenubuilder.exe,winedbg.exe=d"
unset DISPLAY WAYLAND_DISPLAY
log="$WINEPREFIX.log"
case "$1" in
setup)
    mkdir -p "$(dirname "$WINEPREFIX")"
    exec 9>"$WINEPREFIX.lock"
    flock 9
    if [ ! -e "$WINEPREFIX/.ready" ]; then
        rm -rf "$WINEPREFIX"
        wineboot -i >"$log" 2>&1 </dev/null 9>&-
        wine reg add 'HKCU\Software\Wine' /v Version /d win10 /f >>"$log" 2>&1 </dev/null 9>&-
        wine reg add 'HKCU\Software\Wine\Drivers' /v Graphics /d null /f >>"$log" 2>&1 </dev/null 9>&-
        wine reg add 'HKCU\Software\Wine\WineDbg' /v ShowCrashDialog /t REG_DWORD /d 0 /f >>"$log" 2>&1 </dev/null 9>&-
        wineserver -w 9>&-
        : >"$WINEPREFIX/.ready"
    fi
    # Debian's wrapper gives -p0; this one wins: the server leaves 300 s after its last client.
    wineserver -p300 >>"$log" 2>&1 </dev/null 9>&- || true
    wine cmd /c exit 0 >>"$log" 2>&1 </dev/null 9>&-
    ;;
cleanup)
    wineserver -k >>"$log" 2>&1 </dev/null || true
    wineserver -w >>"$log" 2>&1 </dev/null || true
    ;;
*)
    echo "usage: $0 setup|cleanup" >&2
    exit 2
    ;;
esac
