#include "client/command/draw.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "client/command/failure.h"
#include "client/command/picture.h"

namespace cvae {
namespace {

constexpr size_t kColumns = 16;

// The images of `values` in rows of `cols`.
std::vector<const float*> Images(const std::vector<float>& values, size_t cols) {
  std::vector<const float*> images;
  for (size_t at = 0; at + cols <= values.size() && images.size() < kMaxImages; at += cols) {
    images.push_back(&values[at]);
  }
  return images;
}

// Line i of each of `sets` in turn, then line i + 1.
std::vector<std::vector<const float*>> Lines(const std::vector<std::vector<const float*>>& sets, size_t columns) {
  std::vector<std::vector<const float*>> lines;
  for (size_t begin = 0; begin < sets[0].size(); begin += columns) {
    for (const auto& set : sets) {
      lines.emplace_back(set.begin() + begin, set.begin() + std::min(begin + columns, set.size()));
    }
  }
  return lines;
}

size_t Columns(const Options& options) {
  if (options.picture_columns > 0) return options.picture_columns;
  const bool samples = options.command == Command::kGenerate && options.samples > 1;
  return samples ? options.samples : kColumns;
}

absl::StatusOr<Picture> ReadPicture(const std::string& path) {
  CVAE_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  absl::StatusOr<Picture> picture = DecodePng(bytes);
  if (!picture.ok()) return absl::InvalidArgumentError(absl::StrCat(path, ": ", picture.status().message()));
  return picture;
}

absl::StatusOr<std::string> Draw(const Options& options, const v1::GetModelResponse& model, const Inputs& inputs,
                                 const Answer& answer) {
  CVAE_ASSIGN_OR_RETURN(const ImageStyle plain, MakeStyle(model.output_dim(), options.width));
  ImageStyle style = plain;
  style.low = options.range_low;
  style.high = options.range_high;
  std::vector<float> outputs = ToFloats(*answer.Find("x_hat"));
  if (model.output() == v1::GetModelResponse::LOGITS) {
    for (float& value : outputs) value = 1 / (1 + std::exp(-value));
  }
  std::vector<float> originals;
  std::vector<std::vector<const float*>> sets = {Images(outputs, model.output_dim())};
  if (options.command == Command::kReconstruct && model.input_dim() == model.output_dim()) {
    originals = ToFloats(inputs.rows->tensor);
    sets.insert(sets.begin(), Images(originals, model.input_dim()));
  }
  Picture picture = DrawLines(Lines(sets, Columns(options)), static_cast<int>(sets.size()), style);
  if (!options.picture_below.empty()) {
    CVAE_ASSIGN_OR_RETURN(const Picture above, ReadPicture(options.picture_below));
    picture = Stack(above, picture);
  }
  return EncodePng(picture);
}

}  // namespace

absl::StatusOr<std::string> DrawPicture(const Options& options, const v1::GetModelResponse& model, const Inputs& inputs,
                                        const Answer& answer) {
  auto bytes = Draw(options, model, inputs, answer);
  if (!bytes.ok()) return Mistake(bytes.status());
  return bytes;
}

absl::Status CheckPicture(const Options& options, const v1::GetModelResponse& model) {
  if (options.picture.empty()) return absl::OkStatus();
  CVAE_RETURN_IF_ERROR(Mistake(MakeStyle(model.output_dim(), options.width).status()));
  if (options.picture_below.empty()) return absl::OkStatus();
  return Mistake(ReadPicture(options.picture_below).status());
}

}  // namespace cvae
