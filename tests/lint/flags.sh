#!/usr/bin/env bash
# flags.sh SERVER: fails unless README.md's tables name every flag of the server with its default, and no other.
# shellcheck disable=SC2016  # the backquotes are Markdown
set -euo pipefail
cd "$(dirname "$0")/../.."

# absl wraps its help: one line a flag again, then `--name=default`. Help ends with 1.
flags() {
  { "$1" --help || true; } | sed -n '/^    --/,/^$/p' | tr -s ' \n' ' ' | sed 's/ --\([a-z_0-9]* (\)/\n--\1/g' |
    sed -nE 's/^--([a-z_0-9]+) \(.*\); default: "?([^";]*)"?;.*/`--\1=\2`/p' | sort
}

diff --label "$1 --help" --label README.md <(flags "$1") \
  <(sed -nE 's/^\| (`--[a-z_0-9]+=[^`]*`) \|.*/\1/p' README.md | sort)
