// The operations that the numerics are written in, for one float: on the host and in CUDA device code. vector-inl.h has
// the same names for Highway's vectors, where a mask stands for bool, VecF for float and VecU for uint32_t.
//
// Each is one IEEE operation, rounded to nearest, subnormals kept. The operators + - * / and the comparisons are the
// language's own; that they are not fused or relaxed is up to the flags (-ffp-contract=off, --fmad=false), which the
// target cvae_numerics hands to whoever links it.

#ifndef CVAE_KERNELS_NUMERICS_SCALAR_H_
#define CVAE_KERNELS_NUMERICS_SCALAR_H_

#include <bit>
#include <cmath>
#include <cstdint>

#if defined(__FAST_MATH__) || defined(__USE_FAST_MATH__)
#error "The numerics need IEEE arithmetic: compile without fast-math"
#endif

// Host and device, always inlined: a function of Highway's per-target regions must not be called out of line.
#ifdef __CUDACC__
#define CVAE_HD __host__ __device__ __forceinline__
#else
#define CVAE_HD inline __attribute__((always_inline))
#endif

namespace cvae::scalar {

// The bits of a float, and back.
CVAE_HD uint32_t Bits(float x) {
#ifdef __CUDA_ARCH__
  return __float_as_uint(x);
#else
  return std::bit_cast<uint32_t>(x);
#endif
}

CVAE_HD float FromBits(uint32_t x) {
#ifdef __CUDA_ARCH__
  return __uint_as_float(x);
#else
  return std::bit_cast<float>(x);
#endif
}

// a * b + c, rounded once.
CVAE_HD float Fma(float a, float b, float c) {
#ifdef __CUDA_ARCH__
  return __fmaf_rn(a, b, c);
#else
  return std::fmaf(a, b, c);
#endif
}

CVAE_HD float Sqrt(float x) {
#ifdef __CUDA_ARCH__
  return __fsqrt_rn(x);
#else
  return std::sqrt(x);
#endif
}

CVAE_HD float Div(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fdiv_rn(a, b);
#else
  return a / b;
#endif
}

// The sign cleared, also of a NaN.
CVAE_HD float Abs(float x) { return FromBits(Bits(x) & 0x7fffffffu); }

// `magnitude`, which is not negative, with the sign of `sign`.
CVAE_HD float CopySign(float magnitude, float sign) { return FromBits(Bits(magnitude) | (Bits(sign) & 0x80000000u)); }

CVAE_HD bool IsNaN(float x) { return x != x; }

// x as an answer's doubles store it: a NaN as 7ff8000000000000. (The floats': math-inl.h.)
inline double CanonicalNaN(double x) { return x == x ? x : std::bit_cast<double>(uint64_t{0x7ff8000000000000}); }

// mask ? a : b. Both are evaluated.
CVAE_HD float Select(bool mask, float a, float b) { return mask ? a : b; }

CVAE_HD bool NonZero(uint32_t x) { return x != 0; }

// x as a float, rounded to nearest.
CVAE_HD float ToFloat(uint32_t x) {
#ifdef __CUDA_ARCH__
  return __uint2float_rn(x);
#else
  return static_cast<float>(x);
#endif
}

template <int kBits>
CVAE_HD uint32_t ShiftLeft(uint32_t x) {
  return x << kBits;
}

template <int kBits>
CVAE_HD uint32_t ShiftRight(uint32_t x) {
  return x >> kBits;
}

// The two words of the 64-bit product.
CVAE_HD void MulWide(uint32_t a, uint32_t b, uint32_t& high, uint32_t& low) {
  const uint64_t product = uint64_t{a} * b;
  high = static_cast<uint32_t>(product >> 32);
  low = static_cast<uint32_t>(product);
}

// first, first + 1, ... in the lanes of a U; here there is one.
template <class U>
CVAE_HD U Iota(uint32_t first) {
  return first;
}

// Writes x's lanes; here there is one.
CVAE_HD void StoreLanes(float x, float* out) { *out = x; }

}  // namespace cvae::scalar

#endif  // CVAE_KERNELS_NUMERICS_SCALAR_H_
