// A captured graph gives the bits of the recorded calls, on other operands and with other random numbers.
#include <doctest/doctest.h>

#include "runtime/deferral/captured_graph.h"
#include "runtime/ops.h"
#include "runtime/tape/tape.h"
#include "tests/runtime/deferral/numbers.h"
#include "tests/samples/samples.h"
#include "tests/support/same_bits.h"

using namespace lunagrad;
using namespace lunagrad::tests;

namespace {

// A step is a function of arguments that gives results.
template <class Step>
struct Recorded {
  std::unique_ptr<Recording> recording;
  std::vector<Use> results;

  Recorded(Step& step, const TensorList& arguments, const TensorList& leaves = {}) {
    recording = std::make_unique<Recording>(arguments, leaves);
    context().capturing = true;
    struct Open {
      ~Open() { context().capturing = false; }
    } const open;
    try {
      for (const Tensor& y : step(arguments)) results.push_back(y.defined() ? recording->use_of(y) : Use());
    } catch (...) {
      recording.reset();
      throw;
    }
    recording->end();
  }
};

TensorList run_again(CapturedGraph& captured, const std::vector<Use>& results, const TensorList& arguments) {
  REQUIRE(captured.begin(arguments));
  captured.run(0);
  TensorList values;
  for (const Use& part : results) values.push_back(part.slot >= 0 ? captured.take(part) : part.number);
  return values;
}

void check_same(const TensorList& got, const TensorList& expected) {
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    INFO("result ", i);
    REQUIRE(got[i].defined() == expected[i].defined());
    if (got[i].defined()) CHECK(same_bits(got[i], expected[i]));
  }
}

}  // namespace

TEST_CASE("every op sample that was captured gives the same bits and gradients on other operands") {
  size_t captured_count = 0, refused = 0, reading = 0;
  for (const Sample& sample : samples()) {
    if (sample.op.starts_with("empty")) continue;
    for (const DType type : {DType::f32, DType::bf16}) {
      if (!takes(sample, type)) continue;
      INFO(name_of(sample), " ", type);
      const Op& op = *find_op(sample.op);
      const auto operands = [&](uint64_t round) {
        TensorList list;
        for (size_t i = 0; i < sample.inputs.size(); ++i) {
          if (sample.inputs[i].kind == Kind::absent) continue;
          const Tensor x = make_input(sample.inputs[i], 100 * round + i);
          list.push_back(sample.inputs[i].kind == Kind::real ? to(x, type) : x);
        }
        return list;
      };
      auto step = [&](const TensorList& given) {
        Operands in;
        TensorList leaves;
        size_t next = 0;
        for (const SampleInput& input : sample.inputs) {
          if (input.kind == Kind::absent) {
            in.push_back({});
            continue;
          }
          Tensor x = clone(given[next++]);
          if (input.kind == Kind::real && op.vjp) leaves.push_back(x.requires_grad_());
          in.push_back(x);
        }
        const Operands out = apply(op, in, complete(op, sample.params));
        TensorList results;
        for (const Tensor& y : out) results.push_back(y.detach());
        if (const Tensor loss = weighted_loss(sample, out); loss.defined()) {
          backward(loss);
          for (const Tensor& leaf : leaves) results.push_back(leaf.grad());
        }
        return results;
      };
      std::unique_ptr<Recorded<decltype(step)>> recorded;
      try {
        recorded = std::make_unique<Recorded<decltype(step)>>(step, operands(1));
      } catch (const Error& error) {
        CHECK(std::string(error.what()).find("must not read a value") != std::string::npos);
        ++reading;
        continue;
      }
      if (!recorded->recording->refused().empty()) {
        ++refused;
        continue;
      }
      CapturedGraph captured(*recorded->recording, recorded->results);
      for (const uint64_t round : {2, 3}) {
        const TensorList now = operands(round);
        context().generator.seed(round);
        TensorList expected;
        try {
          expected = step(now);
        } catch (const Error&) {  // it refuses these values
          continue;
        }
        context().generator.seed(round);
        check_same(run_again(captured, recorded->results, now), expected);
      }
      ++captured_count;
    }
  }
  MESSAGE(captured_count, " captured, ", reading, " read values, ", refused, " refused");
  CHECK(captured_count > 500);
  CHECK(reading + refused < captured_count / 5);
}

