#include "client/command/inputs.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/quote.h"
#include "base/status_macros.h"
#include "client/command/in_file.h"

namespace cvae {
namespace {

bool IsReference(const std::string& source) { return absl::StartsWith(source, "@"); }

void AddReference(const std::string& source, std::vector<std::string>& names) {
  if (IsReference(source)) names.push_back(source.substr(1));
}

void AddReferences(const ConditionSources& sources, std::vector<std::string>& names) {
  AddReference(sources.labels, names);
  AddReference(sources.y, names);
  for (const auto& [part, source] : sources.parts) AddReference(source, names);
}

// A list typed on the command line.
Array TypedList(const std::string& option, const std::string& list) {
  Array array;
  array.origin = option;
  array.is_words = true;
  array.typed = true;
  for (absl::string_view word : absl::StrSplit(list, ',')) array.words.emplace_back(word);
  return array;
}

// Reads the inputs of one command line.
class Reader {
 public:
  Reader(const Options& options, std::istream& standard_input) : options_(options), standard_input_(standard_input) {}

  absl::StatusOr<Inputs> Run() {
    CVAE_RETURN_IF_ERROR(OpenIn());
    Inputs inputs;
    CVAE_RETURN_IF_ERROR(ReadRows(inputs));
    CVAE_ASSIGN_OR_RETURN(inputs.condition, ReadCondition(options_.condition, "--"));
    CVAE_ASSIGN_OR_RETURN(inputs.decode_condition, ReadCondition(options_.decode_condition, "--decode-"));
    if (inputs.condition.empty()) CVAE_RETURN_IF_ERROR(FindCondition(inputs.condition));
    if (!options_.eps.empty()) {
      CVAE_ASSIGN_OR_RETURN(inputs.eps, ReadSource("--eps", options_.eps, "eps", false));
    } else if (!options_.seed.has_value() && !options_.mean && TakesNoise()) {
      CVAE_ASSIGN_OR_RETURN(inputs.eps, FindRole("eps"));
    }
    if (!options_.target.empty()) {
      CVAE_ASSIGN_OR_RETURN(inputs.target, ReadSource("--target", options_.target, "target", false));
    } else if (options_.command == Command::kLoss || options_.loss) {
      CVAE_ASSIGN_OR_RETURN(inputs.target, FindRole("target"));
    }
    return inputs;
  }

 private:
  bool TakesNoise() const {
    return options_.command == Command::kReconstruct || options_.command == Command::kLoss ||
           options_.command == Command::kGenerate;
  }

  absl::Status OpenIn() {
    if (options_.in.empty()) return absl::OkStatus();
    std::vector<std::string> picked;
    AddReferences(options_.condition, picked);
    AddReferences(options_.decode_condition, picked);
    AddReference(options_.eps, picked);
    AddReference(options_.target, picked);
    CVAE_ASSIGN_OR_RETURN(in_, InFile::Open(options_.in, picked, options_.allow_non_finite, standard_input_));
    return absl::OkStatus();
  }

  absl::Status ReadRows(Inputs& inputs) {
    if (options_.command == Command::kGenerate) {
      const bool unused = in_.has_value() && !in_->has_names() && in_->numbers().tensor.size() > 0;
      if (!unused) return absl::OkStatus();
      return absl::InvalidArgumentError(
          absl::StrCat(options_.in, ": generate takes no rows; a condition is --labels FILE, --y FILE or --part"));
    }
    const std::string role = options_.command == Command::kDecode ? "z" : "x";
    if (in_->has_names()) {
      const auto named = options_.tensors.find(role);
      auto array = in_->Find(named == options_.tensors.end() ? role : named->second);
      if (!array.ok()) {
        return absl::InvalidArgumentError(
            absl::StrCat(array.status().message(), "; --tensor ", role, "=NAME picks another"));
      }
      inputs.rows = *std::move(array);
      return absl::OkStatus();
    }
    inputs.rows = in_->numbers();
    for (const std::string& name : in_->header()) {
      inputs.labels_hint |= absl::EqualsIgnoreCase(name, "label") || absl::EqualsIgnoreCase(name, "labels");
    }
    return absl::OkStatus();
  }

  // The tensor that --tensor names for the role, or the one of the role's own name, or none.
  absl::StatusOr<std::optional<Array>> FindRole(const std::string& role) const {
    const auto named = options_.tensors.find(role);
    if (named != options_.tensors.end()) {
      CVAE_ASSIGN_OR_RETURN(Array array, in_->Find(named->second));
      return array;
    }
    return in_.has_value() ? in_->FindTensor(role) : std::nullopt;
  }

  // The condition that the --in file brings along.
  absl::Status FindCondition(ConditionInputs& condition) const {
    CVAE_ASSIGN_OR_RETURN(condition.labels, FindRole("labels"));
    CVAE_ASSIGN_OR_RETURN(condition.y, FindRole("y"));
    const bool named_labels = options_.tensors.count("labels") > 0, named_y = options_.tensors.count("y") > 0;
    condition.by_chance = !named_labels && !named_y;
    if (named_labels && !named_y) condition.y.reset();
    if (named_y && !named_labels) condition.labels.reset();
    if (!condition.labels.has_value() || !condition.y.has_value()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(options_.in, ": has both \"labels\" and \"y\"; choose with --labels @labels or --y @y"));
  }

  absl::StatusOr<ConditionInputs> ReadCondition(const ConditionSources& sources, const std::string& prefix) const {
    ConditionInputs condition;
    if (!sources.labels.empty()) {
      CVAE_ASSIGN_OR_RETURN(condition.labels, ReadSource(prefix + "labels", sources.labels, "labels", true));
    }
    if (!sources.y.empty()) {
      CVAE_ASSIGN_OR_RETURN(condition.y, ReadSource(prefix + "y", sources.y, "y", false));
    }
    for (const auto& [part, source] : sources.parts) {
      const std::string option = absl::StrCat(prefix, "part ", part);
      CVAE_ASSIGN_OR_RETURN(condition.parts[part], ReadSource(option, source, part, true));
    }
    return condition;
  }

  absl::StatusOr<Array> ReadSource(const std::string& option, const std::string& source, const std::string& role,
                                   bool may_be_list) const {
    if (IsReference(source)) {
      if (in_.has_value()) return in_->Find(source.substr(1));
      return absl::InvalidArgumentError(absl::StrCat(option, ": ", Quote(source), " is of --in, which is missing"));
    }
    if (NamesFile(source)) return ReadArrayFile(source, role, options_.allow_non_finite);
    if (may_be_list) return TypedList(option, source);
    return absl::InvalidArgumentError(
        absl::StrCat(option, ": got ", Quote(source), ", expected FILE.safetensors, .npy or .csv, or @NAME"));
  }

  const Options& options_;
  std::istream& standard_input_;
  std::optional<InFile> in_;
};

}  // namespace

absl::StatusOr<Inputs> ReadInputs(const Options& options, std::istream& standard_input) {
  return Reader(options, standard_input).Run();
}

}  // namespace cvae
