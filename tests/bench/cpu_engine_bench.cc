// The CPU engine on the reference shape: a Reconstruct with a dense condition and the caller's eps, B rows a run,
// without the losses (what an ONNX graph of the model computes; onnxruntime_bench.py measures that) and with them.
// Beside it the plain reference. Figures are in RESULTS.md.

#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "kernels/cpu/engine.h"
#include "tests/reference/reference.h"

namespace cvae {
namespace {

std::shared_ptr<const Model> SeedModel() {
  return std::make_shared<const Model>(
      *LoadModel(std::string(CVAE_SOURCE_DIR) + "/tests/golden/seed.model.safetensors"));
}

// Random rows in memory of their own, and room for every output.
struct Rows {
  Rows(const Model& model, int rows)
      : mu(rows * model.latent_width), logvar(mu), x_hat(rows * model.output_width), recon(rows), kl(rows) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    const auto fill = [&](size_t count) {
      std::vector<float> values(count);
      for (float& value : values) value = normal(random);
      return values;
    };
    x = fill(rows * model.input_width);
    eps = fill(rows * model.latent_width);
    y.assign(rows * model.condition_width, 0.0f);
    for (int row = 0; row < rows; ++row) y[row * model.condition_width + random() % model.condition_width] = 1;
    span.count = rows;
    span.noise = Noise::kEps;
    span.x = x.data();
    span.eps = eps.data();
    span.encode_condition.y = span.decode_condition.y = y.data();
    span.mu = mu.data();
    span.logvar = logvar.data();
    span.x_hat = x_hat.data();
  }

  void WantLosses() {
    span.recon = recon.data();
    span.kl = kl.data();
  }

  std::vector<float> x, y, eps, mu, logvar, x_hat, recon, kl;
  RowSpan span;
};

void Engine(benchmark::State& state, bool losses) {
  const std::shared_ptr<const Model> model = SeedModel();
  const auto engine = *NewCpuEngine(model);
  const int rows = static_cast<int>(state.range(0));
  const auto session = *engine->NewSession(rows);
  Rows batch(*model, rows);
  if (losses) batch.WantLosses();
  for (auto _ : state) {
    if (!session->Run({&batch.span, 1}).ok()) state.SkipWithError("run failed");
    benchmark::DoNotOptimize(batch.x_hat.data());
  }
  state.SetLabel(engine->Describe().device);
  state.SetItemsProcessed(state.iterations() * rows);
}

void Reference(benchmark::State& state) {
  const std::shared_ptr<const Model> model = SeedModel();
  Rows batch(*model, static_cast<int>(state.range(0)));
  batch.WantLosses();
  for (auto _ : state) RunReference(*model, batch.span);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

BENCHMARK_CAPTURE(Engine, forward, false)->Arg(1)->Arg(64)->Arg(1024)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(Engine, forward_and_losses, true)
    ->Arg(1)
    ->Arg(64)
    ->Arg(1024)
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(Reference)->Arg(1)->Arg(64)->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace cvae

BENCHMARK_MAIN();
