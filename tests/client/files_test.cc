// Readers and writers of files: .npy, CSV, arrays for a model, files written whole or not at all.

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "base/file.h"
#include "client/command/array.h"
#include "client/command/csv.h"
#include "client/command/npy.h"
#include "client/command/write_file.h"
#include "client/matrix.h"
#include "gtest/gtest.h"

namespace cvae {
namespace {

template <typename Number>
std::string Bytes(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

// A .npy file as NumPy writes it, but for what the caller changes.
std::string Npy(const std::string& dictionary, const std::string& data, int version = 1) {
  const std::string header = dictionary + "\n";
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  bytes += static_cast<char>(header.size());
  bytes += '\0';
  if (version > 1) bytes += std::string(2, '\0');
  return bytes + header + data;
}

std::string Error(const absl::Status& status) {
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  return std::string(status.message());
}

TEST(NpyTest, ReadsEveryDtypeAndVersion) {
  const auto floats = [](const std::string& descr, const std::string& data, int version = 1) {
    const auto array =
        ParseNpy("a.npy", Npy("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (3,), }", data, version));
    EXPECT_TRUE(array.ok()) << array.status();
    return array.ok() ? ToFloats(array->tensor) : std::vector<float>{};
  };
  const std::vector<float> expected = {1, 2, 3};
  EXPECT_EQ(floats("<f4", Bytes<float>({1, 2, 3})), expected);
  EXPECT_EQ(floats("<f8", Bytes<double>({1, 2, 3}), 2), expected);
  EXPECT_EQ(floats("<i8", Bytes<int64_t>({1, 2, 3}), 3), expected);
  EXPECT_EQ(floats("<i4", Bytes<int32_t>({1, 2, 3})), expected);
  EXPECT_EQ(floats("<u2", Bytes<uint16_t>({1, 2, 3})), expected);
  EXPECT_EQ(floats("|u1", Bytes<uint8_t>({1, 2, 3})), expected);
  EXPECT_EQ(floats("<f2", Bytes<uint16_t>({0x3c00, 0x4000, 0x4200})), expected);
  EXPECT_EQ(floats("|b1", Bytes<uint8_t>({1, 0, 1})), (std::vector<float>{1, 0, 1}));
}

TEST(NpyTest, FortranOrderIsMadeRowMajor) {
  const auto array = ParseNpy("a.npy", Npy("{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }",
                                           Bytes<int32_t>({0, 10, 1, 11, 2, 12})));
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_EQ(ToFloats(array->tensor), (std::vector<float>{0, 1, 2, 10, 11, 12}));
  const auto cube = ParseNpy("a.npy", Npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 2, 2), }",
                                          Bytes<uint8_t>({0, 100, 10, 110, 1, 101, 11, 111})));
  EXPECT_EQ(ToFloats(cube->tensor), (std::vector<float>{0, 1, 10, 11, 100, 101, 110, 111}));
}

TEST(NpyTest, RefusesWhatItCannotRead) {
  const auto error = [](const std::string& bytes) { return Error(ParseNpy("a.npy", bytes).status()); };
  const std::string data = Bytes<float>({1, 2});
  const auto descr = [&](const std::string& text) {
    return error(Npy("{'descr': " + text + ", 'fortran_order': False, 'shape': (2,), }", data));
  };
  EXPECT_EQ(error(""),
            "a.npy: is no .npy file (it does not begin with \"\\x93NUMPY\"): numpy.save(path, array) makes one");
  EXPECT_NE(error("PK\3\4 a zip").find("is no .npy file"), std::string::npos);
  EXPECT_NE(descr("'>f4'").find("big-endian numbers"), std::string::npos);
  EXPECT_NE(descr("'|O'").find("Python objects"), std::string::npos);
  EXPECT_NE(descr("'<U3'").find("no numbers of a kind that is read"), std::string::npos);
  EXPECT_NE(descr("[('x', '<f4')]").find("structures"), std::string::npos);
  EXPECT_NE(error(Npy("{}", data)).find("a header that is not NumPy's"), std::string::npos);
  EXPECT_EQ(error(std::string("\x93NUMPY\x07\0\0\0", 10)), "a.npy: has version 7, expected 1 to 3");
  EXPECT_EQ(error(std::string("\x93NUMPY\x01\0\xff", 9)), "a.npy: ends within its header");
  EXPECT_EQ(error(std::string("\x93NUMPY\x01\0\xff\0{", 11)), "a.npy: ends within its header");
  EXPECT_EQ(error("\x93NUMPY"), "a.npy: ends within its header");
  const auto shape = [&](const std::string& text) {
    return error(Npy("{'descr': '<f4', 'fortran_order': False, 'shape': (" + text + "), }", data));
  };
  EXPECT_EQ(shape("3,"), "a.npy: holds 8 bytes of numbers, its header says F32 [3]");
  EXPECT_NE(shape("4294967296, 4294967296").find("its header says"), std::string::npos);
  EXPECT_EQ(shape("-2,"), "a.npy: has the shape \"-2,\", expected whole numbers");
}

