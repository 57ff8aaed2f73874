#include "kernels/cuda/session.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/cuda/forward.h"

namespace cvae::cuda {
namespace {

// Batches of up to this many bytes in and out are read and written by the kernel across the bus, without copies
// (tests/bench/RESULTS.md: the crossover).
constexpr size_t kMappedBytes = size_t{512} << 10;

constexpr size_t kOutputAlign = 16;  // bytes: a vector store's

size_t Aligned(size_t bytes, size_t align) { return (bytes + align - 1) / align * align; }

struct FreeStream {
  void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
};
using Stream = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, FreeStream>;

// Bytes of the outputs of `rows` rows, at worst each a span of its own.
size_t OutputBytes(const Model& model, int rows) {
  const size_t latent = Aligned(model.latent_width * sizeof(float), kOutputAlign);
  const size_t output = Aligned(model.output_width * sizeof(float), kOutputAlign);
  return (4 * latent + 2 * output + 2 * kOutputAlign) * static_cast<size_t>(rows);
}

// Scratch of the layered form.
size_t ScratchBytes(int width, int rows) {
  const size_t tiles = (rows + kTileRows - 1) / kTileRows;
  return tiles * width * kTileStride * sizeof(float);
}

// One array of a span's outputs: where the kernel writes it, and where its caller wants it.
struct Answer {
  size_t offset;  // in the output memory
  float* to;
  size_t bytes;
};

class CudaSession final : public Session {
 public:
  CudaSession(const Model& model, const OnDevice& on, int max_rows)
      : model_(model), on_(on), max_rows_(max_rows), staging_bytes_(StagingBytes(model, max_rows)) {}

  // Takes all memory. The device must be the current one.
  absl::Status Allocate() {
    cudaStream_t stream = nullptr;
    CVAE_RETURN_IF_CUDA_ERROR(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    stream_.reset(stream);
    const std::string what = absl::StrCat("a lane for batches of ", max_rows_, " rows on GPU ", on_.device.index);
    const size_t rows = static_cast<size_t>(max_rows_);
    first_of_offset_ = Aligned(rows * sizeof(RowSpan), kStagingAlign);
    span_of_offset_ = first_of_offset_ + Aligned(rows * sizeof(uint32_t), kStagingAlign);
    control_bytes_ = span_of_offset_ + Aligned(rows * sizeof(uint32_t), kStagingAlign);
    input_bytes_ = control_bytes_ + staging_bytes_;
    output_bytes_ = OutputBytes(model_, max_rows_);
    const bool layered = on_.forced == ForcedForm::kLayered ||
                         (on_.forced == ForcedForm::kAuto && !on_.plan.tile_fits && max_rows_ > on_.plan.few_rows);
    scratch_a_bytes_ = layered ? ScratchBytes(on_.plan.widths.a, max_rows_) : 0;
    const size_t scratch_b = layered ? ScratchBytes(on_.plan.widths.b, max_rows_) : 0;
    CVAE_ASSIGN_OR_RETURN(host_in_, AllocatePinned(input_bytes_, what));
    CVAE_ASSIGN_OR_RETURN(host_out_, AllocatePinned(output_bytes_, what));
    const size_t device_bytes = input_bytes_ + output_bytes_ + scratch_a_bytes_ + scratch_b;
    CVAE_ASSIGN_OR_RETURN(device_, AllocateDevice(device_bytes, what));
    std::memset(host_in_.get(), 0, input_bytes_);  // what is aligned over is copied too
    answers_.reserve(8 * rows);
    return absl::OkStatus();
  }

  absl::Span<std::byte> staging() override { return {host_in_.get() + control_bytes_, staging_bytes_}; }

  absl::Status Run(absl::Span<const RowSpan> spans) override {
    if (spans.empty()) return absl::OkStatus();
    CVAE_RETURN_IF_CUDA_ERROR(cudaSetDevice(on_.device.index));
    const int rows = PlaceAnswers(spans);
    const size_t input_end = InputEnd(spans);
    const bool mapped = input_end - control_bytes_ + output_used_ <= kMappedBytes;
    std::byte* const in = mapped ? host_in_.get() : device_.get();
    std::byte* const out = mapped ? host_out_.get() : device_.get() + input_bytes_;
    WriteControl(spans, in, out);
    if (!mapped) {
      CVAE_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(in, host_in_.get(), input_end, cudaMemcpyHostToDevice, stream_.get()));
    }
    const BatchParams batch = {reinterpret_cast<const RowSpan*>(in),
                               reinterpret_cast<const uint32_t*>(in + first_of_offset_),
                               reinterpret_cast<const uint32_t*>(in + span_of_offset_), rows};
    CVAE_RETURN_IF_CUDA_ERROR(Launch(batch));
    if (!mapped) {
      CVAE_RETURN_IF_CUDA_ERROR(
          cudaMemcpyAsync(host_out_.get(), out, output_used_, cudaMemcpyDeviceToHost, stream_.get()));
    }
    CVAE_RETURN_IF_CUDA_ERROR(cudaStreamSynchronize(stream_.get()));
    for (const Answer& answer : answers_) std::memcpy(answer.to, host_out_.get() + answer.offset, answer.bytes);
    return absl::OkStatus();
  }

