#!/bin/sh
# SPDX-License-Identifier: MIT
# native.sh [BUILD [OUT [PACKAGE ...]]]: builds the Debian packages that run without Wine (all, or only PACKAGE ...)
# from the native build in BUILD (build/tools) into OUT (build/deb). Prints their paths, one per line. See package.sh
# for environment variables; OPENPLA_DEB_ARCHITECTURE names the architecture of BUILD if it is not this computer's.
# A package is defined by native/PACKAGE.control, a template of its control file. The template begins with comments:
#   # components: NAME ...   the components that the package contains (cmake/Install.cmake)
#   # targets: NAME ...      the targets to build first
# @DEPENDS@ becomes the dependencies that dpkg-shlibdeps finds for the package's programs and libraries; @ARCHITECTURE@
# becomes `all` for packages without programs and libraries. Files PACKAGE.NAME in the same folder become DEBIAN/NAME
# (triggers, shlibs, postinst ...); PACKAGE.copyright replaces copyright.in.
set -eu
tree=$(cd "$(dirname "$0")/../.." && pwd)
here=$tree/installer/deb/native
build=$(cd "${1:-$tree/build/tools}" && pwd)
mkdir -p "${2:-$tree/build/deb}"
out=$(cd "${2:-$tree/build/deb}" && pwd)
. "$tree/installer/deb/package.sh"
architecture=${OPENPLA_DEB_ARCHITECTURE:-$(dpkg --print-architecture)}

# comment NAME FILE: prints the text after "# NAME:" in FILE.
comment() {
    sed -n "s/^# $1: *//p" "$2"
}

# Prints the packages that the ELF files in $root need, with their versions.
needed() {
    elf=$(find "$root/usr" -type f \( -perm -100 -o -name '*.so.*' \) -exec sh -c \
        'head -c 4 "$1" | grep -q ELF && printf "%s\n" "${1#"$2/"}"' sh {} "$root" \;)
    [ -n "$elf" ] || return 0
    mkdir -p "$out/shlibs/debian"
    printf 'Source: openpla\n\nPackage: %s\nArchitecture: any\n' "$package" >"$out/shlibs/debian/control"
    # shellcheck disable=SC2086 # a list of names without spaces
    (cd "$out/shlibs" && ln -sfn "$root" root && dpkg-architecture -f -a "$architecture" -c \
        dpkg-shlibdeps -O $(printf 'root/%s ' $elf) >found 2>warnings) ||
        { cat "$out/shlibs/warnings" >&2 && fail "cannot find what '$package' depends on"; }
    sed -n 's/^shlibs:Depends=//p' "$out/shlibs/found"
    rm -rf "$out/shlibs"
}

native_package() {
    control=$here/$1.control
    [ -e "$control" ] || fail "unknown package '$1': '$control' does not exist"
    package_begin "$1"
    # shellcheck disable=SC2046 # a list of names
    cmake --build "$build" --target $(comment targets "$control") >"$out/$1.log" 2>&1 || { cat "$out/$1.log" >&2 && fail "cannot build '$1'"; }
    for component in $(comment components "$control"); do
        DESTDIR=$root cmake --install "$build" --prefix /usr --strip --component "$component" >"$out/$1.log" 2>&1 ||
            { cat "$out/$1.log" >&2 && fail "cannot install the component '$component' of '$build'"; }
    done
    rm -f "$out/$1.log"
    [ -z "$(find "$root/usr/bin" "$root/usr/lib" -type f ! -path '*/dist-packages/*' 2>/dev/null)" ] || packed=$architecture
    find "$root/usr/share/man" -name '*.[1-9]' -exec gzip -9n {} + 2>/dev/null || true
    for file in "$here/$1".*; do
        case $file in
        *.control | *.copyright) ;;
        *) install -m "$(case $file in *inst | *rm) echo 0755 ;; *) echo 0644 ;; esac)" "$file" "$root/DEBIAN/${file##*.}" ;;
        esac
    done
    copyright=$here/copyright.in
    [ ! -e "$here/$1.copyright" ] || copyright=$here/$1.copyright
    package_document "$copyright"
    depends=$(needed)
    package_write "$control" "${packed:-all}" "$depends"
    packed=
}

for tool in dpkg-deb:dpkg dpkg-shlibdeps:dpkg-dev cmake:cmake; do
    command -v "${tool%:*}" >/dev/null || fail "a package is missing: apt-get install ${tool#*:}"
done
[ -e "$build/CMakeCache.txt" ] || fail "'$build' is not a build folder (cmake --preset tools && cmake --build --preset tools)"
packed=
if [ $# -le 2 ]; then
    set -- "${1:-}" "${2:-}" $(cd "$here" && ls ./*.control | sed -e 's|^\./||' -e 's|\.control$||')
fi
shift 2
for name in "$@"; do
    native_package "$name"
done
