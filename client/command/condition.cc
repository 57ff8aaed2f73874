#include "client/command/condition.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/quote.h"
#include "base/status_macros.h"

namespace cvae {
namespace {

std::string PartNames(const v1::GetModelResponse& model) {
  std::vector<std::string> names;
  for (const auto& part : model.condition()) names.push_back(part.name());
  return absl::StrJoin(names, ", ");
}

// The ids of an array under one part's class names.
absl::StatusOr<std::vector<uint32_t>> FitIds(const Array& array, const v1::ConditionPart& part, uint64_t rows) {
  const std::vector<std::string> names(part.class_names().begin(), part.class_names().end());
  CVAE_ASSIGN_OR_RETURN(std::vector<uint32_t> ids, ToIds(array, names));
  for (size_t row = 0; row < ids.size(); ++row) {
    if (ids[row] < part.width()) continue;
    return absl::InvalidArgumentError(absl::StrCat(array.origin, ": row ", row, " is ", ids[row], ", the model has ",
                                                   part.width(), " classes, 0 to ", part.width() - 1));
  }
  if (array.typed && ids.size() == 1 && rows > 1) ids.resize(rows, ids[0]);
  return ids;
}

absl::StatusOr<v1::Part> FitPart(const Array& array, const v1::ConditionPart& part, uint64_t rows,
                                 bool allow_non_finite) {
  v1::Part result;
  const auto& shape = array.tensor.shape;
  const bool column = array.is_words || shape.size() == 1 || (shape.size() == 2 && shape[1] == 1);
  if (part.classes() && column) {
    CVAE_ASSIGN_OR_RETURN(const std::vector<uint32_t> ids, FitIds(array, part, rows));
    result.mutable_ids()->Add(ids.begin(), ids.end());
    return result;
  }
  CVAE_ASSIGN_OR_RETURN(*result.mutable_values(), ToMatrix(array, part.width(), allow_non_finite));
  if (array.typed && result.values().rows() == 1 && rows > 1) {
    v1::Matrix& values = *result.mutable_values();
    const std::string row = values.data();
    for (uint64_t i = 1; i < rows; ++i) values.mutable_data()->append(row);
    values.set_rows(static_cast<uint32_t>(rows));
  }
  return result;
}

absl::Status FitParts(const std::map<std::string, Array>& arrays, const v1::GetModelResponse& model, uint64_t rows,
                      bool allow_non_finite, v1::Condition& condition) {
  for (const auto& [given, array] : arrays) {
    const auto same = [&name = given](const v1::ConditionPart& part) { return part.name() == name; };
    if (std::any_of(model.condition().begin(), model.condition().end(), same)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--part ", Quote(given), ": the model's parts are ", PartNames(model)));
  }
  for (const v1::ConditionPart& part : model.condition()) {
    const auto array = arrays.find(part.name());
    if (array == arrays.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--part ", part.name(), "=... is missing; the model's parts are ", PartNames(model)));
    }
    CVAE_ASSIGN_OR_RETURN((*condition.mutable_parts())[part.name()],
                          FitPart(array->second, part, rows, allow_non_finite));
  }
  return absl::OkStatus();
}

absl::Status FitLabels(const Array& array, const v1::GetModelResponse& model, uint64_t rows, v1::Condition& condition) {
  if (model.condition_size() != 1 || !model.condition(0).classes()) {
    return absl::InvalidArgumentError(absl::StrCat(array.origin, ": labels are for a model of one class part; ",
                                                   Quote(model.name()), " has ", PartNames(model),
                                                   ": give each with --part NAME=..."));
  }
  CVAE_ASSIGN_OR_RETURN(const std::vector<uint32_t> ids, FitIds(array, model.condition(0), rows));
  condition.mutable_labels()->Add(ids.begin(), ids.end());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::Condition> FitCondition(const ConditionInputs& inputs, const v1::GetModelResponse& model,
                                           uint64_t rows, bool allow_non_finite) {
  v1::Condition condition;
  if (inputs.empty() || (inputs.by_chance && model.label_dim() == 0)) return condition;
  if (model.label_dim() == 0) {
    return absl::InvalidArgumentError(absl::StrCat("model ", Quote(model.name()), " takes no condition"));
  }
  if (inputs.labels.has_value()) {
    CVAE_RETURN_IF_ERROR(FitLabels(*inputs.labels, model, rows, condition));
  } else if (inputs.y.has_value()) {
    CVAE_ASSIGN_OR_RETURN(*condition.mutable_y(), ToMatrix(*inputs.y, model.label_dim(), allow_non_finite));
  } else {
    CVAE_RETURN_IF_ERROR(FitParts(inputs.parts, model, rows, allow_non_finite, condition));
  }
  return condition;
}

}  // namespace cvae
