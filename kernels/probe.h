// A model's probe: rows with known answers, replayed on the engine that will serve them.

#ifndef CVAE_KERNELS_PROBE_H_
#define CVAE_KERNELS_PROBE_H_

#include "absl/status/status.h"
#include "kernels/engine.h"

namespace cvae {

// OK if the model has no probe, or the engine's mu, logvar and x_hat are within its tolerance, ||out - expected|| /
// ||expected||. FAILED_PRECONDITION names the output, its error and the tolerance.
absl::Status ReplayProbe(Engine& engine);

}  // namespace cvae

#endif  // CVAE_KERNELS_PROBE_H_
