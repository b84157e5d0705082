# SPDX-License-Identifier: MIT
# Functions that build Debian packages. Sourced by build.sh (the server), native.sh (packages without Wine) and
# ../tarball.sh, which set `tree` and `out`. Environment variables: OPENPLA_DEB_VERSION overrides the version,
# OPENPLA_DEB_MAINTAINER sets the maintainer, and OPENPLA_DEB_COMPRESSION (none, gzip) selects a faster compression than
# xz. The same files give the same bytes: file times are SOURCE_DATE_EPOCH, or the commit's time.
version=${OPENPLA_DEB_VERSION:-$(sed -n 's/^project(openpla VERSION \([0-9.]*\).*/\1/p' "$tree/CMakeLists.txt")}
maintainer=${OPENPLA_DEB_MAINTAINER:-The OpenPLA authors <authors@openpla.example>}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$tree" log -1 --format=%ct 2>/dev/null || stat -c %Y "$tree/CMakeLists.txt")}
export SOURCE_DATE_EPOCH
umask 022

fail() {
    echo "${0##*/}: $*" >&2
    exit 1
}

# package_begin NAME: creates an empty package root, $root.
package_begin() {
    package=$1
    root=$out/$package
    rm -rf "$root"
    mkdir -p "$root/DEBIAN" "$root/usr/share/doc/$package"
}

# copyright_write TEMPLATE: prints the template with the license text inserted.
copyright_write() {
    sed -e "s|@HOLDER@|$(sed -n 's/^Copyright (c) //p' "$tree/LICENSE")|" "$1"
    sed -n '/^Permission/,$p' "$tree/LICENSE" | sed -e 's/^$/./' -e 's/^/ /'
}

# package_document COPYRIGHT: adds the changelog, and the copyright file from that template.
package_document() {
    {
        echo "openpla ($version) unstable; urgency=medium"
        echo
        echo "  * See CHANGELOG.md and the commit history."
        echo
        echo " -- $maintainer  $(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")"
    } | gzip -9n >"$root/usr/share/doc/$package/changelog.gz"
    copyright_write "$1" >"$root/usr/share/doc/$package/copyright"
}

# package_write CONTROL ARCHITECTURE [DEPENDS]: packs $root and prints the package's path. Lines of CONTROL that begin
# with # are comments. Relations that become empty without DEPENDS are removed.
package_write() {
    # The installed size as dpkg counts it: files by their size, everything else as one kilobyte.
    size=$(find "$root/usr" -type f -printf '%s\n' -o -printf '1\n' | awk '{ n += int(($1 + 1023) / 1024) } END { print n }')
    sed -e '/^#/d' -e "s|@VERSION@|$version|g" -e "s|@MAINTAINER@|$maintainer|" -e "s|@SIZE@|$size|" \
        -e "s|@ARCHITECTURE@|$2|" -e "s|@DEPENDS@|${3:-}|" -e '/^[A-Z][A-Za-z-]*: *$/d' "$1" >"$root/DEBIAN/control"
    (cd "$root" && find usr -type f | LC_ALL=C sort | xargs -d '\n' md5sum) >"$root/DEBIAN/md5sums"
    find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --root-owner-group -Z"${OPENPLA_DEB_COMPRESSION:-xz}" --build "$root" "$out/${package}_${version}_$2.deb" >/dev/null
    echo "$out/${package}_${version}_$2.deb"
}
