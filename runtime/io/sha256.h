#pragma once
// SHA-256 (FIPS 180-4): the fingerprint that identifies a file. One thread at a time.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace lunagrad {

class Sha256 {
 public:
  void add(const void* bytes, size_t count);
  void add(std::string_view text) { add(text.data(), text.size()); }
  // Ends the input: nothing can be added afterwards.
  std::array<uint8_t, 32> digest();
  std::string finish();  // the digest in 64 hexadecimal digits

 private:
  void mix(const uint8_t* block);

  std::array<uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> block_{};
  size_t filled_ = 0;   // bytes in the block
  uint64_t count_ = 0;  // bytes in all
};

// HMAC-SHA-256 (RFC 2104): without the key nobody can make or change the mark of a text. A value; `mark` may
// be called from any thread.
class HmacSha256 {
 public:
  explicit HmacSha256(std::string_view key);
  std::string mark(std::string_view text) const;  // 64 hexadecimal digits

 private:
  Sha256 inner_, outer_;  // with the key already added
};

std::string sha256_of(std::string_view text);
// The hash of a file's content, which is read in pieces; a stop cancels it. Error of kind file.
std::string sha256_of_file(const std::string& path);

}  // namespace lunagrad
