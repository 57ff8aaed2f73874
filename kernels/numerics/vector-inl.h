// The operations of scalar.h for a vector of floats: VecF, with its masks MaskF and its words VecU, over Highway's
// widest vectors of the instruction set being compiled. Inside a foreach_target file only. A number of one float
// converts to a VecF with it in every lane, so formulas read alike: Fma(x, 2.0f, y).
//
// For instruction sets whose vectors have a fixed size (x86, NEON; not SVE or RISC-V, whose types cannot be members).

#include <cstdint>
#include <cstring>

#include "hwy/highway.h"
#include "kernels/numerics/scalar.h"

#if defined(CVAE_KERNELS_NUMERICS_VECTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CVAE_KERNELS_NUMERICS_VECTOR_INL_H_
#undef CVAE_KERNELS_NUMERICS_VECTOR_INL_H_
#else
#define CVAE_KERNELS_NUMERICS_VECTOR_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace cvae {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using TagF = hn::ScalableTag<float>;
using TagU = hn::ScalableTag<uint32_t>;

// Lanes of a VecF.
inline constexpr int kLanes = HWY_LANES(float);

struct MaskF {
  hn::Mask<TagF> raw;

  friend CVAE_HD MaskF operator&(MaskF a, MaskF b) { return {hn::And(a.raw, b.raw)}; }
  friend CVAE_HD MaskF operator|(MaskF a, MaskF b) { return {hn::Or(a.raw, b.raw)}; }
};

struct VecU {
  hn::Vec<TagU> raw;

  VecU() = default;
  HWY_INLINE explicit VecU(hn::Vec<TagU> v) : raw(v) {}
  HWY_INLINE VecU(uint32_t x) : raw(hn::Set(TagU(), x)) {}  // NOLINT: implicit, as a number is in a formula

  friend CVAE_HD VecU operator+(VecU a, VecU b) { return VecU(hn::Add(a.raw, b.raw)); }
  friend CVAE_HD VecU operator-(VecU a, VecU b) { return VecU(hn::Sub(a.raw, b.raw)); }
  friend CVAE_HD VecU operator&(VecU a, VecU b) { return VecU(hn::And(a.raw, b.raw)); }
  friend CVAE_HD VecU operator|(VecU a, VecU b) { return VecU(hn::Or(a.raw, b.raw)); }
  friend CVAE_HD VecU operator^(VecU a, VecU b) { return VecU(hn::Xor(a.raw, b.raw)); }
};

struct VecF {
  hn::Vec<TagF> raw;

  VecF() = default;
  HWY_INLINE explicit VecF(hn::Vec<TagF> v) : raw(v) {}
  HWY_INLINE VecF(float x) : raw(hn::Set(TagF(), x)) {}  // NOLINT: implicit, as a number is in a formula

  // kLanes floats from p, of any alignment.
  static CVAE_HD VecF Load(const float* p) { return VecF(hn::LoadU(TagF(), p)); }
  CVAE_HD void Store(float* p) const { hn::StoreU(raw, TagF(), p); }

  // The first n lanes, 0 <= n <= kLanes: the others load as +0 and are not stored. Touches no memory beyond p[n - 1].
  static CVAE_HD VecF Load(const float* p, int n);
  CVAE_HD void Store(float* p, int n) const;

  friend CVAE_HD VecF operator+(VecF a, VecF b) { return VecF(hn::Add(a.raw, b.raw)); }
  friend CVAE_HD VecF operator-(VecF a, VecF b) { return VecF(hn::Sub(a.raw, b.raw)); }
  friend CVAE_HD VecF operator*(VecF a, VecF b) { return VecF(hn::Mul(a.raw, b.raw)); }
  friend CVAE_HD VecF operator-(VecF a) { return VecF(hn::Neg(a.raw)); }
  friend CVAE_HD MaskF operator<(VecF a, VecF b) { return {hn::Lt(a.raw, b.raw)}; }
  friend CVAE_HD MaskF operator<=(VecF a, VecF b) { return {hn::Le(a.raw, b.raw)}; }
  friend CVAE_HD MaskF operator>(VecF a, VecF b) { return {hn::Gt(a.raw, b.raw)}; }
  friend CVAE_HD MaskF operator>=(VecF a, VecF b) { return {hn::Ge(a.raw, b.raw)}; }
  friend CVAE_HD MaskF operator==(VecF a, VecF b) { return {hn::Eq(a.raw, b.raw)}; }
};

// The scalar forms too, so that a template of this region also takes a float.
using scalar::Abs;
using scalar::Bits;
using scalar::CopySign;
using scalar::Div;
using scalar::Fma;
using scalar::FromBits;
using scalar::IsNaN;
using scalar::MulWide;
using scalar::NonZero;
using scalar::Select;
using scalar::ShiftLeft;
using scalar::ShiftRight;
using scalar::Sqrt;
using scalar::StoreLanes;
using scalar::ToFloat;

