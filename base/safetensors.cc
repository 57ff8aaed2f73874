#include "base/safetensors.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/quote.h"
#include "base/safetensors_header.h"
#include "base/status_macros.h"

namespace cvae {
namespace {

constexpr char kTorchLine[] =
    "python -c 'import torch, safetensors.torch as s; "
    "s.save_file(torch.load(\"model.pth\", map_location=\"cpu\", weights_only=True), \"model.safetensors\")'";

// What the bytes are, if they are plainly something that people do hand in; else empty.
const char* Guess(std::string_view bytes) {
  using std::string_view_literals::operator""sv;
  struct Kind {
    std::string_view begin;
    const char* name;
  };
  static constexpr Kind kKinds[] = {
      {"PK\x03\x04"sv, "a zip archive, as torch.save writes"},
      {"\x80\x02"sv, "a Python pickle"},
      {"\x80\x03"sv, "a Python pickle"},
      {"\x80\x04"sv, "a Python pickle"},
      {"\x80\x05"sv, "a Python pickle"},
      {"\x89HDF"sv, "an HDF5 file"},
      {"\x93NUMPY"sv, "a NumPy array"},
      {"GGUF"sv, "a GGUF file"},
      {"\x1f\x8b"sv, "gzip data"},
      {"version https://git-lfs"sv, "a Git LFS pointer (git lfs pull fetches the file)"},
      {"<"sv, "HTML or XML, perhaps a web page in place of a download"},
      {"{"sv, "bare JSON"},
  };
  for (const Kind& kind : kKinds) {
    if (bytes.substr(0, kind.begin.size()) == kind.begin) return kind.name;
  }
  return "";
}

absl::Status NotSafetensors(std::string_view bytes, const std::string& why) {
  const std::string guess = Guess(bytes);
  return absl::InvalidArgumentError(absl::StrCat("not a safetensors file: ", why,
                                                 guess.empty() ? "" : absl::StrCat("; it looks like ", guess),
                                                 ". To make one from a PyTorch state_dict: ", kTorchLine));
}

// The JSON between the length and the data.
absl::StatusOr<std::string_view> HeaderOf(std::string_view bytes) {
  if (bytes.empty()) return NotSafetensors(bytes, "it is empty");
  uint64_t size = 0;
  if (bytes.size() < sizeof(size)) return NotSafetensors(bytes, absl::StrCat("it has only ", bytes.size(), " bytes"));
  std::memcpy(&size, bytes.data(), sizeof(size));
  const std::string_view rest = bytes.substr(sizeof(size));
  if (!rest.empty() && rest[0] != '{') return NotSafetensors(bytes, "no JSON object follows the first eight bytes");
  if (size > Safetensors::kMaxHeaderSize) {
    return NotSafetensors(bytes, absl::StrCat("its first eight bytes give the header ", size, " bytes, more than ",
                                              Safetensors::kMaxHeaderSize));
  }
  if (size > rest.size()) {
    return NotSafetensors(bytes, absl::StrCat("its first eight bytes give the header ", size, " bytes, but only ",
                                              rest.size(), " follow (is it cut short?)"));
  }
  if (size == 0) return NotSafetensors(bytes, "its header is empty");
  return rest.substr(0, size);
}

// The bytes that the shape takes, or nothing where that is beyond 64 bits.
std::optional<uint64_t> ByteSize(const internal::HeaderEntry& entry) {
  uint64_t size = DTypeSize(*entry.dtype);
  for (const uint64_t dimension : *entry.shape) {
    if (__builtin_mul_overflow(size, dimension, &size)) return std::nullopt;
  }
  return size;
}

absl::StatusOr<Tensor> MakeTensor(const std::string& name, internal::HeaderEntry entry, std::string_view data) {
  const uint64_t begin = (*entry.offsets)[0], end = (*entry.offsets)[1];
  const std::optional<uint64_t> size = ByteSize(entry);
  Tensor tensor{*entry.dtype, *std::move(entry.shape), {}};
  const auto refuse = [&](const auto&... why) {
    return absl::InvalidArgumentError(absl::StrCat("tensor ", Quote(name), ", ", ToString(tensor), ": ", why...));
  };
  if (!size) return refuse("its size overflows 64 bits");
  if (begin > end) return refuse("data_offsets [", begin, ", ", end, "] end before they begin");
  if (end > data.size()) {
    return refuse("data_offsets end at ", end, ", but only ", data.size(),
                  " bytes follow the header (is the file cut short?)");
  }
  if (end - begin != *size) return refuse("its shape takes ", *size, " bytes, its data_offsets hold ", end - begin);
  tensor.data = data.substr(begin, *size);
  return tensor;
}

// Tensors must tile the data: no byte is owned twice, and none by nobody.
absl::Status CheckTiling(const TensorMap& tensors, std::string_view data) {
  std::vector<const TensorMap::value_type*> order;
  order.reserve(tensors.size());
  for (const auto& tensor : tensors) order.push_back(&tensor);
  const auto begin = [&](const TensorMap::value_type* tensor) -> uint64_t {
    return tensor->second.data.data() - data.data();
  };
  std::sort(order.begin(), order.end(), [&](const auto* a, const auto* b) {
    return std::pair(begin(a), a->second.data.size()) < std::pair(begin(b), b->second.data.size());
  });
  uint64_t covered = 0;
  for (const TensorMap::value_type* tensor : order) {
    if (begin(tensor) != covered) {
      return absl::InvalidArgumentError(
          absl::StrCat("tensor ", Quote(tensor->first), " begins at ", begin(tensor), ", expected ", covered, ": ",
                       begin(tensor) < covered ? "it overlaps another" : "no tensor owns the bytes between"));
    }
    covered += tensor->second.data.size();
  }
  if (covered == data.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the tensors end at ", covered, ", but ", data.size(),
                                                 " bytes follow the header: no tensor owns the rest"));
}

}  // namespace

absl::StatusOr<Safetensors> Safetensors::Parse(std::string bytes) {
  Safetensors file;
  file.bytes_ = std::make_unique<const std::string>(std::move(bytes));
  CVAE_ASSIGN_OR_RETURN(const std::string_view json, HeaderOf(file.bytes()));
  CVAE_ASSIGN_OR_RETURN(internal::Header header, internal::ParseHeader(json));
  file.metadata_ = std::move(header.metadata);
  const std::string_view data = file.bytes().substr(sizeof(uint64_t) + json.size());
  for (auto& [name, entry] : header.tensors) {
    CVAE_ASSIGN_OR_RETURN(file.tensors_[name], MakeTensor(name, std::move(entry), data));
  }
  CVAE_RETURN_IF_ERROR(CheckTiling(file.tensors_, data));
  return file;
}

absl::StatusOr<Safetensors> Safetensors::Read(const std::string& path) {
  CVAE_ASSIGN_OR_RETURN(std::string bytes, ReadFile(path));
  absl::StatusOr<Safetensors> file = Parse(std::move(bytes));
  if (file.ok()) return file;
  return absl::Status(file.status().code(), absl::StrCat(path, ": ", file.status().message()));
}

const Tensor* Safetensors::Find(std::string_view name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

}  // namespace cvae
