// Casts that do not depend on each other are one dispatch on the GPU, with the bits of single casts and no
// more memory.
#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/deferral/defer.h"
#include "runtime/deferral/explain.h"
#include "runtime/ops.h"
#include "runtime/tape/tape.h"
#include "tests/gpu/compare.h"
#include "tests/support/same_bits.h"

namespace lunagrad::tests {
namespace {

Tensor there(const Shape& shape, uint64_t stream) { return to(random(shape, stream, -1, 1), gpu()); }

size_t units_with(const QueueReport& report, std::string_view op) {
  std::vector<uint32_t> units;
  for (const QueueReport::Done& done : report.calls)
    if (done.op->name == op) units.push_back(done.unit);
  std::sort(units.begin(), units.end());
  return size_t(std::unique(units.begin(), units.end()) - units.begin());
}

// Bytes by which memory may differ: sizes of ranges are rounded, and the queue drops operands after the call.
constexpr size_t kSlack = 4096;

struct Measured {
  TensorList values;
  size_t peak;  // bytes
};

template <class F>
Measured measure(F&& program, CallQueue* queue) {
  gpu().release_unused();
  gpu().reset_peak();
  const size_t before = gpu().memory().in_use;
  Measured measured;
  {
    const DeferCalls defer(queue);
    measured.values = program();
    if (queue) queue->compute();
  }
  measured.peak = gpu().memory().peak - before;
  return measured;
}

template <class F>
size_t check_same(F&& program, CallQueue& queue) {
  const Measured expected = measure(program, nullptr), got = measure(program, &queue);
  REQUIRE(got.values.size() == expected.values.size());
  for (size_t i = 0; i < got.values.size(); ++i) {
    INFO("value ", i);
    CHECK(same_bits(to(got.values[i], cpu_device()), to(expected.values[i], cpu_device())));
  }
  CHECK(got.peak <= expected.peak + kSlack);
  return units_with(*queue.report(), "_cast");
}

TEST_CASE("the casts of weights and of their gradients are joined") {
  TensorList weights;
  for (int64_t i = 0; i < 12; ++i) weights.push_back(there({40 + i, 41 + i}, uint64_t(i)).requires_grad_());
  const Tensor x = to(there({400, 40}, 77), DType::bf16);
  const auto program = [&] {
    Tensor y = x;
    for (const Tensor& w : weights) y = tanh(matmul(y, to(w, DType::bf16)));
    backward(sum(to(y, DType::f32)));
    TensorList results{y};
    for (const Tensor& w : weights) {
      results.push_back(w.grad());
      w.set_grad({});
    }
    return results;
  };
  CallQueue queue;
  const size_t units = check_same(program, queue);
  INFO(explain(*queue.report()));
  CHECK(units <= 4);  // of 25 casts
}

TEST_CASE("casts stay where they are if joining them takes more memory") {
  TensorList weights;
  for (uint64_t i = 0; i < 12; ++i) weights.push_back(there({256, 256}, i));
  const Tensor x = to(there({2, 256}, 77), DType::bf16);
  const auto program = [&] {  // each cast is dropped when the next one is made
    Tensor y = x;
    for (const Tensor& w : weights) y = matmul(y, to(w, DType::bf16));
    return TensorList{y};
  };
  CallQueue queue;
  const size_t units = check_same(program, queue);
  CHECK(units == 12);
}

TEST_CASE("a cast is computed between the writes of its operand") {
  const Tensor start = there({100}, 1), more = there({100}, 2), other = there({50}, 3);
  const auto program = [&] {
    const Tensor x = clone(start);
    const Tensor before = to(x, DType::bf16);
    apply_in_place(*find_op("add"), {x, more});
    const Tensor between = to(x, DType::bf16), unrelated = to(other, DType::bf16);
    apply_in_place(*find_op("mul"), {x, more});
    const Tensor after = to(x, DType::bf16), back = to(after, DType::f32);
    apply_in_place(*find_op("add"), {after, Tensor::number(1.0)});
    return TensorList{before, between, unrelated, after, back, x};
  };
  CallQueue queue;
  const size_t units = check_same(program, queue);
  CHECK(units >= 3);
}

TEST_CASE("casts of any types, sizes and alignments are joined") {
  for (const DType from : {DType::f32, DType::f16, DType::bf16, DType::i64, DType::boolean})
    for (const DType into : {DType::f32, DType::f16, DType::bf16}) {
      if (from == into) continue;
      INFO(from, " to ", into);
      TensorList operands;
      for (int64_t i = 0; i < 9; ++i) {
        const Tensor x = to(there({i % 3 ? 1000 + i : 1024 * (i + 1)}, uint64_t(i)) * 3.0, from);
        operands.push_back(i % 4 == 3 ? narrow(x, 0, i, 500) : x);
      }
      const auto program = [&] {
        TensorList results;
        for (const Tensor& x : operands) results.push_back(to(x, into));
        return results;
      };
      CallQueue queue;
      const size_t units = check_same(program, queue);
      CHECK(units == (is_floating(from) ? 1 : operands.size()));
    }
}

}  // namespace
}  // namespace lunagrad::tests
