#include "server/validate.h"

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/quote.h"
#include "base/status_macros.h"
#include "server/errors.h"

namespace cvae {
namespace {

std::string Takes(const ModelFacts& facts, uint64_t width) {
  return absl::StrCat("model ", Quote(facts.name), " takes ", width);
}

// OK if `got` rows are what is expected; `what` of them, "rows" or "ids".
absl::Status CheckRowCount(const std::string& field, uint64_t got, const char* what,
                           const std::optional<ExpectedRows>& expected) {
  if (got == 0) return FieldError(field, absl::StrCat("got 0 ", what, ", expected at least 1"));
  if (got > std::numeric_limits<uint32_t>::max())
    return FieldError(field, absl::StrCat("got ", got, " ", what, ", too many"));
  if (!expected || got == expected->rows) return absl::OkStatus();
  return FieldError(field, absl::StrCat("got ", got, " ", what, ", expected ", expected->rows, ", the ", expected->of));
}

absl::StatusOr<std::vector<int32_t>> CheckIds(const google::protobuf::RepeatedField<uint32_t>& ids,
                                              const std::string& field, const ConditionPart& part,
                                              const std::optional<ExpectedRows>& expected) {
  CVAE_RETURN_IF_ERROR(CheckRowCount(field, ids.size(), "ids", expected));
  std::vector<int32_t> checked;
  checked.reserve(ids.size());
  for (int i = 0; i < ids.size(); ++i) {
    if (ids[i] >= static_cast<uint32_t>(part.width)) {
      return FieldError(
          absl::StrCat(field, "[", i, "]"),
          absl::StrCat("got class id ", ids[i], ", ", Quote(part.name), " has classes 0 to ", part.width - 1,
                       part.class_names.empty() ? "" : ": ", QuotedList(part.class_names)));
    }
    checked.push_back(static_cast<int32_t>(ids[i]));
  }
  return checked;
}

absl::StatusOr<std::vector<int32_t>> LookUpNames(const google::protobuf::RepeatedPtrField<std::string>& names,
                                                 const std::string& field, const ConditionPart& part,
                                                 const absl::flat_hash_map<std::string, int32_t>& known,
                                                 const std::optional<ExpectedRows>& expected) {
  if (known.empty())
    return FieldError(field, absl::StrCat(Quote(part.name), " has no class names; give ids or values"));
  CVAE_RETURN_IF_ERROR(CheckRowCount(field, names.size(), "names", expected));
  std::vector<int32_t> ids;
  ids.reserve(names.size());
  for (int i = 0; i < names.size(); ++i) {
    const auto found = known.find(names[i]);
    if (found == known.end()) {
      return FieldError(absl::StrCat(field, "[", i, "]"),
                        absl::StrCat("got ", Quote(names[i]), ", known are ", QuotedList(part.class_names)));
    }
    ids.push_back(found->second);
  }
  return ids;
}

absl::StatusOr<PartView> ViewPart(const v1::Part& given, const std::string& field, const ConditionPart& part,
                                  const absl::flat_hash_map<std::string, int32_t>& known, const ModelFacts& facts,
                                  const std::optional<ExpectedRows>& expected) {
  const int set = (given.ids_size() > 0) + (given.names_size() > 0) + given.has_values();
  if (set != 1) return FieldError(field, absl::StrCat("got ", set, " of ids, names and values, expected exactly one"));
  PartView view;
  if (given.has_values()) {
    CVAE_ASSIGN_OR_RETURN(view.values, ViewMatrix(given.values(), field + ".values", part.width, facts, expected));
    return view;
  }
  if (!part.classes)
    return FieldError(field, absl::StrCat("is not a part of classes; give values, ", part.width, " columns"));
  if (given.ids_size() > 0) {
    CVAE_ASSIGN_OR_RETURN(view.ids, CheckIds(given.ids(), field + ".ids", part, expected));
  } else {
    CVAE_ASSIGN_OR_RETURN(view.ids, LookUpNames(given.names(), field + ".names", part, known, expected));
  }
  return view;
}

uint64_t RowsOf(const PartView& part) { return part.ids.empty() ? part.values.rows : part.ids.size(); }

using PartMap = google::protobuf::Map<std::string, v1::Part>;

absl::StatusOr<ConditionView> ViewParts(const PartMap& given, const std::string& field, const ModelFacts& facts,
                                        std::optional<ExpectedRows> expected) {
  const std::vector<ConditionPart>& parts = facts.model->condition;
  std::vector<std::string> names;
  for (const ConditionPart& part : parts) names.push_back(part.name);
  for (const auto& [name, unused] : given) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      return FieldError(field, absl::StrCat("got ", Quote(name), ", the parts of model ", Quote(facts.name), " are ",
                                            QuotedList(names)));
    }
  }
  ConditionView view;
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto found = given.find(parts[i].name);
    if (found == given.end()) {
      return FieldError(field, absl::StrCat(Quote(parts[i].name), " is missing; the parts are ", QuotedList(names)));
    }
    CVAE_ASSIGN_OR_RETURN(PartView part, ViewPart(found->second, absl::StrCat(field, "[", Quote(parts[i].name), "]"),
                                                  parts[i], facts.class_ids[i], facts, expected));
    if (!expected) expected = ExpectedRows{RowsOf(part), "rows of the first part"};
    view.push_back(std::move(part));
  }
  return view;
}

