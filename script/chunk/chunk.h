#pragma once
// A compiled Lua 5.4 chunk, read back from lua_dump, to learn about a script before it runs. Any thread.
#include <cstdint>
#include <lua.hpp>
#include <string>
#include <vector>

namespace lunagrad {

static_assert(LUA_VERSION_NUM == 504, "chunks have the layout and the numbers of opcodes of Lua 5.4");

// The fields of an instruction from the lowest bit (lopcodes.h): opcode 7 bits, A 8, k 1, B 8, C 8; Bx is the
// upper 17 bits.
struct Instruction {
  uint32_t bits = 0;
  uint32_t opcode() const { return bits & 0x7f; }
  uint32_t a() const { return (bits >> 7) & 0xff; }
  uint32_t b() const { return (bits >> 16) & 0xff; }
  uint32_t c() const { return bits >> 24; }
  uint32_t bx() const { return bits >> 15; }
  bool k() const { return bits >> 15 & 1; }
};

// Opcodes of Lua 5.4 (lopcodes.h).
enum Opcode : uint32_t {
  kMove = 0,
  kLoadI = 1,
  kLoadF = 2,
  kLoadK = 3,
  kLoadFalseSkip = 6,
  kLoadNil = 8,
  kGetUpvalue = 9,
  kSetUpvalue = 10,
  kGetTabUp = 11,
  kGetTable = 12,
  kGetField = 14,
  kSetTabUp = 15,
  kSetTable = 16,
  kSetField = 18,
  kSelf = 20,
  kAddI = 21,
  kShiftLeftI = 33,
  kAdd = 34,
  kShiftRight = 45,
  kMmBin = 46,
  kMmBinK = 48,
  kMinus = 49,
  kNot = 51,
  kLength = 52,
  kClose = 54,
  kJump = 56,
  kEq = 57,
  kEqK = 60,
  kEqI = 61,
  kTest = 66,
  kTestSet = 67,
  kCall = 68,
  kTailCall = 69,
  kReturn = 70,
  kReturn1 = 72,
  kForLoop = 73,
  kForPrep = 74,
  kTForPrep = 75,
  kTForCall = 76,
  kTForLoop = 77,
  kSetList = 78,
  kClosure = 79,
  kVararg = 80,
  kVarargPrep = 81,
  kExtraArg = 82,
};

struct CompiledFunction {
  struct Upvalue {
    bool in_stack;  // a local of the enclosing function; else one of its upvalues
    size_t index;
  };
  struct Local {
    std::string name;
    size_t begin, end;  // instructions
  };
  std::vector<Instruction> code;
  std::vector<int> lines;              // line of each instruction
  std::vector<std::string> constants;  // "" for a constant that is no string
  std::vector<bool> numbers;           // whether a constant is a number
  size_t registers = 0;
  std::vector<Upvalue> upvalues;
  std::vector<CompiledFunction> functions;
  std::vector<Local> locals;
};

struct Registers {
  uint32_t first, end;  // [first, end)
};
// The registers that an instruction writes.
Registers written(Instruction);

// The function at the top of the stack.
CompiledFunction read_chunk(lua_State*);

}  // namespace lunagrad
