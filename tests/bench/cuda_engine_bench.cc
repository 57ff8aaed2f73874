// The CUDA engine at many batch sizes, a line each:
//   cvae shape=256/10/128/32 form=few B=64 device_us=9.1 sync_us=14.2 host_us=20.5
// device: the forward alone over rows in device memory, the queue kept full. sync: one such call and its
// synchronization. host: Session::Run, from staging memory to the caller's. All with losses, medians; inputs rotate
// among several sets. torch_bench.py runs it beside PyTorch. Usage: cuda_engine_bench MODEL FORM B...

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "kernels/cuda/device.h"
#include "kernels/cuda/engine.h"
#include "kernels/cuda/forward.h"
#include "kernels/cuda/weights.h"

namespace cvae {
namespace {

using Clock = std::chrono::steady_clock;

double Microseconds(Clock::duration d) { return std::chrono::duration<double, std::micro>(d).count(); }

double Median(int repeats, const std::function<double()>& measure) {
  std::vector<double> values(repeats);
  for (double& value : values) value = measure();
  std::sort(values.begin(), values.end());
  return values[repeats / 2];
}

#define CHECK_CUDA(call)                                                  \
  do {                                                                    \
    if (const cudaError_t error = (call); error != cudaSuccess) {         \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error)); \
      std::exit(1);                                                       \
    }                                                                     \
  } while (false)

void FillRandom(float* to, size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  for (size_t i = 0; i < count; ++i) to[i] = normal(random);
}

struct Forward {
  double device_us;
  double sync_us;
};

// One batch's rows and answers in device memory.
class DeviceBatch {
 public:
  DeviceBatch(const Model& model, int rows, uint32_t seed) : rows_(rows) {
    const size_t D = model.input_width, Z = model.latent_width, O = model.output_width, B = rows;
    CHECK_CUDA(cudaMalloc(reinterpret_cast<void**>(&floats_), (B * (D + 2 * Z + O + 2)) * sizeof(float)));
    CHECK_CUDA(cudaMalloc(reinterpret_cast<void**>(&words_), (2 * B + 1) * sizeof(uint32_t)));
    CHECK_CUDA(cudaMalloc(reinterpret_cast<void**>(&span_), sizeof(RowSpan)));
    std::vector<float> x(B * D);
    FillRandom(x.data(), std::min<size_t>(x.size(), 1 << 20), seed);
    for (size_t i = 1 << 20; i < x.size(); ++i) x[i] = x[i - (1 << 20)];
    CHECK_CUDA(cudaMemcpy(floats_, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice));
    std::vector<uint32_t> words(2 * B + 1);
    for (size_t i = 0; i < B; ++i) words[B + 1 + i] = model.condition_width > 0 ? i % model.condition_width : 0;
    CHECK_CUDA(cudaMemcpy(words_, words.data(), words.size() * sizeof(uint32_t), cudaMemcpyHostToDevice));
    RowSpan span;
    span.count = rows;
    span.noise = Noise::kSeed;
    span.seed = seed;
    span.x = floats_;
    span.encode_condition.ids = span.decode_condition.ids = reinterpret_cast<int32_t*>(words_ + B + 1);
    span.mu = floats_ + B * D;
    span.logvar = span.mu + B * Z;
    span.x_hat = span.logvar + B * Z;
    span.recon = span.x_hat + B * O;
    span.kl = span.recon + B;
    CHECK_CUDA(cudaMemcpy(span_, &span, sizeof(span), cudaMemcpyHostToDevice));
  }

  cuda::BatchParams params() const { return {span_, words_, words_ + 1, rows_}; }

 private:
  const int rows_;
  float* floats_ = nullptr;
  uint32_t* words_ = nullptr;
  RowSpan* span_ = nullptr;
};

