// Plans of random calls keep the order of all reads and writes.
#include <doctest/doctest.h>

#include <random>

#include "runtime/deferral/groups.h"
#include "runtime/ops.h"
#include "tests/support/timing.h"

using namespace lunagrad;
using namespace lunagrad::tests;

namespace {

// Calls of elementwise ops, reductions of rows and ops that join no group, on matrices and columns. None is
// run.
struct RandomCalls {
  std::vector<QueuedCall> calls;
  std::vector<uint8_t> alive;
  TensorList values;

  explicit RandomCalls(unsigned seed) {
    std::mt19937 random(seed);
    const auto below = [&](size_t count) { return size_t(random() % count); };
    for (int i = 0; i < 4; ++i) make(i % 2 ? Shape{4, 1} : Shape{4, 3});
    for (size_t count = 10 + below(90); count > 0; --count) {
      const Tensor a = values[below(4) ? values.size() - 1 - below(std::min<size_t>(values.size(), 6))
                                       : below(values.size())];
      const Tensor b = values[below(values.size())];
      QueuedCall queued;
      queued.device = &cpu_device();
      Call& call = queued.call;
      switch (below(8)) {
        case 0:  // a sum over rows
          call.op = find_op("sum");
          call.in = {a};
          call.params = {Value(Dims{-1}), Value(true)};
          queued.fuses = a.size(1) > 1;
          call.out = {make({4, 1})};
          break;
        case 1:  // joins no group
          call.op = find_op("matmul");
          call.in = {a, b};
          call.out = {make(below(2) ? Shape{4, 3} : Shape{4, 1})};
          break;
        case 2:  // in place
          call.op = find_op("add");
          call.in = {a, b};
          call.out = {a};
          break;
        default:
          call.op = find_op("add");
          call.in = {a, b};
          queued.fuses = true;
          call.out = {make(a.size(1) >= b.size(1) ? a.shape() : b.shape())};
      }
      calls.push_back(queued);
    }
    for (size_t i = 0; i < values.size(); ++i) alive.push_back(i < 4 || below(3) == 0);
  }

 private:
  Tensor make(const Shape& shape) {
    const Tensor x = Tensor::empty(shape, DType::f32);
    x.storage().place = uint32_t(values.size());
    values.push_back(x);
    return x;
  }
};

bool touches(const Operands& list, const Tensor& x) {
  return std::any_of(list.begin(), list.end(),
                     [&](const Tensor& y) { return y.storage_ref() == x.storage_ref(); });
}
// Whether one of the calls writes what the other reads or writes.
bool depend(const Call& a, const Call& b) {
  return touches(a.in, b.output()) || touches(a.out, b.output()) || touches(b.in, a.output());
}

}  // namespace

TEST_CASE("a plan computes calls that depend on each other in their order, and each needed call once") {
  size_t members = 0;
  for (unsigned seed = 1; seed <= (long_run() ? 100000u : 3000u); ++seed) {
    INFO("seed ", seed);
    const RandomCalls random(seed);
    const Plan plan = plan_calls(random.calls, random.alive);
    REQUIRE(plan.order.size() + plan.dropped == random.calls.size());
    std::vector<int> at(random.calls.size(), -1);
    for (size_t i = 0; i < plan.order.size(); ++i) {
      REQUIRE(at[plan.order[i]] == -1);
      at[plan.order[i]] = int(i);
    }
    bool in_order = true;
    for (size_t j = 0; j < at.size(); ++j)
      for (size_t i = 0; i < j; ++i)
        if (at[i] >= 0 && at[j] >= 0 && depend(random.calls[i].call, random.calls[j].call))
          in_order = in_order && at[i] < at[j];
    CHECK(in_order);
    for (size_t u = 0; u < plan.units(); ++u)
      if (plan.unit(u).size() > 1) members += plan.unit(u).size();
  }
  CHECK(members > 10000);
}
