#include "kernels/copy.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace cvae {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kBad[] = {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN(), std::bit_cast<float>(0x7f800001u),
                      std::bit_cast<float>(0xffffffffu)};

// 0, 1 and the numbers around the blocks that the copy goes by.
const size_t kCounts[] = {0, 1, 7, 1023, 1024, 1025, 2048, 3001};

std::vector<float> Finite(size_t count) {
  const float kinds[] = {0.0f,
                         -0.0f,
                         1.5f,
                         std::numeric_limits<float>::max(),
                         std::numeric_limits<float>::lowest(),
                         std::numeric_limits<float>::denorm_min()};
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = kinds[i % std::size(kinds)];
  return values;
}

TEST(CopyFinite, CopiesEveryBitAndNothingBeyond) {
  for (const size_t count : kCounts) {
    const std::vector<float> from = Finite(count);
    std::vector<float> to(count + 1, 42.0f);
    EXPECT_EQ(CopyFinite(to.data(), from.data(), count), count);
    EXPECT_EQ(to[count], 42.0f);
    if (count == 0) continue;  // from is null then, which memcmp may not be given
    EXPECT_EQ(std::memcmp(to.data(), from.data(), count * sizeof(float)), 0) << count;
  }
}

TEST(CopyFinite, TakesAnyAlignment) {
  const std::vector<float> values = Finite(3001);
  const size_t bytes = values.size() * sizeof(float);
  for (size_t shift = 0; shift < sizeof(float); ++shift) {
    std::vector<char> from(bytes + shift);
    std::memcpy(from.data() + shift, values.data(), bytes);
    std::vector<float> to(values.size());
    EXPECT_EQ(CopyFinite(to.data(), from.data() + shift, values.size()), values.size());
    EXPECT_EQ(std::memcmp(to.data(), values.data(), bytes), 0) << "shifted by " << shift;
  }
}

TEST(CopyFinite, FindsEachKindOfBadValue) {
  for (const float bad : kBad) {
    std::vector<float> from = Finite(40);
    from[17] = bad;
    std::vector<float> to(from.size());
    EXPECT_EQ(CopyFinite(to.data(), from.data(), from.size()), 17u) << std::hex << std::bit_cast<uint32_t>(bad);
  }
}

TEST(CopyFinite, FindsABadValueAnywhere) {
  for (const size_t count : kCounts) {
    std::vector<float> from = Finite(count);
    std::vector<float> to(count);
    for (size_t i = 0; i < count; i += i % 1024 < 2 || i % 1024 > 1021 ? 1 : 13) {
      const float was = from[i];
      from[i] = kInfinity;
      EXPECT_EQ(CopyFinite(to.data(), from.data(), count), i) << "of " << count;
      from[i] = was;
    }
  }
}

TEST(CopyFinite, ReportsTheFirstOfSeveral) {
  std::vector<float> from = Finite(3001);
  from[1030] = from[1031] = from[2500] = kInfinity;
  std::vector<float> to(from.size());
  EXPECT_EQ(CopyFinite(to.data(), from.data(), from.size()), 1030u);
}

}  // namespace
}  // namespace cvae
