#!/bin/sh
# SPDX-License-Identifier: MIT
# fetch-sources.sh DIR PACKAGE...: unpacks Debian source packages, Debian's patches applied, as DIR/PACKAGE.
# Needs neither root nor a deb-src line on the system: apt gets a private list below DIR.
# OPENPLA_DSC_DIR may name a folder that already holds the .dsc and tar files (no network then).
set -eu
dir=$1
shift
mkdir -p "$dir/dl"
dir=$(cd "$dir" && pwd)
exec 9>"$dir/.lock"
if command -v flock >/dev/null 2>&1; then flock 9; fi
if [ -n "${OPENPLA_DSC_DIR:-}" ]; then
    cp -n "$OPENPLA_DSC_DIR"/*.dsc "$OPENPLA_DSC_DIR"/*.tar.* "$dir/dl/" 2>/dev/null || true
fi

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

for package in "$@"; do
    [ -d "$dir/$package" ] && continue
    if ! ls "$dir/dl/$package"_*.dsc >/dev/null 2>&1; then
        apt=$dir/apt
        mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
        sources >"$apt/sources.list"
        set -- -qq -o Dir::Etc::SourceList="$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null \
            -o Dir::State::Lists="$apt/lists" -o Dir::Cache="$apt/cache" -o APT::Sandbox::User=
        [ -e "$apt/updated" ] || { apt-get "$@" update && : >"$apt/updated"; }
        (cd "$dir/dl" && apt-get "$@" source --download-only "$package")
    fi
    dsc=$(ls "$dir/dl/$package"_*.dsc | sort -V | tail -n 1)
    rm -rf "$dir/$package.new"
    dpkg-source --no-check -x "$dsc" "$dir/$package.new" >/dev/null
    mv "$dir/$package.new" "$dir/$package"
done
