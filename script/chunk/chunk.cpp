#include "script/chunk/chunk.h"

#include <cstring>
#include <map>

#include "runtime/core/error.h"

namespace lunagrad {
namespace {

constexpr int kAbsoluteLine = -0x80;  // marks an instruction whose line is in the list of absolute lines

class Reader {
 public:
  explicit Reader(std::string bytes) : bytes_(std::move(bytes)) {}

  CompiledFunction read() {
    at_ = 4 + 1 + 1 + 6 + 3 + sizeof(lua_Integer) + sizeof(lua_Number);  // skips the header
    byte();                                                              // number of upvalues
    return function();
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
  void constant(CompiledFunction& made) {
    const uint8_t tag = byte();
    const bool is_float = tag == (LUA_TNUMBER | (1 << 4));
    const bool is_text = tag == LUA_TSTRING || tag == (LUA_TSTRING | (1 << 4));
    const bool is_number = tag == LUA_TNUMBER || is_float;  // nil, false and true have only a tag
    if (is_number) skip(is_float ? sizeof(lua_Number) : sizeof(lua_Integer));
    made.constants.push_back(is_text ? string() : std::string());
    made.numbers.push_back(is_number);
  }

  CompiledFunction function() {
    CompiledFunction made;
    string();  // source
    const int first_line = int(size());
    size();
    skip(2);  // parameters, vararg
    made.registers = byte();
    for (size_t count = size(); count > 0; --count) {
      Instruction instruction;
      if (bytes_.size() - at_ < sizeof instruction.bits) fail("check: a compiled chunk ends too early");
      std::memcpy(&instruction.bits, bytes_.data() + at_, sizeof instruction.bits);
      at_ += sizeof instruction.bits;
      made.code.push_back(instruction);
    }
    for (size_t count = size(); count > 0; --count) constant(made);
    for (size_t count = size(); count > 0; --count) {
      const bool in_stack = byte() != 0;
      made.upvalues.push_back({in_stack, byte()});
      byte();  // kind
    }
    for (size_t count = size(); count > 0; --count) made.functions.push_back(function());
    made.lines = lines_of(first_line);
    made.lines.resize(made.code.size());
    for (size_t count = size(); count > 0; --count) {
      std::string name = string();
      const size_t begin = size();
      made.locals.push_back({std::move(name), begin, size()});
    }
    for (size_t count = size(); count > 0; --count) string();  // names of upvalues
    return made;
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
};

int append(lua_State*, const void* data, size_t size, void* to) {
  static_cast<std::string*>(to)->append(static_cast<const char*>(data), size);
  return 0;
}

}  // namespace

Registers written(const Instruction op) {
  constexpr uint32_t kAll = 256;
  const uint32_t a = op.a(), code = op.opcode();
  if (code == kSetUpvalue || (code >= kSetTabUp && code <= kSetField) ||
      (code >= kMmBin && code <= kMmBinK) || (code >= kClose && code <= kTest) ||
      (code >= kReturn && code <= kReturn1) || code == kSetList || code == kVarargPrep || code == kExtraArg)
    return {a, a};
  switch (code) {
    case kLoadNil:
      return {a, a + op.b() + 1};
    case kSelf:
      return {a, a + 2};
    case kCall:
    case kTailCall:
    case kVararg:
      return {a, kAll};
    case kForLoop:
    case kForPrep:
    case kTForPrep:
      return {a, a + 4};
    case kTForCall:
      return {a + 4, kAll};
    case kTForLoop:
      return {a + 2, a + 3};
    default:
      return {a, a + 1};
  }
}

CompiledFunction read_chunk(lua_State* L) {
  std::string bytes;
  lua_dump(L, append, &bytes, 0);
  return Reader(std::move(bytes)).read();
}

}  // namespace lunagrad
