#!/usr/bin/env bash
# device_tree.sh BUILD DIRECTORY: gathers what runs on a GPU machine without our libraries (GPU tests, benchmarks, server,
# client) and the libraries they need from the distribution, in DIRECTORY/{bin,lib}. Run there: LD_LIBRARY_PATH=lib bin/...
set -euo pipefail
build=$1
out=$2
rm -rf "$out"
mkdir -p "$out/bin" "$out/lib"
for program in tests/kernels/cuda/cuda_engine_test tests/kernels/numerics/numerics_cuda_test tests/bench/cuda_engine_bench \
  server/cvae-server client/cvae; do
  if [[ -x $build/$program ]]; then strip -o "$out/bin/${program##*/}" "$build/$program"; fi
done
# All but the C library and its kin, which come with the loader.
ldd "$out"/bin/* | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
  grep -vE '/(libc|libm|libpthread|libdl|librt|libresolv|libgcc_s|libstdc\+\+)\.so' | xargs -I{} cp -L {} "$out/lib/"
