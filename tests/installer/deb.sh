#!/bin/sh
# SPDX-License-Identifier: MIT
# deb.sh [SUITE ...]: tests the Debian package of build/mingw/bin, with openpla-tools of build/tools, in a bare bookworm
# and a bare trixie (tests/hosts/run.sh) as a user would: apt install, the command as an ordinary user, scripts, the
# service, an upgrade while a set runs, removal and purge. Afterwards the system has the same files as before, and
# lintian reports nothing. Needs root, the network, and ten minutes per suite; CI does not run it. The roots are kept in
# build/hosts. systemd itself is not tested, because a chroot has none: systemd-analyze checks the units, and the script
# starts what they would start.
set -eu

# Prints each step with the elapsed seconds.
read -r began _ </proc/uptime
print_step() {
    read -r now _ </proc/uptime
    echo "== $((${now%.*} - ${began%.*})) s: $*"
}

fail() {
    echo "deb.sh: $*" >&2
    exit 1
}

# Lists the system's files, except those of apt, dpkg, logs and home folders.
files() {
    find / -xdev \( -path /proc -o -path /run -o -path /sys -o -path /dev -o -path /srv -o -path /tmp -o -path /home -o -path /root \
        -o -path /var/cache -o -path /var/log -o -path /var/lib/apt -o -path /var/lib/dpkg -o -path /var/lib/systemd \
        -o -path '/etc/*-' -o -path /etc/.pwd.lock \) -prune -o -print | LC_ALL=C sort
}

# as_user COMMAND...: runs a command as an ordinary user, with its output through a pipe, as scripts do.
as_user() {
    runuser -u tester -- env -u XDG_RUNTIME_DIR HOME=/home/tester "$@" 2>&1 </dev/null | cat
}

# expect_output NAME WORDS COMMAND...: checks that the command's output contains WORDS.
expect_output() {
    name=$1
    words=$2
    shift 2
    "$@" >"/tmp/$name.out" 2>&1 || true
    tr -d '\r' <"/tmp/$name.out" | grep -qF -- "$words" || { cat "/tmp/$name.out" >&2 && fail "$name does not say \"$words\""; }
}

service() {
    runuser -u openpla -- env HOME=/var/lib/openpla /usr/lib/openpla/service "$1" >"/tmp/service-$1.out" 2>&1 ||
        { cat "/tmp/service-$1.out" >&2 && fail "the service does not $1"; }
}

