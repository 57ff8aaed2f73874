// What the server sees of an engine: where a model's rows are computed, on a CPU or on a GPU.
//
// An Engine holds one model's weights, resident. A Session is one lane's private workplace on it: staging memory to
// gather inputs into, scratch, and on a GPU a stream. Rows of many requests share one Run; each request's part of it is
// a RowSpan. A row's answer depends on nothing but its own span's fields: not on the batch, its neighbours or its place
// (ARCHITECTURE.md, "Same bits").

#ifndef CVAE_KERNELS_ENGINE_H_
#define CVAE_KERNELS_ENGINE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kernels/model/model.h"
#include "kernels/row_span.h"

namespace cvae {

inline constexpr size_t kStagingAlign = 64;  // a cache line, and the widest vector load

// Staging bytes that hold the inputs of any spans of together `max_rows` computed rows.
size_t StagingBytes(const Model& model, int max_rows);

// One lane's workplace. One thread at a time. Must not outlive its engine.
class Session {
 public:
  virtual ~Session() = default;

  // Memory for inputs, StagingBytes(model, max_rows) of it, aligned to kStagingAlign. The caller's between runs.
  virtual absl::Span<std::byte> staging() = 0;

  // Computes all spans and writes their wanted outputs before it returns. REQUIRES valid spans (they are the server's,
  // which has checked the request) of together at most max_rows computed rows. INTERNAL: the device failed, outputs are
  // undefined, and so will every later run.
  virtual absl::Status Run(absl::Span<const RowSpan> spans) = 0;
};

struct EngineInfo {
  std::string engine;     // "cpu" or "cuda"
  std::string device;     // for people: "AVX-512, 2 threads"
  std::string precision;  // "fp32"
  std::string revision;   // the end of an answer's version: "fp32.n1"; other precisions add the device type
  std::string plan;       // for the log: which kernels run the model; empty if there is no choice
  int devices = 1;        // that its sessions are spread over, in turn
};

// A model resident on a device. Thread-safe.
class Engine {
 public:
  virtual ~Engine() = default;

  // The model it serves; never null. The engine needs its weights no longer, only what they mean.
  virtual std::shared_ptr<const Model> shared_model() const = 0;
  const Model& model() const { return *shared_model(); }
  virtual EngineInfo Describe() const = 0;

  // A session for batches of up to `max_rows` computed rows. RESOURCE_EXHAUSTED, with needed and free bytes, if its
  // memory does not fit.
  virtual absl::StatusOr<std::unique_ptr<Session>> NewSession(int max_rows) = 0;
};

}  // namespace cvae

#endif  // CVAE_KERNELS_ENGINE_H_