 private:
  // Gives each wanted output its place in the output memory; returns the computed rows.
  int PlaceAnswers(absl::Span<const RowSpan> spans) {
    answers_.clear();
    output_used_ = 0;
    int rows = 0;
    const auto place = [this](float* to, size_t count) {
      if (to == nullptr || count == 0) return;
      answers_.push_back({output_used_, to, count * sizeof(float)});
      output_used_ += Aligned(count * sizeof(float), kOutputAlign);
    };
    for (const RowSpan& span : spans) {
      const size_t count = span.count, latents = model_.latent_width, width = model_.output_width;
      // Of a span that begins within a row's samples the first input row's answers are another span's.
      const size_t skipped = span.first_sample > 0 ? 1 : 0, inputs = span.input_rows() - skipped;
      place(Skip(span.mu, skipped * latents), inputs * latents);
      place(Skip(span.logvar, skipped * latents), inputs * latents);
      place(Skip(span.kl, skipped), inputs);
      place(Skip(span.kl_elements, skipped * latents), inputs * latents);
      place(span.z, count * latents);
      place(span.x_hat, count * width);
      place(span.recon, count);
      place(span.recon_elements, count * width);
      rows += static_cast<int>(count);
    }
    return rows;
  }

  static float* Skip(float* p, size_t floats) { return p == nullptr ? nullptr : p + floats; }

  // The end of what the spans use of the input memory.
  size_t InputEnd(absl::Span<const RowSpan> spans) const {
    const std::byte* end = host_in_.get() + control_bytes_;
    const auto reach = [&end](const auto* from, size_t count) {
      if (from != nullptr) end = std::max(end, reinterpret_cast<const std::byte*>(from + count));
    };
    for (const RowSpan& span : spans) {
      const size_t inputs = span.input_rows();
      reach(span.x, inputs * model_.input_width);
      reach(span.eps, size_t{span.count} * model_.latent_width);
      reach(span.target, inputs * model_.output_width);
      for (const Condition* condition : {&span.encode_condition, &span.decode_condition}) {
        reach(condition->y, inputs * model_.condition_width);
        reach(condition->ids, inputs * model_.condition.size());
      }
    }
    return static_cast<size_t>(end - host_in_.get());
  }

  // The spans as the kernel sees them: inputs at `in`, outputs at `out`, in place of the host's.
  void WriteControl(absl::Span<const RowSpan> spans, std::byte* in, std::byte* out) {
    auto* to = reinterpret_cast<RowSpan*>(host_in_.get());
    auto* first_of = reinterpret_cast<uint32_t*>(host_in_.get() + first_of_offset_);
    auto* span_of = reinterpret_cast<uint32_t*>(host_in_.get() + span_of_offset_);
    size_t answer = 0;
    uint32_t row = 0;
    const auto move_in = [&](auto*& p) {
      using Pointer = std::remove_reference_t<decltype(p)>;
      if (p != nullptr) p = reinterpret_cast<Pointer>(in + (reinterpret_cast<const std::byte*>(p) - host_in_.get()));
    };
    const auto move_out = [&](float*& p, size_t count, size_t skipped) {
      if (p == nullptr || count == 0) return;
      p = reinterpret_cast<float*>(out + answers_[answer++].offset) - skipped;
    };
    for (size_t i = 0; i < spans.size(); ++i) {
      RowSpan span = spans[i];
      const size_t count = span.count, latents = model_.latent_width, width = model_.output_width;
      const size_t skipped = span.first_sample > 0 ? 1 : 0, inputs = span.input_rows() - skipped;
      move_in(span.x);
      move_in(span.eps);
      move_in(span.target);
      for (Condition* condition : {&span.encode_condition, &span.decode_condition}) {
        move_in(condition->y);
        move_in(condition->ids);
      }
      move_out(span.mu, inputs * latents, skipped * latents);
      move_out(span.logvar, inputs * latents, skipped * latents);
      move_out(span.kl, inputs, skipped);
      move_out(span.kl_elements, inputs * latents, skipped * latents);
      move_out(span.z, count * latents, 0);
      move_out(span.x_hat, count * width, 0);
      move_out(span.recon, count, 0);
      move_out(span.recon_elements, count * width, 0);
      to[i] = span;
      first_of[i] = row;
      std::fill_n(span_of + row, count, static_cast<uint32_t>(i));
      row += static_cast<uint32_t>(count);
    }
  }

  cudaError_t Launch(const BatchParams& batch) {
    const ResidentModel& resident = on_.resident;
    switch (FormOf(on_.plan, on_.forced, batch.rows)) {
      case Form::kFew:
        return LaunchFusedFew(resident.params, batch, stream_.get());
      case Form::kTile:
        return LaunchFusedTile(resident.params, batch, stream_.get());
      case Form::kLayered:
        break;
    }
    std::byte* const a = device_.get() + input_bytes_ + output_bytes_;
    return LaunchLayered(resident.params, resident.encoder.data(), static_cast<int>(resident.encoder.size()),
                         resident.decoder.data(), static_cast<int>(resident.decoder.size()), batch,
                         reinterpret_cast<float*>(a), reinterpret_cast<float*>(a + scratch_a_bytes_), stream_.get());
  }

  const Model& model_;
  const OnDevice& on_;
  const int max_rows_;
  const size_t staging_bytes_;

  // Input memory: [spans, first_of, span_of | staging]. Behind it, on the device, outputs and scratch.
  size_t first_of_offset_ = 0;
  size_t span_of_offset_ = 0;
  size_t control_bytes_ = 0;
  size_t input_bytes_ = 0;
  size_t output_bytes_ = 0;
  size_t scratch_a_bytes_ = 0;
  Stream stream_;
  PinnedMemory host_in_;
  PinnedMemory host_out_;
  DeviceMemory device_;

  // Of the run at hand.
  std::vector<Answer> answers_;
  size_t output_used_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Session>> NewCudaSession(const Model& model, const OnDevice& on, int max_rows) {
  CVAE_RETURN_IF_CUDA_ERROR(cudaSetDevice(on.device.index));
  auto session = std::make_unique<CudaSession>(model, on, max_rows);
  CVAE_RETURN_IF_ERROR(session->Allocate());
  return session;
}

}  // namespace cvae::cuda
