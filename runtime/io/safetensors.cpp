#include "runtime/io/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "runtime/core/error.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/checksum.h"
#include "runtime/io/format.h"
#include "runtime/io/input_file.h"
#include "runtime/io/read_budget.h"
#include "runtime/ops.h"

namespace lunagrad {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

namespace {

constexpr uint64_t kLargestSafetensorsHeader = 100'000'000;
constexpr const char* kMetadata = "__metadata__";

// The beginning of a header with checksums: the metadata entry up to the header's own sum, which is computed
// with zeros in its place. The tensors' sums follow, each after a space.
constexpr std::string_view kSums = "lunagrad.checksums";
constexpr std::string_view kSumsStart = "hash64 ";
constexpr std::string_view kSumsBegin = "{\"__metadata__\": {\"lunagrad.checksums\":\"hash64 ";
const std::string kNoSum(kChecksumDigits, '0');

// Whether a header began in this way before it was damaged. Headers of other programs differ in more
// characters, because of their spaces.
bool began_with_sums(std::string_view header) {
  constexpr size_t kMost = 5;
  size_t others = 0;
  for (size_t i = 0; i < kSumsBegin.size(); ++i) others += i >= header.size() || header[i] != kSumsBegin[i];
  return others <= kMost;
}

std::string sum_of_header(std::string header) {
  header.replace(kSumsBegin.size(), kChecksumDigits, kNoSum);
  return checksum_text(hash_of(header.data(), header.size()));
}

// The header's entry of one tensor.
struct Entry {
  std::string name;
  std::string dtype;
  std::vector<uint64_t> shape;
  std::vector<uint64_t> offsets;
  bool has_dtype = false, has_shape = false, has_offsets = false;
};

// The types that the format supports: bytes per element in the file, and dtype in memory.
struct SafetensorsType {
  const char* name;
  size_t size;
  DType dtype;
};
constexpr SafetensorsType kSafetensorsTypes[] = {
    {"F32", 4, DType::f32}, {"F64", 8, DType::f64}, {"F16", 2, DType::f16},      {"BF16", 2, DType::bf16},
    {"I64", 8, DType::i64}, {"I32", 4, DType::i32}, {"U8", 1, DType::u8},        {"I8", 1, DType::i32},
    {"I16", 2, DType::i32}, {"U16", 2, DType::i32}, {"BOOL", 1, DType::boolean}, {"U32", 4, DType::i64},
    {"C64", 8, DType::c64},
};

const SafetensorsType* find_file_type(std::string_view name) {
  for (const SafetensorsType& type : kSafetensorsTypes)
    if (name == type.name) return &type;
  return nullptr;
}

const char* file_type_name(DType dtype) {
  for (const SafetensorsType& type : kSafetensorsTypes)
    if (type.dtype == dtype && type.size == item_size(dtype)) return type.name;
  fail("safetensors: the format has no type for ", dtype, "; save its view_as_real()");
}

// Reads the header event by event: {"name": {"dtype": s, "shape": [n…], "data_offsets": [n, n]},
// "__metadata__": {s: s} or null}. Other fields of a tensor are skipped. Anything else ends the parse, so a
// hostile header cannot build large or deeply nested structures.
class SafetensorsHeaderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::vector<Entry> entries;
  std::map<std::string, std::string> metadata;
  std::string problem;

  explicit SafetensorsHeaderReader(ReadBudget& budget) : budget_(budget) {}

