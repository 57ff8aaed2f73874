#!/usr/bin/env bash
# stage-image.sh DIR: lays out in DIR what an image of the server is made of, after ./dev build:
#   DIR/root          what goes to /: the programs and the bundled model
#   DIR/packages.txt  the packages that their shared libraries come from
set -euo pipefail
cd "$(dirname "$0")/.."
programs=(build/release/server/cvae-server build/release/client/cvae)

install -D --strip -t "$1/root/usr/local/bin" "${programs[@]}"
install -D -m 644 -t "$1/root/models/digits" deploy/models/digits/digits.safetensors

# dpkg knows a library by its path either below /usr or, on a merged /usr, without it; the base image has libc either way.
ldd "${programs[@]}" | sed -nE 's/.* => (\/[^ ]+) .*/\1/p' | sort -u | xargs realpath |
  while read -r library; do dpkg-query -S "$library" "${library#/usr}" 2>/dev/null || true; done |
  sed 's/:.*//' | sort -u >"$1/packages.txt"
