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
      {"BceElement", 0x6fb674766c4a59b2u},
      {"CanonicalNaN", 0x82bf7aaa3168db6bu},
      {"Clamp", 0xa0bd8a0eec381780u},
      {"CosPi", 0x9dfe68a284c4b5ebu},
      {"Elu", 0x58f6914038adfd8au},
      {"Erf", 0x8e1fa0fa017b6b43u},
      {"Exp", 0xa9a4a3e0dda87b93u},
      {"ExpM1MinusX", 0x9b78aebb73810191u},
      {"Expm1", 0x546e24af334a2ba3u},
      {"FillNormals", 0x4518296ca44b1fd5u},
      {"FusedMultiplyAdd", 0x9a358a16f137e071u},
      {"Gelu", 0x25e5c73c83e42717u},
      {"GeluTanh", 0x592ee8f24cf0b122u},
      {"Identity", 0x82bf7aaa3168db6bu},
      {"KlElement", 0xc217b53ab9bda6beu},
      {"KlElementOfVariance", 0xbd5b26f2cd665a5au},
      {"LastNormal", 0x53520f7b4707841au},
      {"LeakyRelu", 0xcc5203b358551a9u},
      {"Log", 0xbbf8ac13fe2acbcfu},
      {"Log1p", 0x9e520c36cc915eb2u},
      {"Max", 0x29c1788b46a07d2au},
      {"Min", 0x659d8bdc9237538cu},
      {"Normal", 0xb844bd05c50fc70fu},
      {"Quotient", 0x1fe5b4e83a3c86f5u},
      {"Relu", 0x4835326bc1df569cu},
      {"RowSum", 0x7e10f539f8d77efu},
      {"SampleZ", 0xc3735ebfc93fb47bu},
      {"SampleZOfVariance", 0x24eb9115476c7acfu},
      {"Sigmoid", 0xb8ed67637d18fe43u},
      {"Silu", 0x1b23614fedf78a88u},
      {"SinPi", 0xbf2ea0f7ffa21543u},
      {"Softplus", 0x169181aa135aa449u},
      {"SquareRoot", 0x458ef1f192111b4bu},
      {"SquaredError", 0xcfc900c278cc9a3du},
      {"Tanh", 0xf5220efd7087fe44u},
      {"Uniform", 0x6ec4961813705b53u},
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
