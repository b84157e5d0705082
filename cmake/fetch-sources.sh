#!/bin/sh
# SPDX-License-Identifier: MIT
# fetch-sources.sh DIR PACKAGE...: unpacks Debian source packages, Debian's patches applied, as DIR/PACKAGE.
# Needs neither root nor a deb-src line on the system: apt gets a private list below DIR.
# Where the mirrors lack a package, OPENPLA_<PACKAGE>_TAR (OPENPLA_CMOCKA_TAR) names a tar file of its source, which is
# taken as it is: without Debian's patches, and without network.
set -eu
dir=$1
shift
mkdir -p "$dir/dl"
dir=$(cd "$dir" && pwd)
exec 9>"$dir/.lock"
if command -v flock >/dev/null 2>&1; then flock 9; fi

# This system's own Debian mirrors as deb-src lines: what reaches its packages reaches its sources.
sources() {
    suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
    key='[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]'
    {
        cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null | sed -n 's/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*\) .*/\2/p'
        cat /etc/apt/sources.list.d/*.sources 2>/dev/null | sed -n 's/^URIs: *//p' | tr ' ' '\n'
    } | grep -E '/debian(-security)?/?$' | sort -u | while read -r uri; do
        case $uri in
        *security*) echo "deb-src $key $uri $suite-security main" ;;
        ?*) echo "deb-src $key $uri $suite main" ;;
        esac
    done
}

# The source package, downloaded and unpacked as DIR/PACKAGE.new.
from_mirror() {
    if ! ls "$dir/dl/$1"_*.dsc >/dev/null 2>&1; then
        apt=$dir/apt
        mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
        sources >"$apt/sources.list"
        package=$1
        set -- -qq -o Dir::Etc::SourceList="$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null \
            -o Dir::State::Lists="$apt/lists" -o Dir::Cache="$apt/cache" -o APT::Sandbox::User=
        [ -e "$apt/updated" ] || { apt-get "$@" update && : >"$apt/updated"; } || return 1
        (cd "$dir/dl" && apt-get "$@" source --download-only "$package") || return 1
        set -- "$package"
    fi
    dsc=$(ls "$dir/dl/$1"_*.dsc | sort -V | tail -n 1)
    dpkg-source --no-check -x "$dsc" "$dir/$1.new" >/dev/null
}

# no_source PACKAGE VARIABLE
no_source() {
    tar=$(ls "$dir/dl/$1"_*.orig.tar.* 2>/dev/null | grep -v '\.asc$' | sort -V | tail -n 1)
    {
        echo "No source of $1: this system's Debian mirrors do not have it whole ($dir/apt/sources.list)."
        echo "Name a tar file of $1's source by the variable $2, and configure again:"
        echo "    $2=${tar:-/path/of/$1.tar.xz}"
        [ -z "$tar" ] || echo "That file came from the mirror, checked by apt; Debian's patches to it did not."
    } >&2
    exit 1
}

for package in "$@"; do
    [ -d "$dir/$package" ] && continue
    variable=OPENPLA_$(echo "$package" | tr 'a-z-' 'A-Z_')_TAR
    eval "tar=\${$variable:-}"
    rm -rf "$dir/$package.new"
    if [ -n "$tar" ]; then
        mkdir "$dir/$package.new"
        tar -xf "$tar" -C "$dir/$package.new" --strip-components=1 || {
            echo "$variable: \"$tar\" is no tar file that can be unpacked" >&2
            exit 1
        }
    else
        from_mirror "$package" || no_source "$package" "$variable"
    fi
    mv "$dir/$package.new" "$dir/$package"
done
