#include "base/sha256.h"

#include <openssl/evp.h>

#include <cstdlib>

#include "absl/strings/escaping.h"

namespace cvae {

std::string Sha256Hex(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  // Fails only where the OpenSSL installation has no SHA-256, or no memory is left.
  if (EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha256(), nullptr) != 1) std::abort();
  return absl::BytesToHexString(std::string(reinterpret_cast<const char*>(digest), size));
}

}  // namespace cvae
