// Calls with more elements than kernels count: in parts on the device, or on the CPU with the true reason. A
// lower limit stands for 2^31 elements.
#include <string>

#include "gpu/ops/kernels.h"
#include "runtime/elementwise/elementwise.h"
#include "tests/gpu/run_sample.h"

namespace lunagrad::tests {
namespace {

using gpu::LimitElements;

const std::set<std::string> kReducing = {"sum", "prod",  "amax",    "amin", "all",
                                         "any", "_norm", "_nansum", "mean"};
const std::set<std::string> kCopies = {"clone", "_copy", "_cast", "full", "zeros", "ones"};

bool is_cut(const Op& op) {
  return bool(elementwise_use(op)) || kReducing.count(op.name) || kCopies.count(op.name);
}

TEST_CASE(
    "samples of ops that run in parts, and their gradients, equal the CPU's if kernels count few elements") {
  constexpr int64_t kMost = 4;
  std::set<std::string> left;  // to the CPU, by ops that run in parts
  int count = 0;
  for (const Sample& sample : samples()) {
    const Op* op = find_op(sample.op);
    const TensorList inputs = sample_inputs(sample);
    if (inputs.empty() || !is_cut(*op) || asks_for_c128(*op, sample)) continue;
    const SampleResult expected = run_sample(*op, sample, inputs);
    TensorList there;
    for (const Tensor& x : inputs) there.push_back(arrange(x, Arrangement::contiguous));
    Fallbacks fallbacks;
    const LimitElements limit(kMost);
    const SampleResult got = run_sample(*op, sample, there);
    ++count;
    for (const auto& [name, times] : fallbacks.ops)
      if (is_cut(*find_op(name))) left.insert(name);
    for (size_t i = 0; i < got.outputs.size(); ++i)
      CHECK_MESSAGE(distance(got.outputs[i], expected.outputs[i]) <= kTolerance, name_of(sample));
    for (size_t i = 0; i < got.gradients.size(); ++i)
      CHECK_MESSAGE(distance(got.gradients[i], expected.gradients[i], sample.smallest_scale) <= kTolerance,
                    name_of(sample) << ": gradient " << i);
  }
  CHECK(count > 200);
  for (const std::string& name : left) CHECK_MESSAGE(false, name << " fell back to the CPU");
}

TEST_CASE("large reductions keep the precision and the shape of a single pass") {
  const NoGrad off;
  const Tensor x = random({40, 30, 20}, 3, 0.5, 1.5);
  for (const DType type : {DType::f32, DType::bf16, DType::f16})
    for (const Value& dims : {Value(), Value(Dims{0}), Value(Dims{1, 2}), Value(Dims{2}), Value(Dims{0, 2})})
      for (const bool keepdim : {false, true})
        for (const char* const name : {"sum", "mean", "amax"}) {
          const Tensor there = to(to(x, type), gpu());
          const Tensor whole = apply1(*find_op(name), {there}, {dims, keepdim});
          const Fallbacks fallbacks;
          const LimitElements limit(1000);
          const Tensor parts = apply1(*find_op(name), {there}, {dims, keepdim});
          require_none(fallbacks);
          CHECK(distance(to(to(parts, cpu_device()), DType::f64), to(to(whole, cpu_device()), DType::f64)) <
                (type == DType::f32   ? 1e-6
                 : type == DType::f16 ? 1e-3
                                      : 8e-3));
        }
}

TEST_CASE("writes in place and broadcast operands are cut") {
  const NoGrad off;
  const Tensor x = to(random({7, 5, 11}, 4), gpu()), row = to(random({11}, 5), gpu());
  const Tensor wanted = (x + row) * unsqueeze(select(x, 2, 0), 2);
  const Fallbacks fallbacks;
  const LimitElements limit(13);
  const Tensor got = clone(x);
  apply_in_place(*find_op("add"), {got, row});
  apply_in_place(*find_op("mul"), {got, unsqueeze(select(x, 2, 0), 2)});
  fill_(select(got, 0, 1), 2.5);
  require_none(fallbacks);
  fill_(select(wanted, 0, 1), 2.5);
  CHECK(words(got) == words(wanted));
  CHECK(words(transpose(got, 0, 2) + 1.0) == words(transpose(wanted, 0, 2) + 1.0));
}

// Keeps the reason of the last call that ran on the CPU.
struct Reasons final : Trace {
  Reasons() { context().trace = this; }
  ~Reasons() override { context().trace = nullptr; }
  void ran(const Call&, uint64_t) override {}
  void fell_back(const Call&, const char* reason) override { last = reason; }
  std::string last;
};

TEST_CASE("a call that is too large for its kernel says so") {
  const NoGrad off;
  const Tensor x = to(random({40}, 6), gpu());
  Reasons reasons;
  {
    const LimitElements limit(20);
    apply(*find_op("var"), {x}, complete(*find_op("var"), {}));
  }
  CHECK(reasons.last == "the device has no kernel for tensors of 20 elements or more");
  const Tensor exact = to(to(x, DType::f64), gpu());
  (void)(exact + 1.0);
  CHECK(reasons.last == "the device has no kernel for f64");
}

TEST_CASE("a call that fits neither the device's kernel nor the host's memory is an error") {
  const NoGrad off;
  const Tensor x = expand(zeros({1}, DType::f32, gpu()), {int64_t(1) << 42});
  std::string message;
  try {
    apply(*find_op("var"), {x}, complete(*find_op("var"), {}));
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::memory);
    message = error.what();
  }
  CHECK(message.starts_with("var: the device has no kernel for tensors of 2147483648 elements or more, and"));
  CHECK(message.find("[4398046511104]") != std::string::npos);
  CHECK(message.find("chunk()") != std::string::npos);
}

}  // namespace
}  // namespace lunagrad::tests
