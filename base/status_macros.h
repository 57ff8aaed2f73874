// Early returns on errors, for functions that return absl::Status or absl::StatusOr.

#ifndef CVAE_BASE_STATUS_MACROS_H_
#define CVAE_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// CVAE_RETURN_IF_ERROR(expression): returns the expression's status from this function unless it is OK.
#define CVAE_RETURN_IF_ERROR(expression)       \
  do {                                         \
    absl::Status cvae_status = (expression);   \
    if (!cvae_status.ok()) return cvae_status; \
  } while (false)

// CVAE_ASSIGN_OR_RETURN(declaration, expression): declares a variable with the value of a StatusOr, or returns its
// error from this function.
#define CVAE_ASSIGN_OR_RETURN(declaration, expression) \
  CVAE_ASSIGN_OR_RETURN_(CVAE_CONCAT_(cvae_status_or_, __LINE__), declaration, expression)
#define CVAE_ASSIGN_OR_RETURN_(status_or, declaration, expression) \
  auto status_or = (expression);                                   \
  if (!status_or.ok()) return std::move(status_or).status();       \
  declaration = *std::move(status_or)
#define CVAE_CONCAT_(a, b) CVAE_CONCAT_INNER_(a, b)
#define CVAE_CONCAT_INNER_(a, b) a##b

#endif  // CVAE_BASE_STATUS_MACROS_H_
