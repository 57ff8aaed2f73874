// Text from files and requests, made fit for an error message.

#ifndef CVAE_BASE_QUOTE_H_
#define CVAE_BASE_QUOTE_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace cvae {

// `text` within double quotes, in printable ASCII: everything else is escaped as in C, so that a hostile name can
// neither break a log line nor drive a terminal. Of more than `limit` bytes the first ones and their number are shown.
std::string Quote(std::string_view text, size_t limit = 80);

}  // namespace cvae

#endif  // CVAE_BASE_QUOTE_H_
