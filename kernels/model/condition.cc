#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/quote.h"
#include "base/status_macros.h"
#include "kernels/model/parts.h"

namespace cvae {
namespace {

absl::StatusOr<std::vector<std::string>> ReadClassNames(const Node& node, int classes) {
  CVAE_ASSIGN_OR_RETURN(const std::vector<Node> nodes, node.List());
  if (nodes.size() != static_cast<size_t>(classes)) {
    return node.Error(absl::StrCat("has ", nodes.size(), " names, expected ", classes, ", one a class"));
  }
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const Node& element : nodes) {
    CVAE_ASSIGN_OR_RETURN(std::string name, element.Name());
    if (!seen.insert(name).second) return element.Error(absl::StrCat(Quote(name), " is the name of another class too"));
    names.push_back(std::move(name));
  }
  return names;
}

absl::StatusOr<ConditionPart> ReadPart(const Node& node) {
  CVAE_RETURN_IF_ERROR(node.CheckKeys({"name"}, {"classes", "class_names", "width"}));
  const auto classes = node.Find("classes"), class_names = node.Find("class_names"), width = node.Find("width");
  if (classes.has_value() == width.has_value()) return node.Error("expected one of classes and width");
  if (class_names && !classes) return class_names->Error("expected only beside classes");
  ConditionPart part;
  CVAE_ASSIGN_OR_RETURN(part.name, node.At("name").Name());
  CVAE_ASSIGN_OR_RETURN(part.width, (classes ? *classes : *width).Integer(1, kMaxWidth));
  part.classes = classes.has_value();
  if (class_names) {
    CVAE_ASSIGN_OR_RETURN(part.class_names, ReadClassNames(*class_names, part.width));
  }
  return part;
}

}  // namespace

absl::StatusOr<std::vector<ConditionPart>> ReadCondition(const Node& node) {
  CVAE_ASSIGN_OR_RETURN(const std::vector<Node> nodes, node.List());
  std::vector<ConditionPart> parts;
  std::set<std::string> seen;
  int64_t total = 0;
  for (const Node& element : nodes) {
    CVAE_ASSIGN_OR_RETURN(ConditionPart part, ReadPart(element));
    if (!seen.insert(part.name).second)
      return element.At("name").Error(Quote(part.name) + " is another part's name too");
    total += part.width;
    if (total > kMaxWidth) return element.Error(absl::StrCat("the parts are together wider than ", kMaxWidth));
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace cvae
