// Netpbm pictures (netpbm.sourceforge.net/doc/pnm.html): binary grey (P5, .pgm) and colour (P6, .ppm). A
// header of decimal numbers, with comments from '#' to the end of a line, then the samples row by row.
// Samples up to 255 have one byte and become u8; larger ones have two, the high one first, and become i32.
// Values are not scaled.
#include <string>
#include <string_view>
#include <vector>

#include "runtime/core/error.h"
#include "runtime/core/memory_limit.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/format.h"
#include "runtime/io/input_file.h"
#include "runtime/ops.h"

namespace lunagrad {
namespace {

constexpr uint64_t kLargestPnmHeader = 4096;  // bytes, comments included

struct PnmHeader {
  uint64_t channels = 0, width = 0, height = 0, largest = 0;
  uint64_t start = 0;  // offset of the samples

  uint64_t sample_bytes() const { return largest > 255 ? 2 : 1; }
  uint64_t bytes() const { return channels * width * height * sample_bytes(); }
};

bool is_blank(char c) { return std::string_view(" \t\r\n\v\f").find(c) != std::string_view::npos; }

// A csv table whose first column is named P5 is not a picture.
bool begins_pnm(std::string_view start) {
  return start.size() > 2 && (start.starts_with("P5") || start.starts_with("P6")) &&
         (is_blank(start[2]) || start[2] == '#');
}

class PnmHeaderReader {
 public:
  PnmHeaderReader(const std::string& path, std::string_view start) : path_(path), start_(start) {}

  PnmHeader read() {
    if (!start_.starts_with("P5") && !start_.starts_with("P6"))
      complain("not a binary PGM or PPM file: it does not begin with P5 or P6");
    PnmHeader header{.channels = start_[1] == '5' ? 1u : 3u};
    at_ = 2;
    header.width = number("width", kLargestImageSide);
    header.height = number("height", kLargestImageSide);
    header.largest = number("largest sample", 65535);
    if (!at_blank()) complain("no blank ends the header");
    header.start = at_ + 1;
    return header;
  }

 private:
  template <class... Parts>
  [[noreturn]] void complain(const Parts&... parts) const {
    fail_as(ErrorKind::file, path_, ": ", parts...);
  }

  bool at_blank() const { return is_blank(start_[at_]); }

  void skip_blanks_and_comments() {
    while (at_ < start_.size() && (at_blank() || start_[at_] == '#')) {
      if (start_[at_] == '#')
        while (at_ < start_.size() && start_[at_] != '\n') ++at_;
      else
        ++at_;
    }
  }

  uint64_t number(const char* name, uint64_t largest) {
    const size_t before = at_;
    skip_blanks_and_comments();
    if (at_ == before && at_ < start_.size()) complain("no blank stands before the ", name);
    uint64_t value = 0;
    const size_t first = at_;
    for (; at_ < start_.size() && start_[at_] >= '0' && start_[at_] <= '9' && value <= largest; ++at_)
      value = value * 10 + uint64_t(start_[at_] - '0');
    if (at_ == start_.size()) complain("ends within its header");
    if (at_ == first || !(at_blank() || start_[at_] == '#' || value > largest))
      complain("the ", name, " is not a number");
    if (value == 0 || value > largest) complain("the ", name, " is not within 1 and ", largest);
    return value;
  }

  const std::string& path_;
  std::string_view start_;
  size_t at_ = 0;
};

PnmHeader read_pnm_header(const InputFile& file) {
  std::string start(size_t(std::min(file.size(), kLargestPnmHeader)), '\0');
  file.read(start.data(), 0, start.size());
  const PnmHeader header = PnmHeaderReader(file.path(), start).read();
  if (file.size() < header.start || file.size() - header.start < header.bytes())
    fail_as(ErrorKind::file, file.path(), ": declares ", header.width, " x ", header.height,
            " pixels, which its ", file.size(), " bytes cannot hold");
  return header;
}

Tensor load_pnm(const std::string& path, const ReadOptions&) {
  const InputFile file(path);
  const PnmHeader header = read_pnm_header(file);
  const Shape rows{int64_t(header.height), int64_t(header.width), int64_t(header.channels)};
  Tensor pixels = Tensor::empty(rows, header.sample_bytes() == 1 ? DType::u8 : DType::i32);
  if (header.sample_bytes() == 1) {
    file.read(pixels.data<uint8_t>(), header.start, header.bytes());
  } else {
    HeldMemory held;
    held.add(size_t(header.bytes()), path);
    std::string bytes(size_t(header.bytes()), '\0');
    file.read(bytes.data(), header.start, header.bytes());
    int32_t* const out = pixels.data<int32_t>();
    for (size_t i = 0; i < bytes.size() / 2; ++i)
      out[i] = int32_t(uint8_t(bytes[2 * i])) << 8 | uint8_t(bytes[2 * i + 1]);
  }
  return contiguous(permute(pixels, {2, 0, 1}));
}

void save_pnm(const std::string& path, const Tensor& x) {
  if (x.ndim() != 3 || (x.size(0) != 1 && x.size(0) != 3))
    fail("pnm: [1 or 3, height, width] expected (got shape ", x.shape(), ")");
  if (x.numel() == 0 || uint64_t(x.size(1)) > kLargestImageSide || uint64_t(x.size(2)) > kLargestImageSide)
    fail("pnm: an image has 1 to ", kLargestImageSide, " rows and columns (got shape ", x.shape(), ")");
  if (x.dtype() != DType::u8) fail("pnm: dtype ", x.dtype(), " is not u8");
  const NoGrad off;
  const Tensor pixels = contiguous(permute(to(x.detach(), cpu_device()), {1, 2, 0}));
  std::string content = (x.size(0) == 1 ? "P5\n" : "P6\n") + std::to_string(x.size(2)) + " " +
                        std::to_string(x.size(1)) + "\n255\n";
  content.append(reinterpret_cast<const char*>(pixels.data<uint8_t>()), size_t(pixels.numel()));
  write_file(path, content);
}

FileInfo describe_pnm(const std::string& path) {
  const PnmHeader header = read_pnm_header(InputFile(path));
  FileInfo out{.format = "pnm"};
  out.arrays.push_back({"",
                        header.sample_bytes() == 1 ? "u8" : "u16",
                        {header.channels, header.height, header.width},
                        header.bytes()});
  out.metadata = {{"kind", header.channels == 1 ? "grey" : "rgb"},
                  {"largest", std::to_string(header.largest)}};
  return out;
}

}  // namespace

FileFormat pnm_format() {
  return {
      .name = "pnm",
      .about =
          "A picture, u8 [channels, height, width], grey (.pgm) or colour (.ppm). Samples of two bytes are "
          "read as i32.",
      .endings = {".pgm", ".ppm", ".pnm"},
      .begins = begins_pnm,
      .describe = describe_pnm,
      .load = load_pnm,
      .save = save_pnm};
}

}  // namespace lunagrad