CVAE_HD VecU Bits(VecF x) { return VecU(hn::BitCast(TagU(), x.raw)); }
CVAE_HD VecF FromBits(VecU x) { return VecF(hn::BitCast(TagF(), x.raw)); }

CVAE_HD VecF Fma(VecF a, VecF b, VecF c) {
#if HWY_NATIVE_FMA
  return VecF(hn::MulAdd(a.raw, b.raw, c.raw));
#else  // Highway's own would round twice: slow and exact instead
  HWY_ALIGN float x[kLanes], y[kLanes], z[kLanes];
  a.Store(x);
  b.Store(y);
  c.Store(z);
  for (int i = 0; i < kLanes; ++i) z[i] = scalar::Fma(x[i], y[i], z[i]);
  return VecF::Load(z);
#endif
}

CVAE_HD VecF Sqrt(VecF x) { return VecF(hn::Sqrt(x.raw)); }
CVAE_HD VecF Div(VecF a, VecF b) { return VecF(hn::Div(a.raw, b.raw)); }
CVAE_HD VecF Abs(VecF x) { return VecF(hn::Abs(x.raw)); }
CVAE_HD VecF CopySign(VecF magnitude, VecF sign) { return FromBits(Bits(magnitude) | (Bits(sign) & 0x80000000u)); }
CVAE_HD MaskF IsNaN(VecF x) { return {hn::IsNaN(x.raw)}; }  // hn::Ne is false for NaN on AVX2 and AVX-512
CVAE_HD VecF Select(MaskF mask, VecF a, VecF b) { return VecF(hn::IfThenElse(mask.raw, a.raw, b.raw)); }
CVAE_HD MaskF NonZero(VecU x) { return {hn::RebindMask(TagF(), hn::Ne(x.raw, hn::Zero(TagU())))}; }

template <int kBits>
CVAE_HD VecU ShiftLeft(VecU x) {
  return VecU(hn::ShiftLeft<kBits>(x.raw));
}

template <int kBits>
CVAE_HD VecU ShiftRight(VecU x) {
  return VecU(hn::ShiftRight<kBits>(x.raw));
}

// Both halves of the word are exact as floats (2^23 + half is one); the fma is the one rounding.
CVAE_HD VecF ToFloat(VecU x) {
  const VecF high = FromBits(ShiftRight<16>(x) | 0x4b000000u) - 0x1p23f;
  const VecF low = FromBits((x & 0xffffu) | 0x4b000000u) - 0x1p23f;
  return Fma(high, 0x1p16f, low);
}

CVAE_HD void MulWide(VecU a, VecU b, VecU& high, VecU& low) {
#if HWY_TARGET == HWY_SCALAR  // one lane: no odd ones
  uint32_t h, l;
  scalar::MulWide(hn::GetLane(a.raw), hn::GetLane(b.raw), h, l);
  high = h;
  low = l;
#else
  const TagU words;
  const hn::Repartition<uint64_t, TagU> pairs;
  const auto odd_a = hn::BitCast(words, hn::ShiftRight<32>(hn::BitCast(pairs, a.raw)));
  const auto odd_b = hn::BitCast(words, hn::ShiftRight<32>(hn::BitCast(pairs, b.raw)));
  const auto even = hn::MulEven(a.raw, b.raw);
  const auto odd = hn::MulEven(odd_a, odd_b);
  high = VecU(hn::OddEven(hn::BitCast(words, odd), hn::BitCast(words, hn::ShiftRight<32>(even))));
  low = VecU(hn::OddEven(hn::BitCast(words, hn::ShiftLeft<32>(odd)), hn::BitCast(words, even)));
#endif
}

template <class U>
CVAE_HD U Iota(uint32_t first) {
  if constexpr (sizeof(U) == sizeof(uint32_t)) {
    return first;
  } else {
    return U(hn::Iota(TagU(), first));
  }
}

CVAE_HD void StoreLanes(VecF x, float* out) { x.Store(out); }

CVAE_HD VecF VecF::Load(const float* p, int n) {
#if HWY_ARCH_X86 && HWY_CAP_GE256
  return VecF(hn::MaskedLoad(hn::FirstN(TagF(), n), TagF(), p));
#else  // where Highway's masked load reads the whole vector
  HWY_ALIGN float lanes[kLanes] = {};
  std::memcpy(lanes, p, n * sizeof(float));
  return Load(lanes);
#endif
}

CVAE_HD void VecF::Store(float* p, int n) const {
#if HWY_ARCH_X86 && HWY_CAP_GE256
  hn::BlendedStore(raw, hn::FirstN(TagF(), n), TagF(), p);
#else
  HWY_ALIGN float lanes[kLanes];
  Store(lanes);
  std::memcpy(p, lanes, n * sizeof(float));
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace cvae
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
