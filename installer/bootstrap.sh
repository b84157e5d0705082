#!/bin/sh
# SPDX-License-Identifier: MIT
# bootstrap.sh: builds, registers and tests OpenPLA on a bare Debian 12 or 13. `sh installer/bootstrap.sh help` lists
# its verbs. Every step can be repeated; existing results are kept.
set -eu
# Wine's services outlive the step that starts them, so they must not inherit the caller's descriptors.
exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
root=$(cd "$(dirname "$0")/.." && pwd)
logs=$root/build/bootstrap
bin=$root/build/mingw/bin
build_packages="gcc-mingw-w64-x86-64-win32 gcc-mingw-w64-i686-win32 libz-mingw-w64-dev mingw-w64-tools wine wine64 cmake
  ninja-build dpkg-dev python3 libjs-dygraphs"
tools_packages="gcc libc6-dev cmake ninja-build dpkg-dev python3 libxml2-dev libxslt1-dev zlib1g-dev libjs-dygraphs"
test_packages="clang lld llvm libclang-rt-dev libxml2-dev libxslt1-dev libcmocka-dev zlib1g-dev cabextract wixl msitools
  unixodbc libsqliteodbc odbc-postgresql sqlite3 postgresql postgresql-client babeltrace2 protobuf-compiler
  python3-impacket python3-samba iproute2 abigail-tools pkgconf python3-pandas"
# Without clang-format-14 the test layers.format is skipped (tests/expected-skips.txt).
if grep -qx VERSION_CODENAME=bookworm /etc/os-release 2>/dev/null; then test_packages="$test_packages clang-format-14"; fi
# 32-bit programs are tested if the system and its Wine support them (tests/programs_32).
if grep -qx VERSION_CODENAME=trixie /etc/os-release 2>/dev/null && dpkg --print-foreign-architectures 2>/dev/null |
    grep -qx i386; then test_packages="$test_packages wine32:i386"; fi
force=no
wine_run=$root/cmake/wine-run.sh
scripts=$root/installer
. "$root/installer/prefix.sh"

usage() {
    cat <<END
usage: sh installer/bootstrap.sh VERB
  demo                  install missing packages, build, register in a Wine prefix, collect counters for 6 s, show the
                        log (the prefix is build/prefix; OPENPLA_PREFIX names another one)
  tools                 install missing packages, build only the native program, without Wine, and its Debian package
  test                  install missing packages, build, run all tests
  prefix DIR [--force]  create the Wine prefix DIR, or use an existing one, and install and register OpenPLA in it;
                        --force stops the sets that run in it and would otherwise prevent an update
  clean                 stop Wine in the prefixes that this script created, and remove build/ and third_party/; prefixes
                        in other folders are kept
END
}

fail() {
    echo "bootstrap: $*" >&2
    exit 1
}

# Prints the hundredths of a second since the machine started.
now() {
    read -r up _ </proc/uptime
    echo "${up%.*}${up#*.}"
}

elapsed() {
    hundredths=$(($(now) - $1))
    printf '%d.%d s' $((hundredths / 100)) $((hundredths % 100 / 10))
}

# step NAME TEXT COMMAND...: runs COMMAND with its output in build/bootstrap/NAME.log, and ends the script if it fails.
step() {
    name=$1
    text=$2
    shift 2
    printf '%s ... ' "$text"
    began=$(now)
    rc=0
    # A subshell, so that set -e applies within the step.
    set +e
    (set -e; "$@") >"$logs/$name.log" 2>&1 </dev/null
    rc=$?
    set -e
    if [ $rc -ne 0 ]; then
        printf 'FAILED after %s\n' "$(elapsed "$began")"
        {
            echo
            echo "bootstrap: the step \"$text\" failed (exit code $rc). The last lines of its log:"
            tail -n 20 "$logs/$name.log" | sed 's/^/    /'
            echo "The whole log: $logs/$name.log"
        } >&2
        exit 1
    fi
    printf '%s\n' "$(elapsed "$began")"
}

preflight() {
    [ -c /dev/null ] || { echo "bootstrap: /dev/null is missing: mount --bind /dev on this root's /dev" >&2 && exit 1; }
    { [ -r /proc/uptime ] && [ -r /proc/self/stat ]; } ||
        fail "/proc is not mounted: Wine and the counters read it. As root: mount -t proc proc /proc"
    command -v apt-get >/dev/null && command -v dpkg-query >/dev/null ||
        fail "this needs Debian (apt-get and dpkg-query); it is tested on Debian 12 and 13"
    [ "$verb" = tools ] || [ "$(dpkg --print-architecture)" = amd64 ] || fail "this needs a 64-bit x86 machine (amd64)"
    mkdir -p "$logs" || fail "cannot write to $root"
    if [ -z "${HOME:-}" ] || [ ! -w "$HOME" ]; then
        HOME=$root/build/home
        mkdir -p "$HOME"
        export HOME
    fi
}

