// The largest or smallest element and its index among the elements of a result; among equal ones the first.
// NaN precedes all numbers. The including file defines the type Key of keys, element_at(), Vector,
// vector_at() and with_vector().
struct State {
  Key key;
  uint place;
};
#define Element Key
#include "reduce.glsl"

const uint kNowhere = 0xffffffffu;

State none() {
  return State(Key(0), kNowhere);
}
// The element with the largest key wins.
State both(State a, State b) {
  const bool first = b.place == kNowhere || (a.place != kNowhere && (a.key > b.key || (a.key == b.key && a.place < b.place)));
  if (first) return a;
  return b;
}
void begin(int64_t base) {}

// An invocation visits the elements in order, so an equal element comes later.
State with(State state, Element key, uint i) {
  if (key > state.key || state.place == kNowhere) return State(key, i);
  return state;
}

// A key takes 8 bytes in memory.
void keep(uint64_t i, State state) {
  U64Element(arguments.parts + i * 16).at = uint64_t(state.key);
  I32Element(arguments.parts + i * 16 + 8).at = int(state.place);
}
State kept(uint64_t i) {
  return State(Key(U64Element(arguments.parts + i * 16).at), uint(I32Element(arguments.parts + i * 16 + 8).at));
}
// An integer type with the size of the elements, whose bits are copied.
const uint kRaw = TYPE == kI64 ? kI64 : TYPE == kI32 || TYPE == kF32 ? kI32 : TYPE == kF16 || TYPE == kBF16 ? kRaw16 : kU8;
void finish(uint index, State state) {
  store_integer(arguments.result, int64_t(index), kI64, int64_t(state.place));
  if (!SECOND) return;
  const int64_t base = kept_places(index).one;
  const int64_t at = VECTOR ? reduced_places(Places(base / kVectorSize, 0), state.place / kVectorSize).one * kVectorSize +
                                  state.place % kVectorSize
                            : reduced_places(Places(base, 0), state.place).one;
  store_integer(arguments.second, int64_t(index), kRaw, load_integer(arguments.operand, at, kRaw));
}
