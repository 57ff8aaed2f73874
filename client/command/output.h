// Answers as tables, JSON and files.

#ifndef CVAE_CLIENT_COMMAND_OUTPUT_H_
#define CVAE_CLIENT_COMMAND_OUTPUT_H_

#include <string>

#include "absl/status/statusor.h"
#include "client/command/answer.h"

namespace cvae {

// For people: each tensor as a table of a few of its rows and columns, then the terms, the seed and the version.
std::string FormatTable(const Answer& answer);

// The same without the tensors' numbers: what stands beside a written file.
std::string FormatSummary(const Answer& answer);

// One JSON object, each number with all its digits (shortest that reads back the same); NaN and infinities, and the
// seed (which JavaScript would round), as strings, as protobuf's JSON has them. Without `tensors` only what is not one.
std::string FormatJson(const Answer& answer, bool tensors);

// A file's bytes, by the extension of `path`. .safetensors: every tensor, the terms as F64 scalars, version and seed as
// metadata. .npy: the one tensor. .csv: tensors side by side under a header ("mu_0,mu_1,..."), or the terms if there
// are none. INVALID_ARGUMENT: .npy of several tensors or of none.
absl::StatusOr<std::string> FormatFile(const std::string& path, const Answer& answer);

// The shortest digits that read back the same.
std::string Digits(float value);
std::string Digits(double value);

}  // namespace cvae

#endif  // CVAE_CLIENT_COMMAND_OUTPUT_H_
