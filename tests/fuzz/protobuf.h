#pragma once
// Changes messages of protocol buffers so that their lengths stay right: fields are changed, repeated,
// dropped and exchanged, at any depth.
#include <optional>
#include <string>
#include <vector>

#include "tests/fuzz/mutator.h"

namespace lunagrad::tests {

class ProtobufMutator {
 public:
  explicit ProtobufMutator(Mutator& mutator) : mutator_(mutator) {}

  std::string mutated(const std::string& bytes, const std::string& other, int depth = 0) {
    std::optional<std::vector<Field>> fields = parse(bytes);
    if (!fields || fields->empty() || depth > 8 || mutator_.one_in(12)) return mutator_.mutated(bytes, other);
    const size_t at = mutator_.below(fields->size());
    Field& field = (*fields)[at];
    switch (mutator_.below(8)) {
      case 0:
        fields->erase(fields->begin() + std::ptrdiff_t(at));
        break;
      case 1:
        fields->insert(fields->end(), mutator_.one_in(8) ? 1000 : 1, Field(field));
        break;
      case 2:
        field.key = (mutator_.below(25) << 3) | (field.key & 7);
        break;
      case 3:
        std::swap(field, (*fields)[mutator_.below(fields->size())]);
        break;
      case 4:  // nests the field in itself
        if ((field.key & 7) == 2)
          for (size_t left = mutator_.below(150); left > 0 && field.bytes.size() < 100'000; --left)
            field.bytes = text_of({field});
        break;
      default:
        field.bytes =
            (field.key & 7) == 2 ? mutated(field.bytes, other, depth + 1) : number_of(field.key & 7);
    }
    return text_of(*fields);
  }

 private:
  struct Field {
    uint64_t key = 0;
    std::string bytes;  // as written, without a length
  };

  static std::string varint(uint64_t value) {
    std::string out;
    for (; value >= 128; value >>= 7) out += char(value | 128);
    return out + char(value);
  }
  static std::string text_of(const std::vector<Field>& fields) {
    std::string out;
    for (const Field& field : fields)
      out += varint(field.key) + ((field.key & 7) == 2 ? varint(field.bytes.size()) : "") + field.bytes;
    return out;
  }
  std::string number_of(uint64_t type) {
    const uint64_t value = uint64_t(1) << mutator_.below(64);
    if (type == 0) return varint(mutator_.one_in(2) ? mutator_.below(300) : value - mutator_.below(2));
    return std::string(reinterpret_cast<const char*>(&value), type == 1 ? 8 : 4);
  }

  static std::optional<std::vector<Field>> parse(const std::string& bytes) {
    std::vector<Field> fields;
    size_t at = 0;
    const auto number = [&]() -> std::optional<uint64_t> {
      uint64_t value = 0;
      for (int shift = 0; shift < 64 && at < bytes.size(); shift += 7) {
        const auto byte = uint8_t(bytes[at++]);
        value |= uint64_t(byte & 127) << shift;
        if (byte < 128) return value;
      }
      return std::nullopt;
    };
    while (at < bytes.size()) {
      const std::optional<uint64_t> key = number();
      if (!key || *key >> 3 == 0) return std::nullopt;
      const size_t begin = at;
      size_t count = 0;
      switch (*key & 7) {
        case 0:
          if (!number()) return std::nullopt;
          fields.push_back({*key, bytes.substr(begin, at - begin)});
          continue;
        case 1:
          count = 8;
          break;
        case 5:
          count = 4;
          break;
        case 2: {
          const std::optional<uint64_t> length = number();
          if (!length || *length > bytes.size()) return std::nullopt;
          count = size_t(*length);
          break;
        }
        default:
          return std::nullopt;
      }
      if (count > bytes.size() - at) return std::nullopt;
      fields.push_back({*key, bytes.substr(at, count)});
      at += count;
    }
    return fields;
  }

  Mutator& mutator_;
};

}  // namespace lunagrad::tests
