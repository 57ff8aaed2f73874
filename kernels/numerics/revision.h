// The revision of the numerics: part of every answer's version, raised whenever any result's bits change
// (tests/kernels/numerics/numerics_frozen_test.cc notices).

#ifndef CVAE_KERNELS_NUMERICS_REVISION_H_
#define CVAE_KERNELS_NUMERICS_REVISION_H_

namespace cvae {

inline constexpr int kNumericsRevision = 1;

}  // namespace cvae

#endif  // CVAE_KERNELS_NUMERICS_REVISION_H_
