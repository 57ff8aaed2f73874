#include "tests/kernels/model/model_file.h"

#include <cmath>
#include <cstring>

namespace cvae {

void ModelFile::Array::Set(uint64_t i, float value) {
  std::memcpy(data.data() + i * sizeof(value), &value, sizeof(value));
}

void ModelFile::Add(const std::string& name, const std::vector<uint64_t>& shape) {
  uint64_t size = 1;
  for (const uint64_t dimension : shape) size *= dimension;
  Array array{DType::kF32, shape, std::string(size * sizeof(float), '\0')};
  float phase = 0;
  for (const char c : name) phase += static_cast<float>(c);
  for (uint64_t i = 0; i < size; ++i) array.Set(i, 0.5f * std::sin(phase + static_cast<float>(i)));
  tensors[name] = std::move(array);
}

void ModelFile::AddLinear(const std::string& name, uint64_t out, uint64_t in) {
  Add(name + ".weight", {out, in});
  Add(name + ".bias", {out});
}

std::string ModelFile::Bytes() const {
  TensorMap views;
  for (const auto& [name, array] : tensors) views[name] = Tensor{array.dtype, array.shape, array.data};
  MetadataMap metadata;
  if (description) metadata["cvae"] = description->dump();
  return SerializeSafetensors(views, metadata);
}

ModelFile ReferenceFile(uint64_t d, uint64_t l, uint64_t h, uint64_t z) {
  ModelFile file;
  file.AddLinear("enc.0", h, d + l);
  file.AddLinear("enc_mu", z, h);
  file.AddLinear("enc_logvar", z, h);
  file.AddLinear("dec.0", h, z + l);
  file.AddLinear("dec.2", d, h);
  return file;
}

ModelFile FullFile() {
  ModelFile file;
  file.description = Json::parse(R"({
    "format": 1,
    "name": "full",
    "input": {"width": 5},
    "condition": [{"name": "digit", "classes": 3, "class_names": ["zero", "one", "two"]}, {"name": "tilt", "width": 2}],
    "encoder": [{"linear": "enc.0"}, "relu", {"linear": "enc.2"}, "identity", "sigmoid"],
    "heads": {"mu": "enc_mu", "logvar": "enc_logvar"},
    "decoder": [{"linear": "dec.0"}, "relu", {"linear": "dec.2"}, "sigmoid"],
    "loss": {"element": "bce", "recon_weight": 2, "kl_weight": 0.5, "reduce": "sum"},
    "noise": "mean",
    "probe": {"tolerance": {"fp32": 1e-4, "bf16": 0.1}}
  })");
  file.AddLinear("enc.0", 6, 10);
  file.AddLinear("enc.2", 4, 6);
  file.AddLinear("enc_mu", 2, 4);
  file.AddLinear("enc_logvar", 2, 4);
  file.AddLinear("dec.0", 7, 7);
  file.AddLinear("dec.2", 5, 7);
  file.Add("cvae.probe.x", {2, 5});
  file.Add("cvae.probe.condition", {2, 5});
  for (const char* name : {"eps", "mu", "logvar"}) file.Add(std::string("cvae.probe.") + name, {2, 2});
  file.Add("cvae.probe.x_hat", {2, 5});
  return file;
}

ModelFile DecoderFile() {
  ModelFile file = FullFile();
  for (const char* key : {"input", "encoder", "heads"}) file.description->erase(key);
  for (const char* name : {"enc.0", "enc.2", "enc_mu", "enc_logvar"}) {
    file.tensors.erase(std::string(name) + ".weight");
    file.tensors.erase(std::string(name) + ".bias");
  }
  for (const char* name : {"x", "mu", "logvar"}) file.tensors.erase(std::string("cvae.probe.") + name);
  return file;
}

}  // namespace cvae
