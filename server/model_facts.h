// What validation needs to know of a model: its description with class names looked up fast, its name, and its limits.

#ifndef CVAE_SERVER_MODEL_FACTS_H_
#define CVAE_SERVER_MODEL_FACTS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "kernels/model/model.h"

namespace cvae {

// What one call may ask for.
struct CallLimits {
  uint64_t request_bytes = 64ull << 20;
  uint64_t rows = 1 << 20;  // computed rows, B * S
  uint64_t answer_bytes = 256ull << 20;
};

// Immutable, and so thread-safe.
struct ModelFacts {
  ModelFacts(std::string name, std::string version, std::shared_ptr<const Model> model, CallLimits limits);

  std::string name;     // what a request's `model` says
  std::string version;  // what every answer says: "9f3a0c11d2e4-fp32.n1"
  std::shared_ptr<const Model> model;
  CallLimits limits;
  std::vector<absl::flat_hash_map<std::string, int32_t>> class_ids;  // a part: name -> id; empty if it has no names
};

inline ModelFacts::ModelFacts(std::string name, std::string version, std::shared_ptr<const Model> model,
                              CallLimits limits)
    : name(std::move(name)), version(std::move(version)), model(std::move(model)), limits(limits) {
  for (const ConditionPart& part : this->model->condition) {
    auto& ids = class_ids.emplace_back();
    for (size_t i = 0; i < part.class_names.size(); ++i) ids.emplace(part.class_names[i], static_cast<int32_t>(i));
  }
}

}  // namespace cvae

#endif  // CVAE_SERVER_MODEL_FACTS_H_
