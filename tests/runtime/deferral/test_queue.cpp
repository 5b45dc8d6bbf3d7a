// Deferred calls give the bits, errors and gradients of eager calls.
#include <doctest/doctest.h>

#include <random>

#include "runtime/cpu/parallel.h"
#include "runtime/deferral/defer.h"
#include "runtime/deferral/explain.h"
#include "runtime/ops.h"
#include "runtime/tape/tape.h"
#include "tests/runtime/deferral/numbers.h"
#include "tests/samples/hostile_calls.h"
#include "tests/support/same_bits.h"
#include "tests/support/threads.h"
#include "tests/support/timing.h"

using namespace lunagrad;
using namespace lunagrad::tests;

namespace {

// Out-of-memory messages end with the memory that is free at the time: it is cut off.
std::string kind_of(const std::string& error) { return error.substr(0, error.find(" fit: ")); }

void check_equal_results(const HostileResult& got, const HostileResult& expected) {
  CHECK(kind_of(got.error) == kind_of(expected.error));
  CHECK(got.gradient_error == expected.gradient_error);
  REQUIRE(got.outputs.size() == expected.outputs.size());
  for (size_t i = 0; i < got.outputs.size(); ++i) {
    REQUIRE(got.outputs[i].defined() == expected.outputs[i].defined());
    if (got.outputs[i].defined() && got.outputs[i].numel() < 100000)
      CHECK(same_bits(got.outputs[i], expected.outputs[i]));
  }
  REQUIRE(got.gradients.size() == expected.gradients.size());
  for (size_t i = 0; i < got.gradients.size(); ++i) {
    REQUIRE(got.gradients[i].defined() == expected.gradients[i].defined());
    if (got.gradients[i].defined()) CHECK(same_bits(got.gradients[i], expected.gradients[i]));
  }
}

// The results of f, deferred and computed at the end.
template <class F>
auto deferred_result(F&& f) {
  CallQueue queue;
  const DeferCalls defer(&queue);
  auto result = f();
  queue.compute();
  return result;
}

// Counts the calls that the queue computed in groups.
size_t grouped(const QueueReport& report) {
  size_t count = 0;
  for (const QueueReport::Done& done : report.calls) count += done.why == nullptr;
  return count;
}

}  // namespace

TEST_CASE("every op sample gives the same bits, errors and gradients when its calls are deferred") {
  for_hostile_calls(false, [](const HostileCall& call) {
    if (std::string_view(call.op->name).starts_with("empty")) return;
    INFO(name_of(call));
    const TensorList operands = operands_of(call);
    const HostileResult expected = run_hostile(call, operands);
    check_equal_results(deferred_result([&] { return run_hostile(call, operands); }), expected);
  });
}

