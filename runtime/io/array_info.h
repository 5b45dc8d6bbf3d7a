#pragma once
// The description of a file's arrays, read from its headers without the elements. Pure values.
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lunagrad {

struct ArrayInfo {
  std::string name;  // empty for the only array of a file without names
  std::string type;  // in the format's notation: "<f4", "F32"
  std::vector<uint64_t> shape;
  uint64_t bytes = 0;  // of the elements, uncompressed
};

struct FileInfo {
  std::string format;
  std::vector<ArrayInfo> arrays;
  std::map<std::string, std::string> metadata;
  bool has_checksums = false;  // of the arrays; reading compares them
};

// `item` times the product of the sizes. nullopt when this, or the product of the nonzero sizes (a possible
// stride), is too large for any memory.
inline std::optional<uint64_t> array_bytes(std::span<const uint64_t> sizes, uint64_t item) {
  uint64_t product = item;
  bool none = false;
  for (const uint64_t size : sizes) {
    if (size == 0)
      none = true;
    else if (__builtin_mul_overflow(product, size, &product) || product > uint64_t(INT64_MAX) / 2)
      return std::nullopt;
  }
  return none ? 0 : product;
}

}  // namespace lunagrad
