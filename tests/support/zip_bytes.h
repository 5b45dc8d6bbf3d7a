#pragma once
// ZIP archives assembled by hand (PKWARE's APPNOTE.TXT, 4.3), so that each field can have any value.
#include <zlib.h>

#include <string>
#include <vector>

#include "tests/support/files.h"
#include "tests/support/png_bytes.h"

namespace lunagrad::tests {

struct HandMadeEntry {
  std::string name, packed;
  uint16_t method = 0;
  uint32_t size = 0, crc = 0;  // as declared
  uint32_t packed_size = 0;    // as declared; 0: the real one
  uint16_t flags = 0;
  uint32_t offset = UINT32_MAX;  // of the local header, as declared; UINT32_MAX: the real one
};

inline uint32_t crc_of(const std::string& data) {
  return uint32_t(crc32(0, reinterpret_cast<const Bytef*>(data.data()), uInt(data.size())));
}

inline HandMadeEntry stored(const std::string& name, const std::string& data) {
  return {.name = name, .packed = data, .size = uint32_t(data.size()), .crc = crc_of(data)};
}

inline HandMadeEntry deflated(const std::string& name, const std::string& data) {
  const std::string packed = zlib_packed(data);
  return {.name = name,
          .packed = packed.substr(2, packed.size() - 6),
          .method = 8,
          .size = uint32_t(data.size()),
          .crc = crc_of(data)};
}

inline std::string zip_common(const HandMadeEntry& entry) {
  const uint32_t packed = entry.packed_size ? entry.packed_size : uint32_t(entry.packed.size());
  return little_endian(uint16_t(20)) + little_endian(entry.flags) + little_endian(entry.method) +
         little_endian(uint16_t(0)) + little_endian(uint16_t(33)) + little_endian(entry.crc) +
         little_endian(packed) + little_endian(entry.size) + little_endian(uint16_t(entry.name.size())) +
         little_endian(uint16_t(0));
}

inline std::string zip_bytes(const std::vector<HandMadeEntry>& entries, int declared = -1) {
  std::string out, directory;
  for (const HandMadeEntry& entry : entries) {
    const uint32_t offset = entry.offset == UINT32_MAX ? uint32_t(out.size()) : entry.offset;
    out += "PK\3\4" + zip_common(entry) + entry.name + entry.packed;
    directory += "PK\1\2" + little_endian(uint16_t(20)) + zip_common(entry) + std::string(10, '\0') +
                 little_endian(offset) + entry.name;
  }
  const uint16_t count = uint16_t(declared < 0 ? int(entries.size()) : declared);
  return out + directory + "PK\5\6" + std::string(4, '\0') + little_endian(count) + little_endian(count) +
         little_endian(uint32_t(directory.size())) + little_endian(uint32_t(out.size())) +
         std::string(2, '\0');
}

}  // namespace lunagrad::tests
