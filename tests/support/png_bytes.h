#pragma once
// PNG files assembled byte by byte from the specification, for tests that must not rely on the PNG library.
#include <zlib.h>

#include <string>

#include "tests/support/files.h"

namespace lunagrad::tests {

inline const std::string kPngStart = "\x89PNG\r\n\x1a\n";

inline std::string png_chunk(const std::string& type, const std::string& data) {
  const std::string body = type + data;
  const uLong crc = crc32(0, reinterpret_cast<const Bytef*>(body.data()), uInt(body.size()));
  return big_endian(uint32_t(data.size())) + body + big_endian(uint32_t(crc));
}

struct PngKind {
  uint32_t width, height;
  uint8_t depth, colour;  // colour: 0 grey, 2 rgb, 3 palette, 4 grey and alpha, 6 rgba
  uint8_t interlace = 0;
};

inline std::string png_header(const PngKind& kind) {
  return png_chunk("IHDR", big_endian(kind.width) + big_endian(kind.height) +
                               std::string{char(kind.depth), char(kind.colour), 0, 0, char(kind.interlace)});
}

inline std::string zlib_packed(const std::string& raw) {
  std::string out(compressBound(uLong(raw.size())), '\0');
  uLongf size = uLongf(out.size());
  compress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(raw.data()),
           uLong(raw.size()));
  out.resize(size);
  return out;
}

// `raw`: for each row a filter byte and its pixels. `extra`: chunks between header and data.
inline std::string png_bytes(const PngKind& kind, const std::string& raw, const std::string& extra = "") {
  return kPngStart + png_header(kind) + extra + png_chunk("IDAT", zlib_packed(raw)) + png_chunk("IEND", "");
}

}  // namespace lunagrad::tests
