// Every function of the numerics under one signature, so that one list makes the scalar table, the tables of each
// instruction set and the kernels of a GPU.

#ifndef CVAE_TESTS_KERNELS_NUMERICS_FUNCTIONS_H_
#define CVAE_TESTS_KERNELS_NUMERICS_FUNCTIONS_H_

// X(name, formula of the floats or vectors a, b and c)
#define CVAE_NUMERICS_FUNCTIONS(X)                                                       \
  X(Max, Max(a, b))                                                                      \
  X(Min, Min(a, b))                                                                      \
  X(Clamp, Clamp(a, -2.0f, 3.0f))                                                        \
  X(CanonicalNaN, CanonicalNaN(a))                                                       \
  X(FusedMultiplyAdd, Fma(a, b, c))                                                      \
  X(SquareRoot, Sqrt(a))                                                                 \
  X(Quotient, Div(a, b))                                                                 \
  X(Exp, Exp(a))                                                                         \
  X(Expm1, Expm1(a))                                                                     \
  X(ExpM1MinusX, ExpM1MinusX(a))                                                         \
  X(Log, Log(a))                                                                         \
  X(Log1p, Log1p(a))                                                                     \
  X(SinPi, SinCosPi(a).sin)                                                              \
  X(CosPi, SinCosPi(a).cos)                                                              \
  X(Tanh, Activate(Activation::kTanh, a))                                                \
  X(Erf, Erf(a))                                                                         \
  X(Identity, Activate(Activation::kIdentity, a))                                        \
  X(Relu, Activate(Activation::kRelu, a))                                                \
  X(Sigmoid, Activate(Activation::kSigmoid, a))                                          \
  X(LeakyRelu, Activate(Activation(Activation::kLeakyRelu, 0.01f), a))                   \
  X(Elu, Activate(Activation(Activation::kElu, 0.7f), a))                                \
  X(Silu, Activate(Activation::kSilu, a))                                                \
  X(Gelu, Activate(Activation::kGelu, a))                                                \
  X(GeluTanh, Activate(Activation::kGeluTanh, a))                                        \
  X(Softplus, Activate(Activation::kSoftplus, a))                                        \
  X(Normalize, Normalize(a, 0.3f, InverseDeviation(9.0f, 7, 1e-5f), b, c))               \
  X(SquaredError, SquaredError(a))                                                       \
  X(BceElement, BceElement(a, b))                                                        \
  X(KlElement, KlElement(a, b))                                                          \
  X(KlElementOfVariance, KlElementOfVariance(a, b, Log(b)))                              \
  X(SampleZ, SampleZ(a, b, c))                                                           \
  X(SampleZOfVariance, SampleZOfVariance(a, b, c))                                       \
  X(Uniform, Uniform(Bits(a)))                                                           \
  X(Normal, Normals(Four<decltype(Bits(a))>{{Bits(a), Bits(b), Bits(b), Bits(c)}}).v[0]) \
  X(LastNormal, Normals(Four<decltype(Bits(a))>{{Bits(a), Bits(b), Bits(b), Bits(c)}}).v[3])

#endif  // CVAE_TESTS_KERNELS_NUMERICS_FUNCTIONS_H_
