// Files that parse, and files that we write. What the parser refuses is in safetensors_refusal_test.cc.

#include "base/safetensors.h"

#include <cstring>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cvae {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

TEST(SafetensorsTest, ReadsTheGoldens) {
  for (const char* name : {"seed.model", "seed.case", "tiny.model", "tiny.case"}) {
    const absl::StatusOr<Safetensors> file =
        Safetensors::Read(std::string(CVAE_SOURCE_DIR "/tests/golden/") + name + ".safetensors");
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_GE(file->tensors().size(), 10u);
  }
}

TEST(SafetensorsTest, FindsTensorsAfterAMove) {
  absl::StatusOr<Safetensors> read = Safetensors::Read(CVAE_SOURCE_DIR "/tests/golden/tiny.case.safetensors");
  ASSERT_TRUE(read.ok()) << read.status();
  const Safetensors file = std::move(*read);
  const Tensor* labels = file.Find("labels");
  ASSERT_NE(labels, nullptr);
  EXPECT_EQ(labels->dtype, DType::kI64);
  EXPECT_THAT(labels->shape, ElementsAre(5));
  EXPECT_TRUE(ToIntegers(*labels).ok());
  EXPECT_EQ(file.Find("label"), nullptr);
}

TEST(SafetensorsTest, WhatIsWrittenReadsTheSame) {
  const std::string data = "0123456789abcdefghijklmn";
  TensorMap tensors;
  tensors["b"] = Tensor{DType::kU8, {3}, std::string_view(data).substr(0, 3)};
  tensors["a"] = Tensor{DType::kF32, {2, 1}, std::string_view(data).substr(3, 8)};
  tensors["scalar"] = Tensor{DType::kF64, {}, std::string_view(data).substr(8, 8)};
  tensors["nothing"] = Tensor{DType::kF32, {0, 5}, {}};
  tensors["odd \"name\" \n \xc3\xa9"] = Tensor{DType::kI16, {1}, std::string_view(data).substr(0, 2)};
  const MetadataMap metadata = {{"cvae", R"({"format": 1})"}, {"other", ""}};
  const absl::StatusOr<Safetensors> file = Safetensors::Parse(SerializeSafetensors(tensors, metadata));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->metadata(), metadata);
  ASSERT_THAT(file->tensors(), SizeIs(tensors.size()));
  for (const auto& [name, tensor] : tensors) {
    const Tensor* read = file->Find(name);
    ASSERT_NE(read, nullptr) << name;
    EXPECT_EQ(read->dtype, tensor.dtype) << name;
    EXPECT_EQ(read->shape, tensor.shape) << name;
    EXPECT_EQ(read->data, tensor.data) << name;
  }
}

TEST(SafetensorsTest, WritesDataAlignedWidestFirst) {
  const std::string data(16, 'x');
  TensorMap tensors;
  tensors["a"] = Tensor{DType::kU8, {1}, std::string_view(data).substr(0, 1)};
  tensors["b"] = Tensor{DType::kF64, {2}, data};
  tensors["c"] = Tensor{DType::kF32, {1}, std::string_view(data).substr(0, 4)};
  const std::string bytes = SerializeSafetensors(tensors);
  uint64_t header_size = 0;
  std::memcpy(&header_size, bytes.data(), sizeof(header_size));
  EXPECT_EQ(header_size % 8, 0u);
  EXPECT_EQ(bytes.size(), 8 + header_size + 16 + 4 + 1);
  const absl::StatusOr<Safetensors> file = Safetensors::Parse(bytes);
  ASSERT_TRUE(file.ok()) << file.status();
  const auto offset = [&](const char* name) { return file->Find(name)->data.data() - file->bytes().data() - 8; };
  EXPECT_EQ(offset("b"), static_cast<ptrdiff_t>(header_size));
  EXPECT_EQ(offset("c"), static_cast<ptrdiff_t>(header_size) + 16);
  EXPECT_EQ(offset("a"), static_cast<ptrdiff_t>(header_size) + 20);
}

TEST(SafetensorsTest, AFileMayHoldNothing) {
  const absl::StatusOr<Safetensors> file = Safetensors::Parse(SerializeSafetensors({}));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_THAT(file->tensors(), IsEmpty());
  EXPECT_THAT(file->metadata(), IsEmpty());
}

}  // namespace
}  // namespace cvae
