#pragma once
// PNG images, with libpng. Every kind is read with 8 bits per channel: 16 bits are scaled, palettes and
// transparency expanded; gamma and colour profiles are ignored. When the file is too short for a declared
// size, that is an Error, before memory of this size is allocated. Errors have kind file and name the file.
// Any thread may call.
#include <cstdint>
#include <string>

#include "runtime/core/tensor_fwd.h"
#include "runtime/io/array_info.h"

namespace lunagrad {

// Pixels [height, width, channels], u8. Owns a block of the CPU device.
class Image {
 public:
  Image() = default;
  Image(int channels, int64_t height, int64_t width);  // uninitialised; Error of kind memory
  Image(Image&& other) noexcept { *this = std::move(other); }
  Image& operator=(Image&&) noexcept;
  ~Image();

  int channels = 0;  // 1 grey, 2 grey and alpha, 3 red green blue, 4 red green blue alpha
  int64_t height = 0, width = 0;
  uint8_t* pixels = nullptr;
  size_t bytes() const { return size_t(height) * size_t(width) * size_t(channels); }
};

// channels: 0 keeps the file's channels; 1, 3 or 4 convert (grey is 0.299 red + 0.587 green + 0.114 blue).
Image decode_png(const std::string& path, int channels = 0);

// decode_png() as a tensor: u8 [channels, height, width].
Tensor load_png(const std::string& path, int channels = 0);
// Takes u8, or floats where 0 is black and 1 is white; [channels, height, width] with 1 to 4 channels, or
// grey [height, width]. Replaces the file atomically.
void save_png(const std::string& path, const Tensor&);
// Shape and dtype of load_png's result; as metadata the file's colour kind and bit depth.
FileInfo describe_png(const std::string& path);

}  // namespace lunagrad
