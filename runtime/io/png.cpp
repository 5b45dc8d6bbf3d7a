#include "runtime/io/png.h"

#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <utility>

#include "runtime/core/error.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/format.h"
#include "runtime/io/input_file.h"
#include "runtime/io/read_budget.h"
#include "runtime/ops.h"

namespace lunagrad {
namespace {

// The data of libpng's callbacks. libpng reports errors with longjmp, so functions that call it must not have
// variables with destructors.
struct Channel {
  const char* from = nullptr;  // when reading
  size_t left = 0;
  std::string* to = nullptr;  // when writing
  char problem[160] = "";
};

[[noreturn]] void on_error(png_structp png, png_const_charp message) {
  Channel& channel = *static_cast<Channel*>(png_get_error_ptr(png));
  std::snprintf(channel.problem, sizeof channel.problem, "%s", message);
  png_longjmp(png, 1);
}
void on_warning(png_structp, png_const_charp) {}

void on_read(png_structp png, png_bytep to, size_t count) {
  Channel& channel = *static_cast<Channel*>(png_get_io_ptr(png));
  if (count > channel.left) png_error(png, "the file ends early");
  std::memcpy(to, channel.from, count);
  channel.from += count;
  channel.left -= count;
}

void on_write(png_structp png, png_bytep from, size_t count) {
  Channel& channel = *static_cast<Channel*>(png_get_io_ptr(png));
  bool full = false;
  try {
    channel.to->append(reinterpret_cast<const char*>(from), count);
  } catch (const std::bad_alloc&) {
    full = true;
  }
  if (full) png_error(png, "out of memory");
}

struct PngHeader {
  uint32_t width = 0, height = 0;
  int depth = 0, kind = 0;
  int channels = 0;  // after expansion
};

// libpng's structures for reading a file.
struct Reading {
  png_structp png = nullptr;
  png_infop info = nullptr;
  Reading() = default;
  Reading(const Reading&) = delete;
  ~Reading() { png_destroy_read_struct(&png, &info, nullptr); }
};

class Decoder {
 public:
  explicit Decoder(const std::string& path) : path_(path), budget_(path) {
    const InputFile file(path);
    budget_.take(file.size());
    bytes_.resize(size_t(file.size()));
    file.read(bytes_.data(), 0, file.size());
    channel_.from = bytes_.data();
    channel_.left = bytes_.size();
    if (bytes_.size() < 8 || png_sig_cmp(reinterpret_cast<png_const_bytep>(bytes_.data()), 0, 8) != 0)
      complain("not a PNG file: it does not begin with its signature");
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &channel_, on_error, on_warning);
    info_ = png_ ? png_create_info_struct(png_) : nullptr;
    if (!info_) fail_as(ErrorKind::memory, path_, ": out of memory");
    if (!read_header()) complain("damaged PNG: ", channel_.problem);
    // Each row has one byte for the filter, and its pixels. The file must be long enough for all rows at
    // deflate's largest ratio.
    const uint64_t row = 1 + (uint64_t(header_.width) * stored_bits() + 7) / 8;
    if (uint64_t(header_.height) * row / kLargestDeflateRatio > bytes_.size())
      complain("declares ", header_.width, " x ", header_.height, " pixels, which its ", bytes_.size(),
               " bytes cannot hold");
  }

  const PngHeader& header() const { return header_; }

  Image decode() {
    Image image(header_.channels, header_.height, header_.width);
    if (!read_pixels(image)) complain("damaged PNG: ", channel_.problem);
    return image;
  }

 private:
  template <class... Parts>
  [[noreturn]] void complain(const Parts&... parts) const {
    fail_as(ErrorKind::file, path_, ": ", parts...);
  }

  uint64_t stored_bits() const { return uint64_t(png_get_channels(png_, info_)) * uint64_t(header_.depth); }

  bool read_header() {
    if (setjmp(png_jmpbuf(png_))) return false;
    png_set_read_fn(png_, &channel_, on_read);
    png_set_user_limits(png_, kLargestImageSide, kLargestImageSide);
    png_set_chunk_cache_max(png_, 100);
    png_set_chunk_malloc_max(png_, 1 << 20);
    png_read_info(png_, info_);
    png_get_IHDR(png_, info_, &header_.width, &header_.height, &header_.depth, &header_.kind, nullptr,
                 nullptr, nullptr);
    const bool colour = header_.kind & PNG_COLOR_MASK_COLOR;
    const bool alpha = (header_.kind & PNG_COLOR_MASK_ALPHA) || png_get_valid(png_, info_, PNG_INFO_tRNS);
    header_.channels = (colour ? 3 : 1) + (alpha ? 1 : 0);
    return true;
  }

  bool read_pixels(const Image& image) {
    if (setjmp(png_jmpbuf(png_))) return false;
    png_set_expand(png_);  // palettes to colours, fewer than 8 bits to 8, transparent colours to alpha
    png_set_scale_16(png_);
    const int passes = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    const size_t row = size_t(image.width) * size_t(image.channels);
    if (png_get_rowbytes(png_, info_) != row) png_error(png_, "its channels do not fit its kind");
    for (int pass = 0; pass < passes; ++pass)
      for (int64_t y = 0; y < image.height; ++y) png_read_row(png_, image.pixels + size_t(y) * row, nullptr);
    png_read_end(png_, nullptr);
    return true;
  }

