#!/bin/sh
# SPDX-License-Identifier: MIT
# fetch-sources.sh DIR PACKAGE...: unpacks the Debian source package of each PACKAGE as DIR/PACKAGE. It needs neither
# root nor deb-src lines: apt uses private package lists below DIR. For each package it uses the first of these sources
# that it can fetch and verify:
#   1. the tar file named by OPENPLA_<PACKAGE>_TAR (such as OPENPLA_CMOCKA_TAR): used unverified, without network
#   2. a source package in DIR/dl: dpkg-source verifies its files
#   3. a source package in the index of this system's Debian release, newest version first: apt verifies it
#   4. a source package in the index of another release that supports this tree (bookworm, trixie)
#   5. an upstream tar file, from DIR/dl or the mirrors' pool, with a SHA-256 in sources.txt; it lacks Debian's
#      patches, so the script reports it
# Steps 3 to 5 use only the mirrors that the system's own packages come from. An index can list files that the mirror
# lacks.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dir=$1
shift
mkdir -p "$dir/dl"
dir=$(cd "$dir" && pwd)
exec 9>"$dir/.lock"
if command -v flock >/dev/null 2>&1; then flock 9; fi
own_suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
suites=$own_suite
for suite in trixie bookworm; do
    [ "$suite" = "$own_suite" ] || suites="$suites $suite"
done
updated=

# is_usable PACKAGE VERSION: succeeds if this tree supports that version. Mbed TLS 2 lacks TLS 1.3 and is no longer
# maintained; Mbed TLS 4 has different functions.
is_usable() {
    case $1 in
    mbedtls) dpkg --compare-versions "$2" ge 3.6 && dpkg --compare-versions "$2" lt 4 ;;
    esac
}

say() {
    echo "fetch-sources.sh: $*" >&2
}

# Prints this system's Debian mirrors, one "[OPTIONS] URI" per line. Mirrors that serve the binary packages also serve
# the sources.
mirrors() {
    lists=/etc/apt/sources.list
    parts=/etc/apt/sources.list.d
    eval "$(apt-config shell lists Dir::Etc::sourcelist/f parts Dir::Etc::sourceparts/d)"
    key='[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]'
    {
        cat "$lists" "${parts%/}"/*.list 2>/dev/null |
            sed -n -e 's/^deb \(\[[^]]*\]\) *\([^ ]*\) .*/\1 \2/p' -e "s|^deb \([^[ ][^ ]*\) .*|$key \1|p"
        cat "${parts%/}"/*.sources 2>/dev/null | sed -n 's/^URIs: *//p' | tr ' ' '\n' | sed "s|^|$key |"
    } | grep -E '/debian(-security)?/?$' | sort -u
}

# apt_in SUITE TOOL ARGUMENTS: runs an apt tool with only the package lists of that suite.
apt_in() {
    state=$dir/apt/$1
    tool=$2
    shift 2
    "$tool" -qq -o Dir::Etc::SourceList="$state/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State::Lists="$state/lists" -o Dir::Cache="$state/cache" -o APT::Sandbox::User= "$@" </dev/null
}

# update SUITE: fetches the suite's index once per run. A failing mirror does not prevent the use of the others.
update() {
    case " $updated " in *" $1 "*) return ;; esac
    updated="$updated $1"
    mkdir -p "$dir/apt/$1/lists/partial" "$dir/apt/$1/cache/archives/partial"
    mirrors | while read -r mirror; do
        case $mirror in
        *security*) echo "deb-src $mirror $1-security main" ;;
        *) echo "deb-src $mirror $1 main" ;;
        esac
    done >"$dir/apt/$1/sources.list"
    apt_in "$1" apt-get update || true
}

# unpack_package DSC PACKAGE: unpacks a source package if its files match the checksums in DSC. A signature that cannot
# be checked causes only a warning.
unpack_package() {
    dpkg-source -x "$1" "$dir/$2.new" >/dev/null || discard "$2"
}

# unpack_tar TAR PACKAGE: unpacks an upstream tar file.
unpack_tar() {
    { mkdir "$dir/$2.new" && tar -xf "$1" -C "$dir/$2.new" --strip-components=1; } || discard "$2"
}

