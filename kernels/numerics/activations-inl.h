// The activations of layers. Included by numerics.h and numerics-inl.h alone (numerics.h says how). F is float or VecF.
// Errors as in math-inl.h.

// x > 0 ? x : +0; NaN stays.
template <class F>
CVAE_HD F Relu(F x) {
  return Select(x <= 0.0f, 0.0f, x);
}

template <class F>
CVAE_HD F LeakyRelu(F x, float slope) {
  return Select(x > 0.0f, x, slope * x);
}

// x > 0 ? x : alpha (exp(x) - 1), to 1.55 ulp.
template <class F>
CVAE_HD F Elu(F x, float alpha) {
  return Select(x > 0.0f, x, alpha * Expm1(x));
}

// 1 / (1 + exp(-x)), to 2.42 ulp down to -88.72; below it +0, where the truth is under 3e-39.
template <class F>
CVAE_HD F Sigmoid(F x) {
  return Div(1.0f, Exp(-x) + 1.0f);
}

// x sigmoid(x), to 4.03 ulp down to -88.72; NaN at -infinity, as the formula has it.
template <class F>
CVAE_HD F Silu(F x) {
  return x * Sigmoid(x);
}

// x / 2 (1 + erf(x / sqrt(2))), to 1.47 ulp of x: the formula cancels on its negative side. NaN at -infinity.
template <class F>
CVAE_HD F Gelu(F x) {
  return 0.5f * x * (Erf(x * 0x1.6a09e6p-1f) + 1.0f);
}

// gelu's approximation by tanh, to 2.16 ulp of x. NaN at -infinity.
template <class F>
CVAE_HD F GeluTanh(F x) {
  const F u = 0x1.988454p-1f * Fma(0.044715f * x * x, x, x);  // sqrt(2 / pi)
  return 0.5f * x * (Tanh(u) + 1.0f);
}

// log(1 + exp(x)), to 1.63 ulp.
template <class F>
CVAE_HD F Softplus(F x) {
  return Max(x, F(0.0f)) + Log1p(Exp(-Abs(x)));
}

template <class F>
CVAE_HD F Activate(Activation activation, F x) {
  switch (activation.kind) {
    case Activation::kIdentity:
      return x;
    case Activation::kRelu:
      return Relu(x);
    case Activation::kLeakyRelu:
      return LeakyRelu(x, activation.a);
    case Activation::kElu:
      return Elu(x, activation.a);
    case Activation::kSilu:
      return Silu(x);
    case Activation::kGelu:
      return Gelu(x);
    case Activation::kGeluTanh:
      return GeluTanh(x);
    case Activation::kTanh:
      return Tanh(x);
    case Activation::kSigmoid:
      return Sigmoid(x);
    case Activation::kSoftplus:
      return Softplus(x);
  }
  return x;
}