  bool null() override { return skipped() || (depth_ == 1 && in_metadata_) || refuse("null"); }
  bool boolean(bool) override { return skipped() || refuse("a boolean"); }
  bool number_integer(number_integer_t) override { return skipped() || refuse("a negative number"); }
  bool number_float(number_float_t, const string_t&) override { return skipped() || refuse("a fraction"); }
  bool binary(binary_t&) override { return refuse("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (skipped()) return true;
    if (!in_array_) return refuse("a number");
    std::vector<uint64_t>& list = field_ == "shape" ? entries.back().shape : entries.back().offsets;
    if (list.size() >= 64) return stop("tensor '" + entries.back().name + "': '" + field_ + "' is too long");
    list.push_back(value);
    return true;
  }

  bool string(string_t& value) override {
    if (skipped()) return true;
    if (depth_ == 2 && in_metadata_) {
      budget_.take(kNode + 2 * (field_.size() + value.size()));
      metadata[field_] = std::move(value);
      return true;
    }
    if (depth_ != 2 || field_ != "dtype") return refuse("a string");
    budget_.take(value.size());
    entries.back().dtype = std::move(value);
    return true;
  }

  bool start_object(std::size_t) override {
    if (skipping_) return skip_deeper();
    if (in_array_ || depth_ >= 2) return refuse("an object");
    ++depth_;
    return true;
  }

  bool key(string_t& name) override {
    if (skipping_) return true;
    if (depth_ == 1) {
      budget_.take(2 * sizeof(Entry) + kNode + 3 * name.size());  // vectors double
      if (!names_.insert(name).second) return stop("'" + name + "' appears twice");
      in_metadata_ = name == kMetadata;
      if (!in_metadata_) entries.push_back({.name = name});
      field_.clear();
      return true;
    }
    field_ = name;
    if (in_metadata_) return metadata.count(name) ? stop("metadata '" + name + "' appears twice") : true;
    Entry& entry = entries.back();
    bool* seen = name == "dtype"          ? &entry.has_dtype
                 : name == "shape"        ? &entry.has_shape
                 : name == "data_offsets" ? &entry.has_offsets
                                          : nullptr;
    skipping_ = !seen;
    if (!seen) return true;
    if (*seen) return stop("tensor '" + entry.name + "': '" + name + "' appears twice");
    *seen = true;
    return true;
  }

  bool end_object() override {
    if (skipping_) return skip_out();
    if (--depth_ == 1 && !in_metadata_) {
      const Entry& entry = entries.back();
      const char* missing = !entry.has_dtype     ? "dtype"
                            : !entry.has_shape   ? "shape"
                            : !entry.has_offsets ? "data_offsets"
                                                 : nullptr;
      if (missing) return stop("tensor '" + entry.name + "' has no '" + missing + "'");
    }
    return true;
  }

  bool start_array(std::size_t) override {
    if (skipping_) return skip_deeper();
    if (depth_ != 2 || in_metadata_ || in_array_ || (field_ != "shape" && field_ != "data_offsets"))
      return refuse("a list");
    in_array_ = true;
    return true;
  }
  bool end_array() override {
    if (skipping_) return skip_out();
    in_array_ = false;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    if (problem.empty()) problem = "the header is not valid JSON at byte " + std::to_string(position);
    return false;
  }

 private:
  // Whether the value is part of a skipped field.
  bool skipped() {
    if (!skipping_) return false;
    skipping_ = skipped_depth_ > 0;
    return true;
  }
  bool skip_deeper() {
    if (++skipped_depth_ <= kDeepestNesting) return true;
    return stop("tensor '" + entries.back().name + "': more than " + std::to_string(kDeepestNesting) +
                " lists within each other");
  }
  bool skip_out() {
    skipping_ = --skipped_depth_ > 0;
    return true;
  }

  bool stop(std::string why) {
    problem = std::move(why);
    return false;
  }
  bool refuse(const char* what) {
    if (depth_ == 0) return stop(std::string("the header is ") + what + ", not an object");
    if (in_metadata_ && depth_ == 1)
      return stop(std::string("'__metadata__' is ") + what + ", not an object");
    if (in_metadata_) return stop("metadata '" + field_ + "' is " + what + ", not a string");
    const std::string where = entries.empty() ? std::string() : "tensor '" + entries.back().name + "'";
    if (depth_ == 1) return stop(where + " is " + what + ", not an object");
    return stop(where + ": '" + field_ + "' holds " + what);
  }

  static constexpr uint64_t kNode = 128;  // bytes of a node of a map or set
  ReadBudget& budget_;
  std::unordered_set<std::string> names_;
  std::string field_;
  int depth_ = 0;
  bool in_array_ = false, in_metadata_ = false;
  bool skipping_ = false;  // a field of a tensor that the format does not have
  int skipped_depth_ = 0;  // open lists and objects in the skipped field
};

template <class File, class Element>
Tensor converted_elements(const std::vector<char>& bytes, const Shape& shape) {
  Tensor out = Tensor::empty(shape, dtype_of<Element>);
  Element* to = out.data<Element>();
  for (int64_t i = 0; i < out.numel(); ++i) {
    File value;
    std::memcpy(&value, bytes.data() + size_t(i) * sizeof(File), sizeof(File));
    to[i] = Element(value);
  }
  return out;
}

// The checks and reads of one file; its error texts name the file.
class SafetensorsLoader {
 public:
  SafetensorsLoader(const std::string& path, bool skip_unsupported)
      : path_(path), file_(path), budget_(path + ": its header"), skip_(skip_unsupported) {}

