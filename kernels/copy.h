// Values of a request on their way into staging memory.

#ifndef CVAE_KERNELS_COPY_H_
#define CVAE_KERNELS_COPY_H_

#include <cstddef>

namespace cvae {

// Copies `count` floats from memory of any alignment and returns the index of the first that is NaN or infinite, or
// `count`. What follows a bad value may not have been copied.
size_t CopyFinite(float* to, const void* from, size_t count);

}  // namespace cvae

#endif  // CVAE_KERNELS_COPY_H_
