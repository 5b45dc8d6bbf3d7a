#include "runtime/io/npy.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "runtime/core/error.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/format.h"
#include "runtime/io/input_file.h"
#include "runtime/ops.h"

namespace lunagrad {

static_assert(std::endian::native == std::endian::little, "elements are written as they lie in memory");

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr uint64_t kLargestNpyHeader = 65536;
constexpr size_t kAlignment = 64;        // of the elements within the file, as NumPy writes them
constexpr uint64_t kNpyPiece = 1 << 20;  // bytes of the buffer for conversions

// The supported types: NumPy's name without the byte order, bytes per element in the file, and dtype in
// memory.
struct NpyType {
  const char* name;
  size_t size;
  DType dtype;
};
constexpr NpyType kNpyTypes[] = {
    {"f4", 4, DType::f32},    {"f8", 8, DType::f64}, {"f2", 2, DType::f16},     {"i8", 8, DType::i64},
    {"i4", 4, DType::i32},    {"u1", 1, DType::u8},  {"i1", 1, DType::i32},     {"i2", 2, DType::i32},
    {"u2", 2, DType::i32},    {"u4", 4, DType::i64}, {"b1", 1, DType::boolean}, {"c8", 8, DType::c64},
    {"c16", 16, DType::c128},
};

struct NpyHeader {
  std::string descr;
  const NpyType* type = nullptr;
  bool swapped = false;  // the elements are big-endian
  bool fortran = false;  // the first dim runs fastest
  std::vector<uint64_t> shape;
  uint64_t start = 0;  // offset of the elements
  uint64_t bytes = 0;
};

// A text on one line, shortened for error messages.
std::string shown_on_line(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 40)) out += c >= 0x20 && c < 0x7f ? c : '?';
  return out + (text.size() > 40 ? "…" : "");
}

// The dict of a header: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }, keys in any order; after
// it only spaces and line ends.
class NpyHeaderParser {
 public:
  NpyHeaderParser(const std::string& name, std::string_view text) : name_(name), text_(text) {}

  NpyHeader parse() {
    NpyHeader header;
    bool descr = false, order = false, shape = false;
    expect('{');
    while (!take('}')) {
      const std::string key = quoted();
      expect(':');
      bool* const seen = key == "descr"           ? &descr
                         : key == "fortran_order" ? &order
                         : key == "shape"         ? &shape
                                                  : nullptr;
      if (!seen) complain("unknown key '", shown_on_line(key), "' in its header");
      if (*seen) complain("'", key, "' appears twice in its header");
      *seen = true;
      if (seen == &descr)
        parse_descr(header);
      else if (seen == &order)
        header.fortran = boolean();
      else
        parse_shape(header);
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    const char* const missing = !descr ? "descr" : !order ? "fortran_order" : !shape ? "shape" : nullptr;
    if (missing) complain("its header has no '", missing, "'");
    skip_blanks();
    if (at_ != text_.size()) complain("its header goes on after the closing brace");
    return header;
  }

 private:
  template <class... Parts>
  [[noreturn]] void complain(const Parts&... parts) const {
    fail_as(ErrorKind::file, name_, ": ", parts...);
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool take(char wanted) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!take(wanted)) complain("its header is damaged: '", wanted, "' expected at byte ", at_ + 1);
  }
  bool take_word(std::string_view word) {
    skip_blanks();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  // A string in single or double quotes, without escapes: no valid value needs them.
  std::string quoted() {
    skip_blanks();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"')
      complain("its header is damaged: a quoted text expected at byte ", at_ + 1);
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) complain("its header is damaged: a quoted text does not end");
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return std::string(inside);
  }

  bool boolean() {
    if (take_word("True")) return true;
    if (take_word("False")) return false;
    complain("'fortran_order' is neither True nor False");
  }