Forward MeasureForward(const cuda::ResidentModel& resident, cuda::Form form, const Model& model, int rows) {
  const int sets = rows >= 4096 ? 3 : 8;
  std::vector<DeviceBatch> batches;
  for (int i = 0; i < sets; ++i) batches.emplace_back(model, rows, i);
  cudaStream_t stream;
  cudaEvent_t begin, end;
  CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK_CUDA(cudaEventCreate(&begin));
  CHECK_CUDA(cudaEventCreate(&end));
  float *a = nullptr, *b = nullptr;
  const size_t tiles = (rows + cuda::kTileRows - 1) / cuda::kTileRows;
  if (form == cuda::Form::kLayered) {
    const size_t column = tiles * cuda::kTileStride * sizeof(float);
    CHECK_CUDA(cudaMalloc(reinterpret_cast<void**>(&a), column * resident.params.widths.a));
    CHECK_CUDA(cudaMalloc(reinterpret_cast<void**>(&b), column * resident.params.widths.b));
  }
  const auto launch = [&](int i) {
    const cuda::BatchParams batch = batches[i % sets].params();
    switch (form) {
      case cuda::Form::kFew:
        CHECK_CUDA(cuda::LaunchFusedFew(resident.params, batch, stream));
        break;
      case cuda::Form::kTile:
        CHECK_CUDA(cuda::LaunchFusedTile(resident.params, batch, stream));
        break;
      case cuda::Form::kLayered:
        CHECK_CUDA(cuda::LaunchLayered(resident.params, resident.encoder.data(), resident.encoder.size(),
                                       resident.decoder.data(), resident.decoder.size(), batch, a, b, stream));
        break;
    }
  };
  for (int i = 0; i < 20; ++i) launch(i);
  CHECK_CUDA(cudaStreamSynchronize(stream));
  const int calls = rows >= 4096 ? 20 : 200;
  const double device_us = Median(9, [&] {
    CHECK_CUDA(cudaEventRecord(begin, stream));
    for (int i = 0; i < calls; ++i) launch(i);
    CHECK_CUDA(cudaEventRecord(end, stream));
    CHECK_CUDA(cudaStreamSynchronize(stream));
    float ms = 0;
    CHECK_CUDA(cudaEventElapsedTime(&ms, begin, end));
    return ms * 1000.0 / calls;
  });
  int call = 0;
  const double sync_us = Median(51, [&] {
    const auto start = Clock::now();
    launch(call++);
    CHECK_CUDA(cudaStreamSynchronize(stream));
    return Microseconds(Clock::now() - start);
  });
  cudaFree(a);
  cudaFree(b);
  return {device_us, sync_us};
}

double MeasureHost(Engine& engine, int rows) {
  const Model& model = engine.model();
  auto session = *engine.NewSession(rows);
  const size_t D = model.input_width, Z = model.latent_width, O = model.output_width, B = rows;
  auto* x = reinterpret_cast<float*>(session->staging().data());
  FillRandom(x, B * D, 1);
  auto* ids = reinterpret_cast<int32_t*>(x + (B * D + 15) / 16 * 16);
  for (size_t i = 0; i < B; ++i) ids[i] = model.condition_width > 0 ? i % model.condition_width : 0;
  std::vector<float> x_hat(B * O), mu(B * Z), logvar(B * Z), recon(B), kl(B);
  RowSpan span;
  span.count = rows;
  span.noise = Noise::kSeed;
  span.x = x;
  span.encode_condition.ids = span.decode_condition.ids = ids;
  span.x_hat = x_hat.data();
  span.recon = recon.data();
  span.kl = kl.data();
  const auto run = [&] {
    const auto start = Clock::now();
    if (!session->Run({&span, 1}).ok()) std::exit(1);
    return Microseconds(Clock::now() - start);
  };
  for (int i = 0; i < 20; ++i) run();
  return Median(rows >= 4096 ? 31 : 201, run);
}

int Main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: cuda_engine_bench MODEL FORM B...\n");
    return 2;
  }
  auto loaded = LoadModel(argv[1]);
  const auto devices = cuda::ChooseDevices("all");
  if (!loaded.ok() || !devices.ok()) {
    std::fprintf(stderr, "%s\n", std::string((loaded.ok() ? devices.status() : loaded.status()).message()).c_str());
    return 1;
  }
  const auto model = std::make_shared<const Model>(*std::move(loaded));
  CudaEngineOptions options;
  options.form = argv[2];
  auto engine = NewCudaEngine(model, options);
  if (!engine.ok()) {
    std::fprintf(stderr, "%s\n", std::string(engine.status().message()).c_str());
    return 1;
  }
  std::optional<Network> encoder;
  if (model->encoder) encoder = EncoderNetwork(*model);
  const Network decoder = DecoderNetwork(*model);
  const cuda::Plan plan = cuda::MakePlan(encoder ? &*encoder : nullptr, decoder, devices->front().limits);
  const auto resident = *cuda::Upload(*model, encoder ? &*encoder : nullptr, decoder, plan);
  const int hidden = model->encoder && !encoder->stages.empty() ? encoder->stages.front().out : 0;
  const std::string form = argv[2];
  const auto forced = form == "few"       ? cuda::ForcedForm::kFew
                      : form == "tile"    ? cuda::ForcedForm::kTile
                      : form == "layered" ? cuda::ForcedForm::kLayered
                                          : cuda::ForcedForm::kAuto;
  for (int i = 3; i < argc; ++i) {
    const int rows = std::atoi(argv[i]);
    const cuda::Form chosen = cuda::FormOf(plan, forced, rows);
    const Forward forward = MeasureForward(resident, chosen, *model, rows);
    static constexpr const char* kNames[] = {"few", "tile", "layered"};
    std::printf("cvae shape=%d/%d/%d/%d form=%s B=%d device_us=%.2f sync_us=%.1f host_us=%.1f\n", model->input_width,
                model->condition_width, hidden, model->latent_width, kNames[static_cast<int>(chosen)], rows,
                forward.device_us, forward.sync_us, MeasureHost(**engine, rows));
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace cvae

int main(int argc, char** argv) { return cvae::Main(argc, argv); }
