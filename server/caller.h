// Who calls, and how urgently, from what comes along with a call.

#ifndef CVAE_SERVER_CALLER_H_
#define CVAE_SERVER_CALLER_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/call.h"
#include "server/job.h"

namespace cvae {

// What the metadata `cvae-priority` says: high, normal or low; normal if there is none. INVALID_ARGUMENT: anything
// else.
absl::StatusOr<Priority> PriorityOf(Call& call);

// A number for the client that a call is from: for each value of the metadata `key_header`, which a trusted proxy sets,
// if that is not empty and the call has it; else for each host; else, on a Unix path, for each connection. What a
// client says of itself does not count: it would be as many clients as it likes.
uint64_t ClientOf(Call& call, const std::string& key_header);

// The host in a peer's name as gRPC writes it, "ipv4:127.0.0.1:4242" or "ipv6:%5B::1%5D:4242", without the port. Empty
// for one without a host.
absl::string_view PeerHost(absl::string_view peer);

}  // namespace cvae

#endif  // CVAE_SERVER_CALLER_H_
