#!/bin/sh
# SPDX-License-Identifier: MIT
# build.sh [BIN [OUT]]: builds OUT/openpla_VERSION_amd64.deb, the server under Wine, from the programs in BIN
# (build/mingw/bin; OUT: build/deb). The package depends on openpla-tools, which native.sh builds. See package.sh for
# environment variables.
set -eu
tree=$(cd "$(dirname "$0")/../.." && pwd)
here=$tree/installer/deb
bin=$(cd "${1:-$tree/build/mingw/bin}" && pwd)
mkdir -p "${2:-$tree/build/deb}"
out=$(cd "${2:-$tree/build/deb}" && pwd)
. "$here/package.sh"
. "$tree/installer/prefix.sh"

# Tests may package programs with assertions.
# shellcheck disable=SC2154
[ -n "${OPENPLA_PACKAGE_OF_TESTS:-}" ] || ! has_assertions "$bin" ||
    fail "cannot pack '$bin': built for tests (cmake --preset mingw -DOPENPLA_ASSERTS=OFF && cmake --build --preset mingw)"

for tool in dpkg-deb:dpkg python3:python3 x86_64-w64-mingw32-strip:binutils-mingw-w64-x86-64; do
    command -v "${tool%:*}" >/dev/null || fail "a package is missing: apt-get install ${tool#*:}"
done
package_begin openpla
lib=$root/usr/lib/openpla
doc=$root/usr/share/doc/openpla
mkdir -p "$lib/x86" "$root/usr/share/man/man1" "$root/usr/lib/systemd/system"

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

# /usr/bin/openpla runs openpla-server.
install -m 0755 "$here/openpla-server" "$here/service" "$here/tracefs" "$lib/"
install -m 0644 "$tree/installer/prefix.sh" "$tree/installer/check.vbs" "$tree/installer/stop-sets.vbs" "$lib/"
install -m 0755 "$tree/cmake/wine-run.sh" "$tree/cmake/wine-prefix.sh" "$lib/"
install -m 0644 "$here/openpla.service" "$here/openpla-tracefs.service" "$root/usr/lib/systemd/system/"
install -m 0755 "$here/postinst" "$here/prerm" "$here/postrm" "$root/DEBIAN/"
python3 "$tree/installer/man_pages.py" server "$root/usr/share/man/man1" "$version" "$here/openpla-server"
gzip -9n "$root"/usr/share/man/man1/*.1

# Documentation and examples.
cp -R "$tree/docs" "$tree/examples" "$tree/README.md" "$tree/SECURITY.md" "$doc/"
rm -rf "$doc/docs/generate" "$doc/examples/CMakeLists.txt"
find "$doc" -type f -exec chmod 0644 {} +
package_document "$here/copyright.in"
package_write "$here/control.in" amd64
