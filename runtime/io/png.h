#pragma once
// PNG images, through libpng: every kind is read as 8 bits a channel (16 bits are scaled, palettes and
// transparency expanded; gamma and colour profiles are left alone). A size that the file cannot hold is
// refused before anything of that size is allocated. Errors are of kind file and name the file. Any thread
// may call.
#include <cstdint>
#include <string>

#include "runtime/io/array_info.h"
#include "runtime/tensor.h"

namespace lunagrad {

// Pixels row by row, the channels of a pixel side by side. Owns a block of the CPU device's.
class Image {
 public:
  Image() = default;
  Image(int channels, int64_t height, int64_t width);  // uninitialised; Error of kind memory
  Image(Image&& other) noexcept { *this = std::move(other); }
  Image& operator=(Image&&) noexcept;
  ~Image();

  int channels = 0;  // 1 grey, 2 grey and alpha, 3 red green blue, 4 and alpha
  int64_t height = 0, width = 0;
  uint8_t* pixels = nullptr;
  size_t bytes() const { return size_t(height) * size_t(width) * size_t(channels); }
};

// channels: 0 as the file has them, or 1, 3, 4 to convert (grey is 0.299 red + 0.587 green + 0.114 blue).
Image decode_png(const std::string& path, int channels = 0);

// The same as u8 [channels, height, width].
Tensor load_png(const std::string& path, int channels = 0);
// u8, or floats of which 0 to 1 are black to white; [channels, height, width] with 1 to 4 channels, or a grey
// [height, width]. The file appears whole or not at all.
void save_png(const std::string& path, const Tensor&);
// Shape and type as load_png gives them; metadata: the kind and depth in the file.
FileInfo describe_png(const std::string& path);

}  // namespace lunagrad
