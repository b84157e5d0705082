#!/bin/sh
# SPDX-License-Identifier: MIT
# reuse.sh COMPILER ARGUMENT...: replaces the compiler in the build of recipes.py. Copies an object that is listed in
# $RECIPES_REUSED from the build folder $RECIPES_BUILD; compiles others without sanitizers, which is faster.
set -f
object=
dependencies=
previous=
for word; do
    case $previous in
    -o) object=$word ;;
    -MF) dependencies=$word ;;
    esac
    previous=$word
done
if [ -n "$object" ] && grep -qxF "$object" "$RECIPES_REUSED"; then
    ln -f "$RECIPES_BUILD/$object" "$object" 2>/dev/null || cp "$RECIPES_BUILD/$object" "$object"
    printf '%s:\n' "$object" >"$dependencies"
    exit 0
fi
[ -z "$object" ] || echo "$object" >>"$RECIPES_REUSED.compiled"
exec "$@" -fno-sanitize=all -g0