  void parse_descr(NpyHeader& header) {
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == '[')
      complain("structured arrays (records with fields) are not supported");
    header.descr = quoted();
    const std::string& descr = header.descr;
    const char order = descr.empty() ? '\0' : descr[0];
    const std::string name = descr.empty() ? "" : descr.substr(1);
    if (!name.empty() && name[0] == 'O')
      complain("holds Python objects, which are code of pickle's and are never loaded");
    for (const NpyType& type : kNpyTypes)
      if (name == type.name) header.type = &type;
    if (!header.type || (order != '<' && order != '>' && order != '|') ||
        (order == '|' && header.type->size > 1))
      complain("the type '", shown_on_line(descr), "' is not supported");
    header.swapped = order == '>';
  }

  uint64_t size() {
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == '-') complain("its shape holds a negative size");
    const size_t first = at_;
    uint64_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
      if (__builtin_mul_overflow(value, uint64_t(10), &value) ||
          __builtin_add_overflow(value, uint64_t(text_[at_] - '0'), &value))
        complain("its shape overflows");
    if (at_ == first) complain("its header is damaged: a size expected at byte ", at_ + 1);
    return value;
  }

  void parse_shape(NpyHeader& header) {
    expect('(');
    while (!take(')')) {
      header.shape.push_back(size());
      if (header.shape.size() > size_t(kMaxDims))
        complain("has more than the ", kMaxDims, " dims that are supported");
      if (take(',')) continue;
      // (3) is a number in Python, not a tuple.
      if (header.shape.size() == 1) complain("its header is damaged: ',' expected at byte ", at_ + 1);
      expect(')');
      break;
    }
  }

  const std::string& name_;
  std::string_view text_;
  size_t at_ = 0;
};

NpyHeader read_npy_header(const NpyStream& stream) {
  const auto complain = [&](const auto&... parts) { fail_as(ErrorKind::file, stream.name, ": ", parts...); };
  char start[12];
  if (stream.size < 10) complain("not a .npy file: ", stream.size, " bytes are too few");
  stream.read(start, 10);
  if (std::string_view(start, kMagic.size()) != kMagic)
    complain("not a .npy file: it does not begin with \\x93NUMPY");
  const int version = start[6], minor = start[7];
  if (version < 1 || version > 3 || minor != 0)
    complain("version ", int(uint8_t(start[6])), ".", int(uint8_t(start[7])), " of the format is not known");
  const size_t preamble = version == 1 ? 10 : 12;
  if (stream.size < preamble) complain("ends within its header");
  if (preamble == 12) stream.read(start + 10, 2);
  uint64_t length = 0;
  std::memcpy(&length, start + 8, preamble - 8);
  if (length > kLargestNpyHeader)
    complain("a header of ", length, " bytes is over the limit of ", kLargestNpyHeader);
  if (length > stream.size - preamble)
    complain("ends within its header: ", length, " bytes declared, ", stream.size - preamble, " found");
  std::string text(size_t(length), '\0');
  stream.read(text.data(), length);
  NpyHeader header = NpyHeaderParser(stream.name, text).parse();
  header.start = preamble + length;
  const auto bytes = array_bytes(header.shape, header.type->size);
  if (!bytes) complain("its shape overflows");
  header.bytes = *bytes;
  const uint64_t found = stream.size - header.start;
  if (found < header.bytes)
    complain("ends early: its shape and type need ", header.bytes, " bytes of data, ", found, " found");
  if (found > header.bytes)
    complain("holds ", found - header.bytes, " bytes after the ", header.bytes, " of its array");
  return header;
}

template <class Bits>
void swap_bytes(void* at, int64_t count) {
  Bits* const values = static_cast<Bits*>(at);
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (sizeof(Bits) == 2) values[i] = __builtin_bswap16(values[i]);
    if constexpr (sizeof(Bits) == 4) values[i] = __builtin_bswap32(values[i]);
    if constexpr (sizeof(Bits) == 8) values[i] = __builtin_bswap64(values[i]);
  }
}

void to_native_order(void* at, int64_t count, const NpyType& type) {
  const int64_t parts = is_complex(type.dtype) ? 2 : 1;
  const size_t size = type.size / size_t(parts);
  if (size == 2) swap_bytes<uint16_t>(at, count * parts);
  if (size == 4) swap_bytes<uint32_t>(at, count * parts);
  if (size == 8) swap_bytes<uint64_t>(at, count * parts);
}

template <class File, class Element>
void convert_elements(const void* from, Element* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    File value;
    std::memcpy(&value, static_cast<const char*>(from) + size_t(i) * sizeof(File), sizeof(File));
    to[i] = Element(value);
  }
}

// Reads elements whose type in memory has more bytes than in the file, piece by piece.
void read_converted(const NpyStream& stream, const NpyHeader& header, Tensor& out) {
  const std::string_view name = header.type->name;
  std::vector<char> piece(size_t(std::min(header.bytes, kNpyPiece)));
  for (int64_t done = 0; done < out.numel();) {
    const int64_t count = std::min<int64_t>(out.numel() - done, int64_t(kNpyPiece / header.type->size));
    stream.read(piece.data(), uint64_t(count) * header.type->size);
    if (header.swapped) to_native_order(piece.data(), count, *header.type);
    if (name == "i1") convert_elements<int8_t>(piece.data(), out.data<int32_t>() + done, count);
    if (name == "i2") convert_elements<int16_t>(piece.data(), out.data<int32_t>() + done, count);
    if (name == "u2") convert_elements<uint16_t>(piece.data(), out.data<int32_t>() + done, count);
    if (name == "u4") convert_elements<uint32_t>(piece.data(), out.data<int64_t>() + done, count);
    done += count;
  }
}

