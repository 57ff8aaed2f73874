#include "client/command/picture.h"

#include <png.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace cvae {
namespace {

constexpr int kZoomedPixels = 48;  // an image's larger side, at least, where zooming can help
constexpr png_uint_32 kMaxSide = 1 << 15;

uint8_t Gray(float value, const ImageStyle& style) {
  const float part = (value - style.low) / (style.high - style.low);
  if (!(part > 0)) return 0;  // NaN too
  return static_cast<uint8_t>(std::lround(std::min(part, 1.0f) * 255));
}

void DrawImage(const float* values, const ImageStyle& style, int left, int top, Picture& picture) {
  for (int y = 0; y < style.height * style.zoom; ++y) {
    const float* line = values + (y / style.zoom) * style.width;
    uint8_t* pixels = &picture.pixels[size_t(top + y) * picture.width + left];
    for (int x = 0; x < style.width * style.zoom; ++x) pixels[x] = Gray(line[x / style.zoom], style);
  }
}

Picture Blank(int width, int height) {
  return {width, height, std::vector<uint8_t>(size_t(width) * height, kPictureBackground)};
}

}  // namespace

absl::StatusOr<ImageStyle> MakeStyle(uint32_t cols, uint32_t width) {
  ImageStyle style;
  if (width == 0) {
    width = static_cast<uint32_t>(std::lround(std::sqrt(cols)));
    if (uint64_t{width} * width != cols) {
      return absl::InvalidArgumentError(
          absl::StrCat("--picture: rows of ", cols, " numbers are no square images; --width W"));
    }
  }
  if (cols % width != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--width: got ", width, ", no divisor of the rows' ", cols, " numbers"));
  }
  style.width = static_cast<int>(width);
  style.height = static_cast<int>(cols / width);
  style.zoom = std::max(1, kZoomedPixels / std::max(style.width, style.height));
  return style;
}

Picture DrawLines(const std::vector<std::vector<const float*>>& lines, int group, const ImageStyle& style) {
  size_t columns = 0;
  for (const auto& line : lines) columns = std::max(columns, line.size());
  const int step_x = style.width * style.zoom + kPicturePadding;
  const int step_y = style.height * style.zoom + kPicturePadding;
  const int count = static_cast<int>(lines.size());
  const int gaps = count == 0 ? 0 : (count - 1) / group;
  Picture picture = Blank(kPicturePadding + static_cast<int>(columns) * step_x,
                          kPicturePadding + count * step_y + gaps * kPictureGroupGap);
  for (int i = 0; i < count; ++i) {
    const int top = kPicturePadding + i * step_y + i / group * kPictureGroupGap;
    for (size_t j = 0; j < lines[i].size(); ++j) {
      DrawImage(lines[i][j], style, kPicturePadding + static_cast<int>(j) * step_x, top, picture);
    }
  }
  return picture;
}

Picture Stack(const Picture& above, const Picture& below) {
  Picture picture = Blank(std::max(above.width, below.width), above.height + below.height);
  const auto copy = [&picture](const Picture& from, int top) {
    for (int y = 0; y < from.height; ++y) {
      std::copy_n(&from.pixels[size_t(y) * from.width], from.width, &picture.pixels[size_t(top + y) * picture.width]);
    }
  };
  copy(above, 0);
  copy(below, above.height);
  return picture;
}

absl::StatusOr<std::string> EncodePng(const Picture& picture) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = picture.width;
  image.height = picture.height;
  image.format = PNG_FORMAT_GRAY;
  png_alloc_size_t size = 0;
  std::string bytes;
  if (png_image_write_get_memory_size(image, size, 0, picture.pixels.data(), 0, nullptr)) {
    bytes.resize(size);
    if (png_image_write_to_memory(&image, bytes.data(), &size, 0, picture.pixels.data(), 0, nullptr)) {
      bytes.resize(size);
      return bytes;
    }
  }
  return absl::ResourceExhaustedError(absl::StrCat("libpng: ", image.message));
}

absl::StatusOr<Picture> DecodePng(absl::string_view bytes) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_memory(&image, bytes.data(), bytes.size())) {
    return absl::InvalidArgumentError(absl::StrCat("is no PNG picture: ", image.message));
  }
  if (image.width > kMaxSide || image.height > kMaxSide) {
    png_image_free(&image);
    return absl::InvalidArgumentError(absl::StrCat("is ", image.width, " x ", image.height, " pixels, expected ",
                                                   kMaxSide, " x ", kMaxSide, " at the most"));
  }
  image.format = PNG_FORMAT_GRAY;
  Picture picture = Blank(static_cast<int>(image.width), static_cast<int>(image.height));
  const png_color white = {255, 255, 255};  // what is behind transparent pixels
  if (!png_image_finish_read(&image, &white, picture.pixels.data(), 0, nullptr)) {
    return absl::InvalidArgumentError(absl::StrCat("is no whole PNG picture: ", image.message));
  }
  return picture;
}

}  // namespace cvae
