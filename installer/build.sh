#!/bin/sh
# SPDX-License-Identifier: MIT
# build.sh [BIN]: builds the MSI and the zip (in build/msi) and the Debian package of the server (in build/deb) from the
# programs in BIN (build/mingw/bin), and the Debian packages that run without Wine from the build in build/tools.
# windows/build.sh, deb/build.sh and deb/native.sh describe their inputs.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
sh "$here/windows/build.sh" "$@"
sh "$here/deb/build.sh" "$@"
sh "$here/deb/native.sh"
