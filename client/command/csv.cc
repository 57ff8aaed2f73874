#include "client/command/csv.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/quote.h"
#include "base/status_macros.h"

namespace cvae {
namespace {

std::string Quoted(absl::string_view text) { return Quote({text.data(), text.size()}, 40); }

// The lines of a text that hold something, one after the other.
class Lines {
 public:
  explicit Lines(absl::string_view text) : rest_(text) {
    if (absl::StartsWith(rest_, "\xef\xbb\xbf")) rest_.remove_prefix(3);  // a byte order mark, as Excel writes it
  }

  // The next line, without its end; false: there is none.
  bool Next(absl::string_view* line) {
    while (!rest_.empty()) {
      const size_t end = std::min(rest_.find('\n'), rest_.size());
      *line = absl::StripAsciiWhitespace(rest_.substr(0, end));
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++number_;
      if (!line->empty() && line->front() != '#') return true;
    }
    return false;
  }

  int64_t number() const { return number_; }

 private:
  absl::string_view rest_;
  int64_t number_ = 0;
};

// Splits a line into its fields, unquoted and stripped. False: a quote is not closed, or text follows one.
bool SplitFields(absl::string_view line, std::vector<std::string>* fields) {
  size_t count = 0;
  const auto add = [&](absl::string_view field) {
    if (count == fields->size()) fields->emplace_back();
    (*fields)[count++].assign(field.data(), field.size());  // the same strings line after line: no allocation
  };
  while (true) {
    line = absl::StripLeadingAsciiWhitespace(line);
    if (!line.empty() && line.front() == '"') {
      std::string field;
      size_t at = 1;
      for (; at < line.size(); ++at) {
        if (line[at] != '"') {
          field += line[at];
        } else if (at + 1 < line.size() && line[at + 1] == '"') {
          field += line[at++];
        } else {
          break;
        }
      }
      if (at >= line.size()) return false;
      add(field);
      line = absl::StripLeadingAsciiWhitespace(line.substr(at + 1));
      if (!line.empty() && line.front() != ',') return false;
    } else {
      const size_t comma = std::min(line.find(','), line.size());
      add(absl::StripAsciiWhitespace(line.substr(0, comma)));
      line.remove_prefix(comma);
    }
    if (line.empty()) break;
    line.remove_prefix(1);
  }
  fields->resize(count);
  return true;
}

std::optional<float> ParseNumber(const std::string& field) {
  float value = 0;
  return absl::SimpleAtof(field, &value) ? std::optional(value) : std::nullopt;
}

bool IsPosition(const std::string& name, size_t columns, size_t* column) {
  return absl::SimpleAtoi(name, column) && *column >= 1 && *column <= columns && (--*column, true);
}

// One parse of one file.
class Parser {
 public:
  Parser(const std::string& origin, absl::string_view text, const std::vector<std::string>& picked,
         bool allow_non_finite)
      : origin_(origin), text_(text), picked_names_(picked), allow_non_finite_(allow_non_finite), lines_(text) {}

  absl::StatusOr<CsvFile> Run() {
    if (text_.find('\0') != text_.npos) {
      return absl::InvalidArgumentError(
          absl::StrCat(origin_, ": holds NUL bytes (is it UTF-16?), expected numbers as text in UTF-8"));
    }
    absl::string_view line;
    if (!lines_.Next(&line)) return absl::InvalidArgumentError(absl::StrCat(origin_, ": is empty"));
    const absl::string_view first_line = line;
    if (!SplitFields(line, &fields_)) return BadQuotes();
    columns_ = fields_.size();
    CVAE_RETURN_IF_ERROR(PickColumns());
    if (!IsHeader()) {
      CVAE_RETURN_IF_ERROR(AddRow(line));
    } else {
      CVAE_RETURN_IF_ERROR(CheckHeader());
      file_.header = fields_;
    }
    while (lines_.Next(&line)) {
      if (!SplitFields(line, &fields_)) return BadQuotes();
      CVAE_RETURN_IF_ERROR(AddRow(line));
    }
    if (rows_ == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(origin_, ": holds a header, ", Quoted(first_line), ", and no rows"));
    }
    return Finish();
  }

 private:
  absl::Status BadQuotes() const {
    return absl::InvalidArgumentError(
        absl::StrCat(origin_, ", line ", lines_.number(), ": a quote is not closed, or text follows it"));
  }

  // Finds the picked columns in the first line.
  absl::Status PickColumns() {
    column_pick_.assign(columns_, -1);
    for (size_t pick = 0; pick < picked_names_.size(); ++pick) {
      const std::string& name = picked_names_[pick];
      const auto found = std::find(fields_.begin(), fields_.end(), name);
      size_t column = found - fields_.begin();
      if (found != fields_.end() && !ParseNumber(name).has_value()) {
        named_ = true;
      } else if (!IsPosition(name, columns_, &column)) {
        return absl::InvalidArgumentError(absl::StrCat(origin_, ": has no column ", Quoted(name),
                                                       " (neither in its first line, nor as a number from 1 to ",
                                                       columns_, ")"));
      }
      column_pick_[column] = static_cast<int>(pick);
    }
    words_.resize(picked_names_.size());
    return absl::OkStatus();
  }