inside() {
    export DEBIAN_FRONTEND=noninteractive
    apt-get -q update >/tmp/apt.out 2>&1 || { tail -n 20 /tmp/apt.out && fail "apt-get update"; }
    # Installs the dependencies and the test tools first, so that the two lists of files differ only by the package.
    apt-get -q install -y --no-install-recommends wine wine64 adduser libxml2 libxslt1.1 zlib1g lintian systemd man-db \
        bash-completion >/tmp/apt.out 2>&1 || { tail -n 20 /tmp/apt.out && fail "apt-get install"; }
    apt-get -q purge -y openpla openpla-tools >/dev/null 2>&1 || true
    id tester >/dev/null 2>&1 || useradd -m tester
    rm -rf /home/tester/.local
    files >/tmp/before

    print_step "lintian $(lintian --version)"
    lintian --fail-on error,warning --info "$OPENPLA_FIRST_DEB" >/tmp/lintian.out 2>&1 || { cat /tmp/lintian.out && fail lintian; }
    grep -v '^N:' /tmp/lintian.out || true

    print_step "apt install"
    apt-get -q install -y "$OPENPLA_TOOLS_DEB" "$OPENPLA_FIRST_DEB" >/tmp/apt.out 2>&1 || { tail -n 20 /tmp/apt.out && fail "apt-get install"; }
    [ "$(command -v openpla)" = /usr/bin/openpla ] || fail "openpla is not on the PATH"
    systemd-analyze verify /usr/lib/systemd/system/openpla.service /usr/lib/systemd/system/openpla-tracefs.service

    print_step "installed, kilobytes: $(dpkg-query -W -f '${Installed-Size}' openpla), the package: $(($(stat -c %s "$OPENPLA_FIRST_DEB") / 1024))"

    print_step "an ordinary user"
    expect_output first 'performance logs and alerts' as_user openpla help
    expect_output native 'missing log' as_user openpla --native relog
    [ ! -e /home/tester/.local/share/openpla ] || fail "help made a Wine prefix"
    expect_output counters 'Exiting, please wait' as_user openpla typeperf '\System\Processes' -sc 2
    expect_output doctor '' as_user openpla doctor
    cat /tmp/doctor.out
    expect_output create 'The command completed successfully.' as_user openpla logman create counter Base -c '\System\Processes' -si 1 -f csv
    expect_output start 'The command completed successfully.' as_user openpla logman start Base
    expect_output query 'Running' as_user openpla logman query Base
    expect_output script 'Done.' as_user openpla --wine cscript //nologo 'Z:\usr\share\doc\openpla\examples\collect.vbs' Demo 3 csv

    print_step "an update while a set runs"
    apt-get -q install -y "$OPENPLA_NEWER_DEB" >/tmp/apt.out 2>&1 || { tail -n 20 /tmp/apt.out && fail "the upgrade"; }
    expect_output waits 'a set is running' as_user openpla logman query Base
    expect_output still 'Running' as_user openpla logman query Base
    expect_output stop 'The command completed successfully.' as_user openpla logman stop Base
    expect_output updated 'Stopped' as_user openpla logman query Base
    cmp /usr/lib/openpla/build /home/tester/.local/share/openpla/prefix/.openpla/build || fail "the prefix has the version before"
    expect_output kept 'Base' as_user openpla logman query

    print_step "the service"
    service start
    expect_output system 'The command completed successfully.' openpla --system logman create counter Whole -c '\System\Processes' -si 1
    expect_output system_start 'The command completed successfully.' openpla --system logman start Whole
    expect_output apart 'Data Collector Set was not found' as_user openpla logman query Whole
    service stop
    [ -z "$(find /proc -maxdepth 1 -user openpla 2>/dev/null)" ] || fail "programs of the service are left"

    print_step "manual and completion"
    man openpla-logman 2>/dev/null | cat | grep -q 'create counter' || [ -e /etc/dpkg/dpkg.cfg.d/docker ] || fail "no manual page"
    bash -c '. /usr/share/bash-completion/completions/openpla && complete -p openpla' >/dev/null || fail "no completion"

    as_user openpla --end >/dev/null
    print_step "removal"
    apt-get -q remove -y openpla >/tmp/apt.out 2>&1 || { tail -n 20 /tmp/apt.out && fail "apt-get remove"; }
    [ -e /var/lib/openpla/prefix ] || fail "removal took the service's sets along"
    apt-get -q purge -y openpla openpla-tools >/tmp/apt.out 2>&1 || { tail -n 20 /tmp/apt.out && fail "apt-get purge"; }
    files >/tmp/after
    diff /tmp/before /tmp/after || fail "these files are another after purge"
    ! getent passwd openpla || fail "the user is left"
    rm -rf /home/tester/.local /home/tester/.cache
    print_step "nothing is left"
}

if [ "${1:-}" = --inside ]; then
    inside
    exit
fi
tree=$(cd "$(dirname "$0")/../.." && pwd)
out=$tree/build/deb
OPENPLA_FIRST_DEB=$(sh "$tree/installer/deb/build.sh" | tail -n 1)
again=$(sh "$tree/installer/deb/build.sh" "$tree/build/mingw/bin" "$out/again" | tail -n 1)
if ! cmp "$OPENPLA_FIRST_DEB" "$again"; then
    diff -r "$out/openpla" "$out/again/openpla" || true
    fail "the same programs give another package"
fi
# Builds again with one different program.
OPENPLA_NEWER_DEB=$out/openpla_99_amd64.deb
rm -rf "$out/newer"
dpkg-deb --raw-extract "$OPENPLA_FIRST_DEB" "$out/newer"
printf newer >>"$out/newer/usr/lib/openpla/openpla.exe"
echo newer >>"$out/newer/usr/lib/openpla/build"
sed -i 's/^Version: .*/Version: 99/' "$out/newer/DEBIAN/control"
dpkg-deb --root-owner-group -Zgzip --build "$out/newer" "$OPENPLA_NEWER_DEB" >/dev/null
OPENPLA_TOOLS_DEB=$(sh "$tree/installer/deb/native.sh" "$tree/build/tools" "$out" openpla-tools | tail -n 1)
export OPENPLA_FIRST_DEB OPENPLA_NEWER_DEB OPENPLA_TOOLS_DEB
for suite in ${*:-bookworm trixie}; do
    sh "$tree/tests/hosts/run.sh" "$suite" --keep -- sh /srv/openpla/tests/installer/deb.sh --inside
done