  FileInfo describe() {
    read_header();
    check_layout();
    FileInfo out{
        .format = "safetensors", .metadata = std::move(header_.metadata), .has_checksums = !sums_.empty()};
    for (const Entry& entry : header_.entries)
      out.arrays.push_back({entry.name, entry.dtype, entry.shape, entry.offsets[1] - entry.offsets[0]});
    return out;
  }

  FileInfo check() {
    FileInfo out = describe();
    for (size_t i = 0; i < header_.entries.size(); ++i)
      if (const SafetensorsType* type = find_file_type(header_.entries[i].dtype))
        read_tensor(header_.entries[i], *type, i);
    return out;
  }

  Safetensors load() {
    read_header();
    check_layout();
    Safetensors out;
    out.metadata = std::move(header_.metadata);
    out.has_checksums = !sums_.empty();
    for (size_t i = 0; i < header_.entries.size(); ++i) {
      const Entry& entry = header_.entries[i];
      const SafetensorsType* type = find_file_type(entry.dtype);
      if (type) out.tensors.emplace_back(entry.name, read_tensor(entry, *type, i));
    }
    return out;
  }

 private:
  template <class... Parts>
  [[noreturn]] void complain(const Parts&... parts) const {
    fail_as(ErrorKind::file, path_, ": ", parts...);
  }

  void read_header() {
    if (file_.size() < 8) complain("not a safetensors file: ", file_.size(), " bytes are too few");
    uint64_t length = 0;
    file_.read(&length, 0, 8);
    if (length > kLargestSafetensorsHeader)
      complain("not a safetensors file: a header of ", length, " bytes is over the limit of ",
               kLargestSafetensorsHeader);
    if (length > file_.size() - 8)
      complain("ends within its header: ", length, " bytes declared, ", file_.size() - 8, " found");
    budget_.take(length);
    std::string text(size_t(length), '\0');
    file_.read(text.data(), 8, length);
    if (text.empty() || text[0] != '{')
      complain("not a safetensors file: its header does not start with '{'");
    // The parser takes a zero byte as the end: entries after it, which other readers see, could be hidden.
    if (const size_t zero = text.find('\0'); zero != std::string::npos)
      complain("the header is not valid JSON at byte ", zero + 1);
    const bool summed = text.starts_with(kSumsBegin);
    if (summed && text.compare(kSumsBegin.size(), kChecksumDigits, sum_of_header(text)) != 0)
      complain("the header is damaged: its checksum is another one");
    if (!summed && began_with_sums(text)) complain("the header is damaged: the entry of its checksums is");
    if (!nlohmann::json::sax_parse(text, &header_)) complain(header_.problem);
    take_sums(summed);
    start_ = 8 + length;
  }

  void take_sums(bool summed) {
    std::map<std::string, std::string>& metadata = header_.metadata;
    const auto found = metadata.find(std::string(kSums));
    if (summed) sums_ = found->second.substr(kSumsStart.size());
    if (found != metadata.end()) metadata.erase(found);
    for (const auto& [name, value] : metadata)
      if (value.starts_with(kSumsStart)) complain("the header is damaged: the name of its checksums is");
  }