  bool IsHeader() const {
    if (named_) return true;
    for (size_t column = 0; column < columns_; ++column) {
      if (column_pick_[column] < 0 && !ParseNumber(fields_[column]).has_value()) return true;
    }
    return false;
  }

  // A header may have numbers among its names, 0, 1, 2: whole and each once. Others are those of a row with a mistake
  // in it, which must not pass for a header and be left out.
  absl::Status CheckHeader() const {
    if (named_) return absl::OkStatus();
    std::set<std::string> numbers;
    size_t word = columns_, number = columns_;
    for (size_t column = 0; column < columns_; ++column) {
      if (column_pick_[column] >= 0) continue;
      const std::string& field = fields_[column];
      uint64_t whole = 0;
      if (!ParseNumber(field).has_value()) {
        word = std::min(word, column);
      } else if (!absl::SimpleAtoi(field, &whole) || !numbers.insert(field).second) {
        number = std::min(number, column);
      }
    }
    if (number == columns_) return absl::OkStatus();
    return BadField(word, absl::StrCat("is not a number, and column ", number + 1, ", ", Quoted(fields_[number]),
                                       ", is not of a header"));
  }

  absl::Status AddRow(absl::string_view line) {
    if (fields_.size() != columns_) {
      const char* hint = fields_.size() == 1 && line.find_first_of("\t;") != line.npos ? "; commas separate them" : "";
      return absl::InvalidArgumentError(absl::StrCat(origin_, ", line ", lines_.number(), ": has ", fields_.size(),
                                                     " columns, the lines before it ", columns_, hint));
    }
    for (size_t column = 0; column < columns_; ++column) {
      if (column_pick_[column] >= 0) {
        words_[column_pick_[column]].push_back(fields_[column]);
        continue;
      }
      const std::optional<float> value = ParseNumber(fields_[column]);
      if (!value.has_value()) return BadField(column, "is not a number");
      if (!std::isfinite(*value) && !allow_non_finite_) {
        return BadField(column, "is not a finite float32; --allow-non-finite sends it all the same");
      }
      data_.append(reinterpret_cast<const char*>(&*value), sizeof(float));
    }
    ++rows_;
    return absl::OkStatus();
  }

  absl::Status BadField(size_t column, absl::string_view problem) const {
    const char* hint =
        columns_ == 1 && fields_[column].find_first_of("\t; ") != std::string::npos ? " (commas separate columns)" : "";
    return absl::InvalidArgumentError(absl::StrCat(origin_, ", line ", lines_.number(), ", column ", column + 1, ": ",
                                                   Quoted(fields_[column]), " ", problem, hint));
  }

  CsvFile Finish() {
    const uint64_t columns = std::count(column_pick_.begin(), column_pick_.end(), -1);
    file_.numbers = MakeArray(origin_, DType::kF32, {rows_, columns}, std::move(data_));
    for (size_t pick = 0; pick < picked_names_.size(); ++pick) {
      Array& array = file_.picked[picked_names_[pick]];
      array.origin = absl::StrCat(origin_, ", column ", Quoted(picked_names_[pick]));
      array.is_words = true;
      array.words = std::move(words_[pick]);
    }
    return std::move(file_);
  }

  const std::string& origin_;
  const absl::string_view text_;
  const std::vector<std::string>& picked_names_;
  const bool allow_non_finite_;
  Lines lines_;
  size_t columns_ = 0;
  std::vector<int> column_pick_;  // of each column the index of its pick, or -1
  bool named_ = false;            // a column was picked by name
  std::vector<std::string> fields_;
  uint64_t rows_ = 0;
  std::string data_;
  std::vector<std::vector<std::string>> words_;  // of each pick
  CsvFile file_;
};

// Is this a file of one column with words in it (in other lines than the first, which may be a header)?
bool IsWords(absl::string_view text) {
  Lines lines(text);
  absl::string_view line;
  std::vector<std::string> fields;
  bool first = true, only = true, word = false;
  for (; lines.Next(&line); first = false) {
    if (!SplitFields(line, &fields) || fields.size() != 1) return false;
    if (!ParseNumber(fields[0]).has_value()) {
      if (!first) return true;
      word = true;
    }
    only = only && first;
  }
  return only && word;
}

}  // namespace

absl::StatusOr<CsvFile> ParseCsv(const std::string& origin, absl::string_view text,
                                 const std::vector<std::string>& picked, bool allow_non_finite) {
  return Parser(origin, text, picked, allow_non_finite).Run();
}

absl::StatusOr<Array> ParseCsvArray(const std::string& origin, absl::string_view text, bool allow_non_finite) {
  const bool words = IsWords(text);
  const std::vector<std::string> picked = words ? std::vector<std::string>{"1"} : std::vector<std::string>{};
  CVAE_ASSIGN_OR_RETURN(CsvFile file, ParseCsv(origin, text, picked, allow_non_finite));
  return words ? std::move(file.picked["1"]) : std::move(file.numbers);
}

}  // namespace cvae
