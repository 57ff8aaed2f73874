#!/usr/bin/env bash
# Fails if the messages that client/python carries are not those of the protos; with --write makes them so. The
# distributions' protoc (3.21) makes code that every protobuf from 3.20.2 on takes.
set -euo pipefail
cd "$(dirname "$0")/../.."

readonly PROTOS=(cvae/v1/cvae.proto cvae/internal/error_details.proto)

if [[ ${1:-} == --write ]]; then
  protoc -I proto --python_out=client/python --pyi_out=client/python "${PROTOS[@]}"
  exit
fi
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
protoc -I proto --python_out="$made" --pyi_out="$made" "${PROTOS[@]}"
for proto in "${PROTOS[@]}"; do
  for file in "${proto%.proto}_pb2.py" "${proto%.proto}_pb2.pyi"; do
    diff -u "client/python/$file" "$made/$file" || { echo "run $0 --write" >&2; exit 1; }
  done
done
