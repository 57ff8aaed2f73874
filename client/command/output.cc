#include "client/command/output.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <numeric>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/quote.h"
#include "base/safetensors.h"
#include "client/command/npy.h"

namespace cvae {
namespace {

float At(const Tensor& tensor, uint64_t index) {
  float value;
  std::memcpy(&value, tensor.data.data() + index * sizeof(float), sizeof(float));
  return value;
}

uint64_t Rows(const Tensor& tensor) { return tensor.shape[0]; }
uint64_t Cols(const Tensor& tensor) { return tensor.shape.size() > 1 ? tensor.shape[1] : 1; }

template <typename Number>
std::string ShortestDigits(Number value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  char digits[64];
  const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
  return std::string(digits, end);
}

template <typename Number>
std::string JsonNumber(Number value) {
  return std::isfinite(value) ? Digits(value) : absl::StrCat("\"", Digits(value), "\"");
}

// Which of `size` rows or columns to show: all, or the first `first` and the last `last`; `size` stands for the gap.
std::vector<uint64_t> Shown(uint64_t size, uint64_t first, uint64_t last) {
  std::vector<uint64_t> shown(std::min(size, first + last + 1));
  std::iota(shown.begin(), shown.end(), 0);
  if (size <= first + last + 1) return shown;
  shown[first] = size;
  for (uint64_t i = 0; i < last; ++i) shown[first + 1 + i] = size - last + i;
  return shown;
}

// Columns that stand side by side: those of one matrix, or a vector each.
struct Block {
  std::string title;
  std::vector<std::string> headings;
  std::vector<std::pair<const Tensor*, uint64_t>> columns;  // a null tensor: the gap
  uint64_t rows = 0;
};

std::string FormatBlock(const Block& block) {
  constexpr char kGap[] = "…";
  constexpr int kWidth = 13;  // a space before the widest: column_recon, -1.2346e-38
  const auto pad = [](const std::string& cell, int shown_width) {
    return std::string(std::max(0, kWidth - shown_width), ' ') + cell;
  };
  std::string text = block.title + "\n" + std::string(kWidth, ' ');
  for (size_t i = 0; i < block.columns.size(); ++i) {
    absl::StrAppend(&text, block.columns[i].first ? pad(block.headings[i], static_cast<int>(block.headings[i].size()))
                                                  : absl::StrCat("  ", kGap));
  }
  text += "\n";
  for (const uint64_t row : Shown(block.rows, 8, 3)) {
    if (row == block.rows) {
      absl::StrAppend(&text, pad(kGap, 1), "\n");
      continue;
    }
    const std::string index = absl::StrCat(row);
    text += pad(index, static_cast<int>(index.size()));
    for (const auto& [tensor, column] : block.columns) {
      const std::string cell = tensor ? absl::StrFormat("%.5g", At(*tensor, row * Cols(*tensor) + column)) : "";
      text += tensor ? pad(cell, static_cast<int>(cell.size())) : absl::StrCat("  ", kGap);
    }
    text += "\n";
  }
  return text;
}

Block MatrixBlock(const std::string& name, const Tensor& tensor) {
  Block block;
  block.title = absl::StrCat(name, " [", Rows(tensor), ", ", Cols(tensor), "]");
  block.rows = Rows(tensor);
  for (const uint64_t column : Shown(Cols(tensor), 6, 2)) {
    const bool gap = column == Cols(tensor);
    block.headings.push_back(absl::StrCat(column));
    block.columns.push_back({gap ? nullptr : &tensor, column});
  }
  return block;
}

std::string TermsText(const Answer& answer) {
  std::string text;
  for (const auto& [name, value] : answer.terms) absl::StrAppendFormat(&text, "%-11s%.9g\n", name, value);
  if (answer.seed.has_value()) absl::StrAppendFormat(&text, "%-11s%d\n", "seed", *answer.seed);
  absl::StrAppendFormat(&text, "%-11s%s\n", "version", answer.version);
  return text;
}

std::string TensorJson(const Tensor& tensor) {
  std::string text = "[";
  for (uint64_t row = 0; row < Rows(tensor); ++row) {
    if (row > 0) text += ",";
    const bool matrix = tensor.shape.size() > 1;
    if (matrix) text += "[";
    for (uint64_t column = 0; column < Cols(tensor); ++column) {
      absl::StrAppend(&text, column > 0 ? "," : "", JsonNumber(At(tensor, row * Cols(tensor) + column)));
    }
    if (matrix) text += "]";
  }
  return text + "]";
}

std::string FormatSafetensors(const Answer& answer) {
  TensorMap tensors;
  for (const auto& [name, tensor] : answer.tensors) tensors[name] = tensor;
  for (const auto& [name, value] : answer.terms) {
    tensors[name] = {DType::kF64, {}, {reinterpret_cast<const char*>(&value), sizeof(value)}};
  }
  MetadataMap metadata = {{"version", answer.version}};
  if (answer.seed.has_value()) metadata["seed"] = absl::StrCat(*answer.seed);
  return SerializeSafetensors(tensors, metadata);
}

std::string CsvOfTerms(const Answer& answer) {
  std::vector<std::string> names, values;
  for (const auto& [name, value] : answer.terms) {
    names.push_back(name);
    values.push_back(Digits(value));
  }
  return absl::StrCat(absl::StrJoin(names, ","), "\n", absl::StrJoin(values, ","), "\n");
}

std::string FormatCsv(const Answer& answer) {
  if (answer.tensors.empty()) return CsvOfTerms(answer);
  std::vector<std::string> names;
  for (const auto& [name, tensor] : answer.tensors) {
    if (tensor.shape.size() == 1) names.push_back(name);
    for (uint64_t column = 0; tensor.shape.size() > 1 && column < Cols(tensor); ++column) {
      names.push_back(absl::StrCat(name, "_", column));
    }
  }
  std::string text = absl::StrJoin(names, ",") + "\n";
  for (uint64_t row = 0; row < Rows(answer.tensors[0].second); ++row) {
    const char* separator = "";
    for (const auto& [name, tensor] : answer.tensors) {
      for (uint64_t column = 0; column < Cols(tensor); ++column) {
        absl::StrAppend(&text, separator, Digits(At(tensor, row * Cols(tensor) + column)));
        separator = ",";
      }
    }
    text += "\n";
  }
  return text;
}

}  // namespace

absl::Status KeepField(const std::string& name, Answer& answer) {
  if (name.empty()) return absl::OkStatus();
  std::vector<std::string> names;
  for (const auto& [each, tensor] : answer.tensors) names.push_back(each);
  if (answer.Find(name) == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("--field: got ", Quote(name), ", the answer has ",
                                                   names.empty() ? "no matrices" : absl::StrJoin(names, ", ")));
  }
  const auto others = [&name](const auto& entry) { return entry.first != name; };
  answer.tensors.erase(std::remove_if(answer.tensors.begin(), answer.tensors.end(), others), answer.tensors.end());
  return absl::OkStatus();
}

