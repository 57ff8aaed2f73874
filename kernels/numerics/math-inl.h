// exp, log and their kin, our own: the libraries' differ between hosts, vectors and devices. Included by numerics.h and
// numerics-inl.h alone (numerics.h says how). F is float or VecF.
//
// Errors are the largest found against double over the function's range, in units in the last place of the float
// result; tests/kernels/numerics/numerics_math_test.cc measures them. NaN in, NaN out. Coefficients:
// fit_polynomials.py.

// max(a, b), the second one of equals; NaN if either is.
template <class F>
CVAE_HD F Max(F a, F b) {
  return Select(a > b, a, Select(IsNaN(a), a, b));
}

// min(a, b), the second one of equals; NaN if either is.
template <class F>
CVAE_HD F Min(F a, F b) {
  return Select(a < b, a, Select(IsNaN(a), a, b));
}

// min(max(x, low), high) for low < high; NaN stays.
template <class F>
CVAE_HD F Clamp(F x, float low, float high) {
  return Select(x <= low, low, Select(x >= high, high, x));
}

// x as outputs store it: a NaN, whose bits differ between machines, as 7fc00000.
template <class F>
CVAE_HD F CanonicalNaN(F x) {
  return Select(IsNaN(x), FromBits(0x7fc00000u), x);
}

// c0 + c1 x + c2 x^2 + ... by Horner's rule.
template <class F>
CVAE_HD F Polynomial(F, float c0) {
  return c0;
}

template <class F, class... C>
CVAE_HD F Polynomial(F x, float c0, C... c) {
  return Fma(Polynomial(x, c...), x, c0);
}

// An argument of exp as n ln(2) + r, n whole, |r| <= ln(2) / 2.
template <class F, class U>
struct ExpParts {
  F expm1_r;  // exp(r) - 1
  U n_256;    // n + 256
};

// Requires |x| < 128, or NaN.
template <class F>
CVAE_HD auto SplitExp(F x) {
  const F shifted = Fma(x, 0x1.715476p+0f, 0x1.8p23f);  // x / ln(2), rounded to whole by the size of 1.5 * 2^23
  const F n = shifted - 0x1.8p23f;
  const F r = Fma(n, -0x1.7f7d1cp-20f, Fma(n, -0x1.62e4p-1f, x));
  const F q = Polynomial(r, 0x1p-1f, 0x1.555554p-3f, 0x1.5554f8p-5f, 0x1.1112dap-7f, 0x1.6d3a44p-10f, 0x1.9e6e7cp-13f);
  const auto n_256 = Bits(shifted) - (0x4b400000u - 256u);
  return ExpParts<F, std::remove_const_t<decltype(n_256)>>{Fma(q * r, r, r), n_256};
}

// exp(x), to 0.99 ulp. Overflows to infinity from 88.722839 on, underflows gradually through the subnormals to +0.
template <class F>
CVAE_HD F Exp(F x) {
  const auto parts = SplitExp(Clamp(x, -104.0f, 89.0f));
  // 2^n in two factors, as neither 2^128 nor 2^-150 is a normal float: only the second product may round.
  const auto half = ShiftRight<1>(parts.n_256);
  const F scale1 = FromBits(ShiftLeft<23>(half - 1u));                // 2^(half - 128)
  const F scale2 = FromBits(ShiftLeft<23>(parts.n_256 - half - 1u));  // 2^(n_256 - half - 128)
  return (parts.expm1_r + 1.0f) * scale1 * scale2;
}

// exp(x) - 1, to 1.44 ulp. Of -0 it is -0.
template <class F>
CVAE_HD F Expm1(F x) {
  const auto parts = SplitExp(Clamp(x, -30.0f, 89.0f));
  const F scale = FromBits(ShiftLeft<23>(parts.n_256 - 130u));  // 2^(n - 1): 2^128 is no float
  const F y = 2.0f * Fma(parts.expm1_r, scale, scale - 0.5f);
  return Select(Abs(x) < 0x1p-26f, x, y);
}

// exp(x) - 1 - x, to 2.05 ulp also around 0, where the plain formula cancels.
template <class F>
CVAE_HD F ExpM1MinusX(F x) {
  const F near_zero = x * x *
                      Polynomial(x, 0x1p-1f, 0x1.555556p-3f, 0x1.555556p-5f, 0x1.1110c8p-7f, 0x1.6c15fcp-10f,
                                 0x1.a033b2p-13f, 0x1.a07c8p-16f, 0x1.729d92p-19f, 0x1.1c3c38p-22f);
  const auto parts = SplitExp(Clamp(x, -30.0f, 89.0f));
  const F scale = FromBits(ShiftLeft<23>(parts.n_256 - 130u));
  const F rest = Fma(-0.5f, Select(x >= 89.0f, 89.0f, x), scale - 0.5f);
  return Select(Abs(x) <= 1.0f, near_zero, 2.0f * Fma(parts.expm1_r, scale, rest));
}

// k + 127 for a positive normal float of these bits, 2^-k of which is in [sqrt(1/2), sqrt(2)).
template <class U>
CVAE_HD U BiasedExponent(U bits) {
  return ShiftRight<23>(bits + (0x3f800000u - 0x3f3504f3u));
}

// k from k + 127: as a float by its place in the mantissa of 2^23.
template <class U>
CVAE_HD auto ExponentAsFloat(U k_127) {
  return FromBits(k_127 | 0x4b000000u) - (0x1p23f + 127.0f);
}

