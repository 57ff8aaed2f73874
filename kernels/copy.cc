#include "kernels/copy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace cvae {
namespace {

constexpr uint32_t kExponent = 0x7f800000;  // all ones: NaN or infinity
constexpr size_t kBlock = 1024;             // stays in the L1 cache between the copy and the check

bool AllFinite(const float* values, size_t count) {
  uint32_t bad = 0;
  for (size_t i = 0; i < count; ++i) {
    uint32_t bits;
    std::memcpy(&bits, values + i, sizeof(bits));
    bad |= (bits & kExponent) == kExponent;
  }
  return bad == 0;
}

}  // namespace

size_t CopyFinite(float* to, const void* from, size_t count) {
  const char* source = static_cast<const char*>(from);
  for (size_t first = 0; first < count; first += kBlock) {
    const size_t block = std::min(kBlock, count - first);
    std::memcpy(to + first, source + first * sizeof(float), block * sizeof(float));
    if (AllFinite(to + first, block)) continue;
    size_t bad = first;
    while (AllFinite(to + bad, 1)) ++bad;
    return bad;
  }
  return count;
}

}  // namespace cvae
