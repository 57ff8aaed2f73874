#include "base/status_macros.h"
#include "kernels/model/parts.h"

namespace cvae {
namespace {

// Whether bce over this decoder's output compares logits (true) or probabilities.
absl::StatusOr<bool> BceTakesLogits(const Node& element, const Layers& decoder) {
  const Activation* last = decoder.empty() ? nullptr : std::get_if<Activation>(&decoder.back());
  if (last == nullptr) return true;
  if (*last == Activation::kSigmoid) return false;
  return element.Error("bce takes a decoder that ends in linear (logits) or in sigmoid (probabilities)");
}

}  // namespace

absl::StatusOr<LossSpec> ReadLoss(const Node* node, const Layers& decoder) {
  LossSpec loss;
  if (node == nullptr) return loss;
  CVAE_RETURN_IF_ERROR(node->CheckKeys({}, {"element", "recon_weight", "kl_weight", "reduce"}));
  if (const auto element = node->Find("element")) {
    CVAE_ASSIGN_OR_RETURN(loss.element, element->Choice<LossElement>({{"squared_error", LossElement::kSquaredError},
                                                                      {"bce", LossElement::kBce}}));
    if (loss.element == LossElement::kBce) {
      CVAE_ASSIGN_OR_RETURN(loss.logits, BceTakesLogits(*element, decoder));
    }
  }
  if (const auto weight = node->Find("recon_weight")) {
    CVAE_ASSIGN_OR_RETURN(loss.recon_weight, weight->Number());
  }
  if (const auto weight = node->Find("kl_weight")) {
    CVAE_ASSIGN_OR_RETURN(loss.kl_weight, weight->Number());
  }
  if (const auto reduce = node->Find("reduce")) {
    CVAE_ASSIGN_OR_RETURN(loss.reduce, reduce->Choice<Reduce>({{"mean", Reduce::kMean}, {"sum", Reduce::kSum}}));
  }
  return loss;
}

}  // namespace cvae
