#include "base/safetensors_header.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "base/quote.h"

namespace cvae::internal {
namespace {

constexpr size_t kMaxRank = 64;

// Follows the parser's events through the schema. Each returns false to stop, with the reason in status_.
class Handler : public nlohmann::json_sax<Json> {
 public:
  absl::StatusOr<Header> Take() && {
    if (!status_.ok()) return status_;
    return std::move(header_);
  }

  bool null() override { return Unexpected("null"); }
  bool boolean(bool) override { return Unexpected("a boolean"); }
  bool number_integer(number_integer_t) override { return Unexpected("a negative number"); }
  bool number_float(number_float_t, const string_t&) override { return Unexpected("a fraction or too large a number"); }
  bool binary(binary_t&) override { return Unexpected("binary"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (state_ != State::kNumbers) return Unexpected("a number");
    const size_t limit = field_ == Field::kShape ? kMaxRank : 2;
    if (numbers_.size() == limit) return Refuse(absl::StrCat("has more than ", limit, " numbers"));
    numbers_.push_back(value);
    return true;
  }

  bool string(string_t& value) override {
    if (state_ == State::kMetadata) {
      header_.metadata[metadata_key_] = std::move(value);
      return true;
    }
    if (state_ != State::kTensor || field_ != Field::kDType) return Unexpected("a string");
    entry_.dtype = DTypeFromName(value);
    if (entry_.dtype) return true;
    return Refuse(absl::StrCat("got ", Quote(value), ", expected one of ", DTypeNames()));
  }

  bool start_object(std::size_t) override {
    switch (state_) {
      case State::kStart:
        state_ = State::kNames;
        return true;
      case State::kNames:
        state_ = name_ == "__metadata__" ? State::kMetadata : State::kTensor;
        entry_ = {};
        field_ = Field::kNone;
        return true;
      default:
        return Unexpected("an object");
    }
  }

  bool key(string_t& key) override {
    switch (state_) {
      case State::kNames:
        return Name(key);
      case State::kMetadata:
        metadata_key_ = key;
        return header_.metadata.emplace(key, "").second || Refuse("is there twice");
      default:
        return FieldName(key);
    }
  }

  bool end_object() override {
    switch (state_) {
      case State::kMetadata:
        state_ = State::kNames;
        return true;
      case State::kTensor:
        return EndTensor();
      default:
        state_ = State::kEnd;
        return true;
    }
  }

  bool start_array(std::size_t) override {
    if (state_ != State::kTensor || (field_ != Field::kShape && field_ != Field::kOffsets))
      return Unexpected("an array");
    state_ = State::kNumbers;
    numbers_.clear();
    return true;
  }

  bool end_array() override {
    if (field_ == Field::kOffsets && numbers_.size() != 2) return Refuse("expected two numbers, begin and end");
    (field_ == Field::kShape ? entry_.shape : entry_.offsets) = numbers_;
    state_ = State::kTensor;
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
    status_ = absl::InvalidArgumentError(absl::StrCat("the header is not JSON: ", JsonErrorText(error)));
    return false;
  }

 private:
  enum class State { kStart, kNames, kMetadata, kTensor, kNumbers, kEnd };  // kNumbers: in a shape or offsets
  enum class Field { kNone, kDType, kShape, kOffsets };

  bool Name(const std::string& name) {
    name_ = name;
    const bool fresh = name == "__metadata__" ? !std::exchange(metadata_seen_, true) : !header_.tensors.contains(name);
    return fresh || Refuse("is there twice");
  }

  bool FieldName(const std::string& key) {
    field_ = key == "dtype"          ? Field::kDType
             : key == "shape"        ? Field::kShape
             : key == "data_offsets" ? Field::kOffsets
                                     : Field::kNone;
    if (field_ == Field::kNone) {
      return Refuse(absl::StrCat("unknown key ", Quote(key), ", expected dtype, shape and data_offsets"));
    }
    const bool seen = field_ == Field::kDType   ? entry_.dtype.has_value()
                      : field_ == Field::kShape ? entry_.shape.has_value()
                                                : entry_.offsets.has_value();
    return !seen || Refuse("is there twice");
  }

  bool EndTensor() {
    field_ = Field::kNone;
    if (!entry_.dtype) return Refuse("has no dtype");
    if (!entry_.shape) return Refuse("has no shape");
    if (!entry_.offsets) return Refuse("has no data_offsets");
    header_.tensors.emplace(std::move(name_), std::move(entry_));
    state_ = State::kNames;
    return true;
  }

  // Where the parser is: `tensor "enc.0.weight": shape`.
  std::string Place() const {
    if (state_ == State::kStart) return "the header";
    if (state_ == State::kMetadata) return absl::StrCat("__metadata__: ", Quote(metadata_key_));
    if (name_ == "__metadata__") return name_;
    constexpr const char* kFields[] = {"", ": dtype", ": shape", ": data_offsets"};
    return absl::StrCat("tensor ", Quote(name_), kFields[static_cast<int>(field_)]);
  }

  std::string Expected() const {
    if (state_ == State::kMetadata) return "a string";
    if (state_ == State::kNumbers) return "whole numbers below 2^64";
    if (state_ != State::kTensor) return "an object";
    return field_ == Field::kDType ? "a string" : "an array of numbers";
  }

  bool Unexpected(const char* got) { return Refuse(absl::StrCat("got ", got, ", expected ", Expected())); }

  bool Refuse(const std::string& why) {
    status_ = absl::InvalidArgumentError(absl::StrCat(Place(), ": ", why));
    return false;
  }

  absl::Status status_;
  Header header_;
  State state_ = State::kStart;
  bool metadata_seen_ = false;
  std::string name_;               // the tensor, or __metadata__
  std::string metadata_key_;       // within __metadata__
  Field field_ = Field::kNone;     // within the tensor
  HeaderEntry entry_;              // of the tensor, as far as it has been read
  std::vector<uint64_t> numbers_;  // of the field, likewise
};

}  // namespace

absl::StatusOr<Header> ParseHeader(std::string_view json) {
  // The library takes a NUL for the end of its input.
  if (json.find('\0') != json.npos) return absl::InvalidArgumentError("the header is not JSON: contains a NUL byte");
  Handler handler;
  Json::sax_parse(json, &handler);
  return std::move(handler).Take();
}

}  // namespace cvae::internal