std::string Digits(float value) { return ShortestDigits(value); }
std::string Digits(double value) { return ShortestDigits(value); }

std::string FormatTable(const Answer& answer) {
  std::string text;
  Block vectors;
  for (const auto& [name, tensor] : answer.tensors) {
    if (tensor.shape.size() > 1) {
      absl::StrAppend(&text, FormatBlock(MatrixBlock(name, tensor)), "\n");
      continue;
    }
    vectors.title = absl::StrCat("each row [", Rows(tensor), "]");
    vectors.rows = Rows(tensor);
    vectors.headings.push_back(name);
    vectors.columns.push_back({&tensor, 0});
  }
  if (!vectors.columns.empty()) absl::StrAppend(&text, FormatBlock(vectors), "\n");
  return text + TermsText(answer);
}

std::string FormatSummary(const Answer& answer) {
  std::string text;
  for (const auto& [name, tensor] : answer.tensors) {
    absl::StrAppendFormat(&text, "%-10s [%s]\n", name, absl::StrJoin(tensor.shape, ", "));
  }
  return text + TermsText(answer);
}

std::string FormatJson(const Answer& answer, bool tensors) {
  std::string text = absl::StrCat("{\"version\":", Quote(answer.version));
  if (answer.seed.has_value()) absl::StrAppend(&text, ",\"seed\":\"", *answer.seed, "\"");
  for (const auto& [name, value] : answer.terms) absl::StrAppend(&text, ",\"", name, "\":", JsonNumber(value));
  for (const auto& [name, tensor] : answer.tensors) {
    if (tensors) absl::StrAppend(&text, ",\"", name, "\":", TensorJson(tensor));
  }
  return text + "}\n";
}

absl::StatusOr<std::string> FormatFile(const std::string& path, const Answer& answer) {
  if (absl::EndsWithIgnoreCase(path, ".csv")) return FormatCsv(answer);
  if (absl::EndsWithIgnoreCase(path, ".safetensors")) return FormatSafetensors(answer);
  if (answer.tensors.size() == 1) return SerializeNpy(answer.tensors[0].second);
  std::vector<std::string> names;
  for (const auto& [name, tensor] : answer.tensors) names.push_back(name);
  return absl::InvalidArgumentError(
      names.empty() ? absl::StrCat(path, ": a .npy file holds an array, and this answer has none; write a .csv")
                    : absl::StrCat(path, ": a .npy file holds one array; choose one of ", absl::StrJoin(names, ", "),
                                   " with --field, or write .safetensors"));
}

}  // namespace cvae
