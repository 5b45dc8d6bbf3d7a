#include "script/time/keyframe.h"

#include <cstring>

#include "runtime/core/error.h"
#include "runtime/io/array_info.h"
#include "runtime/io/checksum.h"
#include "runtime/io/read_budget.h"

namespace lunagrad {
namespace {

// The file consists of this line, step, parameters, states, an index with the checksum of each tensor, and at
// the end the position of the index and the checksum of everything before. The index tells which tensor is
// damaged.
constexpr std::string_view kMagic = "lunagrad keyframe 2\n";
constexpr uint64_t kRatio = 256;  // bytes of values per byte of the file: a nil takes one byte

// The position of a tensor's value in the file.
struct Part {
  std::string path;  // "states.model.weight"
  uint64_t at = 0, size = 0, hash = 0;
};

class Writer {
 public:
  std::string bytes{kMagic};
  std::vector<Part> parts;

  template <class T>
  void put(T number) {
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  void put_text(std::string_view words) {
    put(uint64_t(words.size()));
    bytes += words;
  }
  void put_value(const Snapshot& snapshot, const std::string& path) {
    const size_t at = bytes.size();
    put(uint8_t(snapshot.value.index()));
    if (const auto* const table = std::get_if<Snapshot::Table>(&snapshot.value)) {
      put(uint64_t(table->size()));
      for (const auto& [key, value] : *table) {
        put_value(key, "");
        put_value(value, path.empty() ? key_text(key) : path + "." + key_text(key));
      }
      return;
    }
    std::visit([this](const auto& value) { put_kind(value); }, snapshot.value);
    if (!std::holds_alternative<Snapshot::Array>(snapshot.value)) return;
    const uint64_t size = bytes.size() - at;
    parts.push_back({path, at, size, hash_of(bytes.data() + at, size)});
  }
  void put_index() {
    const uint64_t at = bytes.size();
    put(uint64_t(parts.size()));
    for (const Part& part : parts) {
      put_text(part.path);
      put(part.at);
      put(part.size);
      put(part.hash);
    }
    put(hash_of(bytes.data() + at, bytes.size() - at));
    put(at);
  }

 private:
  void put_kind(std::monostate) {}
  void put_kind(bool value) { put(uint8_t(value)); }
  void put_kind(int64_t value) { put(value); }
  void put_kind(double value) { put(value); }
  void put_kind(const std::string& value) { put_text(value); }
  void put_kind(const Snapshot::Array& array) {
    put(uint8_t(array.dtype));
    put(uint8_t(array.on_device));
    put(uint8_t(array.shape.size()));
    for (const int64_t size : array.shape) put(size);
    put_text(array.bytes);
  }
  void put_kind(const Snapshot::Table&) {}  // put_value walks it
};

class Reader {
 public:
  Reader(std::string_view bytes, const std::string& path)
      : left_(bytes), path_(path), budget_(path, bytes.size(), kRatio) {}

  template <class T>
  T get() {
    T number;
    std::memcpy(&number, take(sizeof number).data(), sizeof number);
    return number;
  }
  std::string get_text() {
    const std::string_view text = take(get<uint64_t>());
    budget_.take(text.size());
    return std::string(text);
  }
  // `name`: bytes in the names of the enclosing tables, which the name of the value's hash contains.
  Snapshot get_value(int depth = 0, size_t name = 0) {
    if (depth > kDeepestNesting) complain(": more than ", kDeepestNesting, " tables within each other");
    budget_.take(2 * sizeof(Snapshot) + name);  // vectors double their memory
    switch (get<uint8_t>()) {
      case 0:
        return {};
      case 1:
        return {get<uint8_t>() != 0};
      case 2:
        return {get<int64_t>()};
      case 3:
        return {get<double>()};
      case 4:
        return {get_text()};
      case 5:
        return {get_array()};
      case 6:
        return {get_table(depth, name)};
      default:
        complain(": a value is of an unknown kind");
    }
  }
  bool at_end() const { return left_.empty(); }
  template <class... Parts>
  [[noreturn]] void complain(const Parts&... parts) const {
    fail_as(ErrorKind::file, path_, ": a damaged keyframe", parts...);
  }

