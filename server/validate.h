// Fields of a request, checked against the model and viewed in place: nothing is copied here but class ids.
// Each error is a FieldError that says the field, what it got and what was expected.

#ifndef CVAE_SERVER_VALIDATE_H_
#define CVAE_SERVER_VALIDATE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cvae/v1/cvae.pb.h"
#include "server/job.h"
#include "server/model_facts.h"

namespace cvae {

// Rows that a field must have, and why: {5, "rows of x"}. Nullopt: it decides, at least 1.
struct ExpectedRows {
  uint64_t rows = 0;
  const char* of = "";
};

// The matrix in `field`, which the model has `width` columns for. The view lives as long as the message.
absl::StatusOr<MatrixView> ViewMatrix(const v1::Matrix& matrix, std::string field, uint32_t width,
                                      const ModelFacts& facts, std::optional<ExpectedRows> expected);

// A condition given as labels, y or parts; `Source` is a message with these three fields (a request, or Condition).
// `prefix` of the field names: "" or "decode_condition.". Without `expected` the condition itself decides the rows, and
// rows_out says how many. REQUIRES: `source` outlives the view.
template <class Source>
absl::StatusOr<ConditionView> ViewCondition(const Source& source, const std::string& prefix, const ModelFacts& facts,
                                            std::optional<ExpectedRows> expected, uint64_t* rows_out = nullptr);

extern template absl::StatusOr<ConditionView> ViewCondition(const v1::EncodeRequest&, const std::string&,
                                                            const ModelFacts&, std::optional<ExpectedRows>, uint64_t*);
extern template absl::StatusOr<ConditionView> ViewCondition(const v1::ReconstructRequest&, const std::string&,
                                                            const ModelFacts&, std::optional<ExpectedRows>, uint64_t*);
extern template absl::StatusOr<ConditionView> ViewCondition(const v1::LossRequest&, const std::string&,
                                                            const ModelFacts&, std::optional<ExpectedRows>, uint64_t*);
extern template absl::StatusOr<ConditionView> ViewCondition(const v1::DecodeRequest&, const std::string&,
                                                            const ModelFacts&, std::optional<ExpectedRows>, uint64_t*);
extern template absl::StatusOr<ConditionView> ViewCondition(const v1::GenerateRequest&, const std::string&,
                                                            const ModelFacts&, std::optional<ExpectedRows>, uint64_t*);
extern template absl::StatusOr<ConditionView> ViewCondition(const v1::Condition&, const std::string&, const ModelFacts&,
                                                            std::optional<ExpectedRows>, uint64_t*);

// OK if rows * samples computed rows are within the limit and first_row + rows does not overflow.
absl::Status CheckRows(uint64_t rows, uint64_t samples, uint64_t first_row, const char* samples_field,
                       const ModelFacts& facts);

// OK if an answer of this many bytes is within the limit.
absl::Status CheckAnswerBytes(uint64_t bytes, const ModelFacts& facts);

}  // namespace cvae

#endif  // CVAE_SERVER_VALIDATE_H_
