#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh SUITE [--keep] [-- COMMAND ...]: `installer/bootstrap.sh test` of what is committed (HEAD), or the command, in a bare
# Debian SUITE (bookworm or trixie, which then takes 32-bit programs too) made by debootstrap, where the tree is
# /srv/openpla. It ends with the exit code of the tests. Needs root.
# --keep leaves the root, build/hosts/SUITE, and takes the one that is there: its packages need not be installed again.
# OPENPLA_MIRROR names another mirror than deb.debian.org; OPENPLA_<LIBRARY>_TAR, as in cmake/fetch-sources.sh, a library
# that it lacks. They and OPENPLA_<NAME>_DEB are copied into the root, where the variables name the copies.
# Everything is mounted and run in namespaces of its own, which end with it however it ends: no mount is ever left, and
# none is there when the root is removed.
set -eu
tree=$(cd "$(dirname "$0")/../.." && pwd)
mirror=${OPENPLA_MIRROR:-http://deb.debian.org/debian}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

fail() {
    echo "run.sh: $*" >&2
    exit 1
}

usage() {
    echo "usage: sh tests/hosts/run.sh bookworm|trixie [--keep] [-- COMMAND ...]" >&2
    exit 2
}

preflight() {
    [ "$(id -u)" -eq 0 ] || fail "this needs root: debootstrap makes a root and chroot enters it"
    missing=
    for tool in debootstrap:debootstrap unshare:util-linux git:git tar:tar; do
        command -v "${tool%:*}" >/dev/null || missing="$missing ${tool#*:}"
    done
    [ -r "$keyring" ] || missing="$missing debian-archive-keyring"
    [ -z "$missing" ] || fail "packages are missing: apt-get install$missing"
    [ -e "/usr/share/debootstrap/scripts/$suite" ] || fail "this debootstrap is too old: it does not know $suite"
    unshare --mount --pid --fork true 2>/dev/null ||
        fail "this kernel or container gives no mount and process namespaces (unshare --mount --pid)"
    git -C "$tree" diff --quiet HEAD || echo "run.sh: what is not committed is not in this run" >&2
}

# In the namespaces: the root, made if it is not there, with the tree in it.
make_root() {
    # Debootstrap that was cut off leaves no mark.
    [ -e "$root/.made" ] || rm -rf --one-file-system "$root"
    mkdir -p "$packages/partial" "$root"
    if [ ! -e "$root/.made" ]; then
        debootstrap --variant=minbase --keyring="$keyring" --cache-dir="$packages" "$suite" "$root" "$mirror"
        : >"$root/.made"
    fi
    rm -rf --one-file-system "$root/srv/openpla"
    mkdir -p "$root/srv/openpla" "$root/srv/tar"
    git -C "$tree" archive HEAD | tar -xf - -C "$root/srv/openpla"
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    echo "127.0.0.1 localhost $(uname -n)" >"$root/etc/hosts"
}

# The caller's proxies, and the tar files, which are copied to where the root sees them; one NAME=value per line.
passed_on() {
    env | grep -E '^(https?_proxy|no_proxy)=.' || true
    env | grep -E '^OPENPLA_[A-Z0-9_]+_(TAR|DEB)=.' | while IFS='=' read -r name file; do
        cp "$file" "$root/srv/tar/"
        echo "$name=/srv/tar/${file##*/}"
    done
}

inside() {
    make_root
    mount -t proc proc "$root/proc"
    mount -t sysfs -o ro sysfs "$root/sys"
    mount --rbind /dev "$root/dev"
    mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
    mount --bind "$packages" "$root/var/cache/apt/archives"
    if [ $# -eq 0 ]; then
        set -- sh /srv/openpla/installer/bootstrap.sh test
        # Wine of Debian 12 does not share what is registered with its 32-bit programs.
        [ "$suite" = bookworm ] || chroot "$root" dpkg --add-architecture i386
    fi
    while read -r setting; do
        [ -z "$setting" ] || set -- "$setting" "$@"
    done <<END
$(passed_on)
END
    exec chroot "$root" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
        TERM=dumb "$@"
}

# Kills what runs in the namespaces, if it is still there, and removes the root.
finish() {
    trap '' HUP INT TERM
    if [ -n "$running" ]; then
        # unshare itself lets no other signal through; its child, and with it all others in there, goes with it.
        kill -KILL "$running" 2>/dev/null || true
        wait "$running" 2>/dev/null || true
    fi
    if [ $keep = no ]; then
        # Nothing of ours is mounted out here; what somebody else mounted there is not removed.
        if grep -qF " $root/" /proc/self/mounts; then
            fail "something is mounted below $root: it stays"
        fi
        rm -rf --one-file-system "$root" 2>/dev/null || { sleep 2 && rm -rf --one-file-system "$root"; }
    fi
}

suite=${1:-}
keep=no
running=
case $suite in
bookworm | trixie) ;;
*) usage ;;
esac
[ $# -eq 0 ] || shift
inside=no
case ${1:-} in
--keep) keep=yes && shift ;;
--inside) inside=yes && shift ;;
esac
case ${1:-} in
'') [ $# -eq 0 ] || usage ;;
--) shift && { [ $# -gt 0 ] || usage; } ;;
*) usage ;;
esac
root=$tree/build/hosts/$suite
packages=$tree/build/hosts/packages-$suite
if [ $inside = yes ]; then
    inside "$@"
fi
preflight
mkdir -p "$tree/build/hosts"
exec 9>"$tree/build/hosts/$suite.lock"
flock -n 9 || fail "another run is at work in $root"
finish
trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
# In the background, so that a signal is acted on at once.
unshare --mount --propagation private --pid --fork --kill-child sh "$0" "$suite" --inside ${1:+-- "$@"} </dev/null 9>&- &
running=$!
rc=0
wait $running || rc=$?
running=
[ $rc -eq 0 ] && echo "run.sh: Debian $suite: passed" || echo "run.sh: Debian $suite: FAILED (exit code $rc)"
exit $rc
