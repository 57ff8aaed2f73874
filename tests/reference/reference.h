// The plain forward pass, one row at a time, obviously right: what engines are compared with. In float in the canonical
// order (an engine must give its bits), and in double with the standard library's functions (an engine must be near
// it).

#ifndef CVAE_TESTS_REFERENCE_REFERENCE_H_
#define CVAE_TESTS_REFERENCE_REFERENCE_H_

#include <vector>

#include "kernels/engine.h"
#include "kernels/model/model.h"

namespace cvae {

// Everything about one computed row.
template <class T>
struct ReferenceRow {
  std::vector<T> mu, logvar;      // [Z]
  std::vector<T> z;               // [Z]
  std::vector<T> x_hat;           // [O]
  std::vector<T> recon_elements;  // [O]
  std::vector<T> kl_elements;     // [Z]
  T recon = 0;
  T kl = 0;
};

// Computed row `index` of a span. T: float or double.
template <class T>
ReferenceRow<T> ReferenceForward(const Model& model, const RowSpan& span, uint32_t index);

// Fills a span's wanted outputs, a row at a time, in float.
void RunReference(const Model& model, const RowSpan& span);

}  // namespace cvae

#endif  // CVAE_TESTS_REFERENCE_REFERENCE_H_
