// SHA-256, over OpenSSL.

#ifndef CVAE_BASE_SHA256_H_
#define CVAE_BASE_SHA256_H_

#include <string>
#include <string_view>

namespace cvae {

// The digest as 64 lower-case hex digits. Sha256Hex("abc"):
// ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad
std::string Sha256Hex(std::string_view bytes);

}  // namespace cvae

#endif  // CVAE_BASE_SHA256_H_
