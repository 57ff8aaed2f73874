// The noise: counter-based random words and standard normals of them, so that an eps is a function of (seed, row,
// sample, latent) alone. Included by numerics.h and numerics-inl.h alone (numerics.h says how). U is uint32_t or VecU:
// lanes are latent blocks.

template <class T>
struct Four {
  T v[4];
};

// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011). Known answers (Random123):
//   counter 00000000 x 4, key 00000000 x 2                                  -> 6627e8d5 e169c58d bc57ac4c 9b00dbd8
//   counter ffffffff x 4, key ffffffff x 2                                  -> 408f276d 41c83b0e a20bc7c6 6d5451fd
//   counter 243f6a88 85a308d3 13198a2e 03707344, key a4093822 299f31d0      -> d16cfe09 94fdcceb 5001e420 24126ea1
template <class U>
CVAE_HD Four<U> Philox(Four<U> counter, uint32_t key0, uint32_t key1) {
  U c0 = counter.v[0], c1 = counter.v[1], c2 = counter.v[2], c3 = counter.v[3];
  for (int round = 0; round < 10; ++round) {
    U high0, low0, high1, low1;
    MulWide(U(0xd2511f53u), c0, high0, low0);
    MulWide(U(0xcd9e8d57u), c2, high1, low1);
    c0 = high1 ^ c1 ^ key0;
    c1 = low1;
    c2 = high0 ^ c3 ^ key1;
    c3 = low0;
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
  return {{c0, c1, c2, c3}};
}

// The random words of latents 4 block ... 4 block + 3. cuRAND's are the same:
// curand_init(seed, row, 4 * (block + (uint64_t{sample} << 32)), &state), then curand4(&state), for sample < 2^30.
template <class U>
CVAE_HD Four<U> NoiseWords(uint64_t seed, uint64_t row, uint32_t sample, U block) {
  const Four<U> counter = {{block, U(sample), U(static_cast<uint32_t>(row)), U(static_cast<uint32_t>(row >> 32))}};
  return Philox(counter, static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32));
}

// A word as a number in [2^-33, 1].
template <class U>
CVAE_HD auto Uniform(U word) {
  return Fma(ToFloat(word), 0x1p-32f, 0x1p-33f);
}

// Four standard normals of four words (Box and Muller), at most 6.77 in size.
template <class U>
CVAE_HD auto Normals(const Four<U>& words) {
  using F = decltype(Uniform(words.v[0]));
  Four<F> normals;
  for (int i = 0; i < 4; i += 2) {
    const F r = Sqrt(-2.0f * Log(Uniform(words.v[i])));
    const SinCos<F> turn = SinCosPi(2.0f * Uniform(words.v[i + 1]));
    normals.v[i] = r * turn.cos;
    normals.v[i + 1] = r * turn.sin;
  }
  return normals;
}

// eps [count], the noise of latents 0 ... count - 1.
template <class U>
CVAE_HD void FillNormals(uint64_t seed, uint64_t row, uint32_t sample, int count, float* eps) {
  constexpr int kBlocks = sizeof(U) / sizeof(uint32_t);
  for (int first = 0; first < count; first += 4 * kBlocks) {
    const auto normals = Normals(NoiseWords<U>(seed, row, sample, Iota<U>(first / 4)));
    float latents[4][kBlocks];
    for (int i = 0; i < 4; ++i) StoreLanes(normals.v[i], latents[i]);
    const int end = count - first < 4 * kBlocks ? count - first : 4 * kBlocks;
    for (int i = 0; i < end; ++i) eps[first + i] = latents[i % 4][i / 4];
  }
}
