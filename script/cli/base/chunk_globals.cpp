#include "script/cli/base/chunk_globals.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <string_view>

#include "runtime/error.h"

namespace lunagrad {
namespace {

static_assert(LUA_VERSION_NUM == 504, "the layout of chunks and the numbers of opcodes are those of Lua 5.4");

// The fields of an instruction from the lowest bit (lopcodes.h): opcode 7 bits, A 8, k 1, B 8, C 8.
constexpr uint32_t kGetTabUp = 11;  // R[A] = upvalue[B][K[C]]
constexpr uint32_t kSetTabUp = 15;  // upvalue[A][K[B]] = …
constexpr uint32_t kSetField = 18;  // R[A][K[B]] = …
uint32_t opcode(uint32_t i) { return i & 0x7f; }
uint32_t field_a(uint32_t i) { return (i >> 7) & 0xff; }
uint32_t field_b(uint32_t i) { return (i >> 16) & 0xff; }
uint32_t field_c(uint32_t i) { return i >> 24; }

constexpr int kAbsoluteLine = -0x80;  // the line of this instruction is in the list of absolute lines

class Chunk {
 public:
  explicit Chunk(std::string bytes) : bytes_(std::move(bytes)) {}

  std::vector<GlobalUse> uses() {
    at_ = 4 + 1 + 1 + 6 + 3 + sizeof(lua_Integer) + sizeof(lua_Number);  // the header
    byte();                                                              // number of upvalues
    function({});
    std::stable_sort(uses_.begin(), uses_.end(),
                     [](const GlobalUse& a, const GlobalUse& b) { return a.line < b.line; });
    return std::move(uses_);
  }

 private:
  uint8_t byte() {
    if (at_ >= bytes_.size()) fail("check: a compiled chunk ends too early");
    return uint8_t(bytes_[at_++]);
  }
  // A number in groups of 7 bits, the highest group first; the last byte has its top bit set.
  size_t size() {
    size_t value = 0;
    for (;;) {
      const uint8_t part = byte();
      value = (value << 7) | (part & 0x7f);
      if (part & 0x80) return value;
    }
  }
  void skip(size_t count) {
    if (count > bytes_.size() - at_) fail("check: a compiled chunk ends too early");
    at_ += count;
  }
  std::string string() {
    const size_t length = size();
    if (length == 0) return {};
    const size_t start = at_;
    skip(length - 1);
    return bytes_.substr(start, length - 1);
  }
  std::string constant() {
    switch (byte()) {
      case LUA_TNUMBER:  // integer
        skip(sizeof(lua_Integer));
        break;
      case LUA_TNUMBER | (1 << 4):
        skip(sizeof(lua_Number));
        break;
      case LUA_TSTRING:
      case LUA_TSTRING | (1 << 4):
        return string();
      default:  // nil, false and true have only a tag
        break;
    }
    return {};
  }

  // `outside`: for each upvalue of the enclosing function, whether it is the table of globals.
  void function(const std::vector<bool>& outside) {
    string();  // source
    const int first_line = int(size());
    size();
    skip(3);  // parameters, vararg, stack
    std::vector<uint32_t> code(size());
    for (uint32_t& instruction : code) {
      if (bytes_.size() - at_ < sizeof instruction) fail("check: a compiled chunk ends too early");
      std::memcpy(&instruction, bytes_.data() + at_, sizeof instruction);
      at_ += sizeof instruction;
    }
    std::vector<std::string> constants(size());
    for (std::string& value : constants) value = constant();
    // The only upvalue of the main chunk is the table of globals; an inner function inherits it.
    std::vector<bool> globals(size());
    for (size_t i = 0; i < globals.size(); ++i) {
      const bool in_stack = byte() != 0;
      const size_t index = byte();
      byte();
      globals[i] = outside.empty() ? i == 0 : !in_stack && index < outside.size() && outside[index];
    }
    for (size_t count = size(); count > 0; --count) function(globals);
    const std::vector<int> lines = lines_of(first_line);
    for (size_t count = size(); count > 0; --count) string(), size(), size();  // locals
    for (size_t count = size(); count > 0; --count) string();                  // names of upvalues
    // The register that holds _G, if the last global that was read is _G; otherwise UINT32_MAX.
    uint32_t whole = UINT32_MAX;
    for (size_t i = 0; i < code.size(); ++i) {
      const uint32_t op = code[i];
      const int line = i < lines.size() ? lines[i] : 0;
      const auto use = [&](size_t key, GlobalUse::Kind kind) {
        if (key < constants.size()) uses_.push_back({constants[key], line, kind});
      };
      if (opcode(op) == kGetTabUp && globals.at(field_b(op))) {
        use(field_c(op), GlobalUse::Kind::read);
        whole = constants.at(field_c(op)) == "_G" ? field_a(op) : UINT32_MAX;
      } else if (opcode(op) == kSetTabUp && globals.at(field_a(op))) {
        use(field_b(op), GlobalUse::Kind::assigned);
      } else if (opcode(op) == kSetField && field_a(op) == whole) {
        use(field_b(op), GlobalUse::Kind::declared);
      }
    }
  }

  std::vector<int> lines_of(int line) {
    std::vector<int8_t> steps(size());
    for (int8_t& step : steps) step = int8_t(byte());
    std::map<size_t, int> absolute;
    for (size_t count = size(); count > 0; --count) {
      const size_t instruction = size();
      absolute[instruction] = int(size());
    }
    std::vector<int> lines;
    for (size_t i = 0; i < steps.size(); ++i) {
      line = steps[i] == kAbsoluteLine ? absolute[i] : line + steps[i];
      lines.push_back(line);
    }
    return lines;
  }

  const std::string bytes_;
  size_t at_ = 0;
  std::vector<GlobalUse> uses_;
};

int append(lua_State*, const void* data, size_t size, void* to) {
  static_cast<std::string*>(to)->append(static_cast<const char*>(data), size);
  return 0;
}

}  // namespace

std::vector<GlobalUse> global_uses(lua_State* L) {
  std::string bytes;
  lua_dump(L, append, &bytes, 0);
  return Chunk(std::move(bytes)).uses();
}

}  // namespace lunagrad
