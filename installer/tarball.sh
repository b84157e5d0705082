#!/bin/sh
# SPDX-License-Identifier: MIT
# tarball.sh [OUT]: builds OUT/openpla-tools-VERSION-linux-ARCHITECTURE.tar.xz (OUT: build/tarball). It contains the
# native program as one static file that runs on any Linux of this processor, with its manual pages, completion, schemas
# and rules. The program is built in build/static, from the sources that cmake/fetch-sources.sh fetches and the system's
# libz.a and libc.a.
# It cannot read databases, because unixODBC is a shared library. The tarball is reproducible (see deb/package.sh).
set -eu
tree=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "${1:-$tree/build/tarball}"
out=$(cd "${1:-$tree/build/tarball}" && pwd)
build=$tree/build/static
. "$tree/installer/deb/package.sh"
# shellcheck disable=SC2154
name=openpla-tools-$version-linux-$(uname -m)

# step LOG COMMAND...: runs COMMAND with its output in OUT/LOG, which is shown if COMMAND fails.
step() {
    log=$out/$1
    shift
    "$@" >"$log" 2>&1 </dev/null || {
        tail -n 30 "$log" >&2
        fail "'$1' failed (the whole log: '$log')"
    }
}

step configure.log cmake -S "$tree" -B "$build" --preset tools -DOPENPLA_STATIC=ON -DOPENPLA_LIBRARIES=BUNDLED
step build.log cmake --build "$build" --target tools
rm -rf "${out:?}/$name"
step install.log cmake --install "$build" --component tools --strip --prefix "$out/$name"
# The program also contains the C library.
copyright_write "$tree/installer/deb/copyright.in" | sed \
    -e 's/ and the runtime of MinGW-w64 and GCC, which is$/ and the GNU C library, which is under/' \
    -e 's/^ under the GPL with the runtime library exception, and in the public domain\.$/ the LGPL 2.1 or later; with the source of OpenPLA the program can be linked with another version of it./' \
    >"$out/$name/copyright"
# It also contains Mbed TLS, whose license text must accompany it.
cat "$tree/installer/apache-2.0.txt" >>"$out/$name/copyright"
tar -C "$out" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cJf "$out/$name.tar.xz" "$name"
rm -rf "${out:?}/$name" "$out/configure.log" "$out/build.log" "$out/install.log"
echo "$out/$name.tar.xz"