TEST(NpyTest, WritesWhatItReads) {
  const std::string data = Bytes<float>({1, 2, 3, 4, 5, 6});
  for (const std::vector<uint64_t>& shape : {std::vector<uint64_t>{2, 3}, {6}, {1, 2, 3}}) {
    const std::string bytes = SerializeNpy({DType::kF32, shape, data});
    EXPECT_EQ((bytes.size() - data.size()) % 64, 0u);
    const auto array = ParseNpy("a.npy", bytes);
    ASSERT_TRUE(array.ok()) << array.status();
    EXPECT_EQ(array->tensor.shape, shape);
    EXPECT_EQ(array->tensor.data, data);
  }
}

CsvFile Csv(const std::string& text, const std::vector<std::string>& picked = {}) {
  auto file = ParseCsv("a.csv", text, picked, false);
  EXPECT_TRUE(file.ok()) << file.status();
  return file.ok() ? *std::move(file) : CsvFile();
}

std::string CsvError(const std::string& text, const std::vector<std::string>& picked = {}) {
  return Error(ParseCsv("a.csv", text, picked, false).status());
}

TEST(CsvTest, NumbersWithAndWithoutHeader) {
  for (const char* text :
       {"1,2.5,-3e-1\n4,5,6\n", "a,b,c\n1,2.5,-3e-1\n4,5,6", "\"a, b\",b,c\r\n1, 2.5 ,-3e-1\r\n4,5,\"6\"\r\n",
        "\xef\xbb\xbf# made by hand\n1,2.5,-3e-1\n\n4,5,6\n\n", "1,+2.5,-.3\n4,5,6"}) {
    const CsvFile file = Csv(text);
    EXPECT_EQ(file.numbers.tensor.shape, (std::vector<uint64_t>{2, 3})) << text;
    EXPECT_EQ(ToFloats(file.numbers.tensor), (std::vector<float>{1, 2.5, -0.3f, 4, 5, 6})) << text;
  }
  EXPECT_EQ(Csv("\"a, \"\"b\"\"\",b\n1,2").header, (std::vector<std::string>{"a, \"b\"", "b"}));
}

TEST(CsvTest, PickedColumns) {
  const CsvFile named = Csv("x0,digit,x1\n1,seven,2\n3,zero,4\n", {"digit"});
  EXPECT_EQ(named.picked.at("digit").words, (std::vector<std::string>{"seven", "zero"}));
  EXPECT_EQ(ToFloats(named.numbers.tensor), (std::vector<float>{1, 2, 3, 4}));
  const CsvFile positions = Csv("seven,1,2\nzero,3,4\n", {"1"});  // the first line is no header
  EXPECT_EQ(positions.picked.at("1").words, (std::vector<std::string>{"seven", "zero"}));
  EXPECT_TRUE(positions.header.empty());
  const CsvFile numeric_header = Csv("digit,5\n1,2\n", {"digit"});
  EXPECT_EQ(numeric_header.header.size(), 2u);
  EXPECT_EQ(CsvError("a,b\n1,2\n", {"c"}),
            "a.csv: has no column \"c\" (neither in its first line, nor as a number from 1 to 2)");
  EXPECT_NE(CsvError("a,b\n1,2\n", {"3"}), "");
}

