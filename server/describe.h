// What GetModel and ListModels answer.

#ifndef CVAE_SERVER_DESCRIBE_H_
#define CVAE_SERVER_DESCRIBE_H_

#include "cvae/v1/cvae.pb.h"
#include "kernels/engine.h"
#include "server/model_facts.h"

namespace cvae {

v1::GetModelResponse DescribeModel(const ModelFacts& facts, const EngineInfo& engine);
v1::ModelSummary SummarizeModel(const ModelFacts& facts);

}  // namespace cvae

#endif  // CVAE_SERVER_DESCRIBE_H_
