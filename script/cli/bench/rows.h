#pragma once
// What `lunagrad bench --ops` times: one row for each op and way of using it, with operands of a natural
// size. Rows of elementwise.def and ops that take operands of one shape come by themselves. Pure values.
#include <string>
#include <utility>
#include <vector>

#include "runtime/op.h"

namespace lunagrad {

struct BenchInput {
  enum class Kind : uint8_t { real, index, boolean, absent } kind = Kind::real;
  Shape shape;
  double low = 0, high = 1;  // index: integers in [low, high)
};

// What limits an op: the speed of memory, or that of arithmetic.
enum class BenchScale : uint8_t { memory, arithmetic };

struct BenchRow {
  const Op* op;
  std::string variant;  // shown after the op's name
  std::vector<BenchInput> inputs;
  std::vector<std::pair<std::string, Value>> params;  // the others have their fallback
  BenchScale scale = BenchScale::memory;
  Arguments args{};  // of the optimizers
  std::string note;  // why it does not reach the speed of memory

  std::string name() const { return variant.empty() ? op->name : op->name + (" " + variant); }
};

// Rows whose operands have about `size` elements.
std::vector<BenchRow> bench_rows(int64_t size);

// The row's call on operands of the context's device; integer types get small numbers above 0.
Call bench_call(const BenchRow&, DType, bool transposed = false);

// Public ops that move no elements or cannot be called alone, and so have no row.
bool has_no_bench(const Op&);
// Public ops that lack a row though they should have one.
std::vector<const Op*> ops_without_bench(const std::vector<BenchRow>&);

}  // namespace lunagrad