# discard PACKAGE: removes a partly unpacked package, and always fails.
discard() {
    rm -rf "$dir/$1.new"
    return 1
}

from_downloads() {
    for dsc in $(cd "$dir/dl" && ls "$1"_*.dsc 2>/dev/null | sort -rV); do
        is_usable "$1" "${dsc#*_}" || continue
        if unpack_package "$dir/dl/$dsc" "$1"; then return; fi
        say "$dsc: its files are not all in $dir/dl with the checksums that it names"
    done
    return 1
}

# from_index PACKAGE SUITE: downloads and unpacks the newest usable source package of the suite.
from_index() {
    update "$2"
    for version in $(apt_in "$2" apt-cache showsrc --only-source "$1" 2>/dev/null | sed -n 's/^Version: //p' | sort -urV); do
        is_usable "$1" "$version" || continue
        if (cd "$dir/dl" && apt_in "$2" apt-get source --only-source --download-only "$1=$version") &&
            unpack_package "$dir/dl/$1_${version#*:}.dsc" "$1"; then
            return
        fi
        say "$1 $version: the index of $2 names it, but the mirror does not have all of it"
    done
    return 1
}

# is_pinned FILE SHA256: succeeds if the file exists and has this hash.
is_pinned() {
    [ -e "$1" ] && echo "$2  $1" | sha256sum --check --status
}

# download URI FILE SHA256: downloads a file and verifies it.
download() {
    PATH=$PATH:/usr/lib/apt apt-helper -qq -o APT::Sandbox::User= download-file "$1" "$2" "SHA256:$3" </dev/null &&
        is_pinned "$2" "$3"
}

# from_tar PACKAGE [URI]: unpacks an upstream tar file listed in sources.txt, from DIR/dl or from the pool at URI.
from_tar() {
    grep "^$1 " "$here/sources.txt" | while read -r package sha256 path; do
        file=$dir/dl/${path##*/}
        if is_pinned "$file" "$sha256" || { [ -n "${2:-}" ] && download "$2/$path" "$file" "$sha256"; }; then
            unpack_tar "$file" "$package" || continue
            say "$package: built from upstream's ${path##*/}, without Debian's patches: no mirror has the whole source package"
            break
        fi
    done
    [ -d "$dir/$1.new" ]
}

from_pools() {
    for uri in $(mirrors | sed -e 's/^\[[^]]*\] *//' -e '/security/d' -e 's|/$||'); do
        if from_tar "$1" "$uri/pool"; then return; fi
    done
    return 1
}

# Prints the command that downloads the source from snapshot.debian.org. sources.txt lists the newest file first. Debian
# 13 was released on 2025-08-09, so the snapshot of the next day has its files. Mbed TLS 3.6.6 arrived in an update.
no_source() {
    case $1 in
    mbedtls) day=20261101 ;;
    *) day=20250810 ;;
    esac
    say "cannot fetch the source of '$1': this system's Debian mirrors have neither a whole source package nor an upstream" \
        "tar file of it (run this command, then repeat what you did)"
    grep "^$1 " "$here/sources.txt" | head -n 1 | while read -r _ sha256 path; do
        echo "    /usr/lib/apt/apt-helper download-file http://snapshot.debian.org/archive/debian/${day}T000000Z/pool/$path" \
            "$dir/dl/${path##*/} SHA256:$sha256" >&2
    done
    exit 1
}

fetch() {
    if from_downloads "$1"; then return; fi
    for suite in $suites; do
        if from_index "$1" "$suite"; then return; fi
    done
    from_tar "$1" || from_pools "$1" || no_source "$1"
}

for package in "$@"; do
    [ -d "$dir/$package" ] && continue
    rm -rf "$dir/$package.new"
    variable=OPENPLA_$(echo "$package" | tr 'a-z-' 'A-Z_')_TAR
    eval "tar=\${$variable:-}"
    if [ -z "$tar" ]; then
        fetch "$package"
    elif ! unpack_tar "$tar" "$package"; then
        say "cannot unpack '$tar': $variable must name a tar file of $package's source"
        exit 1
    fi
    mv "$dir/$package.new" "$dir/$package"
done
