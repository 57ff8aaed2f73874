#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/quote.h"
#include "base/status_macros.h"
#include "kernels/model/parts.h"

namespace cvae {
namespace {

constexpr const char* kLayers[] = {"dec.0", "dec.2", "enc.0", "enc_logvar", "enc_mu"};

std::set<std::string> ReferenceNames() {
  std::set<std::string> names;
  for (const std::string layer : kLayers) names.insert({layer + ".weight", layer + ".bias"});
  return names;
}

// Up to five names, quoted.
std::string List(const std::vector<std::string>& names) {
  constexpr size_t kShown = 5;
  std::vector<std::string> quoted;
  for (size_t i = 0; i < std::min(kShown, names.size()); ++i) quoted.push_back(Quote(names[i], 60));
  const std::string more = names.size() > kShown ? absl::StrCat(" and ", names.size() - kShown, " more") : "";
  return names.empty() ? "none" : absl::StrCat(absl::StrJoin(quoted, ", "), more);
}

// OK if the file's tensors are just those of the reference.
absl::Status CheckNames(const Safetensors& file) {
  std::vector<std::string> missing, other;
  const std::set<std::string> names = ReferenceNames();
  for (const std::string& name : names) {
    if (file.Find(name) == nullptr) missing.push_back(name);
  }
  for (const auto& [name, tensor] : file.tensors()) {
    if (!names.contains(name)) other.push_back(name);
  }
  if (missing.empty() && other.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "the file has no description (metadata key \"cvae\"), so it must be the reference state_dict, but it lacks ",
      List(missing), " and has beside it ", List(other), ". MODELS.md says how to describe another model"));
}

}  // namespace

absl::StatusOr<std::string> DescribeReference(const Safetensors& file) {
  CVAE_RETURN_IF_ERROR(CheckNames(file));
  const Weights weights(file);
  CVAE_ASSIGN_OR_RETURN(const Weights::Dims first, weights.LinearDims("enc.0", "encoder[0]"));
  CVAE_ASSIGN_OR_RETURN(const Weights::Dims last, weights.LinearDims("dec.2", "decoder[2]"));
  const int input = last.out, classes = first.in - last.out;
  if (classes < 0) {
    return absl::InvalidArgumentError(absl::StrCat("\"enc.0.weight\" has ", first.in, " columns, expected at least ",
                                                   input, ", the rows of \"dec.2.weight\" (D + L and D)"));
  }
  // Written out, so that its keys stand in the order of MODELS.md.
  const std::string condition = classes == 0 ? "" : absl::StrCat(R"({"name": "label", "classes": )", classes, "}");
  return absl::StrCat(R"({"format": 1, "input": {"width": )", input, R"(}, "condition": [)", condition,
                      R"(], "encoder": [{"linear": "enc.0"}, "relu"], )",
                      R"("heads": {"mu": "enc_mu", "logvar": "enc_logvar"}, )",
                      R"("decoder": [{"linear": "dec.0"}, "relu", {"linear": "dec.2"}]})");
}

}  // namespace cvae