absl::StatusOr<ConditionView> ViewLabels(const google::protobuf::RepeatedField<uint32_t>& labels,
                                         const std::string& field, const ModelFacts& facts,
                                         const std::optional<ExpectedRows>& expected) {
  const std::vector<ConditionPart>& parts = facts.model->condition;
  if (parts.size() != 1 || !parts[0].classes) {
    return FieldError(field, absl::StrCat("model ", Quote(facts.name),
                                          " has not one part of classes as its condition; give y or parts"));
  }
  PartView part;
  CVAE_ASSIGN_OR_RETURN(part.ids, CheckIds(labels, field, parts[0], expected));
  ConditionView view;
  view.push_back(std::move(part));
  return view;
}

// All parts side by side in one matrix.
absl::StatusOr<ConditionView> ViewY(const v1::Matrix& y, const std::string& field, const ModelFacts& facts,
                                    const std::optional<ExpectedRows>& expected) {
  CVAE_ASSIGN_OR_RETURN(MatrixView matrix, ViewMatrix(y, field, facts.model->condition_width, facts, expected));
  ConditionView view;
  uint32_t column = 0;
  for (const ConditionPart& part : facts.model->condition) {
    PartView columns;
    columns.values = matrix;
    columns.first_column = column;
    view.push_back(std::move(columns));
    column += part.width;
  }
  return view;
}

}  // namespace

absl::StatusOr<MatrixView> ViewMatrix(const v1::Matrix& matrix, std::string field, uint32_t width,
                                      const ModelFacts& facts, std::optional<ExpectedRows> expected) {
  if (matrix.values_size() > 0 && !matrix.data().empty())
    return FieldError(field, "got both values and data, expected one of them");
  if (matrix.data().size() % sizeof(float) != 0) {
    return FieldError(field + ".data", absl::StrCat("got ", matrix.data().size(), " bytes, expected a multiple of 4"));
  }
  const uint64_t count = matrix.data().empty() ? matrix.values_size() : matrix.data().size() / sizeof(float);
  if (matrix.cols() != 0 && matrix.cols() != width) {
    return FieldError(field + ".cols", absl::StrCat("got ", matrix.cols(), ", ", Takes(facts, width)));
  }
  if (matrix.rows() == 0 && count % width != 0) {
    return FieldError(field, absl::StrCat("got ", count, " values, not a multiple of ", width, "; ",
                                          Takes(facts, width), " columns"));
  }
  const uint64_t rows = matrix.rows() != 0 ? matrix.rows() : count / width;
  if (count != rows * width) {
    return FieldError(field, absl::StrCat("got ", count, " values, expected rows * cols = ", rows, " * ", width, " = ",
                                          rows * width));
  }
  CVAE_RETURN_IF_ERROR(CheckRowCount(field + ".rows", rows, "rows", expected));
  MatrixView view;
  view.field = std::move(field);
  view.bytes = matrix.data().empty() ? reinterpret_cast<const char*>(matrix.values().data()) : matrix.data().data();
  view.rows = static_cast<uint32_t>(rows);
  view.cols = width;
  return view;
}

