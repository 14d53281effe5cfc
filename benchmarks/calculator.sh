#!/usr/bin/env bash
# Measures the calculator example: accuracy before and after, iterations, seconds. Prints the machine and one JSON line.
set -euo pipefail
home=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '%s, %s cores\n' "$(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | sed 's/^ *//')" "$(nproc)" >&2
cd "$home"
bin/bellows train -c conf/calculator-tool.yaml --json "trainer.default_local_dir=$work/run" "$@" 2>/dev/null | tail -n 1
