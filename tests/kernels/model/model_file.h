// Model files for tests, made in memory: good ones, to be changed before they are written.

#ifndef CVAE_TESTS_KERNELS_MODEL_MODEL_FILE_H_
#define CVAE_TESTS_KERNELS_MODEL_MODEL_FILE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/safetensors.h"

namespace cvae {

// A file's description and tensors as values that a test may change.
struct ModelFile {
  struct Array {
    DType dtype = DType::kF32;
    std::vector<uint64_t> shape;
    std::string data;  // the bytes

    void Set(uint64_t i, float value);  // REQUIRES F32
  };

  std::optional<Json> description;  // nothing: a bare state_dict
  std::map<std::string, Array> tensors;

  // F32 of that shape, filled with small values that depend on the name.
  void Add(const std::string& name, const std::vector<uint64_t>& shape);
  // NAME.weight [out, in] and NAME.bias [out].
  void AddLinear(const std::string& name, uint64_t out, uint64_t in);

  // The safetensors file.
  std::string Bytes() const;
};

// The reference state_dict without a description.
ModelFile ReferenceFile(uint64_t d = 3, uint64_t l = 2, uint64_t h = 4, uint64_t z = 2);

// A file that uses everything the description offers: D 5, a condition of 3 named classes and 2 columns, an encoder of
// widths 6 and 4, Z 2, a decoder of width 7 that ends in sigmoid, bce, and a probe of 2 rows.
ModelFile FullFile();

// FullFile's decoder alone, with a probe.
ModelFile DecoderFile();

}  // namespace cvae

#endif  // CVAE_TESTS_KERNELS_MODEL_MODEL_FILE_H_
