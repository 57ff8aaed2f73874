#include "kernels/model/model.h"

#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/sha256.h"
#include "base/status_macros.h"
#include "kernels/model/description.h"
#include "kernels/model/operations.h"
#include "kernels/model/parts.h"
#include "kernels/model/weights.h"

namespace cvae {
namespace {

constexpr int kFormat = 1;
constexpr size_t kMaxDescriptionSize = 4 << 20;  // bytes; 65536 class names fit

absl::Status CheckFormat(const Node& root) {
  if (!root.json().is_object()) return root.Unexpected("an object");
  const auto format = root.Find("format");
  if (!format) return root.Error(absl::StrCat("has no key \"format\", expected ", kFormat));
  if (format->json().is_number_unsigned() && format->json().get<uint64_t>() > kFormat) {
    return format->Error(absl::StrCat("got ", format->json().dump(),
                                      ": needs a newer version of this program; this one reads format ", kFormat));
  }
  return format->Integer(kFormat, kFormat).status();
}

// The top level's keys. Those of the input side come together or not at all.
absl::Status CheckRoot(const Node& root) {
  CVAE_RETURN_IF_ERROR(CheckFormat(root));
  CVAE_RETURN_IF_ERROR(
      root.CheckKeys({"format", "condition", "decoder"},
                     {"name", "input", "encoder", "heads", "output", "loss", "noise", "generate", "probe"}));
  if (root.Find("encoder").has_value() != root.Find("heads").has_value()) {
    return root.Error("expected encoder and heads together, or neither of them (a decoder alone)");
  }
  if (root.Find("encoder") && !root.Find("input")) return root.Error("has no key \"input\"");
  if (const auto output = root.Find("output")) CVAE_RETURN_IF_ERROR(output->CheckKeys({}, {}, {"scale", "shift"}));
  if (const auto generate = root.Find("generate")) CVAE_RETURN_IF_ERROR(generate->CheckKeys({}, {"z_clamp"}));
  return absl::OkStatus();
}

absl::StatusOr<int> ReadInputWidth(const Node& input) {
  CVAE_RETURN_IF_ERROR(input.CheckKeys({"width"}, {}, {"scale", "shift", "loss_space"}));
  return input.At("width").Integer(1, kMaxWidth);
}

// One of the two heads, whose input is `in` wide.
absl::StatusOr<Linear> ReadHead(const Node& node, int in, Weights& weights) {
  CVAE_ASSIGN_OR_RETURN(const std::string name, node.Name());
  return weights.ReadLinear(name, node.place(), in);
}

absl::StatusOr<Encoder> ReadEncoder(const Node& root, int in, Weights& weights) {
  CVAE_ASSIGN_OR_RETURN(LayerList list, ReadLayers(root.At("encoder"), in, weights));
  const Node heads = root.At("heads");
  CVAE_RETURN_IF_ERROR(heads.CheckKeys({"mu", "logvar"}, {"logvar_clamp", "variance_eps", "kl_log"}));
  Encoder encoder{std::move(list.layers), {}, {}};
  CVAE_ASSIGN_OR_RETURN(encoder.mu, ReadHead(heads.At("mu"), list.out, weights));
  CVAE_ASSIGN_OR_RETURN(encoder.logvar, ReadHead(heads.At("logvar"), list.out, weights));
  if (encoder.mu.out == encoder.logvar.out) return encoder;
  return heads.At("logvar").Error(
      absl::StrCat("has ", encoder.logvar.out, " rows, expected ", encoder.mu.out, ", as mu"));
}

// What "heads" and "generate" say of logvar, the variance and z.
absl::StatusOr<LatentSpec> ReadLatentSpec(const Node& root) {
  LatentSpec spec;
  if (const auto heads = root.Find("heads")) {
    if (const auto clamp = heads->Find("logvar_clamp")) {
      CVAE_ASSIGN_OR_RETURN(std::tie(spec.logvar_min, spec.logvar_max), clamp->Range());
    }
    if (const auto eps = heads->Find("variance_eps")) {
      CVAE_ASSIGN_OR_RETURN(spec.variance_eps, eps->Float());
      if (spec.variance_eps < 0) return eps->Unexpected("a number that is not negative");
    }
    if (const auto kl_log = heads->Find("kl_log")) {
      CVAE_ASSIGN_OR_RETURN(spec.kl_of_logvar, kl_log->Choice<bool>({{"var", false}, {"logvar", true}}));
    }
  }
  const auto generate = root.Find("generate");
  if (const auto clamp = generate ? generate->Find("z_clamp") : std::nullopt) {
    CVAE_ASSIGN_OR_RETURN(std::tie(spec.z_min, spec.z_max), clamp->Range());
  }
  return spec;
}

// The latent width of a decoder alone: what its first layer takes, less the condition.
absl::StatusOr<int> LatentWidth(const Node& decoder, int condition_width, const Weights& weights) {
  CVAE_ASSIGN_OR_RETURN(const std::optional<int> in, InputWidth(decoder, weights));
  if (!in) return decoder.Error("without an encoder it needs a linear, whose columns say the latent width");
  const int latent = *in - condition_width;
  if (latent >= 1 && latent <= kMaxWidth) return latent;
  return decoder.Error(absl::StrCat("takes ", *in, " columns, expected 1 to ", kMaxWidth, " more than the condition's ",
                                    condition_width));
}

// Everything but where it comes from: `root` and the weights it names.
absl::StatusOr<Model> ReadModel(const Node& root, Weights& weights) {
  CVAE_RETURN_IF_ERROR(CheckRoot(root));
  Model model;
  if (const auto name = root.Find("name")) {
    CVAE_ASSIGN_OR_RETURN(model.name, name->Name());
  }
  CVAE_ASSIGN_OR_RETURN(model.condition, ReadCondition(root.At("condition")));
  for (const ConditionPart& part : model.condition) model.condition_width += part.width;
  if (const auto input = root.Find("input")) {
    CVAE_ASSIGN_OR_RETURN(model.input_width, ReadInputWidth(*input));
  }
  if (root.Find("encoder")) {
    CVAE_ASSIGN_OR_RETURN(model.encoder, ReadEncoder(root, model.input_width + model.condition_width, weights));
    model.latent_width = model.encoder->mu.out;
  } else {
    CVAE_ASSIGN_OR_RETURN(model.latent_width, LatentWidth(root.At("decoder"), model.condition_width, weights));
  }
  CVAE_ASSIGN_OR_RETURN(LayerList decoder,
                        ReadLayers(root.At("decoder"), model.latent_width + model.condition_width, weights));
  model.decoder = std::move(decoder.layers);
  model.output_width = decoder.out;
  if (model.output_width > kMaxWidth) {
    return root.At("decoder").Error(absl::StrCat("gives ", decoder.out, " columns, expected at most ", kMaxWidth));
  }
  if (model.input_width == 0) model.input_width = model.output_width;

  CVAE_ASSIGN_OR_RETURN(model.latent, ReadLatentSpec(root));
  const auto loss = root.Find("loss");
  CVAE_ASSIGN_OR_RETURN(model.loss, ReadLoss(loss ? &*loss : nullptr, model.decoder));
  if (const auto noise = root.Find("noise")) {
    CVAE_ASSIGN_OR_RETURN(
        model.noise, noise->Choice<DefaultNoise>({{"sample", DefaultNoise::kSample}, {"mean", DefaultNoise::kMean}}));
  }
  if (const auto probe = root.Find("probe")) {
    CVAE_ASSIGN_OR_RETURN(model.probe, ReadProbe(*probe, model, weights));
  }
  return model;
}

// The file's own description, or the reference's.
absl::StatusOr<std::string> Describe(const Safetensors& file) {
  const auto found = file.metadata().find("cvae");
  if (found == file.metadata().end()) return DescribeReference(file);
  if (found->second.size() <= kMaxDescriptionSize) return found->second;
  return absl::InvalidArgumentError(
      absl::StrCat("description: has ", found->second.size(), " bytes, expected at most ", kMaxDescriptionSize));
}

}  // namespace

absl::StatusOr<Model> ParseModel(const Safetensors& file) {
  CVAE_ASSIGN_OR_RETURN(std::string description, Describe(file));
  const absl::StatusOr<Json> json = ParseJson(description);
  if (!json.ok()) return absl::InvalidArgumentError(absl::StrCat("description: ", json.status().message()));
  Weights weights(file);
  CVAE_ASSIGN_OR_RETURN(Model model, ReadModel(Node(*json, ""), weights));
  CVAE_RETURN_IF_ERROR(weights.CheckAllUsed());
  model.sha256 = Sha256Hex(file.bytes());
  model.description = std::move(description);
  return model;
}

absl::StatusOr<Model> LoadModel(const std::string& path) {
  CVAE_ASSIGN_OR_RETURN(const Safetensors file, Safetensors::Read(path));
  absl::StatusOr<Model> model = ParseModel(file);
  if (model.ok()) return model;
  return absl::Status(model.status().code(), absl::StrCat(path, ": ", model.status().message()));
}

}  // namespace cvae
