#!/usr/bin/env bash
# Measures the quickstart: accuracy before and after, iterations, seconds. Prints the machine and one JSON line.
set -euo pipefail
home=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '%s, %s cores\n' "$(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | sed 's/^ *//')" "$(nproc)" >&2
"$home/bin/bellows" quickstart --run-dir "$work/run" --json "$@" 2>/dev/null | tail -n 1
