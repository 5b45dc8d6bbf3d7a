#pragma once
// SHA-256 (FIPS 180-4): the fingerprint by which a file is known again. One thread at a time.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace lunagrad {

class Sha256 {
 public:
  void add(const void* bytes, size_t count);
  std::string finish();  // 64 hexadecimal digits; nothing can be added afterwards

 private:
  void mix(const uint8_t* block);

  std::array<uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> block_{};
  size_t filled_ = 0;   // bytes of the block
  uint64_t count_ = 0;  // bytes of all
};

// Of a file's content, which is read in pieces; a stop cancels it. Error of kind file.
std::string sha256_of_file(const std::string& path);

}  // namespace lunagrad
