// Rows whose answers are known from the plain reference: a call asks for a stretch of them, and its answer must be that
// stretch of the known answers, bit for bit.

#ifndef CVAE_TESTS_SERVER_KNOWN_ROWS_H_
#define CVAE_TESTS_SERVER_KNOWN_ROWS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "cvae/v1/cvae.pb.h"
#include "kernels/model/model.h"
#include "tests/reference/reference.h"

namespace cvae {

// Rows [first, first + count).
struct Stretch {
  int first = 0;
  int count = 1;
};

// Immutable, and so thread-safe.
class KnownRows {
 public:
  static constexpr int kSamples = 3;
  static constexpr uint64_t kSeed = 77;

  // Of a model with one class part.
  KnownRows(std::shared_ptr<const Model> model, int rows);

  int rows() const { return rows_; }

  // The request for a stretch.
  void Ask(Stretch stretch, v1::EncodeRequest* request) const;
  void Ask(Stretch stretch, v1::ReconstructRequest* request) const;
  void Ask(Stretch stretch, v1::LossRequest* request) const;
  void Ask(Stretch stretch, v1::DecodeRequest* request) const;
  void Ask(Stretch stretch, v1::GenerateRequest* request) const;

  // Whether an answer has the known bits.
  bool Matches(Stretch stretch, const v1::EncodeResponse& answer) const;
  bool Matches(Stretch stretch, const v1::ReconstructResponse& answer) const;
  bool Matches(Stretch stretch, const v1::LossResponse& answer) const;
  bool Matches(Stretch stretch, const v1::DecodeResponse& answer) const;
  bool Matches(Stretch stretch, const v1::GenerateResponse& answer) const;

 private:
  // One span's outputs.
  struct Outputs {
    std::vector<float> mu, logvar, z, x_hat, recon, kl;
  };
  Outputs Run(RowSpan span) const;

  const std::shared_ptr<const Model> model_;
  const int rows_;
  std::vector<float> x_;          // [rows, D]
  std::vector<int32_t> labels_;   // [rows]
  Outputs forward_;               // one sample a row
  Outputs sampled_;               // kSamples a row
  std::vector<float> row_recon_;  // [rows], means over kSamples
  Outputs decoded_;               // of z = mu
  Outputs generated_;             // kSamples a row
};

}  // namespace cvae

#endif  // CVAE_TESTS_SERVER_KNOWN_ROWS_H_
