// Rows drawn as gray images in a grid, and PNG files.

#ifndef CVAE_CLIENT_COMMAND_PICTURE_H_
#define CVAE_CLIENT_COMMAND_PICTURE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cvae {

// Gray pixels, 0 black to 255 white, line by line.
struct Picture {
  int width = 0;
  int height = 0;
  std::vector<uint8_t> pixels;  // [height, width]
};

// How one row becomes an image.
struct ImageStyle {
  int width = 0;   // pixels of a line
  int height = 0;  // lines
  float low = 0;   // drawn black, as is everything below, and NaN
  float high = 1;  // drawn white
  int zoom = 1;    // each number is zoom x zoom pixels
};

// The style of images of `cols` numbers: `width` a line, or squares if it is 0, zoomed to some 48 pixels.
// INVALID_ARGUMENT: `cols` is no square, or no multiple of `width`.
absl::StatusOr<ImageStyle> MakeStyle(uint32_t cols, uint32_t width);

// Lines of images, each image style.width * style.height floats. A gap of kPicturePadding around each; a wider one
// after every `group` lines.
inline constexpr int kPicturePadding = 2;
inline constexpr int kPictureGroupGap = 6;
inline constexpr uint8_t kPictureBackground = 96;
Picture DrawLines(const std::vector<std::vector<const float*>>& lines, int group, const ImageStyle& style);

// One picture above another, the narrower filled up with background.
Picture Stack(const Picture& above, const Picture& below);

// A PNG file's bytes. RESOURCE_EXHAUSTED: libpng could not.
absl::StatusOr<std::string> EncodePng(const Picture& picture);

// The picture in a PNG file's bytes, as gray. INVALID_ARGUMENT: it is none, or is more than 2^15 pixels high or wide.
absl::StatusOr<Picture> DecodePng(absl::string_view bytes);

}  // namespace cvae

#endif  // CVAE_CLIENT_COMMAND_PICTURE_H_