# Allows one bootstrap.sh per tree at a time. Wine's processes never inherit descriptor 9: cmake/wine-*.sh close it.
lock() {
    exec 9>"$logs/lock"
    flock -n 9 || fail "another bootstrap.sh is at work in $root"
}

missing() {
    for package in "$@"; do
        case $(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null) in
        ii*) ;;
        *) printf ' %s' "$package" ;;
        esac
    done
}

apt_install() {
    asroot=
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null; then
            echo "Packages are missing, and there is no sudo. As root, run:"
            echo "apt-get update && apt-get install -y --no-install-recommends $*"
            return 1
        fi
        asroot="sudo"
    fi
    $asroot apt-get -o DPkg::Lock::Timeout=300 update
    $asroot env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@"
}

packages() {
    wanted=$(missing "$@")
    if [ -z "$wanted" ]; then
        echo "Packages: nothing is missing"
        return
    fi
    [ "$(id -u)" -eq 0 ] || ! command -v sudo >/dev/null || sudo -v || fail "sudo is needed to install:$wanted"
    # shellcheck disable=SC2086 # a list of names
    step packages "Install$wanted" apt_install $wanted
}

# wine_prefix DIR: sets WINEPREFIX to DIR, and creates the prefix if it does not exist.
wine_prefix() {
    mkdir -p "$1" || fail "cannot create the folder $1"
    WINEPREFIX=$(cd "$1" && pwd)
    export WINEPREFIX
    made=no
    [ -e "$WINEPREFIX/system.reg" ] || made=yes
    step wine "Wine prefix $WINEPREFIX" sh "$root/cmake/wine-prefix.sh" setup
    [ $made = no ] || echo "$WINEPREFIX" >>"$logs/prefixes"
}

# Builds only the programs that are installed in the Wine prefix: no examples, no tests, and the DLLs for 32-bit
# programs only if the prefix runs such programs. This needs no test library (cmocka). If the tree is already configured
# with tests, it keeps them. Installed programs have no assertions; `test` recompiles the files that use them.
build() {
    cd "$root"
    tests=-DBUILD_TESTING=OFF
    if [ -e build/mingw/build.ninja ] && grep -qx BUILD_TESTING:BOOL=ON build/mingw/CMakeCache.txt; then
        tests=-DBUILD_TESTING=ON
    fi
    targets=installed
    [ ! -e "$WINEPREFIX/drive_c/windows/syswow64/cscript.exe" ] || targets="installed installed_32"
    step configure "Configure (cmake --preset mingw; fetches sources of libraries from Debian)" \
        cmake --preset mingw $tests -DOPENPLA_ASSERTS=OFF
    # shellcheck disable=SC2086 # a list of targets
    step build "Build (cmake --build --preset mingw --target $targets)" cmake --build --preset mingw --target $targets
}

# prefix DIR: creates a Wine prefix with OpenPLA built, installed and registered.
prefix() {
    wine_prefix "$1"
    build
    step install "Install and register OpenPLA in it" install_files
}

example() {
    cd "$root/examples"
    wine cscript //nologo collect.vbs Demo 6 csv
}

demo() {
    # shellcheck disable=SC2086
    packages $build_packages
    prefix "${OPENPLA_PREFIX:-$root/build/prefix}"
    step example "Run examples/collect.vbs through cscript" example
    tr -d '\r' <"$logs/example.log" | sed 's/^/    /'
    log=$(tr -d '\r' <"$logs/example.log" | sed -n 's/^Log: //p')
    [ -n "$log" ] || fail "the example names no log; its output is in $logs/example.log"
    unix=$(wine winepath -u "$log" | tr -d '\r')
    unix=$(readlink -f "$unix") && [ -s "$unix" ] || fail "the log that the example names is empty or absent: $unix"
    # printf, because echo would interpret the backslashes.
    printf '\nThe log, as Windows programs name it: %s\n' "$log"
    printf 'The log, as this system names it:     %s\n' "$unix"
    echo "Its first lines (cut to 150 characters):"
    head -n 4 "$unix" | tr -d '\r' | cut -c1-150 | sed 's/^/    /'
    echo
    echo "Your own scripts: WINEPREFIX='$WINEPREFIX' WINEDEBUG=-all wine cscript x.vbs"
}

# Builds the native program and its package.
tools() {
    # shellcheck disable=SC2086
    packages $tools_packages
    cd "$root"
    step configure "Configure (cmake --preset tools)" cmake --preset tools
    step build "Build (cmake --build --preset tools)" cmake --build --preset tools
    step package "Package (installer/deb/native.sh)" sh installer/deb/native.sh build/tools build/deb openpla-tools
    package=$(tail -n 1 "$logs/package.log")
    echo "The program:              $root/build/tools/bin/openpla"
    echo "As a package, as root:    apt install $package"
    echo "Without package, as root: cmake --install build/tools --component tools --prefix /usr/local"
}

