#!/usr/bin/env bash
# Tells Spark the addresses of this node's GPUs: {"name": "gpu", "addresses": ["0","1"]}
set -euo pipefail
addresses=$(nvidia-smi --query-gpu=index --format=csv,noheader | sed 's/.*/"&"/' | paste -sd, -)
printf '{"name": "gpu", "addresses": [%s]}\n' "$addresses"