TEST(CsvTest, ErrorsNameLineAndColumn) {
  EXPECT_EQ(CsvError("1,2\n3,x\n"), "a.csv, line 2, column 2: \"x\" is not a number");
  EXPECT_EQ(CsvError("a,b\n\n# c\n1,\n"), "a.csv, line 4, column 2: \"\" is not a number");
  EXPECT_EQ(CsvError("1,2\n3\n"), "a.csv, line 2: has 1 columns, the lines before it 2");
  EXPECT_EQ(CsvError("1,2\n3,4,5\n"), "a.csv, line 2: has 3 columns, the lines before it 2");
  EXPECT_EQ(CsvError("1,2\n3;4\n"), "a.csv, line 2: has 1 columns, the lines before it 2; commas separate them");
  EXPECT_EQ(CsvError("1;2\n3;4\n"), "a.csv, line 2, column 1: \"3;4\" is not a number (commas separate columns)");
  EXPECT_EQ(CsvError("1,2\n3,nan\n"),
            "a.csv, line 2, column 2: \"nan\" is not a finite float32; --allow-non-finite sends it all the same");
  EXPECT_NE(CsvError("1,2\n3,1e39\n").find("line 2, column 2"), std::string::npos);
  EXPECT_EQ(CsvError("1,2\n\"3,4\n"), "a.csv, line 2: a quote is not closed, or text follows it");
  EXPECT_EQ(CsvError("1,2\n\"3\"x,4\n"), "a.csv, line 2: a quote is not closed, or text follows it");
  EXPECT_EQ(CsvError(""), "a.csv: is empty");
  EXPECT_EQ(CsvError("\n# nothing\n"), "a.csv: is empty");
  EXPECT_EQ(CsvError("a,b\n"), "a.csv: holds a header, \"a,b\", and no rows");
  EXPECT_EQ(CsvError("1;2;3\n"), "a.csv: holds a header, \"1;2;3\", and no rows");
  EXPECT_EQ(CsvError("1,2\r3,4\r"), "a.csv: holds a header, \"1,2\\r3,4\", and no rows");
  EXPECT_NE(CsvError(std::string("\xff\xfe"
                                 "1\0,\0"
                                 "2\0\n\0",
                                 10))
                .find("UTF-16"),
            std::string::npos);
  EXPECT_NE(CsvError(std::string("1,2\n3,4\0\n", 9)).find("NUL"), std::string::npos);
  EXPECT_TRUE(ParseCsv("a.csv", "1,2\n3,nan\n", {}, true).ok());
}

TEST(CsvTest, AFirstRowWithAMistakeIsNoHeader) {
  EXPECT_EQ(CsvError("O.5,0.5\n1,2\n"),
            "a.csv, line 1, column 1: \"O.5\" is not a number, and column 2, \"0.5\", is not of a header");
  EXPECT_NE(CsvError("0.5,,0.5\n1,2,3\n").find("line 1, column 2: \"\" is not a number"), std::string::npos);
  EXPECT_NE(CsvError("0,x,0\n1,2,3\n").find("line 1, column 2"), std::string::npos);
  EXPECT_NE(CsvError("7,-1,x\n7,2,3\n", {"1"}).find("line 1, column 3"), std::string::npos);
  for (const char* header : {"0,1,digit\n1,2,3\n", ",0,1\n1,2,3\n"}) EXPECT_EQ(Csv(header).header.size(), 3u) << header;
}

TEST(CsvTest, AFileOfLabels) {
  const auto words = ParseCsvArray("a.csv", "zero\nseven\n", false);
  EXPECT_TRUE(words->is_words);
  EXPECT_EQ(words->words, (std::vector<std::string>{"zero", "seven"}));
  const auto numbers = ParseCsvArray("a.csv", "digit\n0\n7\n", false);
  EXPECT_FALSE(numbers->is_words);
  EXPECT_EQ(*ToIds(*numbers, {}), (std::vector<uint32_t>{0, 7}));
  EXPECT_EQ(ParseCsvArray("a.csv", "seven", false)->words, (std::vector<std::string>{"seven"}));
}

Array Words(std::vector<std::string> words, bool typed) {
  Array array;
  array.origin = "a";
  array.is_words = true;
  array.words = std::move(words);
  array.typed = typed;
  return array;
}