// k ln(2) + log(1 + f) for sqrt(1/2) <= 1 + f < sqrt(2).
template <class F>
CVAE_HD F JoinLog(F k, F f) {
  const F f2 = f * f;
  const F r = Polynomial(f, 0x1.555548p-2f, -0x1.000006p-2f, 0x1.99a478p-3f, -0x1.555c4ap-3f, 0x1.233b68p-3f,
                         -0x1.fc2740p-4f, 0x1.e6c298p-4f, -0x1.de0e4cp-4f, 0x1.147cbep-4f);
  const F y = Fma(-0.5f, f2, Fma(f2 * f, r, k * -0x1.05c61p-29f));
  return Fma(k, 0x1.62e43p-1f, f + y);
}

// y where 0 < x < infinity; elsewhere log(x) by IEEE's rules: log(0) = -infinity, of a negative number NaN.
template <class F>
CVAE_HD F LogSpecials(F x, F y) {
  y = Select(x < FromBits(0x7f800000u), y, x);
  y = Select(x < 0.0f, FromBits(0x7fc00000u), y);
  return Select(x == 0.0f, FromBits(0xff800000u), y);
}

// log(x), to 0.81 ulp, of subnormals too.
template <class F>
CVAE_HD F Log(F x) {
  const auto subnormal = x < 0x1p-126f;
  const auto bits = Bits(Select(subnormal, x * 0x1p23f, x));
  const auto k_127 = BiasedExponent(bits);
  const F k = ExponentAsFloat(k_127);
  const F m = FromBits(bits - ShiftLeft<23>(k_127 - 127u));
  return LogSpecials(x, JoinLog(Select(subnormal, k - 23.0f, k), m - 1.0f));
}

// log(1 + x), to 1.38 ulp. Of -0 it is -0.
template <class F>
CVAE_HD F Log1p(F x) {
  const F one_x = x + 1.0f;
  const auto k_127 = BiasedExponent(Bits(one_x));
  const F scale = FromBits(ShiftLeft<23>(256u - k_127));  // 2^(2 - k): 2^-128 is no normal float
  // f = (1 + x) 2^-k - 1 from x itself, which 1 + x may have rounded.
  const F f = Fma(0.25f * x, scale, Fma(0.25f, scale, -1.0f));
  const F y = LogSpecials(one_x, JoinLog(ExponentAsFloat(k_127), f));
  return Select(Abs(x) < 0x1p-26f, x, y);
}

template <class F>
struct SinCos {
  F sin;
  F cos;
};

// sin(pi x) to 1.05 ulp and cos(pi x) to 0.86 ulp for |x| <= 2^21; beyond it NaN. The sign of a zero sine is not
// IEEE's.
template <class F>
CVAE_HD SinCos<F> SinCosPi(F x) {
  const F in_range = Select(Abs(x) <= 0x1p21f, x, FromBits(0x7fc00000u));
  const F shifted = Fma(in_range, 2.0f, 0x1.8p23f);  // quarter turns, rounded to whole
  const F r = Fma(shifted - 0x1.8p23f, -0.5f, in_range);
  const F r2 = r * r;
  const F s = Polynomial(r2, -0x1.a32bd4p-24f, -0x1.4abbbap+2f, 0x1.465eeap+1f, -0x1.2da156p-1f);
  const F c = Polynomial(r2, -0x1.3bd3ccp+2f, 0x1.03c1bp+2f, -0x1.55b2b4p+0f, 0x1.d4f632p-3f);
  const F sin_r = Fma(r, 0x1.921fb6p+1f, r * s);
  const F cos_r = Fma(r2, c, 1.0f);
  const auto quadrant = Bits(shifted);
  const auto odd = NonZero(quadrant & 1u);
  const auto sin_sign = ShiftLeft<30>(quadrant & 2u);
  const auto cos_sign = ShiftLeft<30>((quadrant + 1u) & 2u);
  return {FromBits(Bits(Select(odd, cos_r, sin_r)) ^ sin_sign), FromBits(Bits(Select(odd, sin_r, cos_r)) ^ cos_sign)};
}

// tanh(x) = (1 - exp(-2|x|)) / (1 + exp(-2|x|)) with the sign of x, to 2.50 ulp.
template <class F>
CVAE_HD F Tanh(F x) {
  const F e = Expm1(-2.0f * Abs(x));
  return CopySign(Div(-e, e + 2.0f), x);
}

// erf(x), to 1.06 ulp.
template <class F>
CVAE_HD F Erf(F x) {
  const F a = Abs(x);
  const F a2 = a * a;
  const F small = Fma(a,
                      Polynomial(a2, 0x1.06eba8p-3f, -0x1.81273ep-2f, 0x1.ce2ce6p-4f, -0x1.b7f71ap-6f, 0x1.53f224p-8f,
                                 -0x1.a3515ep-11f, 0x1.4771fcp-14f),
                      a);
  const F b = Select(a >= 4.0f, 4.0f, a);  // erf(4) is 1 as a float
  const F log_erfc = b * Polynomial(b, -0x1.20f21cp+0f, -0x1.451acp-1f, -0x1.b4595ep-4f, 0x1.89603cp-6f,
                                    -0x1.ec7aa2p-9f, 0x1.6f93ccp-12f, -0x1.d4588ep-17f);
  return CopySign(Select(a < 1.0f, small, 1.0f - Exp(log_erfc)), x);
}
