// Pictures, pixel by pixel.

#include "client/command/picture.h"

#include <limits>

#include "gtest/gtest.h"

namespace cvae {
namespace {

uint8_t At(const Picture& picture, int x, int y) { return picture.pixels[size_t(y) * picture.width + x]; }

TEST(PictureTest, StyleIsASquareOrAsWideAsTold) {
  const auto square = MakeStyle(256, 0);
  ASSERT_TRUE(square.ok());
  EXPECT_EQ(square->width, 16);
  EXPECT_EQ(square->height, 16);
  EXPECT_EQ(square->zoom, 3);
  EXPECT_EQ(MakeStyle(256, 32)->height, 8);
  EXPECT_EQ(MakeStyle(10000, 0)->zoom, 1);
  EXPECT_EQ(MakeStyle(257, 0).status().message(), "--picture: rows of 257 numbers are no square images; --width W");
  EXPECT_EQ(MakeStyle(256, 3).status().message(), "--width: got 3, no divisor of the rows' 256 numbers");
}

TEST(PictureTest, PixelsArePlacedClampedAndZoomed) {
  const float image[] = {0, 1, 0.5f, -3, 7, std::numeric_limits<float>::quiet_NaN()};  // 3 x 2
  ImageStyle style;
  style.width = 3;
  style.height = 2;
  style.zoom = 2;
  const Picture picture = DrawLines({{image, image}, {image}}, 1, style);
  EXPECT_EQ(picture.width, 2 + 2 * (6 + 2));
  EXPECT_EQ(picture.height, 2 + 2 * (4 + 2) + kPictureGroupGap);
  EXPECT_EQ(At(picture, 0, 0), kPictureBackground);
  EXPECT_EQ(At(picture, 2, 2), 0);
  for (const int dx : {0, 1}) {
    for (const int dy : {0, 1}) {
      EXPECT_EQ(At(picture, 4 + dx, 2 + dy), 255);
      EXPECT_EQ(At(picture, 6 + dx, 2 + dy), 128);
      EXPECT_EQ(At(picture, 2 + dx, 4 + dy), 0);
      EXPECT_EQ(At(picture, 4 + dx, 4 + dy), 255);
      EXPECT_EQ(At(picture, 6 + dx, 4 + dy), 0);
    }
  }
  EXPECT_EQ(At(picture, 8, 2), kPictureBackground);
  EXPECT_EQ(At(picture, 12, 2), 255);                                        // the second image of the line
  EXPECT_EQ(At(picture, 4, 2 + 6 + kPictureGroupGap), 255);                  // the second line
  EXPECT_EQ(At(picture, 12, 2 + 6 + kPictureGroupGap), kPictureBackground);  // which is shorter
}

TEST(PictureTest, Range) {
  const float image[] = {-1, 0, 1, 0.5f};
  ImageStyle style;
  style.width = style.height = 2;
  style.low = -1;
  const Picture picture = DrawLines({{image}}, 1, style);
  EXPECT_EQ(At(picture, 2, 2), 0);
  EXPECT_EQ(At(picture, 3, 2), 128);
  EXPECT_EQ(At(picture, 2, 3), 255);
  EXPECT_EQ(At(picture, 3, 3), 191);
}

TEST(PictureTest, GroupsStandTogether) {
  const float image[] = {1};
  ImageStyle style;
  style.width = style.height = 1;
  const Picture picture = DrawLines({{image}, {image}, {image}}, 2, style);
  EXPECT_EQ(picture.height, 2 + 3 * 3 + kPictureGroupGap);
  EXPECT_EQ(At(picture, 2, 2), 255);
  EXPECT_EQ(At(picture, 2, 5), 255);
  EXPECT_EQ(At(picture, 2, 8), kPictureBackground);
  EXPECT_EQ(At(picture, 2, 8 + kPictureGroupGap), 255);
}

TEST(PictureTest, OneAboveAnother) {
  const Picture above = {1, 2, {1, 2}}, below = {2, 1, {3, 4}};
  const Picture both = Stack(above, below);
  EXPECT_EQ(both.width, 2);
  EXPECT_EQ(both.pixels, (std::vector<uint8_t>{1, kPictureBackground, 2, kPictureBackground, 3, 4}));
}

TEST(PictureTest, PngThereAndBack) {
  Picture picture = {7, 5, {}};
  for (int i = 0; i < 35; ++i) picture.pixels.push_back(static_cast<uint8_t>(i * 7));
  const auto bytes = EncodePng(picture);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_EQ(bytes->substr(1, 3), "PNG");
  EXPECT_EQ((*bytes)[24], 8);  // bits of a pixel
  EXPECT_EQ((*bytes)[25], 0);  // gray
  const auto read = DecodePng(*bytes);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->width, 7);
  EXPECT_EQ(read->pixels, picture.pixels);
  for (const size_t size : {0, 8, 30, 60}) {
    EXPECT_EQ(DecodePng(bytes->substr(0, size)).status().code(), absl::StatusCode::kInvalidArgument) << size;
  }
  EXPECT_FALSE(DecodePng("no picture at all").ok());
}

}  // namespace
}  // namespace cvae
