#include "base/hash.h"

#include <xxhash.h>

#include "base/error.h"

namespace tethys {
namespace {

std::string to_hex(XXH128_hash_t hash) { return fmt::format("{:016x}{:016x}", hash.high64, hash.low64); }

}  // namespace

std::string hash_hex(std::span<const std::byte> bytes) { return to_hex(XXH3_128bits(bytes.data(), bytes.size())); }

std::string hash_hex(std::string_view text) { return hash_hex(std::as_bytes(std::span(text))); }

void Hasher::Free::operator()(XXH3_state_s* state) const { XXH3_freeState(state); }

Hasher::Hasher() : state_(XXH3_createState()) {
  require(state_ && XXH3_128bits_reset(state_.get()) == XXH_OK, "no memory for the state of a hash");
}

void Hasher::update(std::span<const std::byte> bytes) {
  require(XXH3_128bits_update(state_.get(), bytes.data(), bytes.size()) == XXH_OK, "hashing {} bytes", bytes.size());
}

std::string Hasher::hex() const { return to_hex(XXH3_128bits_digest(state_.get())); }

}  // namespace tethys
