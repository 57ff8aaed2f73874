// A conditional variational autoencoder as data: lists of layers, their weights, and what the model file says of their
// meaning. The engines know layers, not "enc" and "dec". Shape letters, everywhere the same: B rows, D input width,
// L condition width, H hidden width, Z latent width, O output width (D unless the model's target is not its input).

#ifndef CVAE_KERNELS_MODEL_MODEL_H_
#define CVAE_KERNELS_MODEL_MODEL_H_

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "base/safetensors.h"
#include "kernels/numerics/activation.h"
#include "kernels/numerics/latent.h"

namespace cvae {

// y = x W^T + b
struct Linear {
  std::string name;           // of its tensors: NAME.weight, NAME.bias
  int in = 0;                 // columns of the weight
  int out = 0;                // rows of the weight
  std::vector<float> weight;  // [out, in], all finite
  std::vector<float> bias;    // [out], all finite
};

// One operation of a layer list. A new one is a new alternative here, a parser in operations.cc and a case in each
// engine.
using Operation = std::variant<Linear, Activation>;
// Each operation's width fits its neighbours'. May be empty: then the output is the input. Never holds kIdentity: the
// loader leaves it out, so that the last operation is the output activation.
using Layers = std::vector<Operation>;

// One part of the condition; parts stand side by side in the order of the model.
struct ConditionPart {
  std::string name;
  int width = 0;                         // columns it takes in y
  bool classes = false;                  // one-hot: a request may give class ids in place of columns
  std::vector<std::string> class_names;  // empty, or one a class
};

// The encoder: [x, y] -> layers -> mu and logvar.
struct Encoder {
  Layers layers;
  Linear mu;      // [Z, width of the last layer]
  Linear logvar;  // the same
};

enum class LossElement { kSquaredError, kBce };
enum class Reduce { kMean, kSum };
enum class DefaultNoise { kSample, kMean };

struct LossSpec {
  LossElement element = LossElement::kSquaredError;
  bool logits = true;  // bce: the output is the logit (no output activation), not the probability (sigmoid)
  double recon_weight = 1;
  double kl_weight = 1;
  Reduce reduce = Reduce::kMean;  // over the rows of a request
};

// Rows with known answers that the file brings along. Replayed at load (kernels/probe.h). For a decoder alone x, mu and
// logvar are empty and eps is z itself. All values are finite.
struct Probe {
  int rows = 0;
  std::vector<float> x;          // [rows, D]
  std::vector<float> condition;  // [rows, L]
  std::vector<float> eps;        // [rows, Z]
  std::vector<float> mu;         // [rows, Z]
  std::vector<float> logvar;     // [rows, Z]
  std::vector<float> x_hat;      // [rows, O]

  // Relative norms, ||out - expected|| / ||expected||. A precision that is fp32-accurate takes the first, others the
  // second.
  double fp32_tolerance = 1e-5;
  double bf16_tolerance = 3e-2;
};

struct Model {
  std::string name;         // from the description; empty if it has none
  std::string sha256;       // of the whole file, 64 lower-case hex digits
  int input_width = 0;      // D; of a decoder alone O, unless the description says otherwise
  int condition_width = 0;  // L, the sum of the parts' widths
  int latent_width = 0;     // Z
  int output_width = 0;     // O
  std::vector<ConditionPart> condition;
  std::optional<Encoder> encoder;  // none: Decode and Generate only
  Layers decoder;                  // [z, y] -> x_hat
  LatentSpec latent;
  LossSpec loss;
  DefaultNoise noise = DefaultNoise::kSample;
  std::optional<Probe> probe;
  std::string description;  // the JSON of the file; for a bare reference state_dict the JSON that says the same
};

// Reads the model file at `path`, which is untrusted (MODELS.md says what it may hold). INVALID_ARGUMENT names the
// place and what was expected there; errors of reading are Safetensors::Read's. Every message begins with the path.
absl::StatusOr<Model> LoadModel(const std::string& path);

// The same from a parsed file.
absl::StatusOr<Model> ParseModel(const Safetensors& file);

}  // namespace cvae

#endif  // CVAE_KERNELS_MODEL_MODEL_H_