# workflow PRESET: runs configure, build and ctest with visible output, and writes the exit code to
# build/bootstrap/PRESET.rc.
workflow() {
    echo "== cmake --workflow --preset $1"
    {
        rc=0
        cmake --workflow --preset "$1" </dev/null 2>&1 || rc=$?
        echo $rc >"$logs/$1.rc"
    } | tee "$logs/$1.log"
}

# build_preset PRESET: configures and builds at low priority. Writes the exit code to build/bootstrap/PRESET.built and
# the output to build/bootstrap/PRESET.build.log.
build_preset() {
    rc=0
    { cmake --preset "$1" && nice -n 19 cmake --build --preset "$1"; } >"$logs/$1.build.log" 2>&1 </dev/null || rc=$?
    echo $rc >"$logs/$1.built"
}

# Builds the native trees while the tests under Wine mostly wait: first the tree that is tested next, then the
# benchmarks and the released program, which no test runs. If the first tree has errors, its workflow shows them when it
# builds the tree again.
build_ahead() {
    rm -f "$logs"/*.built
    # Only one configure step runs at a time, because they fetch sources.
    cmake --preset mingw >"$logs/ahead.log" 2>&1 || return 0
    {
        build_preset native-asan
        build_preset native-bench
        build_preset tools
    } 9>&- &
    ahead=$!
}

wait_built() {
    while [ ! -e "$logs/$1.built" ] && kill -0 "$ahead" 2>/dev/null; do
        sleep 1
    done
}

run_tests() {
    # shellcheck disable=SC2086
    packages $build_packages $test_packages
    cd "$root"
    rm -f build/mingw/wineprefix*/.openpla/out/*
    failed=
    ahead=
    build_ahead
    for preset in mingw native-asan; do
        began=$(now)
        results=build/$preset/tests.xml
        rm -f "$results"
        [ $preset = mingw ] || [ -z "$ahead" ] || wait_built $preset
        workflow $preset
        echo "== $preset: exit code $(cat "$logs/$preset.rc"), $(elapsed "$began")"
        [ "$(cat "$logs/$preset.rc")" = 0 ] || failed="$failed $preset"
        if [ -e "$results" ]; then
            python3 tests/layers/skips.py "$preset" "$results" || failed="$failed $preset(skips)"
        elif [ -z "$failed" ]; then
            failed=" $preset(no results)"
        fi
    done
    began=$(now)
    [ -z "$ahead" ] || wait "$ahead" || true
    for preset in native-bench tools; do
        [ -e "$logs/$preset.built" ] || build_preset $preset
        echo "== $preset: exit code $(cat "$logs/$preset.built"), $(elapsed "$began") after the tests"
        if [ "$(cat "$logs/$preset.built")" != 0 ]; then
            tail -n 20 "$logs/$preset.build.log"
            failed="$failed $preset"
        fi
    done
    if [ -n "$failed" ]; then
        # cmake/wine-run.sh leaves these files when ctest kills a program at its timeout.
        for out in build/mingw/wineprefix*/.openpla/out/*; do
            [ -e "$out" ] || continue
            echo "The output of a program that was killed ($out):"
            tail -n 20 "$out"
        done
        fail "FAILED:$failed. Logs: $logs/mingw.log $logs/native-asan.log $logs/*.build.log"
    fi
    echo "All tests passed."
}

clean() {
    # $logs is removed too. The file $logs/prefixes does not list the prefixes of ctest, so they are added here.
    {
        cat "$logs/prefixes" 2>/dev/null || true
        echo "$root/build/mingw/wineprefix"
        echo "$root/build/mingw/wineprefix_apart"
    } | sort -u | while read -r dir; do
        [ -d "$dir" ] || continue
        echo "End Wine in $dir"
        WINEPREFIX=$dir sh "$root/cmake/wine-prefix.sh" cleanup
    done
    rm -rf "$root/build" "$root/third_party"
    echo "Removed build/ and third_party/"
}

verb=${1:-help}
case $verb in
demo | tools | test | clean)
    [ $# -eq 1 ] || { usage >&2 && exit 2; }
    ;;
prefix)
    [ "${3:-}" != --force ] || force=yes
    { [ $# -eq 2 ] && [ "$2" != --force ]; } || { [ $# -eq 3 ] && [ $force = yes ]; } || { usage >&2 && exit 2; }
    ;;
help | -h | --help)
    usage
    exit 0
    ;;
*)
    usage >&2
    exit 2
    ;;
esac
here=$(pwd)
preflight
lock
start=$(now)
case $verb in
demo) demo ;;
tools) tools ;;
test) run_tests ;;
prefix)
    case $2 in
    /*) dir=$2 ;;
    *) dir=$here/$2 ;;
    esac
    # shellcheck disable=SC2086
    packages $build_packages
    prefix "$dir"
    echo "Ready. Your own scripts: WINEPREFIX='$WINEPREFIX' WINEDEBUG=-all wine cscript x.vbs"
    ;;
clean) clean ;;
esac
echo "Done in $(elapsed "$start")."
