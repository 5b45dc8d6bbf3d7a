// Groups of elementwise calls on the GPU have the bits of calls that run one by one.
#include <doctest/doctest.h>

#include <random>

#include "runtime/deferral/defer.h"
#include "runtime/deferral/explain.h"
#include "runtime/elementwise/elementwise.h"
#include "runtime/ops.h"
#include "runtime/tape/tape.h"
#include "tests/gpu/compare.h"
#include "tests/gpu/wait_for_shaders.h"
#include "tests/support/same_bits.h"
#include "tests/support/timing.h"

using namespace lunagrad;
using namespace lunagrad::tests;

namespace {

Tensor normal_numbers(const Shape& shape, DType type) {
  return to(to(randn(shape, DType::f32, cpu_device()), type), tests::gpu());
}

}  // namespace

TEST_CASE("groups of elementwise calls have the bits of single calls") {
  const WaitForShaders wait;
  std::vector<const Op*> rows;
  for (const Op* op : all_ops())
    if (op->elementwise >= 0 && row_traits(op->elementwise).types != RowTypes::kinteger) rows.push_back(op);
  const Shape shapes[] = {{24, 36}, {36}, {24, 1}, {1, 36}, {1}, {24, 36}, {24, 36}};
  const DType types[] = {DType::f32, DType::f32, DType::f16, DType::bf16, DType::boolean};
  size_t grouped = 0;
  const unsigned programs = long_run() ? 400 : 30;
  for (unsigned seed = 1; seed <= programs; ++seed) {
    INFO("seed ", seed);
    const auto program = [&](CallQueue* queue) {
      std::mt19937 random(seed);
      const auto below = [&](size_t count) { return size_t(random() % count); };
      context().generator.seed(seed);
      TensorList values;
      for (int i = 0; i < 4; ++i) {
        const Tensor x = normal_numbers(shapes[below(std::size(shapes))], types[below(std::size(types))]);
        values.push_back(x);
        if (x.dtype() == DType::f32) values.back().requires_grad_();
      }
      const DeferCalls defer(queue);
      for (size_t steps = 4 + below(20); steps > 0; --steps) {
        const Op& op = *rows[below(rows.size())];
        Operands in;
        for (size_t i = 0; i < op.inputs.size(); ++i)
          in.push_back(below(6) == 0 ? Tensor::number(double(below(5)) - 2)
                       : below(3)    ? values.back()
                                     : values[below(values.size())]);
        Values params;
        for (const ParamSpec& param : op.params)
          params.push_back(param.fallback.present() || param.optional ? param.fallback : Value(1.5));
        try {
          Tensor y = apply1(op, in, params);
          if (below(6) == 0 && y.ndim() == 2 && y.size(0) != y.size(1)) y = contiguous(transpose(y, 0, 1));
          if (y.ndim() == 2 && y.size(0) > y.size(1) && y.size(1) > 1) y = transpose(y, 0, 1);
          if (below(6) == 0) y = to(y, types[below(4)]);
          values.push_back(y);
        } catch (const Error&) {  // the op does not take these types
        }
      }
      Tensor loss;
      for (const Tensor& y : values)
        if (is_floating(y.dtype()) && y.requires_grad()) {
          const Tensor part = sum(to(y, DType::f32));
          loss = loss.defined() ? loss + part : part;
        }
      if (loss.defined() && !loss.is_leaf()) backward(loss);
      TensorList results = values;
      for (int i = 0; i < 4; ++i)
        if (values[size_t(i)].requires_grad() && values[size_t(i)].grad().defined())
          results.push_back(values[size_t(i)].grad());
      if (queue) queue->compute();
      return results;
    };
    const TensorList expected = program(nullptr);
    CallQueue queue;
    const TensorList got = program(&queue);
    for (const QueueReport::Done& done : queue.report()->calls) grouped += done.why == nullptr;
    REQUIRE(got.size() == expected.size());
    for (size_t i = 0; i < got.size(); ++i) {
      INFO("value ", i, " of ", got.size(), "\n", explain(*queue.report()));
      CHECK(same_bits(to(got[i], cpu_device()), to(expected[i], cpu_device())));
    }
  }
  CHECK(grouped > programs);
}

TEST_CASE("a chain on the GPU is one dispatch") {
  const WaitForShaders wait;
  const Tensor x = normal_numbers({256, 64}, DType::f32), row = normal_numbers({64}, DType::bf16);
  CallQueue queue;
  const auto chain = [&] { return tanh((x * row + 1.0) * 0.5 - x); };
  Tensor y;
  {
    const DeferCalls defer(&queue);
    y = chain();
    queue.compute();
  }
  CHECK(queue.report()->units == 1);
  CHECK(same_bits(to(y, cpu_device()), to(chain(), cpu_device())));
}

TEST_CASE("a group whose shader is not ready runs its members one by one") {
  const Tensor x = normal_numbers({33, 7}, DType::f32);
  const auto chain = [&] { return sigmoid(exp2(x * 0.25) - x / 3.0) * 7.0; };
  CallQueue queue;
  Tensor y;
  {
    const DeferCalls defer(&queue);
    y = chain();
    queue.compute();
  }
  CHECK(same_bits(to(y, cpu_device()), to(chain(), cpu_device())));
}

TEST_CASE("a call without operands that is deferred keeps its device") {
  CallQueue queue;
  Tensor y;
  {
    const DeferCalls defer(&queue);
    y = ones({3, 5}, DType::f32, tests::gpu()) * 2.0;
  }
  CHECK(to(y, cpu_device()).to_vector<double>() == std::vector<double>(15, 2.0));
}
