#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/json.h"
#include "base/safetensors.h"

namespace cvae {
namespace {

std::string JsonString(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string MetadataField(const MetadataMap& metadata) {
  return absl::StrCat("\"__metadata__\":{",
                      absl::StrJoin(metadata, ",",
                                    [](std::string* out, const MetadataMap::value_type& entry) {
                                      absl::StrAppend(out, JsonString(entry.first), ":", JsonString(entry.second));
                                    }),
                      "}");
}

std::string TensorField(const std::string& name, const Tensor& tensor, uint64_t begin) {
  return absl::StrCat(JsonString(name), ":{\"dtype\":\"", DTypeName(tensor.dtype), "\",\"shape\":[",
                      absl::StrJoin(tensor.shape, ","), "],\"data_offsets\":[", begin, ",", begin + tensor.data.size(),
                      "]}");
}

}  // namespace

std::string SerializeSafetensors(const TensorMap& tensors, const MetadataMap& metadata) {
  std::vector<const TensorMap::value_type*> order;
  for (const auto& tensor : tensors) order.push_back(&tensor);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return DTypeSize(a->second.dtype) > DTypeSize(b->second.dtype);
  });

  std::vector<std::string> fields;
  if (!metadata.empty()) fields.push_back(MetadataField(metadata));
  uint64_t data_size = 0;
  for (const TensorMap::value_type* tensor : order) {
    fields.push_back(TensorField(tensor->first, tensor->second, data_size));
    data_size += tensor->second.data.size();
  }
  std::string header = absl::StrCat("{", absl::StrJoin(fields, ","), "}");
  header.resize((header.size() + 7) / 8 * 8, ' ');

  const uint64_t header_size = header.size();
  std::string bytes(sizeof(header_size), '\0');
  std::memcpy(bytes.data(), &header_size, sizeof(header_size));
  bytes.reserve(bytes.size() + header_size + data_size);
  bytes += header;
  for (const TensorMap::value_type* tensor : order) bytes += tensor->second.data;
  return bytes;
}

}  // namespace cvae
