#!/bin/sh
# SPDX-License-Identifier: MIT
# build.sh [BIN [OUT]]: OUT/openpla_VERSION_amd64.deb of the programs in BIN (build/mingw/bin; OUT: build/deb). The manual
# pages are generated from the help of openpla.exe, which runs in the Wine prefix $WINEPREFIX (OUT/prefix if none is named).
# OPENPLA_DEB_VERSION overrides the version, OPENPLA_DEB_MAINTAINER sets the maintainer,
# OPENPLA_DEB_COMPRESSION (none, gzip) a faster compression than xz. The same
# programs give the same bytes: file times are SOURCE_DATE_EPOCH, or that of the commit.
set -eu
tree=$(cd "$(dirname "$0")/../.." && pwd)
here=$tree/installer/deb
bin=$(cd "${1:-$tree/build/mingw/bin}" && pwd)
mkdir -p "${2:-$tree/build/deb}"
out=$(cd "${2:-$tree/build/deb}" && pwd)
version=${OPENPLA_DEB_VERSION:-$(sed -n 's/^project(openpla VERSION \([0-9.]*\).*/\1/p' "$tree/CMakeLists.txt")}
maintainer=${OPENPLA_DEB_MAINTAINER:-The OpenPLA authors <authors@openpla.example>}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$tree" log -1 --format=%ct 2>/dev/null || stat -c %Y "$tree/CMakeLists.txt")}
export SOURCE_DATE_EPOCH
umask 022
. "$tree/installer/prefix.sh"

fail() {
    echo "build.sh: $*" >&2
    exit 1
}

# Tests pack what they have.
# shellcheck disable=SC2154
[ -n "${OPENPLA_PACKAGE_OF_TESTS:-}" ] || ! has_assertions "$bin" ||
    fail "cannot pack '$bin': built for tests (cmake --preset mingw -DOPENPLA_ASSERTS=OFF && cmake --build --preset mingw)"

for tool in dpkg-deb:dpkg python3:python3 x86_64-w64-mingw32-strip:binutils-mingw-w64-x86-64; do
    command -v "${tool%:*}" >/dev/null || fail "a package is missing: apt-get install ${tool#*:}"
done
root=$out/root
lib=$root/usr/lib/openpla
doc=$root/usr/share/doc/openpla
rm -rf "$root"
mkdir -p "$root/DEBIAN" "$lib/x86" "$doc" "$root/usr/bin" "$root/usr/share/man/man1" "$root/usr/lib/systemd/system" \
    "$root/usr/share/bash-completion/completions"

# The programs, without debug information.
for file in $installed_files $files_32; do
    case $file in
    x86/*) strip=i686-w64-mingw32-strip ;;
    *) strip=x86_64-w64-mingw32-strip ;;
    esac
    [ -e "$bin/$file" ] || { [ "$strip" = i686-w64-mingw32-strip ] && continue; } || fail "$bin/$file is missing: build first"
    "$strip" --strip-debug --enable-deterministic-archives -o "$lib/$file" "$bin/$file"
    chmod 0644 "$lib/$file"
done
rmdir "$lib/x86" 2>/dev/null || true
install -m 0644 "$bin/$installed_data" "$lib/"
{ echo "$version" && cd "$lib" && find . -type f | LC_ALL=C sort | xargs sha256sum; } >"$out/build"
mv "$out/build" "$lib/build"

# The commands.
install -m 0755 "$here/openpla" "$root/usr/bin/openpla"
install -m 0755 "$here/service" "$here/tracefs" "$lib/"
install -m 0644 "$tree/installer/prefix.sh" "$tree/installer/check.vbs" "$tree/installer/stop-sets.vbs" "$lib/"
install -m 0755 "$tree/cmake/wine-run.sh" "$tree/cmake/wine-prefix.sh" "$lib/"
install -m 0644 "$here/openpla.service" "$here/openpla-tracefs.service" "$root/usr/lib/systemd/system/"
install -m 0755 "$here/postinst" "$here/prerm" "$here/postrm" "$root/DEBIAN/"

# Manual pages and completion.
if [ -z "${WINEPREFIX:-}" ]; then
    WINEPREFIX=$out/prefix
    export WINEPREFIX
fi
sh "$tree/cmake/wine-prefix.sh" setup </dev/null
date=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%d)
python3 "$here/man_pages.py" "$root/usr/share/man/man1" "$version" "$date" "$here/openpla" sh "$tree/cmake/wine-run.sh" \
    "$bin/openpla.exe"
gzip -9n "$root"/usr/share/man/man1/*.1
sh "$tree/cmake/wine-run.sh" "$bin/openpla.exe" completion bash >"$root/usr/share/bash-completion/completions/openpla"
[ "$WINEPREFIX" != "$out/prefix" ] || sh "$tree/cmake/wine-prefix.sh" cleanup

# Pages and examples.
cp -R "$tree/docs" "$tree/examples" "$tree/README.md" "$tree/SECURITY.md" "$doc/"
rm -rf "$doc/docs/generate" "$doc/examples/CMakeLists.txt"
find "$doc" -type f -exec chmod 0644 {} +
{
    echo "openpla ($version) unstable; urgency=medium"
    echo
    echo "  * See CHANGELOG.md and the commit history."
    echo
    echo " -- $maintainer  $(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")"
} | gzip -9n >"$doc/changelog.gz"
holder=$(sed -n 's/^Copyright (c) //p' "$tree/LICENSE")
{
    sed -e "s|@HOLDER@|$holder|" "$here/copyright.in"
    sed -n '/^Permission/,$p' "$tree/LICENSE" | sed -e 's/^$/./' -e 's/^/ /'
} >"$doc/copyright"

# The installed size as dpkg counts it: a file by its bytes, everything else as one kilobyte.
size=$(find "$root/usr" -type f -printf '%s\n' -o -printf '1\n' | awk '{ n += int(($1 + 1023) / 1024) } END { print n }')
sed -e "s|@VERSION@|$version|" -e "s|@MAINTAINER@|$maintainer|" -e "s|@SIZE@|$size|" "$here/control.in" \
    >"$root/DEBIAN/control"
(cd "$root" && find usr -type f | LC_ALL=C sort | xargs -d '\n' md5sum) >"$root/DEBIAN/md5sums"
find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group -Z"${OPENPLA_DEB_COMPRESSION:-xz}" --build "$root" "$out/openpla_${version}_amd64.deb" >/dev/null
echo "$out/openpla_${version}_amd64.deb"
