// NumPy's .npy files. https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html

#ifndef CVAE_CLIENT_COMMAND_NPY_H_
#define CVAE_CLIENT_COMMAND_NPY_H_

#include <string>

#include "absl/status/statusor.h"
#include "client/command/array.h"

namespace cvae {

// Parses a file's bytes: versions 1 to 3, C and Fortran order (answered in C order), little-endian numbers and
// booleans. INVALID_ARGUMENT, beginning with `origin`, for everything else (objects, strings, structures, big-endian
// numbers), with the line of Python that makes it right, and for a length that is not the shape's.
absl::StatusOr<Array> ParseNpy(const std::string& origin, std::string bytes);

// A file's bytes with this tensor, version 1.0. REQUIRES a dtype other than BF16.
std::string SerializeNpy(const Tensor& tensor);

}  // namespace cvae

#endif  // CVAE_CLIENT_COMMAND_NPY_H_