  void check_layout() {
    std::vector<Entry>& entries = header_.entries;
    for (const Entry& entry : entries) {
      if (entry.offsets.size() != 2 || entry.offsets[0] > entry.offsets[1])
        complain("tensor '", entry.name, "': 'data_offsets' is not a pair of begin and end");
      check_size(entry);
    }
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry& a, const Entry& b) { return a.offsets < b.offsets; });
    uint64_t end = 0;
    for (const Entry& entry : entries) {
      if (entry.offsets[0] != end)
        complain("tensor '", entry.name, "' begins at byte ", entry.offsets[0], " of the data, where ",
                 entry.offsets[0] > end ? "the one before leaves a hole from byte "
                                        : "the one before ends at byte ",
                 end);
      end = entry.offsets[1];
    }
    if (end != file_.size() - start_)
      complain("holds ", file_.size() - start_, " bytes of data, ", end, " declared");
    if (!sums_.empty() && sums_.size() != entries.size() * (kChecksumDigits + 1) + kChecksumDigits)
      complain("the header is damaged: it has not one checksum for each tensor");
  }

  void check_size(const Entry& entry) const {
    const SafetensorsType* type = find_file_type(entry.dtype);
    if (!type) {
      if (skip_) return;
      complain("tensor '", entry.name, "' has the unsupported type ", entry.dtype,
               " (skip_unsupported = true leaves it out)");
    }
    if (entry.shape.size() > size_t(kMaxDims))
      complain("tensor '", entry.name, "' has ", entry.shape.size(), " dims, at most ", kMaxDims,
               " are supported");
    const auto bytes = array_bytes(entry.shape, type->size);
    if (!bytes) complain("tensor '", entry.name, "': its shape overflows");
    if (*bytes != entry.offsets[1] - entry.offsets[0])
      complain("tensor '", entry.name, "': its shape and type need ", *bytes, " bytes, its offsets give ",
               entry.offsets[1] - entry.offsets[0]);
  }

  // Reads the bytes of the tensor with this index.
  void read_bytes(const Entry& entry, void* to, size_t number) const {
    const uint64_t count = entry.offsets[1] - entry.offsets[0], offset = start_ + entry.offsets[0];
    if (sums_.empty()) {
      if (count > 0) file_.read(to, offset, count);
      return;
    }
    const std::string sum = checksum_text(read_with_checksum(file_, to, offset, count));
    if (sums_.compare((number + 1) * (kChecksumDigits + 1), kChecksumDigits, sum) != 0)
      complain("tensor '", entry.name, "' is damaged: its checksum is another one");
  }

  Tensor read_tensor(const Entry& entry, const SafetensorsType& type, size_t number) const {
    Shape shape;
    for (const uint64_t size : entry.shape) shape.push_back(int64_t(size));
    if (type.size == item_size(type.dtype)) {
      Tensor out = Tensor::empty(shape, type.dtype);
      read_bytes(entry, out.raw(), number);
      if (type.dtype == DType::boolean) check_booleans(entry, out);
      return out;
    }
    HeldMemory held;
    held.add(size_t(entry.offsets[1] - entry.offsets[0]), path_);
    std::vector<char> bytes(size_t(entry.offsets[1] - entry.offsets[0]), '\0');
    read_bytes(entry, bytes.data(), number);
    const std::string_view name = type.name;
    if (name == "I8") return converted_elements<int8_t, int32_t>(bytes, shape);
    if (name == "I16") return converted_elements<int16_t, int32_t>(bytes, shape);
    if (name == "U16") return converted_elements<uint16_t, int32_t>(bytes, shape);
    return converted_elements<uint32_t, int64_t>(bytes, shape);
  }

  // Error for bytes other than 0 and 1: as bool they would be undefined behaviour.
  void check_booleans(const Entry& entry, const Tensor& x) const {
    const unsigned char* bytes = static_cast<const unsigned char*>(x.raw());
    for (int64_t i = 0; i < x.numel(); ++i)
      if (bytes[i] > 1)
        complain("tensor '", entry.name, "': a boolean holds ", int(bytes[i]), ", not 0 or 1");
  }

  const std::string& path_;
  const InputFile file_;
  ReadBudget budget_;
  bool skip_;
  SafetensorsHeaderReader header_{budget_};
  std::string sums_;  // sums of the header and of each entry in the order of the data; "" without checksums
  uint64_t start_ = 0;
};

}  // namespace

Safetensors load_safetensors(const std::string& path, bool skip_unsupported) {
  return SafetensorsLoader(path, skip_unsupported).load();
}

