// The scalar functions of the numerics as a table, and inputs that try them hard.

#ifndef CVAE_TESTS_KERNELS_NUMERICS_SCALAR_FUNCTIONS_H_
#define CVAE_TESTS_KERNELS_NUMERICS_SCALAR_FUNCTIONS_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "kernels/numerics/numerics.h"
#include "tests/kernels/numerics/functions.h"

namespace cvae {

struct ScalarFunction {
  std::string_view name;
  float (*evaluate)(float a, float b, float c);
};

inline const std::vector<ScalarFunction>& ScalarFunctions() {
  using namespace scalar;  // NOLINT: the formulas name everything in it
#define CVAE_ENTRY(name, formula) \
  {#name,                         \
   []([[maybe_unused]] float a, [[maybe_unused]] float b, [[maybe_unused]] float c) -> float { return formula; }},
  static const std::vector<ScalarFunction> functions = {CVAE_NUMERICS_FUNCTIONS(CVAE_ENTRY)};
#undef CVAE_ENTRY
  return functions;
}

// Arguments a, b and c of one call each.
struct Arguments {
  std::vector<float> a, b, c;

  void Add(float x, float y, float z) {
    a.push_back(x);
    b.push_back(y);
    c.push_back(z);
  }
  size_t size() const { return a.size(); }
};

// Floats where formulas go wrong, each with both signs.
inline std::vector<float> EdgeValues() {
  std::vector<float> values;
  for (uint32_t bits : {
           0x00000000u, 0x00000001u, 0x00000002u, 0x000fffffu, 0x00400000u, 0x007fffffu, 0x00800000u,
           0x00800001u,  // tiny
           0x01000000u, 0x0b800000u, 0x24000000u, 0x32000000u, 0x327fffffu, 0x32800000u, 0x33000000u, 0x33800000u,
           0x34000000u, 0x3e800000u, 0x3eb17218u, 0x3eb17219u, 0x3f000000u, 0x3f3504f2u, 0x3f3504f3u, 0x3f3504f4u,
           0x3f7fffffu, 0x3f800000u, 0x3f800001u, 0x3fb504f3u, 0x3fc00000u, 0x40000000u, 0x40200000u, 0x407fffffu,
           0x40800000u, 0x41200000u, 0x418aa123u, 0x41f00000u, 0x42aeac4fu, 0x42aeac50u, 0x42b00000u, 0x42b17217u,
           0x42b17218u, 0x42b17219u, 0x42b20000u, 0x42ce8ed0u, 0x42cff1b4u, 0x42cff1b5u, 0x42d00000u, 0x43000000u,
           0x49ffffffu, 0x4a000000u, 0x4a000001u, 0x4b000000u, 0x4b800000u, 0x5f000000u, 0x7e800000u, 0x7f000000u,
           0x7f3504f3u, 0x7f7fffffu, 0x7f800000u, 0x7f800001u, 0x7fc00000u, 0x7fffffffu,  // infinity and NaN
       }) {
    values.push_back(scalar::FromBits(bits));
    values.push_back(scalar::FromBits(bits | 0x80000000u));
  }
  return values;
}

// Every triple (edge, edge, some edge), `count` triples of random bits and `count` of ordinary numbers.
inline Arguments HardArguments(size_t count) {
  Arguments arguments;
  const std::vector<float> edges = EdgeValues();
  for (size_t i = 0; i < edges.size(); ++i) {
    for (size_t j = 0; j < edges.size(); ++j) arguments.Add(edges[i], edges[j], edges[(i * 7 + j * 3) % edges.size()]);
  }
  std::mt19937 random(20240601);
  const auto add_all = [&](auto draw) {
    for (size_t i = 0; i < count; ++i) {
      const float x = draw(), y = draw(), z = draw();  // not as arguments, whose order of evaluation is the compiler's
      arguments.Add(x, y, z);
    }
  };
  add_all([&] { return scalar::FromBits(static_cast<uint32_t>(random())); });
  add_all([&] {
    const float number = scalar::ToFloat(static_cast<uint32_t>(random())) * 0x1p-31f - 1.0f;
    return random() % 2 == 0 ? number : 20.0f * number;
  });
  return arguments;
}

}  // namespace cvae

#endif  // CVAE_TESTS_KERNELS_NUMERICS_SCALAR_FUNCTIONS_H_
