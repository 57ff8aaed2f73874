#include "client/command/info.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "google/protobuf/util/json_util.h"

namespace cvae {
namespace {

template <typename Message>
absl::StatusOr<std::string> Json(const Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string text;
  if (!google::protobuf::util::MessageToJsonString(message, &text, options).ok()) {
    return absl::InternalError("the server's answer is no valid JSON text");
  }
  return text;
}

std::string PartLine(const v1::ConditionPart& part) {
  std::string text = absl::StrCat(part.name(), ": ", part.width(), part.classes() ? " classes" : " numbers");
  constexpr int kListed = 20;
  const int listed = std::min(kListed, part.class_names_size());
  if (listed == 0) return text;
  absl::StrAppend(&text, " (", absl::StrJoin(part.class_names().begin(), part.class_names().begin() + listed, ", "));
  if (part.class_names_size() > kListed) absl::StrAppend(&text, " and ", part.class_names_size() - kListed, " more");
  return text + ")";
}

const char* OutputName(v1::GetModelResponse::Output output) {
  switch (output) {
    case v1::GetModelResponse::LOGITS:
      return "logits (a sigmoid gives probabilities)";
    case v1::GetModelResponse::PROBABILITIES:
      return "probabilities";
    default:
      return "values like x";
  }
}

std::string FormatModel(const v1::GetModelResponse& model) {
  std::string text;
  const auto line = [&text](const char* name, const std::string& value) {
    absl::StrAppendFormat(&text, "%-11s%s\n", name, value);
  };
  line("model", model.name());
  line("version", model.version());
  line("engine", absl::StrCat(model.engine(), ", ", model.precision(), ", ", model.device()));
  line("x", model.input_dim() > 0 ? absl::StrCat("[B, ", model.input_dim(), "]") : "none: decode and generate only");
  for (const auto& part : model.condition()) line("condition", PartLine(part));
  if (model.label_dim() == 0) line("condition", "none");
  line("z", absl::StrCat("[B, ", model.latent_dim(), "]"));
  line("x_hat", absl::StrCat("[B, ", model.output_dim(), "], ", OutputName(model.output())));
  line("noise", model.default_noise() == v1::GetModelResponse::MEAN ? "z = mu unless a request says otherwise"
                                                                    : "drawn unless a request says otherwise");
  const v1::Limits& limits = model.limits();
  line("a call", absl::StrCat(limits.rows(), " rows, ", limits.request_bytes(), " bytes in, ", limits.answer_bytes(),
                              " bytes out at the most"));
  return text;
}

std::string FormatList(const v1::ListModelsResponse& models) {
  std::string text = absl::StrFormat("%-24s %-28s %6s %6s %6s %6s\n", "model", "version", "x", "y", "z", "x_hat");
  for (const auto& model : models.models()) {
    absl::StrAppendFormat(&text, "%-24s %-28s %6d %6d %6d %6d\n", model.name(), model.version(), model.input_dim(),
                          model.label_dim(), model.latent_dim(), model.output_dim());
  }
  return text + "cvae info --model NAME says more\n";
}

}  // namespace

absl::StatusOr<std::string> RunInfo(const Client& client, const Options& options) {
  if (options.model.empty()) {
    CVAE_ASSIGN_OR_RETURN(const v1::ListModelsResponse models, client.ListModels());
    if (models.models_size() != 1) return options.json ? Json(models) : FormatList(models);
  }
  v1::GetModelRequest request;
  request.set_model(options.model);
  CVAE_ASSIGN_OR_RETURN(const v1::GetModelResponse model, client.GetModel(request));
  return options.json ? Json(model) : FormatModel(model);
}

}  // namespace cvae