FileInfo describe_safetensors(const std::string& path) { return SafetensorsLoader(path, true).describe(); }
FileInfo check_safetensors(const std::string& path) { return SafetensorsLoader(path, true).check(); }

void save_safetensors(const std::string& path, const NamedTensors& tensors,
                      const std::map<std::string, std::string>& metadata) {
  // Sorts by descending element size, so that every tensor is aligned; by name within a type.
  NamedTensors sorted = tensors;
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    const size_t size = item_size(a.second.dtype()), other = item_size(b.second.dtype());
    return size != other ? size > other : a.first < b.first;
  });
  const auto quoted = [&](const std::string& text) {
    try {
      return nlohmann::json(text).dump();
    } catch (const nlohmann::json::exception&) {
      fail("safetensors: a name or metadata text of ", text.size(), " bytes is not valid UTF-8");
    }
  };
  std::string head = std::string(kSumsBegin) + kNoSum;
  const size_t first_sum = head.size() + 1;
  for (size_t i = 0; i < sorted.size(); ++i) head += " " + kNoSum;
  head += "\"";
  for (const auto& [key, value] : metadata)
    if (key != kSums) head += "," + quoted(key) + ":" + quoted(value);
  head += "}";
  uint64_t end = 0;
  std::unordered_set<std::string> names;
  for (const auto& [name, tensor] : sorted) {
    if (name == kMetadata) fail("safetensors: a tensor cannot be called '", kMetadata, "'");
    if (!names.insert(name).second) fail("safetensors: two tensors are called '", name, "'");
    std::string shape;
    for (const int64_t size : tensor.shape()) shape += (shape.empty() ? "" : ",") + std::to_string(size);
    const uint64_t begin = std::exchange(end, end + tensor.nbytes());
    head += "," + quoted(name) + ":{\"dtype\":\"" + file_type_name(tensor.dtype()) + "\",\"shape\":[" +
            shape + "],\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(end) + "]}";
  }
  head += "}";
  head.resize((head.size() + 7) / 8 * 8, ' ');
  if (head.size() > kLargestSafetensorsHeader)
    fail("safetensors: the header of ", head.size(), " bytes is over the limit");

  NoGrad off;
  const auto on_host = [](const Tensor& x) { return contiguous(to(x.detach(), cpu_device())); };
  const auto set_sum = [&](size_t i, uint64_t sum) {
    head.replace(first_sum + i * (kChecksumDigits + 1), kChecksumDigits, checksum_text(sum));
  };
  const auto set_header_sum = [&] { head.replace(kSumsBegin.size(), kChecksumDigits, sum_of_header(head)); };
  AtomicFile file(path);
  // The sums come before the data, and are computed while the data are written. A pipe cannot go back.
  const bool at_once = !file.has_positions();
  for (size_t i = 0; at_once && i < sorted.size(); ++i) {
    const Tensor host = on_host(sorted[i].second);
    set_sum(i, checksum_of(host.raw(), host.nbytes()));
  }
  if (at_once) set_header_sum();
  const uint64_t length = head.size();
  file.write(&length, 8);
  file.write(head);
  for (size_t i = 0; i < sorted.size(); ++i) {
    const Tensor host = on_host(sorted[i].second);
    if (at_once)
      file.write(host.raw(), host.nbytes());
    else
      set_sum(i, write_with_checksum(file, host.raw(), host.nbytes()));
  }
  if (!at_once) {
    set_header_sum();
    file.rewrite(8, head);
  }
  file.commit();
}

FileFormat safetensors_format() {
  return {.name = "safetensors",
          .about = "Tensors by name, and metadata.",
          .endings = {".safetensors"},
          .begins =
              [](std::string_view start) {
                return start.size() == kSniffed && start[8] == '{' && start[7] == '\0' &&
                       !start.starts_with(std::string_view("\0\0", 2));
              },
          .describe = describe_safetensors,
          .load_all = [](const std::string& path) { return load_safetensors(path); },
          .save_all =
              [](const std::string& path, const Safetensors& content) {
                save_safetensors(path, content.tensors, content.metadata);
              },
          .keeps_metadata = true,
          .takes_options = true};
}

}  // namespace lunagrad
