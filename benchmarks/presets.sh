#!/usr/bin/env bash
# Trains the starter model with each preset for an algorithm, or with those named, and prints the table of docs/algorithms.md: greedy
# accuracy on the held-out problems before and after, iterations, seconds.
#   benchmarks/presets.sh [ppo grpo …]
set -euo pipefail
home=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
presets=("$@")
[ ${#presets[@]} -gt 0 ] || presets=(ppo grpo dr-grpo dapo rloo reinforce++ remax gspo cispo)
printf '%s, %s cores\n\n' "$(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | sed 's/^ *//')" "$(nproc)"
printf '| preset | start | end | iterations | seconds |\n|---|---|---|---|---|\n'
cd "$home"
for preset in "${presets[@]}"; do
    run="$work/$preset"
    bin/bellows train -c "conf/$preset.yaml" trainer.default_local_dir="$run" --json 2>"$work/$preset.log" | tail -n 1 >"$work/summary" || {
        printf 'Cannot train with conf/%s.yaml:\n' "$preset" >&2
        tail -n 20 "$work/$preset.log" >&2
        exit 1
    }
    number() { sed -n "s/.*\"$1\":\([-0-9.eE]*\).*/\1/p" "$2"; }
    printf '| %s | %.3f | %.3f | %d | %.0f |\n' "$preset" \
        "$(number accuracy_start "$work/summary")" "$(number accuracy_end "$work/summary")" \
        "$(number iterations "$work/summary")" "$(number seconds "$work/summary")"
done
