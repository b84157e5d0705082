#!/bin/sh
# SPDX-License-Identifier: MIT
# build.sh [BIN]: builds the MSI and the zip (build/msi) and the server's Debian package (build/deb) from the programs
# in BIN (build/mingw/bin), and the Debian packages of the programs and libraries that run without Wine from
# build/tools. See windows/build.sh, deb/build.sh and deb/native.sh for their options.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
sh "$here/windows/build.sh" "$@"
sh "$here/deb/build.sh" "$@"
sh "$here/deb/native.sh"
