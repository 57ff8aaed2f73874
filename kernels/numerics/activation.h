// The activations a layer list may name. To add one: a line here, its name in model/operations.cc, its formula in
// activations-inl.h. Plain data: CUDA device code reads it too.

#ifndef CVAE_KERNELS_NUMERICS_ACTIVATION_H_
#define CVAE_KERNELS_NUMERICS_ACTIVATION_H_

#include "kernels/numerics/scalar.h"

namespace cvae {

struct Activation {
  enum Kind : int {
    kIdentity,
    kRelu,
    kLeakyRelu,  // of slope `a` below 0
    kElu,        // of scale `a` below 0
    kSilu,
    kGelu,
    kGeluTanh,  // gelu's approximation by tanh
    kTanh,
    kSigmoid,
    kSoftplus,
  };

  // A kind is an activation: Activation::kRelu.
  CVAE_HD constexpr Activation(Kind kind = kIdentity, float a = 0) : kind(kind), a(a) {}  // NOLINT: implicit

  Kind kind;
  float a;  // finite; 0 where the kind has no parameter

  friend constexpr bool operator==(Activation l, Activation r) { return l.kind == r.kind && l.a == r.a; }
};

}  // namespace cvae

#endif  // CVAE_KERNELS_NUMERICS_ACTIVATION_H_
