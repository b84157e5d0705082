#!/bin/sh
# SPDX-License-Identifier: MIT
# reproducible.sh [COMMIT]: builds two clones of COMMIT (default HEAD) in folders with different names, one after the
# other, and compares the shipped files byte by byte: programs, the DLLs for 32-bit programs, the MSI, the zip and the
# Debian package. Takes some minutes; not run by CI.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
commit=$(git -C "$top" rev-parse "${1:-HEAD}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
for clone in one another-longer-name; do
    git clone -q --no-checkout "$top" "$work/$clone"
    git -C "$work/$clone" checkout -q "$commit"
    # Debian's sources, if this tree has already fetched them.
    mkdir "$work/$clone/third_party"
    [ ! -d "$top/third_party/dl" ] || cp -R "$top/third_party/dl" "$work/$clone/third_party/"
    # A compiler cache would copy the first build's objects into the second.
    (unset CMAKE_C_COMPILER_LAUNCHER && cd "$work/$clone" && cmake --preset mingw -DBUILD_TESTING=OFF -DOPENPLA_ASSERTS=OFF &&
        cmake --build --preset mingw && cmake --preset tools && sh installer/build.sh) >"$work/$clone.log" 2>&1 || {
        tail -n 20 "$work/$clone.log"
        exit 1
    }
    (cd "$work/$clone/build" && rm -rf deb/openpla deb/openpla-tools && find mingw/bin msi deb -type f \( -name '*.dll' -o -name '*.exe' \
        -o -name '*.msi' -o -name '*.zip' -o -name '*.deb' \) -exec sha256sum {} + | sort -k 2) >"$work/$clone.sums"
    # The second build must not run within the same second, which would hide time stamps.
    sleep 2
done
cat "$work/one.sums"
if ! diff "$work/one.sums" "$work/another-longer-name.sums"; then
    echo "The builds differ."
    exit 1
fi
echo "Both builds are the same bytes."
