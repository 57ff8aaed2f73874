// The bits of all results over a fixed set of arguments, frozen. If this test fails, the same request is answered with
// other bits than before: raise kNumericsRevision in kernels/numerics/revision.h, then state the new hashes here.

#include <cstdint>
#include <map>
#include <string>

#include "gmock/gmock.h"
#include "kernels/numerics/numerics.h"
#include "kernels/numerics/revision.h"
#include "tests/kernels/numerics/scalar_functions.h"

namespace cvae {
namespace {

// FNV-1a over the four bytes of each word, 64 bits.
class Hash {
 public:
  void Add(float y) {
    const uint32_t bits = scalar::Bits(scalar::CanonicalNaN(y));
    for (int shift = 0; shift < 32; shift += 8) hash_ = (hash_ ^ (bits >> shift & 0xff)) * 0x100000001b3u;
  }
  uint64_t value() const { return hash_; }

 private:
  uint64_t hash_ = 0xcbf29ce484222325u;
};

TEST(FrozenTest, NoResultHasChangedItsBits) {
  ASSERT_EQ(kNumericsRevision, 1);
  const Arguments arguments = HardArguments(10'000);
  std::map<std::string, uint64_t> hashes;
  for (const ScalarFunction& function : ScalarFunctions()) {
    Hash hash;
    for (size_t i = 0; i < arguments.size(); ++i) {
      hash.Add(function.evaluate(arguments.a[i], arguments.b[i], arguments.c[i]));
    }
    hashes[std::string(function.name)] = hash.value();
  }
  Hash noise, sum;
  for (int row = 0; row < 100; ++row) {
    float eps[37];
    scalar::FillNormals<uint32_t>(123456789, row, row % 3, 37, eps);
    scalar::RowSum<float> squares;
    for (int j = 0; j < 37; ++j) noise.Add(eps[j]), squares.AddSquare(j, eps[j]);
    sum.Add(squares.Total());
  }
  hashes["FillNormals"] = noise.value();
  hashes["RowSum"] = sum.value();
  const std::map<std::string, uint64_t> frozen = {
      {"BceElement", 0x7a7a52b1b5d0649u},
      {"CanonicalNaN", 0x568abed36d30cd88u},
      {"Clamp", 0x282d0c686b341e47u},
      {"CosPi", 0x77203a50b32acaf3u},
      {"Elu", 0xab87d2a845b199a3u},
      {"Erf", 0xcb76d75854b7bf5eu},
      {"Exp", 0x57c42a491eff985au},
      {"ExpM1MinusX", 0x2c9b786a6bc37c3cu},
      {"Expm1", 0x969fc8c576cda3acu},
      {"FillNormals", 0x4518296ca44b1fd5u},
      {"FusedMultiplyAdd", 0xfcce42ccc735bcbeu},
      {"Gelu", 0xd9a85c8b68b9a573u},
      {"GeluTanh", 0x4222a6ada8238b28u},
      {"Identity", 0x568abed36d30cd88u},
      {"KlElement", 0x444b27b46cd4e79cu},
      {"KlElementOfVariance", 0x31b6ad46ac6feca1u},
      {"LastNormal", 0xf2f5e12b6bcd6225u},
      {"LeakyRelu", 0x82852c894a3506bbu},
      {"Log", 0x9d919dca5301da8u},
      {"Log1p", 0x4c33ea905b6c273du},
      {"Max", 0xafd60351e414ba8u},
      {"Min", 0x69349d1ab74252d7u},
      {"Normal", 0xab41096b3276481bu},
      {"Normalize", 0x9e8ea267e05c5431u},
      {"Quotient", 0x174479a13e881a7bu},
      {"Relu", 0xaf2acf9c8715ec58u},
      {"RowSum", 0x7e10f539f8d77efu},
      {"SampleZ", 0xa888aef2b5074cdcu},
      {"SampleZOfVariance", 0x4ee18e2600ebb603u},
      {"Sigmoid", 0x7a6854fce28147b9u},
      {"Silu", 0xbc99f438c205ba3au},
      {"SinPi", 0xc80abab146ec7c30u},
      {"Softplus", 0xbabd53e3374245e7u},
      {"SquareRoot", 0x24dfd258edf1f0feu},
      {"SquaredError", 0xfffb971039a9b1f0u},
      {"Tanh", 0xc88ec55c46847f1u},
      {"Uniform", 0x94d7f83e933731a3u},
  };
  for (const auto& [name, hash] : hashes) {
    const auto expected = frozen.find(name);
    EXPECT_TRUE(expected != frozen.end() && expected->second == hash)
        << "{\"" << name << "\", 0x" << std::hex << hash << "u},";
  }
  EXPECT_EQ(hashes.size(), frozen.size());
}

}  // namespace
}  // namespace cvae