 private:
  std::string_view take(uint64_t count) {
    if (count > left_.size()) complain(": it ends early");
    const std::string_view taken = left_.substr(0, count);
    left_.remove_prefix(count);
    return taken;
  }
  Snapshot::Array get_array() {
    Snapshot::Array array;
    const auto type = get<uint8_t>();
    if (type >= kDTypeCount) complain(": a tensor has the type ", int(type));
    array.dtype = DType(type);
    array.on_device = get<uint8_t>() != 0;
    const auto dims = get<uint8_t>();
    if (dims > kMaxDims) complain(": a tensor has ", int(dims), " dims");
    std::vector<uint64_t> sizes;
    for (int i = 0; i < dims; ++i) {
      array.shape.push_back(get<int64_t>());
      sizes.push_back(uint64_t(array.shape[i]));
    }
    array.bytes = get_text();
    if (array_bytes(sizes, item_size(array.dtype)) != array.bytes.size())
      complain(": a tensor of shape ", array.shape, " has ", array.bytes.size(), " bytes");
    if (array.dtype == DType::boolean)
      for (const char byte : array.bytes)
        if (uint8_t(byte) > 1) complain(": a boolean holds ", int(uint8_t(byte)), ", not 0 or 1");
    return array;
  }
  Snapshot::Table get_table(int depth, size_t name) {
    Snapshot::Table table;
    for (auto count = get<uint64_t>(); count > 0; --count) {
      Snapshot key = get_value(depth + 1);
      const size_t longer = name + 1 + key_text(key).size();
      table.emplace_back(std::move(key), get_value(depth + 1, longer));
    }
    return table;
  }

  std::string_view left_;
  const std::string& path_;
  ReadBudget budget_;
};

constexpr size_t kSum = sizeof(uint64_t);

uint64_t read_number(std::string_view bytes, size_t at) {
  uint64_t number;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

// The first tensor with a wrong checksum; "" when the damage is elsewhere.
std::string damaged_tensor(std::string_view bytes, const std::string& path) {
  const size_t end = bytes.size() - 2 * kSum;
  const uint64_t at = read_number(bytes, end);
  if (at > end || end - at < kSum ||
      read_number(bytes, end - kSum) != hash_of(bytes.data() + at, end - kSum - at))
    return {};
  Reader index(bytes.substr(at, end - kSum - at), path);
  for (auto count = index.get<uint64_t>(); count > 0; --count) {
    const std::string tensor = index.get_text();
    const auto from = index.get<uint64_t>(), size = index.get<uint64_t>(), hash = index.get<uint64_t>();
    if (from > at || size > at - from || hash != hash_of(bytes.data() + from, size)) return tensor;
  }
  return {};
}

}  // namespace

Hashes state_hashes(const Snapshot& content) {
  Hashes hashes;
  if (const Snapshot* const states = entry(content, "states")) hashes = hashes_of(*states);
  if (const Snapshot* const random = entry(content, "rng"))
    for (const auto& [name, hash] : hashes_of(*random)) hashes["random numbers: " + name] = hash;
  return hashes;
}

std::string encode(const Keyframe& keyframe) {
  Writer writer;
  writer.put(keyframe.step);
  writer.put(uint64_t(keyframe.params.size()));
  for (const ParamStart& param : keyframe.params) {
    writer.put_text(param.name);
    writer.put_text(param.declared);
    writer.put_text(param.value);
    writer.put_text(param.fallback);
    writer.put(uint8_t(param.edited));
  }
  writer.put_value(keyframe.content, "");
  writer.put_index();
  writer.put(hash_of(writer.bytes.data(), writer.bytes.size()));
  return std::move(writer.bytes);
}

Keyframe decode(std::string_view bytes, const std::string& path) {
  if (!bytes.starts_with(kMagic) || bytes.size() < kMagic.size() + 3 * kSum)
    fail_as(ErrorKind::file, path, ": a damaged keyframe: it is cut off, or of another version");
  const size_t end = bytes.size() - kSum;
  const bool whole = read_number(bytes, end) == hash_of(bytes.data(), end);
  const std::string damaged = whole ? std::string() : damaged_tensor(bytes, path);
  if (!damaged.empty())
    fail_as(ErrorKind::file, path, ": a damaged keyframe: tensor '", damaged,
            "' is damaged: its checksum is another one");
  const uint64_t index = read_number(bytes, end - kSum);
  Reader reader(bytes.substr(kMagic.size(), whole ? index - kMagic.size() : 0), path);
  if (!whole) reader.complain(": its checksum is another one");
  Keyframe keyframe;
  keyframe.step = reader.get<int64_t>();
  for (auto count = reader.get<uint64_t>(); count > 0; --count) {
    ParamStart param;
    param.name = reader.get_text();
    param.declared = reader.get_text();
    param.value = reader.get_text();
    param.fallback = reader.get_text();
    param.edited = reader.get<uint8_t>() != 0;
    keyframe.params.push_back(std::move(param));
  }
  keyframe.content = reader.get_value();
  if (!reader.at_end()) reader.complain(": values follow its last");
  keyframe.hashes = state_hashes(keyframe.content);
  return keyframe;
}

}  // namespace lunagrad
