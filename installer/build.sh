#!/bin/sh
# SPDX-License-Identifier: MIT
# build.sh [BIN]: the MSI and the zip (build/msi) and the Debian package of the server (build/deb) of the programs in BIN
# (build/mingw/bin), and the Debian packages of what runs without Wine, of the build in build/tools. What each takes is
# told by windows/build.sh, deb/build.sh and deb/native.sh.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
sh "$here/windows/build.sh" "$@"
sh "$here/deb/build.sh" "$@"
sh "$here/deb/native.sh"