// Error for bytes other than 0 and 1: as bool they would be undefined behaviour.
void check_booleans(const std::string& name, const Tensor& x) {
  const unsigned char* const bytes = static_cast<const unsigned char*>(x.raw());
  const unsigned char largest = std::accumulate(bytes, bytes + x.numel(), static_cast<unsigned char>(0),
                                                [](auto a, auto b) { return std::max(a, b); });
  if (largest > 1) fail_as(ErrorKind::file, name, ": a boolean holds ", int(largest), ", not 0 or 1");
}

ArrayInfo info_of(const NpyHeader& header) { return {"", header.descr, header.shape, header.bytes}; }

NpyStream stream_of(const InputFile& file, uint64_t& at) {
  return {file.path(), file.size(), [&file, &at](void* to, uint64_t count) {
            file.read(to, at, count);
            at += count;
          }};
}

}  // namespace

Tensor read_npy(const NpyStream& stream) {
  const NpyHeader header = read_npy_header(stream);
  const NoGrad off;
  Shape shape;
  for (const uint64_t size : header.shape) shape.push_back(int64_t(size));
  // Fortran order is the C order of the transpose.
  if (header.fortran) {
    Shape reversed = shape;
    std::reverse_copy(shape.begin(), shape.end(), &reversed[0]);
    shape = reversed;
  }
  Tensor out = Tensor::empty(shape, header.type->dtype);
  if (header.bytes > 0) {
    if (header.type->size != item_size(header.type->dtype)) {
      read_converted(stream, header, out);
    } else {
      stream.read(out.raw(), header.bytes);
      if (header.swapped) to_native_order(out.raw(), out.numel(), *header.type);
      if (out.dtype() == DType::boolean) check_booleans(stream.name, out);
    }
  }
  if (!header.fortran || shape.size() < 2) return out;
  Dims order(shape.size(), 0);
  for (int d = 0; d < shape.size(); ++d) order[d] = shape.size() - 1 - d;
  return contiguous(permute(out, order));
}

ArrayInfo describe_npy(const NpyStream& stream) { return info_of(read_npy_header(stream)); }

Tensor load_npy(const std::string& path) {
  const InputFile file(path);
  uint64_t at = 0;
  return read_npy(stream_of(file, at));
}

ArrayInfo describe_npy(const std::string& path) {
  const InputFile file(path);
  uint64_t at = 0;
  return describe_npy(stream_of(file, at));
}

std::string npy_preamble(const Tensor& x) {
  const NpyType* found = nullptr;
  for (const NpyType& type : kNpyTypes)
    if (type.dtype == x.dtype() && type.size == item_size(x.dtype())) found = &type;
  if (!found) fail("npy: NumPy has no type ", x.dtype(), "; save x:float()");
  std::string dict = std::string("{'descr': '") + (found->size == 1 ? "|" : "<") + found->name +
                     "', 'fortran_order': False, 'shape': (";
  for (int d = 0; d < x.ndim(); ++d)
    dict += (d ? " " : "") + std::to_string(x.size(d)) + (d + 1 < x.ndim() || d == 0 ? "," : "");
  dict += "), }";
  const size_t whole = (10 + dict.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  dict.resize(whole - 10 - 1, ' ');
  dict += '\n';
  std::string out(kMagic);
  out += {'\x01', '\x00', char(dict.size() & 0xff), char(dict.size() >> 8)};
  return out + dict;
}

void save_npy(const std::string& path, const Tensor& x) {
  const NoGrad off;
  const std::string preamble = npy_preamble(x);
  const Tensor host = contiguous(to(x.detach(), cpu_device()));
  AtomicFile file(path);
  file.write(preamble);
  if (host.numel() > 0) file.write(host.raw(), host.nbytes());
  file.commit();
}

FileFormat npy_format() {
  return {.name = "npy",
          .about = "NumPy's array; i1, i2 and u2 widen to i32, u4 to i64.",
          .endings = {".npy"},
          .begins = [](std::string_view start) { return start.starts_with(kMagic); },
          .describe =
              [](const std::string& path) {
                FileInfo out{.format = "npy"};
                out.arrays.push_back(describe_npy(path));
                return out;
              },
          .load = [](const std::string& path, const ReadOptions&) { return load_npy(path); },
          .save = save_npy};
}

}  // namespace lunagrad
