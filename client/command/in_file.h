// One input file, of whichever format, and the arrays in it.

#ifndef CVAE_CLIENT_COMMAND_IN_FILE_H_
#define CVAE_CLIENT_COMMAND_IN_FILE_H_

#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/safetensors.h"
#include "client/command/array.h"
#include "client/command/csv.h"

namespace cvae {

// Does `text` name a file by its extension: .safetensors (perhaps with :TENSOR), .npy, .csv, .txt?
bool NamesFile(const std::string& text);

// The array in FILE.npy, FILE.csv or FILE.safetensors[:TENSOR]; without TENSOR the one named `role`, or the only one.
absl::StatusOr<Array> ReadArrayFile(const std::string& path, const std::string& role, bool allow_non_finite);

// The file of --in. Movable.
class InFile {
 public:
  // `picked`: columns of a CSV file that are wanted by themselves. "-": CSV from `standard_input`.
  static absl::StatusOr<InFile> Open(const std::string& path, const std::vector<std::string>& picked,
                                     bool allow_non_finite, std::istream& standard_input);

  bool has_names() const { return tensors_ != nullptr; }

  // The tensor or picked column of that name. INVALID_ARGUMENT lists those that there are.
  absl::StatusOr<Array> Find(const std::string& name) const;
  // The tensor of that name, none if there is none or the file has no names.
  std::optional<Array> FindTensor(const std::string& name) const;
  // All numbers of a file without names.
  const Array& numbers() const { return csv_.numbers; }
  const std::vector<std::string>& header() const { return csv_.header; }

 private:
  std::string path_;
  std::shared_ptr<const Safetensors> tensors_;  // null: a file without names
  CsvFile csv_;                                 // of .npy only its numbers
};

}  // namespace cvae

#endif  // CVAE_CLIENT_COMMAND_IN_FILE_H_
