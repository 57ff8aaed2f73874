// Sums over a row's columns, the same for every width and engine. Included by numerics.h and numerics-inl.h alone
// (numerics.h says how).
//
// Column j goes to partial j mod 32, ascending, each from +0; then the fixed tree p[i] += p[i + 16], then 8, 4, 2, 1.
// So a row may be summed by one float, by vectors of up to 32 lanes or by a warp. A partial is never -0: adding +0, as
// the missing columns of a last vector do, changes nothing.

inline constexpr int kSumPartials = 32;

// The tree; p [kSumPartials] is overwritten.
CVAE_HD float SumTree(float* p) {
  for (int half = kSumPartials / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) p[i] += p[i + half];
  }
  return p[0];
}

// The sum of one row. F is float, a column at a time, or VecF, as many columns at a time as it has lanes.
template <class F>
class RowSum {
 public:
  CVAE_HD RowSum() {
    for (F& p : partials_) p = F(0.0f);
  }

  // Adds the `index`th float or vector of the row, each once and in ascending order; a last vector's missing columns
  // are +0.
  CVAE_HD void Add(int index, F v) { partials_[index % kCount] = partials_[index % kCount] + v; }

  // The same with d^2, rounded once together with the sum.
  CVAE_HD void AddSquare(int index, F d) { partials_[index % kCount] = Fma(d, d, partials_[index % kCount]); }

  CVAE_HD float Total() const {
    float p[kSumPartials];
    for (int i = 0; i < kCount; ++i) StoreLanes(partials_[i], p + i * kLaneCount);
    return SumTree(p);
  }

 private:
  static constexpr int kLaneCount = sizeof(F) / sizeof(float);
  static constexpr int kCount = kSumPartials / kLaneCount;

  F partials_[kCount];
};
