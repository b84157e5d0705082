# SPDX-License-Identifier: MIT
# Functions that install OpenPLA in the Wine prefix $WINEPREFIX. Sourced by installer/bootstrap.sh (from the tree) and
# installer/deb/openpla-server (from the Debian package). The caller sets these variables:
#   bin        folder of the programs
#   wine_run   the path of cmake/wine-run.sh
#   scripts    folder of check.vbs and stop-sets.vbs
#   force      yes: stop running sets that would otherwise block an update
installed_files="openpla.dll openplasrv.exe openplahost.exe openpdh.dll openetw.dll opentdh.dll openapitrace.dll openetwhost.exe openpla.exe"
installed_data="api_trace.man"
files_32="x86/openpla.dll x86/openpdh.dll x86/openetw.dll x86/opentdh.dll x86/openapitrace.dll"

# has_assertions FOLDER: succeeds if the programs in FOLDER were built for tests (OPENPLA_ASSERTS), not for users.
has_assertions() {
    grep -aqF "assertion '%s' failed" "$1/openpla.dll"
}

wine() {
    sh "$wine_run" "$@" 9>&-
}

# Prints the names of the programs that run in the prefix, one per line.
programs() {
    wine 'C:\windows\system32\wbem\wmic.exe' process get Name | tr -d '\0\r ' | tr 'A-Z' 'a-z'
}

runs() {
    programs | grep -qx "$1"
}

# wait_gone PROGRAM SECONDS: waits until the program no longer runs.
wait_gone() {
    left=$2
    while runs "$1"; do
        [ "$left" -gt 0 ] || return 1
        left=$((left - 1))
        sleep 1
    done
}

# Stops what is running: the server always, sets only if requested.
stop_installed() {
    if runs openplahost.exe; then
        if [ "$force" = no ]; then
            echo "A data collector set is running in $WINEPREFIX (stop it, or use --force to stop it)."
            return 1
        fi
        (cd "$scripts" && wine cscript //nologo stop-sets.vbs) || true
        wait_gone openplahost.exe 10 || wine taskkill /f /im openplahost.exe
    fi
    runs openplasrv.exe || return 0
    wine net stop OpenPLA || true
    if ! wait_gone openplasrv.exe 10; then
        wine taskkill /f /im openplasrv.exe
        # A killed server leaves a stale entry, which every later CreateObject would get.
        wine net stop rpcss || true
    fi
}

server_answers() {
    (cd "$scripts" && wine cscript //nologo check.vbs) | tr -d '\r' | grep -x 'OpenPLA is ready'
}

install_files() {
    target="$WINEPREFIX/drive_c/Program Files/OpenPLA"
    wanted_files="$installed_files $installed_data"
    # If the prefix has 32-bit programs, their DLLs are installed beside the server, where /regserver finds them.
    [ ! -e "$WINEPREFIX/drive_c/windows/syswow64/cscript.exe" ] || [ ! -e "$bin/x86/openpla.dll" ] ||
        wanted_files="$wanted_files $files_32"
    changed=no
    for file in $wanted_files; do
        cmp -s "$bin/$file" "$target/$file" || changed=yes
    done
    if [ $changed = no ] && server_answers; then
        echo "unchanged"
        return
    fi
    stop_installed || return 1
    mkdir -p "$target/x86"
    for file in $wanted_files; do
        # Files are renamed into place: a script that has loaded an old file keeps using it.
        cp "$bin/$file" "$target/$file.new" && mv -f "$target/$file.new" "$target/$file" || return 1
    done
    wine 'C:\Program Files\OpenPLA\openplasrv.exe' /regserver || return 1
    server_answers || {
        echo "OpenPLA is registered, but CreateObject(\"PLA.DataCollectorSet\") does not work."
        return 1
    }
}
