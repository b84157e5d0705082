#!/bin/sh
# SPDX-License-Identifier: MIT
# build.sh [BIN]: the MSI and the zip (build/msi) and the Debian package (build/deb) of the programs in BIN
# (build/mingw/bin). What each takes is told by windows/build.sh and deb/build.sh.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
sh "$here/windows/build.sh" "$@"
sh "$here/deb/build.sh" "$@"
