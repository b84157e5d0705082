#!/bin/sh
# SPDX-License-Identifier: MIT
# build.sh OUT: writes the forms of the registration (.reg files, scripts, a manifest, rows for the MSI) into the folder OUT.
# The program that writes them is compiled with the build machine's compiler (CC or cc), so that an installer can be
# built without Wine.
set -eu
tree=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
version=$(sed -n 's/^project(openpla VERSION \([0-9.]*\).*/\1/p' "$tree/CMakeLists.txt")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$tree"
echo "#define OPENPLA_ASSERTS 1" >"$work/openpla_settings.h" # CMakeLists.txt creates this file in a build
# All of engine/base is compiled; the linker drops the functions that are not called.
"${CC:-cc}" -std=gnu11 -O0 -D_GNU_SOURCE "-DOPENPLA_VERSION=\"$version\"" -ffunction-sections -Wl,--gc-sections -I. "-I$work" \
    reg/forms/*.c reg/registration_table.c engine/base/*.c engine/base/posix/*.c -o "$work/write_forms" -lpthread -lm
"$work/write_forms" "$out"
