#pragma once
// The rows that `lunagrad bench --ops` times: one for each op and variant, with operands of a typical shape.
// Elementwise ops, and ops whose operands have one shape, get a row automatically. Rows are plain values;
// bench_call() makes tensors and uses the calling thread's context.
#include <string>
#include <utility>
#include <vector>

#include "runtime/core/op.h"

namespace lunagrad {

struct BenchInput {
  enum class Kind : uint8_t { real, index, boolean, absent } kind = Kind::real;
  Shape shape;
  double low = 0, high = 1;  // index: integers in [low, high)
};

// What limits an op: the speed of memory or of arithmetic.
enum class BenchScale : uint8_t { memory, arithmetic };

struct BenchRow {
  const Op* op;
  std::string variant;  // shown after the op's name
  std::vector<BenchInput> inputs;
  std::vector<std::pair<std::string, Value>> params;  // other parameters have their defaults
  BenchScale scale = BenchScale::memory;
  Arguments args{};  // for optimizer ops
  std::string note;  // why the op is slower than memcpy

  std::string name() const { return variant.empty() ? op->name : op->name + (" " + variant); }
};

// Rows whose operands have about `size` elements.
std::vector<BenchRow> bench_rows(int64_t size);

// Makes the row's call, with new operands on the default device. With an integer dtype, `real` operands
// hold 1 to 4. `transposed`: the last two dims of each operand are transposed in memory.
Call bench_call(const BenchRow&, DType, bool transposed = false);

// Whether an op needs no row: it is hidden, or only makes a view.
bool has_no_bench(const Op&);
// The ops that need a row but have none.
std::vector<const Op*> ops_without_bench(const std::vector<BenchRow>&);

}  // namespace lunagrad
