// Writes the fuzzers' seeds: make_seeds GOLDEN_DIR OUT_DIR. Small files only, as a fuzzer wants them.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/file.h"
#include "tests/kernels/model/model_file.h"

namespace {

namespace fs = std::filesystem;

void Write(const fs::path& path, const std::string& bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: make_seeds GOLDEN_DIR OUT_DIR\n");
    return 2;
  }
  const fs::path golden = argv[1], out = argv[2];
  for (const char* name : {"tiny.model", "tiny.case"}) {
    const absl::StatusOr<std::string> bytes = cvae::ReadFile((golden / name).string() + ".safetensors");
    if (!bytes.ok()) {
      std::fprintf(stderr, "%s\n", bytes.status().ToString().c_str());
      return 1;
    }
    Write(out / "safetensors" / name, *bytes);
    Write(out / "model" / name, *bytes);
  }
  const std::pair<const char*, cvae::ModelFile> files[] = {
      {"reference", cvae::ReferenceFile(1, 0, 1, 1)}, {"full", cvae::FullFile()}, {"decoder", cvae::DecoderFile()}};
  for (const auto& [name, file] : files) {
    Write(out / "safetensors" / name, file.Bytes());
    Write(out / "model" / name, file.Bytes());
    if (file.description) Write(out / "description" / name, file.description->dump());
  }
  return 0;
}
