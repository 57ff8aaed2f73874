#include "server/gather.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "kernels/copy.h"
#include "server/errors.h"

namespace cvae {
namespace {

// A bce target: float32 scalers overshoot [0, 1] a little.
constexpr float kUnitSlack = 1e-4f;

absl::Status BadValue(const MatrixView& matrix, uint64_t index, absl::string_view expected, float value) {
  return FieldError(matrix.field, absl::StrCat("row ", index / matrix.cols, ", column ", index % matrix.cols, " is ",
                                               value, ", expected ", expected));
}

// Rows [first, first + count) of the matrix.
absl::StatusOr<const float*> CopyRows(const MatrixView& matrix, uint64_t first, uint64_t count, bool check_finite,
                                      StagingArena* arena) {
  const uint64_t offset = first * matrix.cols;
  const size_t floats = count * matrix.cols;
  float* out = arena->Take<float>(floats);
  const char* from = matrix.bytes + offset * sizeof(float);
  if (!check_finite) {
    std::memcpy(out, from, floats * sizeof(float));
    return out;
  }
  const size_t bad = CopyFinite(out, from, floats);
  if (bad < floats) {
    float value;
    std::memcpy(&value, from + bad * sizeof(float), sizeof(value));
    return BadValue(matrix, offset + bad, "a finite value (or finite: PROPAGATE)", value);
  }
  return out;
}

absl::Status CheckUnit(const MatrixView& matrix, uint64_t first, uint64_t count, const float* values) {
  for (uint64_t i = 0; i < count * matrix.cols; ++i) {
    if (std::isfinite(values[i]) && !(values[i] >= -kUnitSlack && values[i] <= 1 + kUnitSlack)) {
      return BadValue(matrix, first * matrix.cols + i, "a value in [0, 1], as the model's loss is bce", values[i]);
    }
  }
  return absl::OkStatus();
}

// Columns of a part's matrix into its columns of y, rows [first, first + count).
absl::Status CopyColumns(const PartView& part, int width, uint64_t first, uint64_t count, bool check_finite, float* y,
                         int y_cols) {
  const MatrixView& matrix = part.values;
  for (uint64_t row = 0; row < count; ++row) {
    const uint64_t index = (first + row) * matrix.cols + part.first_column;
    const char* from = matrix.bytes + index * sizeof(float);
    float* to = y + row * y_cols;
    if (!check_finite) {
      std::memcpy(to, from, width * sizeof(float));
    } else if (const size_t bad = CopyFinite(to, from, width); bad < static_cast<size_t>(width)) {
      float value;
      std::memcpy(&value, from + bad * sizeof(float), sizeof(value));
      return BadValue(matrix, index + bad, "a finite value (or finite: PROPAGATE)", value);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Condition> CopyCondition(const ConditionView& view, const Model& model, uint64_t first, uint64_t count,
                                        bool check_finite, StagingArena* arena) {
  Condition condition;
  bool any_ids = false;
  bool any_columns = false;
  for (const PartView& part : view) (part.ids.empty() ? any_columns : any_ids) = true;

  if (any_ids) {
    int32_t* ids = arena->Take<int32_t>(count * view.size());
    for (uint64_t row = 0; row < count; ++row) {
      for (size_t p = 0; p < view.size(); ++p)
        ids[row * view.size() + p] = view[p].ids.empty() ? -1 : view[p].ids[first + row];
    }
    condition.ids = ids;
  }
  if (any_columns) {
    float* y = arena->Take<float>(count * model.condition_width);
    int column = 0;
    for (size_t p = 0; p < view.size(); ++p) {
      const int width = model.condition[p].width;
      if (view[p].ids.empty()) {
        CVAE_RETURN_IF_ERROR(
            CopyColumns(view[p], width, first, count, check_finite, y + column, model.condition_width));
      }
      column += width;
    }
    condition.y = y;
  }
  return condition;
}

// Moves the output pointers of the whole job to those of the piece.
void PointOutputs(const RowSpan& whole, const Piece& piece, uint64_t first_input_row, const Model& model,
                  RowSpan* span) {
  const auto at = [](float* array, uint64_t row, uint64_t cols) {
    return array == nullptr ? nullptr : array + row * cols;
  };
  span->mu = at(whole.mu, first_input_row, model.latent_width);
  span->logvar = at(whole.logvar, first_input_row, model.latent_width);
  span->z = at(whole.z, piece.begin, model.latent_width);
  span->x_hat = at(whole.x_hat, piece.begin, model.output_width);
  span->recon = at(whole.recon, piece.begin, 1);
  span->kl = at(whole.kl, first_input_row, 1);
  span->recon_elements = at(whole.recon_elements, piece.begin, model.output_width);
  span->kl_elements = at(whole.kl_elements, first_input_row, model.latent_width);
}

absl::Status CopyInputs(const Piece& piece, const Model& model, uint64_t first, StagingArena* arena, RowSpan* span) {
  const Job& job = *piece.job;
  const uint64_t count = span->input_rows();
  if (job.x) {
    CVAE_ASSIGN_OR_RETURN(span->x, CopyRows(job.x, first, count, job.check_finite, arena));
    if (job.check_unit && !job.target) CVAE_RETURN_IF_ERROR(CheckUnit(job.x, first, count, span->x));
  }
  if (job.target) {
    CVAE_ASSIGN_OR_RETURN(span->target, CopyRows(job.target, first, count, job.check_finite, arena));
    if (job.check_unit) CVAE_RETURN_IF_ERROR(CheckUnit(job.target, first, count, span->target));
  }
  if (job.eps) {
    CVAE_ASSIGN_OR_RETURN(span->eps, CopyRows(job.eps, piece.begin, piece.count, job.check_finite, arena));
  }
  CVAE_ASSIGN_OR_RETURN(span->encode_condition,
                        CopyCondition(job.encode_condition, model, first, count, job.check_finite, arena));
  span->decode_condition = span->encode_condition;
  if (!job.decode_condition.empty()) {
    CVAE_ASSIGN_OR_RETURN(span->decode_condition,
                          CopyCondition(job.decode_condition, model, first, count, job.check_finite, arena));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RowSpan> Gather(const Piece& piece, const Model& model, StagingArena* arena) {
  Job& job = *piece.job;
  const uint64_t first_input_row = piece.begin / job.samples;
  RowSpan span;
  span.pass = job.pass;
  span.count = piece.count;
  span.samples = job.samples;
  span.first_sample = static_cast<uint32_t>(piece.begin % job.samples);
  span.first_row = job.first_row + first_input_row;
  span.noise = job.noise;
  span.seed = job.seed;
  span.temperature = job.temperature;
  const size_t mark = arena->used();
  if (absl::Status status = CopyInputs(piece, model, first_input_row, arena, &span); !status.ok()) {
    arena->Rewind(mark);
    return status;
  }
  PointOutputs(job.Outputs(), piece, first_input_row, model, &span);
  return span;
}

}  // namespace cvae