TEST_CASE("random programs of elementwise calls give the same bits when their calls are deferred") {
  // Names of rows that take floats, and how many operands they have.
  struct RowOp {
    const Op* op;
    size_t operands;
  };
  std::vector<RowOp> rows;
  for (const Op* op : all_ops())
    if (op->elementwise >= 0 && op->params.empty()) rows.push_back({op, op->inputs.size()});
  const Shape shapes[] = {{40, 70}, {70}, {40, 1}, {1, 70}, {}, {3, 40, 70}};
  const DType types[] = {DType::f32, DType::f32, DType::f64, DType::f16, DType::bf16, DType::i64, DType::c64};
  size_t in_groups = 0;
  for (unsigned seed = 1; seed <= (long_run() ? 2000u : 150u); ++seed) {
    INFO("seed ", seed);
    const auto program = [&](QueueReport* report) {
      std::mt19937 random(seed);
      const auto below = [&](size_t count) { return size_t(random() % count); };
      context().generator.seed(seed);
      TensorList values;
      for (int i = 0; i < 3; ++i) {
        Tensor x = numbers(shapes[below(std::size(shapes))], DType::f32);
        const DType type = types[below(std::size(types))];
        values.push_back(type == DType::f32 ? x.requires_grad_() : to(x, type));
      }
      CallQueue queue;
      const DeferCalls defer(report ? &queue : nullptr);
      for (size_t steps = 5 + below(40); steps > 0; --steps) {
        const RowOp& row = rows[below(rows.size())];
        Operands in;
        for (size_t i = 0; i < row.operands; ++i)
          in.push_back(below(3) ? values.back() : values[below(values.size())]);
        try {
          Tensor y = apply1(*row.op, in);
          if (y.numel() > 10000) continue;
          if (below(8) == 0 && y.ndim() > 1) y = transpose(y, 0, 1);
          if (below(8) == 0) y = to(y, types[below(4)]);
          if (below(10) == 0 && y.ndim() > 0) y = sum(y, {0}, true);
          if (below(12) == 0 && !y.requires_grad() && is_floating(y.dtype())) {
            y = clone(y);
            apply_in_place(*find_op("mul"), {y, Tensor::number(0.5)});
          }
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
      if (loss.defined()) backward(loss);
      TensorList results = values;
      for (int i = 0; i < 3; ++i)
        if (values[size_t(i)].grad().defined()) results.push_back(values[size_t(i)].grad());
      queue.compute();
      if (report) *report = *queue.report();
      return results;
    };
    const TensorList expected = program(nullptr);
    QueueReport report;
    const TensorList got = program(&report);
    in_groups += grouped(report);
    REQUIRE(got.size() == expected.size());
    for (size_t i = 0; i < got.size(); ++i) {
      INFO("value ", i);
      CHECK(same_bits(got[i], expected[i]));
    }
  }
  CHECK(in_groups > 500);  // the programs do form groups
}

TEST_CASE("a chain is one group, and its inner results get no memory") {
  const Tensor x = numbers({256, 1024});
  CallQueue queue;
  {
    const DeferCalls defer(&queue);
    const Tensor y = tanh((x * x + 1.0) * 0.5 - x);
    const Threads one(1);
    const size_t before = cpu_device().memory().in_use;
    cpu_device().reset_peak();
    queue.compute();
    // One result, and the thread's buffers.
    CHECK(cpu_device().memory().peak - before < 2 * size_t(x.nbytes()));
    CHECK(grouped(*queue.report()) == 5);
    CHECK(queue.report()->units == 1);
    CHECK(queue.report()->bytes_saved == 4 * uint64_t(x.nbytes()));
    CHECK(explain(*queue.report()).find(" mul add mul sub tanh\n") != std::string::npos);
  }
}

TEST_CASE("a queue is computed when results that are in use take much memory, not for those that are not") {
  const Tensor x = numbers({512, 1024});
  const size_t window = std::max<size_t>(size_t(64) << 20, cpu_device().memory().total / 128);
  const size_t many = 2 * window / size_t(x.nbytes());
  CallQueue queue;
  const DeferCalls defer(&queue);
  Tensor y = x;
  for (size_t i = 0; i < many; ++i) y = y + 1.0;
  CHECK(queue.report()->calls.empty());
  y = Tensor();
  queue.compute();
  queue.begin_report();
  TensorList held;
  for (size_t i = 0; i < many; ++i) held.push_back(x + double(i));
  CHECK(!queue.report()->calls.empty());
}

TEST_CASE("a result that somebody holds gets memory, and a result that nobody holds is not computed") {
  const Tensor x = numbers({100, 100});
  CallQueue queue;
  const DeferCalls defer(&queue);
  const Tensor held = x * 2.0;
  const Tensor last = exp(held) + 1.0;
  static_cast<void>(matmul(x, x));
  queue.compute();
  CHECK(queue.report()->dropped == 1);
  CHECK(queue.report()->bytes_saved == uint64_t(x.nbytes()));
  const Tensor expected = x.detach() * 2.0;
  CHECK(same_bits(held, expected));
  CHECK(same_bits(last, exp(expected) + 1.0));
}

TEST_CASE("reads and writes in place keep their order") {
  const Tensor start = numbers({50, 60});
  const auto program = [&] {
    const Tensor x = clone(start), y = numbers({50, 60});
    const Tensor before = x * 3.0;
    apply_in_place(*find_op("add"), {x, y});
    const Tensor after = x * 3.0;
    copy_(narrow(x, 0, 10, 5), narrow(y, 0, 0, 5));
    const Tensor view = transpose(x, 0, 1);
    const Tensor last = view + 1.0;
    fill_(x, 7);
    return TensorList{before, after, last, x, view};
  };
  context().generator.seed(3);
  const TensorList expected = program();
  context().generator.seed(3);
  const TensorList got = deferred_result(program);
  for (size_t i = 0; i < got.size(); ++i) CHECK(same_bits(got[i], expected[i]));
}

TEST_CASE("a call that runs at once sees what was deferred before it, and is seen after it") {
  const Tensor x = numbers({64, 8}), where = randint(0, 64, {64});
  const auto program = [&] {
    Tensor table = x * 2.0;
    const Tensor picked = index_select(table, 0, where);  // reads indices: runs eagerly
    const Tensor doubled = picked * 2.0;
    apply_in_place(*find_op("add"), {table, Tensor::number(1.0)});
    return TensorList{picked, doubled, table};
  };
  const TensorList expected = program(), got = deferred_result(program);
  for (size_t i = 0; i < got.size(); ++i) CHECK(same_bits(got[i], expected[i]));
}

TEST_CASE("reading one value computes the queue; later calls are deferred again") {
  const Tensor x = numbers({10});
  CallQueue queue;
  const DeferCalls defer(&queue);
  const Tensor y = sum(x * x);
  CHECK_FALSE(queue.empty());
  const double value = y.item();
  CHECK(queue.empty());
  CHECK(value == sum(x * x).item());
}

TEST_CASE("a stop leaves the rest of the queue, which the next reader computes") {
  const Tensor a = numbers({900, 900});
  CallQueue queue;
  Tensor y, z;
  {
    const DeferCalls defer(&queue);
    y = matmul(a, a);
    for (int i = 0; i < 20; ++i) y = matmul(y, a) * 0.03;
    z = y + 1.0;
    context().stop_requested = true;
    CHECK_THROWS_AS(queue.compute(), Error);
    context().stop_requested = false;
    CHECK_FALSE(queue.empty());
  }
  Tensor expected = matmul(a, a);
  for (int i = 0; i < 20; ++i) expected = matmul(expected, a) * 0.03;
  CHECK(same_bits(z, expected + 1.0));
  CHECK(queue.empty());
}

TEST_CASE("a queue that ends gives its results memory") {
  const Tensor x = numbers({30, 30});
  Tensor y;
  {
    CallQueue queue;
    const DeferCalls defer(&queue);
    y = exp(x) * 2.0;
  }
  CHECK(same_bits(y, exp(x) * 2.0));
}

TEST_CASE("groups give the same bits with any number of threads") {
  const Tensor x = numbers({1000, 777}), row = numbers({777}), column = numbers({1000, 1}, DType::bf16);
  const auto program = [&] {
    return gelu(sigmoid(x * row + column) - transpose(numbers({777, 1000}), 0, 1));
  };
  const int before = thread_count();
  context().generator.seed(5);
  const Tensor expected = program();
  for (const int threads : {1, 2, 7}) {
    set_thread_count(threads);
    context().generator.seed(5);
    CHECK(same_bits(deferred_result(program), expected));
  }
  set_thread_count(before);
}
