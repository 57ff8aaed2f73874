#include "kernels/model/operations.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/quote.h"
#include "base/status_macros.h"

namespace cvae {
namespace {

constexpr size_t kMaxOperations = 1024;  // a list's

// One kind of operation. In the JSON it is its bare name, or an object with the name as a key.
struct Kind {
  const char* name;
  // Appends the operation at `node` to `list`, whose `out` is its input's width and then its own.
  absl::Status (*read)(const Node& node, Weights& weights, LayerList& list);
  // The width that it takes; null: any.
  absl::StatusOr<int> (*input_width)(const Node& node, const Weights& weights);
};

absl::StatusOr<std::string> LinearName(const Node& node) {
  if (!node.json().is_object()) {
    return node.Error("linear takes the name of its tensors: {\"linear\": \"enc.0\"} has enc.0.weight and enc.0.bias");
  }
  CVAE_RETURN_IF_ERROR(node.CheckKeys({"linear"}));
  return node.At("linear").Name();
}

absl::Status ReadLinear(const Node& node, Weights& weights, LayerList& list) {
  CVAE_ASSIGN_OR_RETURN(const std::string name, LinearName(node));
  CVAE_ASSIGN_OR_RETURN(Linear linear, weights.ReadLinear(name, node.place(), list.out));
  list.out = linear.out;
  list.layers.push_back(std::move(linear));
  return absl::OkStatus();
}

absl::StatusOr<int> LinearWidth(const Node& node, const Weights& weights) {
  CVAE_ASSIGN_OR_RETURN(const std::string name, LinearName(node));
  CVAE_ASSIGN_OR_RETURN(const Weights::Dims dims, weights.LinearDims(name, node.place()));
  return dims.in;
}

template <Activation::Kind kind>
absl::Status ReadActivation(const Node& node, Weights&, LayerList& list) {
  if (!node.json().is_string()) return node.Error("takes no parameters: its name alone, as a string, is enough");
  if (kind != Activation::kIdentity) list.layers.push_back(Activation(kind));
  return absl::OkStatus();
}

// An activation with a parameter: {"leaky_relu": 0.01}.
template <Activation::Kind kind>
absl::Status ReadParameterized(const Node& node, Weights&, LayerList& list) {
  constexpr const char* kName = kind == Activation::kElu ? "elu" : "leaky_relu";
  if (!node.json().is_object()) {
    return node.Error(absl::StrCat(kName, " takes its parameter: {\"", kName, "\": 0.01}"));
  }
  CVAE_RETURN_IF_ERROR(node.CheckKeys({kName}));
  CVAE_ASSIGN_OR_RETURN(const float a, node.At(kName).Float());
  list.layers.push_back(Activation(kind, a));
  return absl::OkStatus();
}

// Every operation that this version serves. A new one: its line here with its functions above, its alternative in
// Operation (or its name in Activation), and its case in each engine.
constexpr Kind kKinds[] = {
    {"linear", ReadLinear, LinearWidth},
    {"identity", ReadActivation<Activation::kIdentity>, nullptr},
    {"relu", ReadActivation<Activation::kRelu>, nullptr},
    {"leaky_relu", ReadParameterized<Activation::kLeakyRelu>, nullptr},
    {"elu", ReadParameterized<Activation::kElu>, nullptr},
    {"silu", ReadActivation<Activation::kSilu>, nullptr},
    {"gelu", ReadActivation<Activation::kGelu>, nullptr},
    {"gelu_tanh", ReadActivation<Activation::kGeluTanh>, nullptr},
    {"tanh", ReadActivation<Activation::kTanh>, nullptr},
    {"sigmoid", ReadActivation<Activation::kSigmoid>, nullptr},
    {"softplus", ReadActivation<Activation::kSoftplus>, nullptr},
};

absl::Status UnknownOperation(const Node& node, const std::string& name) {
  const auto append_name = [](std::string* out, const Kind& kind) { absl::StrAppend(out, kind.name); };
  return node.Error(
      absl::StrCat(name, " is no operation that this version serves: ", absl::StrJoin(kKinds, ", ", append_name)));
}

absl::StatusOr<const Kind*> FindKind(const Node& node) {
  const Json& json = node.json();
  if (!json.is_string() && !json.is_object()) return node.Unexpected("an operation: a name, or an object with one");
  for (const Kind& kind : kKinds) {
    if (json.is_string() ? json.get_ref<const std::string&>() == kind.name : json.contains(kind.name)) return &kind;
  }
  if (json.is_string()) return UnknownOperation(node, Quote(json.get_ref<const std::string&>()));
  return UnknownOperation(node, json.empty() ? "an empty object" : Quote(json.begin().key()));
}

absl::StatusOr<std::vector<Node>> Operations(const Node& node) {
  CVAE_ASSIGN_OR_RETURN(std::vector<Node> nodes, node.List());
  if (nodes.size() <= kMaxOperations) return nodes;
  return node.Error(absl::StrCat("has ", nodes.size(), " operations, expected at most ", kMaxOperations));
}

}  // namespace

absl::StatusOr<LayerList> ReadLayers(const Node& node, int in, Weights& weights) {
  CVAE_ASSIGN_OR_RETURN(const std::vector<Node> nodes, Operations(node));
  LayerList list{{}, in};
  for (const Node& operation : nodes) {
    CVAE_ASSIGN_OR_RETURN(const Kind* kind, FindKind(operation));
    CVAE_RETURN_IF_ERROR(kind->read(operation, weights, list));
  }
  return list;
}

absl::StatusOr<std::optional<int>> InputWidth(const Node& node, const Weights& weights) {
  CVAE_ASSIGN_OR_RETURN(const std::vector<Node> nodes, Operations(node));
  for (const Node& operation : nodes) {
    CVAE_ASSIGN_OR_RETURN(const Kind* kind, FindKind(operation));
    if (kind->input_width != nullptr) return kind->input_width(operation, weights);
  }
  return std::nullopt;
}

}  // namespace cvae