TEST(ArrayTest, Ids) {
  const std::vector<std::string> names = {"zero", "one", "two"};
  EXPECT_EQ(*ToIds(Words({"two", "0", "1.0"}, true), names), (std::vector<uint32_t>{2, 0, 1}));
  EXPECT_EQ(*ToIds(Words({"digit", "one"}, false), names), (std::vector<uint32_t>{1}));  // a file's header
  EXPECT_EQ(Error(ToIds(Words({"digit", "one"}, true), names).status()),
            "a: row 0 is \"digit\", no class of the model; it has zero, one, two");
  EXPECT_EQ(Error(ToIds(Words({"-1"}, true), {}).status()), "a: row 0 is \"-1\", expected a class id (a whole number)");
  const Array negative = MakeArray("a", DType::kI64, {2}, Bytes<int64_t>({3, -1}));
  EXPECT_EQ(Error(ToIds(negative, {}).status()), "a: row 1 is -1, expected a class id (0 or more)");
  const Array matrix = MakeArray("a", DType::kI64, {1, 2}, Bytes<int64_t>({3, 1}));
  EXPECT_EQ(Error(ToIds(matrix, {}).status()), "a: got I64 [1, 2], expected class ids, one a row: [B]");
  EXPECT_EQ(*ToIds(MakeArray("a", DType::kF32, {2, 1}, Bytes<float>({3, 1})), {}), (std::vector<uint32_t>{3, 1}));
  EXPECT_FALSE(ToIds(MakeArray("a", DType::kF32, {1}, Bytes<float>({0.5f})), {}).ok());
}

TEST(ArrayTest, Matrices) {
  const Array images = MakeArray("a", DType::kU8, {2, 2, 2}, Bytes<uint8_t>({1, 2, 3, 4, 5, 6, 7, 255}));
  const auto matrix = ToMatrix(images, 4, false);
  ASSERT_TRUE(matrix.ok()) << matrix.status();
  EXPECT_EQ(matrix->rows(), 2u);
  EXPECT_EQ(MatrixValues(*matrix), (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 255}));
  EXPECT_EQ(ToMatrix(MakeArray("a", DType::kF32, {4}, Bytes<float>({1, 2, 3, 4})), 4, false)->rows(), 1u);
  EXPECT_EQ(Error(ToMatrix(images, 8, false).status()), "a: got U8 [2, 2, 2], expected rows of 8: [B, 8]");
  EXPECT_FALSE(ToMatrix(MakeArray("a", DType::kF32, {0, 4}, ""), 4, false).ok());
  EXPECT_FALSE(ToMatrix(MakeArray("a", DType::kF32, {}, Bytes<float>({1})), 1, false).ok());
  const Array nan =
      MakeArray("a", DType::kF32, {2, 2}, Bytes<float>({1, 2, 3, std::numeric_limits<float>::infinity()}));
  EXPECT_EQ(Error(ToMatrix(nan, 2, false).status()),
            "a: row 1, column 1 is inf; --allow-non-finite sends it all the same");
  EXPECT_TRUE(ToMatrix(nan, 2, true).ok());
}

class WriteFileTest : public testing::Test {
 protected:
  WriteFileTest() {
    std::string pattern = testing::TempDir() + "/cvae-XXXXXX";
    directory_ = mkdtemp(pattern.data());
  }
  ~WriteFileTest() override { std::filesystem::remove_all(directory_); }

  // Names in the directory.
  int Count() const { return static_cast<int>(std::distance(std::filesystem::directory_iterator(directory_), {})); }

  std::string directory_;
};

TEST_F(WriteFileTest, WritesAndReplaces) {
  const std::string path = directory_ + "/out.npy";
  ASSERT_TRUE(WriteFile(path, "first").ok());
  struct stat status;
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  const mode_t mask = umask(0);
  umask(mask);
  EXPECT_EQ(status.st_mode & 0777, 0666 & ~mask);  // as any other program's files, not mkstemp's 0600
  ASSERT_TRUE(WriteFile(path, "second").ok());
  EXPECT_EQ(*ReadFile(path), "second");
  EXPECT_EQ(Count(), 1);
}

TEST_F(WriteFileTest, FollowsALink) {
  const std::string path = directory_ + "/out.npy", link = directory_ + "/link.npy";
  ASSERT_TRUE(WriteFile(path, "first").ok());
  std::filesystem::create_symlink(path, link);
  ASSERT_TRUE(WriteFile(link, "second").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(*ReadFile(path), "second");
}

TEST_F(WriteFileTest, FailuresNameThePathAndLeaveNothing) {
  const absl::Status missing = WriteFile(directory_ + "/no/out.npy", "x");
  EXPECT_EQ(missing.message(), directory_ + "/no/out.npy: cannot be written: No such file or directory");
  EXPECT_FALSE(WriteFile(directory_, "x").ok());
  EXPECT_FALSE(WriteFile("/dev/full", "x").ok());
  EXPECT_TRUE(WriteFile("/dev/null", "x").ok());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));  // and not replaced
  EXPECT_EQ(Count(), 0);
}

}  // namespace
}  // namespace cvae
