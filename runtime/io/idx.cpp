#include "runtime/io/idx.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

#include "runtime/core/error.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/format.h"
#include "runtime/io/input_file.h"
#include "runtime/io/read_budget.h"
#include "runtime/ops.h"

namespace lunagrad {

namespace {

enum class IdxType : uint8_t { u8 = 0x08, i8 = 0x09, i16 = 0x0b, i32 = 0x0c, f32 = 0x0d, f64 = 0x0e };

size_t idx_item_size(const std::string& path, uint8_t code) {
  switch (IdxType(code)) {
    case IdxType::u8:
    case IdxType::i8:
      return 1;
    case IdxType::i16:
      return 2;
    case IdxType::i32:
    case IdxType::f32:
      return 4;
    case IdxType::f64:
      return 8;
  }
  fail_as(ErrorKind::file, path, ": not an IDX file: element type ", int(code), " is unknown");
}

const char* type_name(IdxType type) {
  switch (type) {
    case IdxType::u8:
      return "u8";
    case IdxType::i8:
      return "i8";
    case IdxType::i16:
      return "i16";
    case IdxType::i32:
      return "i32";
    case IdxType::f32:
      return "f32";
    case IdxType::f64:
      break;
  }
  return "f64";
}

template <class T>
T from_big_endian(const char* bytes) {
  using Bits = std::conditional_t<
      sizeof(T) == 1, uint8_t,
      std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;
  Bits bits = 0;
  for (size_t i = 0; i < sizeof(T); ++i) bits = Bits(uint64_t(bits) << 8 | uint8_t(bytes[i]));
  return std::bit_cast<T>(bits);
}

constexpr size_t kLargestIdxHeader = 4 + 4 * kMaxDims;

struct IdxHeader {
  IdxType type = IdxType::u8;
  Shape shape;
  std::string sizes;   // "60000 x 28 x 28"
  size_t start = 0;    // offset of the elements
  uint64_t bytes = 0;  // of the elements
};

IdxHeader parse_header(const std::string& path, std::string_view content) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(content[i]); };
  if (content.size() < 4)
    fail_as(ErrorKind::file, path, ": not an IDX file: ", content.size(), " bytes are too few for a header");
  if (byte(0) != 0 || byte(1) != 0)
    fail_as(ErrorKind::file, path, ": not an IDX file: it begins with bytes ", int(byte(0)), " ",
            int(byte(1)), ", not 0 0");
  IdxHeader header{.type = IdxType(byte(2)), .bytes = idx_item_size(path, byte(2))};
  const int dims = byte(3);
  if (dims == 0 || dims > kMaxDims)
    fail_as(ErrorKind::file, path, ": ", dims, " dims declared, 1 to ", kMaxDims, " are supported");
  header.start = 4 + 4 * size_t(dims);
  if (content.size() < header.start)
    fail_as(ErrorKind::file, path, ": ends within its header, after ", content.size(), " of ", header.start,
            " bytes");
  std::vector<uint64_t> sizes;
  for (int d = 0; d < dims; ++d) {
    sizes.push_back(from_big_endian<uint32_t>(content.data() + 4 + 4 * d));
    header.shape.push_back(int64_t(sizes.back()));
    header.sizes += (d ? " x " : "") + std::to_string(sizes.back());
  }
  const auto bytes = array_bytes(sizes, header.bytes);
  if (!bytes) fail_as(ErrorKind::file, path, ": ", header.sizes, " elements are more than any file holds");
  header.bytes = *bytes;
  return header;
}

template <class File, class Element>
Tensor decode(const std::string& content, const IdxHeader& header) {
  const char* from = content.data() + header.start;
  Tensor out = Tensor::empty(header.shape, dtype_of<Element>);
  Element* to = out.data<Element>();
  const int64_t count = out.numel();
  for (int64_t i = 0; i < count; ++i) to[i] = Element(from_big_endian<File>(from + size_t(i) * sizeof(File)));
  return out;
}

bool is_gzip(std::string_view content) { return content.substr(0, 2) == "\x1f\x8b"; }

// Gives zlib the next part of the input: at most 2^30 bytes, because zlib counts in 32 bits.
void feed(z_stream& stream, const std::string& input, size_t& fed) {
  const size_t count = std::min<size_t>(input.size() - fed, 1u << 30);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data())) + fed;
  stream.avail_in = uInt(count);
  fed += count;
}

// The first `limit` decompressed bytes of a gzip file, which has one or more members. The limit protects
// memory from a small file that decompresses to more than it declares.
std::string inflate_some(const std::string& path, const std::string& packed, uint64_t limit,
                         ReadBudget& budget) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) fail_as(ErrorKind::memory, path, ": out of memory");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> closer(&stream, inflateEnd);
  std::string out;
  std::string piece(1 << 18, '\0');
  size_t fed = 0;
  while (out.size() < limit) {
    if (stream.avail_in == 0) feed(stream, packed, fed);
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = uInt(std::min<uint64_t>(piece.size(), limit - out.size()));
    const uInt room = stream.avail_out;
    const int status = inflate(&stream, Z_NO_FLUSH);
    if (const size_t more = room - stream.avail_out; out.capacity() - out.size() < more)
      budget.take(std::max(out.capacity(), more));  // the vector doubles
    out.append(piece, 0, room - stream.avail_out);
    const bool all_read = stream.avail_in == 0 && fed == packed.size();
    if (status == Z_STREAM_END) {
      if (all_read) break;
      inflateReset(&stream);
    } else if (status == Z_BUF_ERROR || (status == Z_OK && all_read && stream.avail_out > 0)) {
      fail_as(ErrorKind::file, path, ": the gzip data ends early");
    } else if (status != Z_OK) {
      fail_as(ErrorKind::file, path, ": damaged gzip data (", stream.msg ? stream.msg : "no reason given",
              ")");
    }
  }
  return out;
}