TEST_CASE("results that only the step reads share memory, and a result that is held gets its own") {
  auto step = [](const TensorList& given) {
    Tensor x = given[0];
    for (int i = 0; i < 10; ++i) x = matmul(x, given[1]);
    return TensorList{x};
  };
  const TensorList given{numbers({64, 64}), numbers({64, 64})};
  const Recorded recorded(step, given);
  CapturedGraph captured(*recorded.recording, recorded.results);
  CHECK(captured.bytes_kept() == 2 * 64 * 64 * sizeof(float));
  const TensorList first = run_again(captured, recorded.results, given);
  const TensorList kept{clone(first[0])};
  const TensorList other{numbers({64, 64}), given[1]};
  const TensorList second = run_again(captured, recorded.results, other);
  check_same(first, kept);
  check_same(second, step(other));
  captured.finish();
  CHECK(other[0].storage().use_count() == 1);  // the step keeps no reference to the argument
  CHECK(!captured.fits({numbers({64, 32}), given[1]}));
  CHECK(!captured.fits({to(given[0], DType::f64), given[1]}));
}

TEST_CASE("a recording keeps no memory of results that the step drops") {
  const TensorList given{numbers({512, 512})};
  size_t peak = 0;
  auto step = [&](const TensorList& arguments) {
    Tensor x = arguments[0];
    cpu_device().reset_peak();
    const size_t before = cpu_device().memory().in_use;
    for (int i = 0; i < 100; ++i) x = exp(x) * 0.01;
    peak = cpu_device().memory().peak - before;
    return TensorList{x};
  };
  const Recorded recorded(step, given);
  CHECK(peak < 20 * size_t(given[0].nbytes()));
  CapturedGraph captured(*recorded.recording, recorded.results);
  check_same(run_again(captured, recorded.results, given), step(given));
}

TEST_CASE("a recording keeps no memory of a gradient that the step replaces") {
  Tensor w = numbers({512, 512});
  w.requires_grad_();
  w.set_grad(numbers({512, 512}));
  size_t before = 0, later = 0;
  auto step = [&](const TensorList& arguments) {
    before = cpu_device().memory().in_use;
    w.set_grad({});
    Tensor x = arguments[0];
    for (int i = 0; i < 20; ++i) x = exp(x) * 0.01;  // the recording looks for dropped tensors now and then
    later = cpu_device().memory().in_use;
    backward(sum(matmul(x, w)));
    return TensorList{x};
  };
  const Recorded recorded(step, {numbers({8, 512})}, {w});
  CHECK(later + size_t(w.nbytes()) < before + size_t(w.nbytes()) / 2);
}

TEST_CASE("a large step has no memory of its own between two steps, and takes no more than its script") {
  auto step = [](const TensorList& given) {
    Tensor x = given[0];
    for (int i = 0; i < 10; ++i) x = matmul(x, given[1]) + given[0];
    return TensorList{x};
  };
  const TensorList given{numbers({512, 512}), numbers({512, 512})};
  const size_t one = size_t(given[0].nbytes());
  const Recorded recorded(step, given);
  CapturedGraph captured(*recorded.recording, recorded.results);
  recorded.recording->forget_results();
  CHECK(captured.bytes_kept() == 0);
  const size_t before = cpu_device().memory().in_use;
  for (int round = 0; round < 3; ++round) {
    cpu_device().reset_peak();
    check_same(run_again(captured, recorded.results, given), step(given));
    CHECK(cpu_device().memory().peak <= before + 4 * one);  // two steps' results, and two of one step
    captured.finish();
    CHECK(cpu_device().memory().in_use <= before + one);
  }
}

TEST_CASE("recordings of different steps differ, and say where") {
  double factor = 2;
  bool extra = false;
  auto step = [&](const TensorList& given) {
    Tensor y = given[0] * factor;
    if (extra) y = exp(y);
    return TensorList{y};
  };
  const TensorList given{numbers({3})};
  const Recorded one(step, given), same(step, {numbers({3})});
  CHECK(one.recording->difference(*same.recording) == "");
  factor = 3;
  CHECK(one.recording->difference(*Recorded(step, given).recording).find("call 1, mul") == 0);
  factor = 2;
  extra = true;
  CHECK(one.recording->difference(*Recorded(step, given).recording) == "1 calls, and once 2");
}

TEST_CASE("what an op did not make, and what is changed without an op, cannot be captured") {
  const TensorList given{numbers({3})};
  auto constant = [](const TensorList& arguments) {
    const float values[] = {1, 2, 3};
    return TensorList{arguments[0] + Tensor::from<float>(values, {3})};
  };
  const Recorded one(constant, given), two(constant, given);
  CHECK(one.recording->difference(*two.recording).find("that no op of it makes") != std::string::npos);
  auto leaf = [](const TensorList& arguments) { return arguments; };
  Tensor x = numbers({3});
  x.requires_grad_();
  CHECK(Recorded(leaf, {x}).recording->refused().find("requires grad") != std::string::npos);
  auto outside = [](const TensorList& arguments) {
    const Tensor y = arguments[0] * 2.0;
    y.data<float>()[0] = 1;
    y.storage().mark_written("a host");
    return TensorList{y};
  };
  CHECK(Recorded(outside, given).recording->refused().find("changed by a host") != std::string::npos);
}
