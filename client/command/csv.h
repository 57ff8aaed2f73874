// CSV files of numbers: comma-separated, one row a line, quotes around fields allowed, a header or none. Empty lines
// and lines that begin with '#' are skipped.

#ifndef CVAE_CLIENT_COMMAND_CSV_H_
#define CVAE_CLIENT_COMMAND_CSV_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/command/array.h"

namespace cvae {

struct CsvFile {
  std::vector<std::string> header;      // of all columns; empty: there was none
  Array numbers;                        // F32 [B, columns that were not picked]
  std::map<std::string, Array> picked;  // words, one a row, by what was picked
};

// Parses a file's text. `picked` are columns that are not numbers of a row but of use by themselves (a label): by the
// header's name or as 1, 2, ..., from the left. The first line is a header if it holds anything but numbers in a column
// that is not picked by its position, or if a column is picked by name.
// INVALID_ARGUMENT, beginning with `origin`, and naming line and column (both from 1), for a field that is no number, a
// NaN or an infinity unless `allow_non_finite`, a line with more or fewer columns than the first, a column that is not
// there, and a file without rows.
absl::StatusOr<CsvFile> ParseCsv(const std::string& origin, absl::string_view text,
                                 const std::vector<std::string>& picked, bool allow_non_finite);

// A file of labels or numbers by itself: words, one a row, if it has one column and a field that is no number; numbers
// otherwise. The errors of ParseCsv.
absl::StatusOr<Array> ParseCsvArray(const std::string& origin, absl::string_view text, bool allow_non_finite);

}  // namespace cvae

#endif  // CVAE_CLIENT_COMMAND_CSV_H_