template <class Source>
absl::StatusOr<ConditionView> ViewCondition(const Source& source, const std::string& prefix, const ModelFacts& facts,
                                            std::optional<ExpectedRows> expected, uint64_t* rows_out) {
  const int set = (source.labels_size() > 0) + source.has_y() + (source.parts_size() > 0);
  if (facts.model->condition_width == 0) {
    if (set == 0) return ConditionView();
    return FieldError(prefix + (source.labels_size() > 0 ? "labels"
                                : source.has_y()         ? "y"
                                                         : "parts"),
                      absl::StrCat("model ", Quote(facts.name), " has no condition, expected none"));
  }
  if (set != 1) {
    return FieldError(
        prefix.empty() ? "labels" : prefix.substr(0, prefix.size() - 1),
        absl::StrCat("got ", set, " of labels, y and parts, expected exactly one: the condition of each row"));
  }
  absl::StatusOr<ConditionView> view = source.labels_size() > 0
                                           ? ViewLabels(source.labels(), prefix + "labels", facts, expected)
                                       : source.has_y() ? ViewY(source.y(), prefix + "y", facts, expected)
                                                        : ViewParts(source.parts(), prefix + "parts", facts, expected);
  if (view.ok() && rows_out != nullptr) *rows_out = RowsOf(view->front());
  return view;
}

template absl::StatusOr<ConditionView> ViewCondition(const v1::EncodeRequest&, const std::string&, const ModelFacts&,
                                                     std::optional<ExpectedRows>, uint64_t*);
template absl::StatusOr<ConditionView> ViewCondition(const v1::ReconstructRequest&, const std::string&,
                                                     const ModelFacts&, std::optional<ExpectedRows>, uint64_t*);
template absl::StatusOr<ConditionView> ViewCondition(const v1::LossRequest&, const std::string&, const ModelFacts&,
                                                     std::optional<ExpectedRows>, uint64_t*);
template absl::StatusOr<ConditionView> ViewCondition(const v1::DecodeRequest&, const std::string&, const ModelFacts&,
                                                     std::optional<ExpectedRows>, uint64_t*);
template absl::StatusOr<ConditionView> ViewCondition(const v1::GenerateRequest&, const std::string&, const ModelFacts&,
                                                     std::optional<ExpectedRows>, uint64_t*);
template absl::StatusOr<ConditionView> ViewCondition(const v1::Condition&, const std::string&, const ModelFacts&,
                                                     std::optional<ExpectedRows>, uint64_t*);

absl::Status CheckRows(uint64_t rows, uint64_t samples, uint64_t first_row, const char* samples_field,
                       const ModelFacts& facts) {
  // Neither factor exceeds 2^32, so the product does not overflow.
  if (rows * samples > facts.limits.rows) {
    return FieldError(
        samples > 1 ? samples_field : "rows",
        absl::StrCat("got ", rows, " rows of ", samples, samples > 1 ? " samples" : " sample", ", expected at most ",
                     facts.limits.rows, " computed rows a call; send several calls with first_row set"));
  }
  if (first_row > std::numeric_limits<uint64_t>::max() - rows) {
    return FieldError("first_row", absl::StrCat("got ", first_row, ", with ", rows, " rows it exceeds 2^64 - 1"));
  }
  return absl::OkStatus();
}

absl::Status CheckAnswerBytes(uint64_t bytes, const ModelFacts& facts) {
  if (bytes <= facts.limits.answer_bytes) return absl::OkStatus();
  return FieldError("rows", absl::StrCat("the answer would take ", bytes, " bytes, expected at most ",
                                         facts.limits.answer_bytes, "; send several calls with first_row set"));
}

}  // namespace cvae
