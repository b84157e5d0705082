#!/bin/sh
# SPDX-License-Identifier: MIT
# long.sh BUILD [TARGET...]: runs the decoders' fuzzers, or the named ones, from a tree built with the preset
# native-asan, for ten million inputs or half an hour each. BUILD/found/TARGET keeps the found inputs, with which a
# second run continues. A failing input is saved as BUILD/found/TARGET.crash-...; bin/fuzz_TARGET with its path
# reproduces it. Exit code 1 if a fuzzer failed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
cd "$1" || exit 2
shift
[ $# -gt 0 ] || set -- trace_logging wevt_template mof manifest_xml tmf event_values
export ASAN_OPTIONS="quarantine_size_mb=16:malloc_context_size=4"
failed=0
for target in "$@"; do
    mkdir -p "found/$target"
    words="-rss_limit_mb=2048"
    [ -f "$here/decode/$target.dict" ] && words="-dict=$here/decode/$target.dict"
    if bin/fuzz_"$target" -runs="${RUNS:-10000000}" -max_total_time=1800 -max_len=2048 "$words" \
        -artifact_prefix="found/$target." "found/$target" "corpus/$target" >"found/$target.log" 2>&1; then
        echo "fuzz_$target: $(tail -n 1 "found/$target.log")"
    else
        failed=1
        echo "fuzz_$target: failed"
        tail -n 40 "found/$target.log"
    fi
done
exit $failed
