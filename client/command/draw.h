// --picture: an answer's rows as a picture in a file.

#ifndef CVAE_CLIENT_COMMAND_DRAW_H_
#define CVAE_CLIENT_COMMAND_DRAW_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/command/answer.h"
#include "client/command/inputs.h"
#include "client/command/options.h"

namespace cvae {

// The PNG file's bytes: x_hat's rows, after a sigmoid where the model answers logits; for reconstruct a line of
// originals above each line of reconstructions; below the picture of --picture-below if there is one. At most
// kMaxImages rows are drawn. Fails, as the caller's mistake, if rows are no images, and with the errors of reading
// --picture-below.
inline constexpr size_t kMaxImages = 1024;
absl::StatusOr<std::string> DrawPicture(const Options& options, const v1::GetModelResponse& model, const Inputs& inputs,
                                        const Answer& answer);

// Fails as DrawPicture would, before anything is asked of the server.
absl::Status CheckPicture(const Options& options, const v1::GetModelResponse& model);

}  // namespace cvae

#endif  // CVAE_CLIENT_COMMAND_DRAW_H_
