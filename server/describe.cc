#include "server/describe.h"

#include <variant>

namespace cvae {
namespace {

constexpr uint64_t kStockClientBytes = 4 << 20;  // what a gRPC client takes unless told otherwise
constexpr uint64_t kAnswerOverhead = 256;        // of a Reconstruct answer beside x_hat's floats: tags, version, seed

v1::GetModelResponse::Output OutputOf(const Model& model) {
  if (model.loss.element == LossElement::kBce) {
    return model.loss.logits ? v1::GetModelResponse::LOGITS : v1::GetModelResponse::PROBABILITIES;
  }
  return v1::GetModelResponse::DATA;
}

template <class Response>
void FillDims(const ModelFacts& facts, Response* response) {
  const Model& model = *facts.model;
  response->set_name(facts.name);
  response->set_version(facts.version);
  response->set_input_dim(model.input_width);
  response->set_label_dim(model.condition_width);
  response->set_latent_dim(model.latent_width);
  response->set_output_dim(model.output_width);
}

}  // namespace

v1::GetModelResponse DescribeModel(const ModelFacts& facts, const EngineInfo& engine) {
  const Model& model = *facts.model;
  v1::GetModelResponse response;
  FillDims(facts, &response);
  for (const ConditionPart& part : model.condition) {
    v1::ConditionPart* described = response.add_condition();
    described->set_name(part.name);
    described->set_width(part.width);
    described->set_classes(part.classes);
    for (const std::string& name : part.class_names) described->add_class_names(name);
  }
  response.set_engine(engine.engine);
  response.set_device(engine.device);
  response.set_precision(engine.precision);
  response.set_default_noise(model.noise == DefaultNoise::kMean ? v1::GetModelResponse::MEAN
                                                                : v1::GetModelResponse::SAMPLE);
  response.set_output(OutputOf(model));
  response.mutable_limits()->set_request_bytes(facts.limits.request_bytes);
  response.mutable_limits()->set_rows(facts.limits.rows);
  response.mutable_limits()->set_answer_bytes(facts.limits.answer_bytes);
  response.mutable_limits()->set_rows_in_4_mib((kStockClientBytes - kAnswerOverhead) /
                                               (sizeof(float) * model.output_width));
  response.set_description(model.description);
  return response;
}

v1::ModelSummary SummarizeModel(const ModelFacts& facts) {
  v1::ModelSummary summary;
  FillDims(facts, &summary);
  return summary;
}

}  // namespace cvae
