#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs one Windows program of the tests under Wine, headless and quiet. winedbg is off: with it a crash can exit 0.
: "${WINEPREFIX:?WINEPREFIX is not set; run the tests through ctest}"
export WINEPREFIX
export WINEDEBUG="${WINEDEBUG:--all}"
export WINEDLLOVERRIDES="${WINEDLLOVERRIDES:-mscoree,mshtml=;winemenubuilder.exe,winedbg.exe=d}"
unset DISPLAY WAYLAND_DISPLAY
exec wine "$@"
