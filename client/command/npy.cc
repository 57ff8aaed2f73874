#include "client/command/npy.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/quote.h"
#include "base/status_macros.h"

namespace cvae {
namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr size_t kMagicSize = 6;

struct Header {
  std::string descr;
  bool fortran = false;
  std::vector<uint64_t> shape;
  size_t data_begin = 0;
};

struct NumpyType {
  const char* descr;
  DType dtype;
};
constexpr NumpyType kTypes[] = {
    {"|b1", DType::kBool}, {"|u1", DType::kU8},  {"|i1", DType::kI8},  {"<u2", DType::kU16},
    {"<i2", DType::kI16},  {"<f2", DType::kF16}, {"<u4", DType::kU32}, {"<i4", DType::kI32},
    {"<f4", DType::kF32},  {"<u8", DType::kU64}, {"<i8", DType::kI64}, {"<f8", DType::kF64},
};

absl::Status Error(const std::string& origin, const std::string& text) {
  return absl::InvalidArgumentError(absl::StrCat(origin, ": ", text));
}

// The text between `begin` and the next `end` after it; none if either is missing.
std::optional<std::string> Between(const std::string& text, const std::string& begin, char end) {
  const size_t from = text.find(begin);
  if (from == std::string::npos) return std::nullopt;
  const size_t to = text.find(end, from + begin.size());
  if (to == std::string::npos) return std::nullopt;
  return text.substr(from + begin.size(), to - from - begin.size());
}

// Reads a dictionary such as {'descr': '<f4', 'fortran_order': False, 'shape': (64, 256), }, as NumPy writes it.
absl::StatusOr<Header> ParseDictionary(const std::string& origin, const std::string& text) {
  Header header;
  const auto descr = Between(text, "'descr': '", '\'');
  const auto fortran = Between(text, "'fortran_order': ", ',');
  const auto shape = Between(text, "'shape': (", ')');
  if (!descr.has_value() && text.find("'descr': [") != std::string::npos) {
    return Error(origin, "holds structures, expected plain numbers: numpy.save(path, array['field'])");
  }
  if (!descr.has_value() || !shape.has_value() || (fortran != "True" && fortran != "False")) {
    return Error(origin, absl::StrCat("has a header that is not NumPy's: ", Quote(text)));
  }
  header.descr = *descr;
  header.fortran = *fortran == "True";
  for (absl::string_view field : absl::StrSplit(*shape, ',', absl::SkipWhitespace())) {
    uint64_t size = 0;
    if (!absl::SimpleAtoi(field, &size)) {
      return Error(origin, absl::StrCat("has the shape ", Quote(*shape), ", expected whole numbers"));
    }
    header.shape.push_back(size);
  }
  return header;
}

absl::StatusOr<Header> ParseHeader(const std::string& origin, const std::string& bytes) {
  if (bytes.compare(0, kMagicSize, kMagic) != 0) {
    return Error(origin, "is no .npy file (it does not begin with \"\\x93NUMPY\"): numpy.save(path, array) makes one");
  }
  if (bytes.size() == kMagicSize) return Error(origin, "ends within its header");
  const int version = static_cast<unsigned char>(bytes[kMagicSize]);
  if (version < 1 || version > 3) return Error(origin, absl::StrCat("has version ", version, ", expected 1 to 3"));
  const size_t length_size = version == 1 ? 2 : 4;
  const size_t begin = kMagicSize + 2 + length_size;
  if (bytes.size() < begin) return Error(origin, "ends within its header");
  uint64_t length = 0;
  for (size_t i = 0; i < length_size; ++i) {
    length |= uint64_t{static_cast<unsigned char>(bytes[kMagicSize + 2 + i])} << (8 * i);
  }
  if (bytes.size() - begin < length) return Error(origin, "ends within its header");
  CVAE_ASSIGN_OR_RETURN(Header header, ParseDictionary(origin, bytes.substr(begin, length)));
  header.data_begin = begin + length;
  return header;
}

absl::StatusOr<DType> FindType(const std::string& origin, const std::string& descr) {
  for (const NumpyType& type : kTypes) {
    if (descr == type.descr) return type.dtype;
  }
  const char* advice = descr.substr(0, 1) == ">"    ? "big-endian numbers"
                       : descr.substr(0, 2) == "|O" ? "Python objects"
                                                    : "no numbers of a kind that is read";
  return Error(origin, absl::StrCat("holds ", advice, " (", Quote(descr),
                                    "): numpy.save(path, array.astype('<f4')) makes float32"));
}

// Elements of the shape; none if that overflows.
std::optional<uint64_t> Elements(const std::vector<uint64_t>& shape) {
  uint64_t elements = 1;
  for (const uint64_t size : shape) {
    if (__builtin_mul_overflow(elements, size, &elements)) return std::nullopt;
  }
  return elements;
}

// Column-major bytes as row-major ones.
std::string ToRowMajor(absl::string_view data, const std::vector<uint64_t>& shape, size_t size) {
  std::string result(data.size(), '\0');
  std::vector<uint64_t> index(shape.size(), 0);  // of the element that is read: the first dimension runs fastest
  std::vector<uint64_t> stride(shape.size(), size);
  for (size_t d = shape.size(); d-- > 1;) stride[d - 1] = stride[d] * shape[d];
  uint64_t to = 0;
  for (size_t from = 0; from < data.size(); from += size) {
    std::copy_n(data.data() + from, size, result.data() + to);
    for (size_t d = 0; d < shape.size(); ++d) {
      to += stride[d];
      if (++index[d] < shape[d]) break;
      to -= stride[d] * shape[d];
      index[d] = 0;
    }
  }
  return result;
}

}  // namespace

absl::StatusOr<Array> ParseNpy(const std::string& origin, std::string bytes) {
  CVAE_ASSIGN_OR_RETURN(const Header header, ParseHeader(origin, bytes));
  CVAE_ASSIGN_OR_RETURN(const DType dtype, FindType(origin, header.descr));
  const size_t size = DTypeSize(dtype);
  const auto elements = Elements(header.shape);
  const size_t data_bytes = bytes.size() - header.data_begin;
  if (!elements.has_value() || data_bytes % size != 0 || data_bytes / size != *elements) {
    return Error(origin, absl::StrCat("holds ", data_bytes, " bytes of numbers, its header says ",
                                      ToString(Tensor{dtype, header.shape, {}})));
  }
  const absl::string_view data = absl::string_view(bytes).substr(header.data_begin);
  const bool swap = header.fortran && header.shape.size() > 1;
  return MakeArray(origin, dtype, header.shape, swap ? ToRowMajor(data, header.shape, size) : std::string(data));
}

std::string SerializeNpy(const Tensor& tensor) {
  std::string descr;
  for (const NumpyType& type : kTypes) {
    if (tensor.dtype == type.dtype) descr = type.descr;
  }
  std::string header = absl::StrCat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (",
                                    absl::StrJoin(tensor.shape, ", "), tensor.shape.size() == 1 ? ",), }" : "), }");
  constexpr size_t kPrefix = kMagicSize + 4;
  constexpr size_t kAlign = 64;
  header.append(kAlign - 1 - (kPrefix + header.size()) % kAlign, ' ');
  header += '\n';
  std::string bytes(kMagic, kMagicSize);
  bytes += {'\1', '\0', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  return absl::StrCat(bytes, header, absl::string_view(tensor.data.data(), tensor.data.size()));
}

}  // namespace cvae