std::string deflate_all(const std::string& path, const std::string& content) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    fail_as(ErrorKind::memory, path, ": out of memory");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> closer(&stream, deflateEnd);
  std::string out;
  std::string piece(1 << 18, '\0');
  size_t fed = 0;
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    if (stream.avail_in == 0) feed(stream, content, fed);
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = uInt(piece.size());
    status = deflate(&stream, fed == content.size() ? Z_FINISH : Z_NO_FLUSH);
    out.append(piece, 0, piece.size() - stream.avail_out);
  }
  return out;
}

void append_big_endian(std::string& out, uint64_t bits, size_t bytes) {
  for (size_t i = bytes; i-- > 0;) out += char(bits >> (8 * i) & 0xff);
}

}  // namespace

Tensor load_idx(const std::string& path) {
  std::string content = read_file(path);
  ReadBudget budget(path);
  budget.take(content.size());
  IdxHeader header;
  if (is_gzip(content)) {
    header = parse_header(path, inflate_some(path, content, kLargestIdxHeader, budget));
    // Asks for one byte more than declared, to notice when there is too much data.
    content = inflate_some(path, content, header.start + header.bytes + 1, budget);
  } else {
    header = parse_header(path, content);
  }
  const uint64_t found = content.size() - header.start;
  if (found < header.bytes)
    fail_as(ErrorKind::file, path, ": ends early: ", header.sizes, " elements need ", header.bytes,
            " bytes of data, ", found, " found");
  if (found > header.bytes)
    fail_as(ErrorKind::file, path, ": more data than the ", header.bytes, " bytes of ", header.sizes,
            " elements that its header declares");
  switch (header.type) {
    case IdxType::u8:
      return decode<uint8_t, uint8_t>(content, header);
    case IdxType::i8:
      return decode<int8_t, int32_t>(content, header);
    case IdxType::i16:
      return decode<int16_t, int32_t>(content, header);
    case IdxType::i32:
      return decode<int32_t, int32_t>(content, header);
    case IdxType::f32:
      return decode<float, float>(content, header);
    case IdxType::f64:
      break;
  }
  return decode<double, double>(content, header);
}

FileInfo describe_idx(const std::string& path) {
  const InputFile file(path);
  // The IDX header is within the first 64 KiB, unless the gzip header has a very long name.
  std::string start(size_t(std::min<uint64_t>(file.size(), 1 << 16)), '\0');
  file.read(start.data(), 0, start.size());
  const bool packed = is_gzip(start);
  ReadBudget budget(path);
  const IdxHeader header =
      parse_header(path, packed ? inflate_some(path, start, kLargestIdxHeader, budget) : start);
  if (!packed && file.size() - header.start != header.bytes)
    fail_as(ErrorKind::file, path, ": ", header.sizes, " elements need ", header.bytes, " bytes of data, ",
            file.size() - header.start, " found");
  FileInfo out{.format = packed ? "idx, packed with gzip" : "idx"};
  const std::vector<uint64_t> shape(header.shape.begin(), header.shape.end());
  out.arrays.push_back({"", type_name(header.type), shape, header.bytes});
  return out;
}

void save_idx(const std::string& path, const Tensor& values) {
  if (values.ndim() == 0) fail("idx: a tensor of at least one dim expected (got a scalar)");
  std::string out(2, '\0');
  switch (values.dtype()) {
    case DType::u8:
      out += char(IdxType::u8);
      break;
    case DType::i32:
      out += char(IdxType::i32);
      break;
    case DType::f32:
      out += char(IdxType::f32);
      break;
    case DType::f64:
      out += char(IdxType::f64);
      break;
    default:
      fail("idx: dtype ", values.dtype(), " is not one of u8, i32, f32, f64");
  }
  out += char(values.ndim());
  for (const int64_t size : values.shape()) {
    if (size > int64_t(UINT32_MAX)) fail("idx: size ", size, " does not fit 32 bits");
    append_big_endian(out, uint64_t(size), 4);
  }
  NoGrad off;
  const Tensor host = contiguous(to(values.detach(), cpu_device()));
  const size_t item = item_size(host.dtype());
  const char* from = static_cast<const char*>(host.raw());
  out.reserve(out.size() + host.nbytes());
  for (int64_t i = 0; i < host.numel(); ++i)
    for (size_t k = item; k-- > 0;) out += from[size_t(i) * item + k];
  write_file(path, path.ends_with(".gz") ? deflate_all(path, out) : out);
}

FileFormat idx_format() {
  return {.name = "idx",
          .about = "MNIST's array; saves u8, i32, f32 or f64, compressed when the path ends in .gz.",
          .endings = {".idx", ".idx.gz", "-ubyte", "-ubyte.gz"},
          .begins =
              [](std::string_view start) {
                return start.starts_with("\x1f\x8b") || start.starts_with(std::string_view("\0\0", 2));
              },
          .describe = describe_idx,
          .load = [](const std::string& path, const ReadOptions&) { return load_idx(path); },
          .save = save_idx};
}

}  // namespace lunagrad
