#!/usr/bin/env bash
# Fails if a directory includes what it is to know nothing of (ARCHITECTURE.md, "Layers").
set -euo pipefail
cd "$(dirname "$0")/../.."

readonly RPC='grpc|grpcpp/|google/|proto/|.*\.pb\.h'
readonly CUDA='cuda|cublas|curand|nvrtc|nvtx|cub/|thrust/|.*\.cuh'

# forbid DIRECTORY HEADERS: no #include of DIRECTORY may begin with the regular expression HEADERS.
forbid() {
  if grep -rnE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]($2)" "$1" --include='*.h' --include='*.cc' --include='*.cu' \
    --include='*.cuh'; then
    echo "$1/ may not include: $2" >&2
    failed=1
  fi
}

failed=0
forbid base "$RPC|$CUDA|kernels/|server/|client/|tests/"
forbid kernels "$RPC|server/|client/|tests/"
forbid server "$CUDA|client/|tests/"
forbid client "$CUDA|kernels/|server/|tests/"
exit "$failed"
