#!/bin/sh
# SPDX-License-Identifier: MIT
# tools_deb.sh [SUITE ...]: tests the package openpla-tools of build/tools in a bare bookworm and a bare trixie
# (tests/hosts/run.sh) as a user would: apt install (which must not install Wine), every verb that reads logs, manual
# pages, completion, removal. Afterwards the system has the same files as before, and lintian reports nothing. `tarball`
# instead of a suite tests the tarball of installer/tarball.sh in a root that contains only busybox (Debian's
# busybox-static).
# OPENPLA_LOGS_TAR names a tar file of additional logs and traces to read. Needs root, the network, and two minutes per
# suite; run only by hand. The roots are kept in build/hosts.
set -eu
fail() {
    echo "tools_deb.sh: $*" >&2
    exit 1
}

# Lists the system's files, except those of apt, dpkg and logs.
files() {
    find / -xdev \( -path /proc -o -path /run -o -path /sys -o -path /dev -o -path /srv -o -path /tmp -o -path /root \
        -o -path /var/cache -o -path /var/log -o -path /var/lib/apt -o -path /var/lib/dpkg -o -path '/etc/*-' \
        -o -path /etc/.pwd.lock -o -path /etc/ld.so.cache \) -prune -o -print | LC_ALL=C sort
}

# apt VERB ...: runs apt quietly; prints its output if it fails.
apt() {
    DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends "$@" >/tmp/apt.out 2>&1 ||
        { tail -n 20 /tmp/apt.out && fail "apt-get $*"; }
}

# Prints milliseconds, because whole seconds would be too coarse.
milliseconds() {
    read -r up _ </proc/uptime
    echo "${up%.*}${up#*.}0"
}

# check_reads CODE COMMAND...: checks that the command exits with CODE, or one of a|b, and has output.
check_reads() {
    codes=$1
    shift
    rc=0
    "$@" >/tmp/reads.out 2>/tmp/reads.err || rc=$?
    case "|$codes|" in
    *"|$rc|"*) ;;
    *) cat /tmp/reads.err >&2 && fail "exit code $rc, not $codes: $*" ;;
    esac
    [ -s /tmp/reads.out ] || fail "writes nothing: $*"
    echo "exit code $rc, $(wc -l </tmp/reads.out) lines: $*"
}

# Runs what a user does with a log; the first log is created here from this computer's counters. Exit codes 3 and 4 mean
# that rules found something, 5 that no rule applies to the log.
read_logs() {
    mkdir -p /tmp/logs
    cd /tmp/logs
    openpla typeperf '\System\*' '\Memory\*' '\Processor(*)\*' -si 0 -sc 40 -f BIN -o load.blg -y >/dev/null || fail typeperf
    check_reads 0 openpla relog load.blg -f csv -o load.csv -y
    [ -z "${OPENPLA_LOGS_TAR:-}" ] || tar -xf "$OPENPLA_LOGS_TAR"
    for log in ./*.blg ./*.csv ./*.etl; do
        [ -e "$log" ] || continue
        check_reads '0|3' openpla logstat "$log"
        check_reads '0|3|4|5' openpla rules "$log"
        check_reads '0|3|4|5' openpla report "$log" -html -y
        case $log in
        *.etl) check_reads '0|3' openpla trace show "$log" ;;
        *) check_reads '0|3' openpla plot "$log" -o plot.svg -y ;;
        esac
    done
    began=$(milliseconds)
    for _ in 1 2 3 4 5 6 7 8 9 10; do openpla logstat load.blg >/dev/null; done
    echo "a start with logstat: $((($(milliseconds) - began) / 10)) ms"
}

inside() {
    apt update
    apt install lintian man-db libxml2 libxslt1.1 zlib1g
    apt-get -q -y purge openpla-tools >/dev/null 2>&1 || true
    files >/tmp/before
    echo "== $(. /etc/os-release && echo "$PRETTY_NAME"), $(lintian --version)"
    lintian --fail-on error,warning --info "$OPENPLA_TOOLS_DEB" >/tmp/lintian.out 2>&1 || { cat /tmp/lintian.out && fail lintian; }
    echo "lintian: $(grep -cv '^N:' /tmp/lintian.out || true) lines"
    grep -v '^N:' /tmp/lintian.out || true
    apt install "$OPENPLA_TOOLS_DEB"
    [ "$(command -v openpla)" = /usr/bin/openpla ] || fail "openpla is not on the PATH"
    ! dpkg-query -W 'wine*' 2>/dev/null | grep . || fail "Wine is installed"
    echo "installed, kilobytes: $(dpkg-query -W -f '${Installed-Size}' openpla-tools), the package: $(($(stat -c %s "$OPENPLA_TOOLS_DEB") / 1024))"
    read_logs
    man openpla-relog 2>/dev/null | cat | grep -q 'openpla relog LOG' || [ -e /etc/dpkg/dpkg.cfg.d/docker ] || fail "no manual page"
    apt purge openpla-tools
    files >/tmp/after
    diff /tmp/before /tmp/after || fail "these files are another after purge"
    echo "== passed"
}

# Runs in the tarball's root with busybox's shell.
inside_tarball() {
    export PATH=/openpla/bin:/bin HOME=/tmp
    read_logs
    rc=0
    openpla relog load.blg -f SQL -o 'SQL:Data!set' >/tmp/sql.out 2>&1 || rc=$?
    grep -q 'linked statically' /tmp/sql.out || { cat /tmp/sql.out && fail "databases: no reason"; }
    echo "databases: exit code $rc: $(cat /tmp/sql.out)"
    echo "== passed"
}

tarball() {
    [ -x /bin/busybox ] || fail "a package is missing: apt-get install busybox-static"
    package=$(sh "$tree/installer/tarball.sh" | tail -n 1)
    root=$tree/build/hosts/busybox
    mkdir -p "$tree/build/hosts"
    rm -rf --one-file-system "$root"
    mkdir -p "$root/bin" "$root/proc" "$root/dev" "$root/tmp" "$root/openpla"
    cp /bin/busybox "$root/bin/busybox"
    chroot "$root" /bin/busybox --install -s /bin
    tar -C "$root/openpla" --strip-components=1 -xJf "$package"
    cp "$0" "$root/test.sh"
    [ -z "${OPENPLA_LOGS_TAR:-}" ] || cp "$OPENPLA_LOGS_TAR" "$root/logs.tar"
    echo "== busybox and $package ($(($(stat -c %s "$package") / 1024)) KB)"
    # The mounts are in a separate namespace, and disappear with it.
    unshare --mount --propagation private sh -c 'mount -t proc proc "$1/proc" && mount --bind /dev "$1/dev" &&
        exec env -i PATH="$PATH" ${2:+OPENPLA_LOGS_TAR=/logs.tar} chroot "$1" /bin/sh /test.sh --inside-tarball' \
        sh "$root" "${OPENPLA_LOGS_TAR:-}"
}

case ${1:-} in
--inside) inside && exit ;;
--inside-tarball) inside_tarball && exit ;;
esac
tree=$(cd "$(dirname "$0")/../.." && pwd)
for suite in ${*:-bookworm trixie tarball}; do
    if [ "$suite" = tarball ]; then
        tarball
        continue
    fi
    OPENPLA_TOOLS_DEB=$(sh "$tree/installer/deb/native.sh" "$tree/build/tools" "$tree/build/deb" openpla-tools | tail -n 1)
    export OPENPLA_TOOLS_DEB
    sh "$tree/tests/hosts/run.sh" "$suite" --keep -- sh /srv/openpla/tests/installer/tools_deb.sh --inside
done
