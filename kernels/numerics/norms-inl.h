// LayerNorm of a row: mean = Mean(sum of x, n), rstd = InverseDeviation(sum of (x - mean)^2, n, eps), then Normalize
// each column; the sums are RowSum's. Included by numerics.h and numerics-inl.h alone (numerics.h says how). F is float
// or VecF.

// sum / n; n is exact as a float up to 2^24.
CVAE_HD float Mean(float sum, int n) { return Div(sum, static_cast<float>(n)); }

// 1 / sqrt(sum_of_squares / n + eps).
CVAE_HD float InverseDeviation(float sum_of_squares, int n, float eps) {
  return Div(1.0f, Sqrt(Mean(sum_of_squares, n) + eps));
}

template <class F>
CVAE_HD F Normalize(F x, float mean, float rstd, F gain, F bias) {
  return Fma((x - mean) * rstd, gain, bias);
}
