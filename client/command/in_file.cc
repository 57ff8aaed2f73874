#include "client/command/in_file.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/file.h"
#include "base/quote.h"
#include "base/status_macros.h"
#include "client/command/npy.h"

namespace cvae {
namespace {

bool IsSafetensors(const std::string& path) { return absl::EndsWithIgnoreCase(path, ".safetensors"); }
bool IsNpy(const std::string& path) { return absl::EndsWithIgnoreCase(path, ".npy"); }
bool IsCsv(const std::string& path) {
  return absl::EndsWithIgnoreCase(path, ".csv") || absl::EndsWithIgnoreCase(path, ".txt");
}

// Splits FILE.safetensors:TENSOR; false: `text` is not of that form.
bool SplitTensor(const std::string& text, std::string* path, std::string* tensor) {
  constexpr char kColon[] = ".safetensors:";
  const size_t at = text.find(kColon);
  if (at == std::string::npos) return false;
  const size_t colon = at + sizeof(kColon) - 2;
  *path = text.substr(0, colon);
  *tensor = text.substr(colon + 1);
  return true;
}

std::string Names(const Safetensors& file) {
  constexpr size_t kListed = 20;
  std::vector<std::string> names;
  for (const auto& [name, tensor] : file.tensors()) {
    if (names.size() == kListed) {
      names.push_back(absl::StrCat("and ", file.tensors().size() - kListed, " more"));
      break;
    }
    names.push_back(Quote(name));
  }
  return names.empty() ? "none" : absl::StrJoin(names, ", ");
}

Array TensorArray(const std::string& path, const std::string& name, const Tensor& tensor,
                  std::shared_ptr<const Safetensors> owner) {
  Array array;
  array.origin = absl::StrCat(path, ", tensor ", Quote(name));
  array.owner = std::move(owner);
  array.tensor = tensor;
  return array;
}

absl::StatusOr<std::shared_ptr<const Safetensors>> ReadShared(const std::string& path) {
  CVAE_ASSIGN_OR_RETURN(Safetensors file, Safetensors::Read(path));
  return std::make_shared<const Safetensors>(std::move(file));
}

absl::Status NoTensor(const std::string& path, const std::string& name, const Safetensors& file) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": has no tensor ", Quote(name), "; it has ", Names(file)));
}

absl::StatusOr<Array> ReadTensor(const std::string& path, const std::string& tensor, const std::string& role) {
  CVAE_ASSIGN_OR_RETURN(const auto file, ReadShared(path));
  std::string name = tensor.empty() ? role : tensor;
  if (tensor.empty() && file->Find(role) == nullptr && file->tensors().size() == 1)
    name = file->tensors().begin()->first;
  const Tensor* found = file->Find(name);
  if (found == nullptr) return NoTensor(path, name, *file);
  return TensorArray(path, name, *found, file);
}

// All of it. By read(), which takes an exception of the stream's buffer for an error of the stream.
absl::StatusOr<std::string> ReadStream(const std::string& name, std::istream& stream) {
  std::string text;
  std::vector<char> buffer(1 << 16);
  while (stream.read(buffer.data(), buffer.size()) || stream.gcount() > 0) text.append(buffer.data(), stream.gcount());
  if (stream.bad()) return absl::UnknownError(absl::StrCat(name, ": cannot be read"));
  return text;
}

}  // namespace

bool NamesFile(const std::string& text) {
  std::string path, tensor;
  return IsSafetensors(text) || IsNpy(text) || IsCsv(text) || SplitTensor(text, &path, &tensor);
}

absl::StatusOr<Array> ReadArrayFile(const std::string& path, const std::string& role, bool allow_non_finite) {
  std::string file, tensor;
  if (SplitTensor(path, &file, &tensor)) return ReadTensor(file, tensor, role);
  if (IsSafetensors(path)) return ReadTensor(path, "", role);
  CVAE_ASSIGN_OR_RETURN(std::string bytes, ReadFile(path));
  if (IsNpy(path)) return ParseNpy(path, std::move(bytes));
  return ParseCsvArray(path, bytes, allow_non_finite);
}

absl::StatusOr<InFile> InFile::Open(const std::string& path, const std::vector<std::string>& picked,
                                    bool allow_non_finite, std::istream& standard_input) {
  InFile file;
  file.path_ = path == "-" ? "standard input" : path;
  if (IsSafetensors(path)) {
    CVAE_ASSIGN_OR_RETURN(file.tensors_, ReadShared(path));
  } else if (IsNpy(path)) {
    CVAE_ASSIGN_OR_RETURN(std::string bytes, ReadFile(path));
    CVAE_ASSIGN_OR_RETURN(file.csv_.numbers, ParseNpy(path, std::move(bytes)));
  } else if (path == "-") {
    CVAE_ASSIGN_OR_RETURN(const std::string text, ReadStream(file.path_, standard_input));
    CVAE_ASSIGN_OR_RETURN(file.csv_, ParseCsv(file.path_, text, picked, allow_non_finite));
  } else if (IsCsv(path)) {
    CVAE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    CVAE_ASSIGN_OR_RETURN(file.csv_, ParseCsv(path, text, picked, allow_non_finite));
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat("--in: got ", Quote(path), ", expected a name that ends in .safetensors, .npy or .csv, or -"));
  }
  return file;
}

absl::StatusOr<Array> InFile::Find(const std::string& name) const {
  if (tensors_ != nullptr) {
    const Tensor* tensor = tensors_->Find(name);
    if (tensor == nullptr) return NoTensor(path_, name, *tensors_);
    return TensorArray(path_, name, *tensor, tensors_);
  }
  const auto picked = csv_.picked.find(name);
  if (picked != csv_.picked.end()) return picked->second;
  return absl::InvalidArgumentError(absl::StrCat(path_, ": holds one array, nothing named ", Quote(name)));
}

std::optional<Array> InFile::FindTensor(const std::string& name) const {
  const Tensor* tensor = tensors_ == nullptr ? nullptr : tensors_->Find(name);
  if (tensor == nullptr) return std::nullopt;
  return TensorArray(path_, name, *tensor, tensors_);
}

}  // namespace cvae