  const std::string& path_;
  ReadBudget budget_;
  std::string bytes_;
  Channel channel_;
  Reading reading_;
  png_structp& png_ = reading_.png;
  png_infop& info_ = reading_.info;
  PngHeader header_;
};

bool encode(Channel& channel, png_structp png, png_infop info, const Image& image) {
  constexpr int kKinds[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                            PNG_COLOR_TYPE_RGBA};
  if (setjmp(png_jmpbuf(png))) return false;
  png_set_write_fn(png, &channel, on_write, nullptr);
  png_set_IHDR(png, info, uint32_t(image.width), uint32_t(image.height), 8, kKinds[image.channels - 1],
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  const size_t row = size_t(image.width) * size_t(image.channels);
  for (int64_t y = 0; y < image.height; ++y) png_write_row(png, image.pixels + size_t(y) * row);
  png_write_end(png, nullptr);
  return true;
}

Image convert_channels(const Image& from, int channels) {
  Image to(channels, from.height, from.width);
  const bool colour = from.channels >= 3, alpha = from.channels % 2 == 0;
  const uint8_t* in = from.pixels;
  uint8_t* out = to.pixels;
  for (int64_t i = 0; i < from.height * from.width; ++i, in += from.channels, out += channels) {
    const uint8_t red = in[0], green = colour ? in[1] : in[0], blue = colour ? in[2] : in[0];
    if (channels == 1) {
      out[0] = colour ? uint8_t((299 * red + 587 * green + 114 * blue + 500) / 1000) : red;
      continue;
    }
    out[0] = red, out[1] = green, out[2] = blue;
    if (channels == 4) out[3] = alpha ? in[from.channels - 1] : 255;
  }
  return to;
}

uint8_t to_byte(float value) { return value > 0 ? uint8_t(std::min(value, 1.0f) * 255.0f + 0.5f) : 0; }

}  // namespace

Image::Image(int channels_in, int64_t height_in, int64_t width_in)
    : channels(channels_in), height(height_in), width(width_in) {
  check_room(bytes(), 1);
  pixels = static_cast<uint8_t*>(cpu_device().alloc(bytes()));
}
Image& Image::operator=(Image&& other) noexcept {
  std::swap(channels, other.channels);
  std::swap(height, other.height);
  std::swap(width, other.width);
  std::swap(pixels, other.pixels);
  return *this;
}
Image::~Image() { cpu_device().free(pixels, bytes()); }

Image decode_png(const std::string& path, int channels) {
  Image image = Decoder(path).decode();
  return channels == 0 || channels == image.channels ? std::move(image) : convert_channels(image, channels);
}

Tensor load_png(const std::string& path, int channels) {
  const Image image = decode_png(path, channels);
  Tensor out = Tensor::empty({image.channels, image.height, image.width}, DType::u8);
  const int64_t plane = image.height * image.width;
  uint8_t* const to = out.data<uint8_t>();
  for (int c = 0; c < image.channels; ++c)
    for (int64_t i = 0; i < plane; ++i) to[c * plane + i] = image.pixels[i * image.channels + c];
  return out;
}

void save_png(const std::string& path, const Tensor& x) {
  const int grey = x.ndim() == 2;
  if (!grey && (x.ndim() != 3 || x.size(0) < 1 || x.size(0) > 4))
    fail("png: [channels, height, width] with 1 to 4 channels, or [height, width], expected (got shape ",
         x.shape(), ")");
  if (x.numel() == 0 || x.size(-1) > kLargestImageSide || x.size(-2) > kLargestImageSide)
    fail("png: an image has 1 to ", kLargestImageSide, " rows and columns (got shape ", x.shape(), ")");
  if (x.dtype() != DType::u8 && !is_floating(x.dtype()))
    fail("png: dtype ", x.dtype(), " is neither u8 nor a floating type with 0 to 1");
  const NoGrad off;
  Tensor host = to(x.detach(), cpu_device());
  const bool floats = host.dtype() != DType::u8;
  host = contiguous(floats ? to(host, DType::f32) : host);
  Image image(grey ? 1 : int(x.size(0)), x.size(-2), x.size(-1));
  const int64_t plane = image.height * image.width;
  for (int c = 0; c < image.channels; ++c)
    for (int64_t i = 0; i < plane; ++i)
      image.pixels[i * image.channels + c] =
          floats ? to_byte(host.data<float>()[c * plane + i]) : host.data<uint8_t>()[c * plane + i];

  std::string content;
  Channel channel;
  channel.to = &content;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &channel, on_error, on_warning);
  png_infop info = png ? png_create_info_struct(png) : nullptr;
  const bool written = info && encode(channel, png, info, image);
  png_destroy_write_struct(&png, &info);
  if (!written) fail_as(ErrorKind::file, path, ": cannot write: ", channel.problem);
  write_file(path, content);
}

FileInfo describe_png(const std::string& path) {
  const Decoder decoder(path);
  const PngHeader& header = decoder.header();
  const std::vector<uint64_t> shape{uint64_t(header.channels), header.height, header.width};
  FileInfo out{.format = "png"};
  out.arrays.push_back({"", "u8", shape, *array_bytes(shape, 1)});
  const char* const kind = header.kind == PNG_COLOR_TYPE_PALETTE ? "palette"
                           : header.kind == PNG_COLOR_TYPE_GRAY  ? "grey"
                           : header.kind == PNG_COLOR_TYPE_RGB   ? "rgb"
                           : header.kind == PNG_COLOR_TYPE_RGBA  ? "rgba"
                                                                 : "grey and alpha";
  out.metadata = {{"kind", kind}, {"bits", std::to_string(header.depth)}};
  return out;
}

FileFormat png_format() {
  return {.name = "png",
          .about = "A picture, u8 [channels, height, width]: 1 grey, 2 grey and alpha, 3 rgb, 4 rgba.",
          .endings = {".png"},
          .begins = [](std::string_view start) { return start.starts_with("\x89PNG"); },
          .describe = describe_png,
          .load = [](const std::string& path, const ReadOptions&) { return load_png(path); },
          .save = save_png,
          .takes_options = true};
}

}  // namespace lunagrad
