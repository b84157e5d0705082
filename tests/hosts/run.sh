#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh SUITE [--keep] [--container] [-- COMMAND ...]: runs `installer/bootstrap.sh test` of the committed tree (HEAD),
# or COMMAND, in a bare Debian SUITE (bookworm or trixie; trixie also gets 32-bit programs) created by debootstrap, with
# the tree in /srv/openpla. Exits with the exit code of the tests. If it failed, a user with a new Debian system could
# not build or test OpenPLA. Needs root. --keep keeps the root, build/hosts/SUITE, and reuses an existing one, so that
# its packages need not be installed again. --container runs the command as containers do: the root is an overlay, no
# block device is mounted, and there is no tracefs. An ordinary user, `user`, runs the command with Docker's default
# capabilities and may use sudo. The root is build/hosts/SUITE-container. OPENPLA_MIRROR names a mirror to use instead
# of deb.debian.org; OPENPLA_<LIBRARY>_TAR, as in cmake/fetch-sources.sh, names a library's source that the mirror
# lacks. These files and OPENPLA_<NAME>_DEB are copied into the root, and the variables are changed to the copies. All
# mounts and processes are in separate namespaces, which always end with the script. So no mount remains, and none
# exists when the root is removed.
set -eu
tree=$(cd "$(dirname "$0")/../.." && pwd)
mirror=${OPENPLA_MIRROR:-http://deb.debian.org/debian}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
# Docker's default capabilities.
capabilities=-all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+setpcap,+net_bind_service,+net_raw
capabilities=$capabilities,+sys_chroot,+mknod,+audit_write,+setfcap

fail() {
    echo "run.sh: $*" >&2
    exit 1
}

usage() {
    echo "usage: sh tests/hosts/run.sh bookworm|trixie [--keep] [--container] [-- COMMAND ...]" >&2
    exit 2
}

preflight() {
    [ "$(id -u)" -eq 0 ] || fail "root is required (for debootstrap and chroot)"
    missing=
    for tool in debootstrap:debootstrap unshare:util-linux git:git tar:tar; do
        command -v "${tool%:*}" >/dev/null || missing="$missing ${tool#*:}"
    done
    [ -r "$keyring" ] || missing="$missing debian-archive-keyring"
    [ -z "$missing" ] || fail "packages are missing: apt-get install$missing"
    [ -e "/usr/share/debootstrap/scripts/$suite" ] || fail "this debootstrap is too old: it does not support $suite"
    unshare --mount --pid --fork true 2>/dev/null ||
        fail "this kernel or container does not allow mount and process namespaces (unshare --mount --pid)"
    git -C "$tree" diff --quiet HEAD || echo "run.sh: uncommitted changes are not included in this run" >&2
}

# Runs in the namespaces. Creates the root if it does not exist, and copies the tree into $top, the root that is
# entered.
make_root() {
    # An interrupted debootstrap leaves no marker file.
    [ -e "$root/.made" ] || rm -rf --one-file-system "$root" "$root.upper"
    mkdir -p "$packages/partial" "$root"
    if [ ! -e "$root/.made" ]; then
        debootstrap --variant=minbase ${container:+--include=sudo} --keyring="$keyring" --cache-dir="$packages" "$suite" \
            "$root" "$mirror"
        : >"$root/.made"
    fi
    [ -z "$container" ] || make_overlay
    rm -rf --one-file-system "$top/srv/openpla"
    mkdir -p "$top/srv/openpla" "$top/srv/tar"
    git -C "$tree" archive HEAD | tar -xf - -C "$top/srv/openpla"
    cp /etc/resolv.conf "$top/etc/resolv.conf"
    echo "127.0.0.1 localhost $(uname -n)" >"$top/etc/hosts"
}

# Creates a container's root: an overlay over $root, which is no longer written to.
make_overlay() {
    mkdir -p "$root.upper/files" "$root.upper/work" "$top"
    mount -t overlay -o "lowerdir=$root,upperdir=$root.upper/files,workdir=$root.upper/work" overlay "$top" ||
        fail "cannot mount an overlay over '$root' (a folder on an overlay cannot be one's upper folder: use another disk)"
}

# make_device NAME MAJOR MINOR: creates a character device that all users can use.
make_device() {
    mknod -m 666 "$top/dev/$1" c "$2" "$3"
}

# The devices of a container, without block devices.
make_devices() {
    mount -t tmpfs -o mode=755 dev "$top/dev"
    make_device null 1 3
    make_device zero 1 5
    make_device full 1 7
    make_device random 1 8
    make_device urandom 1 9
    make_device tty 5 0
    mkdir "$top/dev/pts" "$top/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 pts "$top/dev/pts"
    ln -s pts/ptmx "$top/dev/ptmx"
    ln -s /proc/self/fd "$top/dev/fd"
    ln -s /proc/self/fd/0 "$top/dev/stdin"
    ln -s /proc/self/fd/1 "$top/dev/stdout"
    ln -s /proc/self/fd/2 "$top/dev/stderr"
}

# Without the restrictions of a container, the run would prove nothing.
check_container() {
    chroot "$top" grep -q '^overlay / overlay ' /proc/self/mounts || fail "the root of the container is not an overlay"
    ! chroot "$top" grep '^/dev/' /proc/self/mounts || fail "a block device is mounted in the container"
    [ ! -e "$top/sys/kernel/tracing/trace_pipe" ] || fail "the container has a tracefs"
}

# Prints the caller's proxies and the tar files, which are copied into the root, as one NAME=value per line.
passed_on() {
    env | grep -E '^(https?_proxy|no_proxy)=.' || true
    env | grep -E '^OPENPLA_[A-Z0-9_]+_(TAR|DEB)=.' | while IFS='=' read -r name file; do
        cp "$file" "$top/srv/tar/"
        echo "$name=/srv/tar/${file##*/}"
    done
}

inside() {
    make_root
    mount -t proc proc "$top/proc"
    mount -t sysfs -o ro sysfs "$top/sys"
    if [ -n "$container" ]; then
        make_devices
    else
        mount --rbind /dev "$top/dev"
        mount --bind "$packages" "$top/var/cache/apt/archives"
    fi
    mount -t tmpfs -o mode=1777 shm "$top/dev/shm"
    if [ $# -eq 0 ]; then
        set -- sh /srv/openpla/installer/bootstrap.sh test
        # Wine of Debian 12 does not share registrations with its 32-bit programs.
        [ "$suite" = bookworm ] || chroot "$top" dpkg --add-architecture i386
    fi
    while read -r setting; do
        [ -z "$setting" ] || set -- "$setting" "$@"
    done <<END
$(passed_on)
END
    set -- PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb "$@"
    [ -n "$container" ] || exec chroot "$top" /usr/bin/env -i HOME=/root "$@"
    check_container
    chroot "$top" id user >/dev/null 2>&1 || chroot "$top" useradd --create-home --shell /bin/bash user
    echo 'user ALL=(ALL) NOPASSWD: ALL' >"$top/etc/sudoers.d/user"
    chroot "$top" chown -R user: /srv/openpla /srv/tar
    exec chroot "$top" setpriv --reuid=user --regid=user --init-groups --bounding-set="$capabilities" \
        /usr/bin/env -i HOME=/home/user USER=user LOGNAME=user "$@"
}

remove_root() {
    rm -rf --one-file-system "$root" "$root.upper" "$root.top"
}

# Kills the processes that still run in the namespaces, and removes the root.
finish() {
    trap '' HUP INT TERM
    if [ -n "$running" ]; then
        # unshare ignores other signals. Its child is killed with it, and then all processes in the namespaces end.
        kill -KILL "$running" 2>/dev/null || true
        wait "$running" 2>/dev/null || true
    fi
    if [ $keep = no ]; then
        # This script mounts nothing outside the namespaces. A root with a foreign mount is not removed.
        if grep -qF " $root" /proc/self/mounts; then
            fail "something is mounted at or below $root, so it is not removed"
        fi
        remove_root 2>/dev/null || { sleep 2 && remove_root; }
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
container=
while [ $# -gt 0 ]; do
    case $1 in
    --keep) keep=yes ;;
    --container) container=yes ;;
    --inside) inside=yes ;;
    *) break ;;
    esac
    shift
done
case ${1:-} in
'') [ $# -eq 0 ] || usage ;;
--) shift && { [ $# -gt 0 ] || usage; } ;;
*) usage ;;
esac
root=$tree/build/hosts/$suite${container:+-container}
top=$root${container:+.top}
packages=$tree/build/hosts/packages-$suite
if [ $inside = yes ]; then
    inside "$@"
fi
preflight
mkdir -p "$tree/build/hosts"
exec 9>"$root.lock"
flock -n 9 || fail "another run is using $root"
finish
trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
# Runs in the background, so that a signal is handled immediately.
unshare --mount --propagation private --pid --fork --kill-child sh "$0" "$suite" ${container:+--container} --inside \
    ${1:+-- "$@"} </dev/null 9>&- &
running=$!
rc=0
wait $running || rc=$?
running=
[ $rc -eq 0 ] && echo "run.sh: Debian $suite: passed" || echo "run.sh: Debian $suite: FAILED (exit code $rc)"
exit $rc
