// Calls with more elements than kernels count: in parts on the device, or on the CPU with the true reason. A
// lower limit stands for 2^31 elements.
#include <string>

#include "gpu/ops/kernels.h"
#include "runtime/elementwise/elementwise.h"
#include "tests/gpu/run_sample.h"

namespace lunagrad::tests {
namespace {

using gpu::LimitElements;

// The ops that run in parts of any size.
const std::set<std::string> kCut = {
    "sum",       "prod",    "amax",       "amin",         "all",    "any",
    "_norm",     "_nansum", "mean",       "var",          "std",    "_var_mean",
    "_std_mean", "clone",   "_copy",      "_cast",        "full",   "zeros",
    "ones",      "cat",     "flip",       "_roll",        "_pad",   "_as_strided_scatter",
    "_dropout",  "tril",    "triu",       "index_select", "gather", "_select_once",
    "_aminmax",  "frexp",   "_nextafter", "polar",        "complex"};
// The ops whose rows stay whole.
const std::set<std::string> kProducts = {"matmul", "linear"};
const std::set<std::string> kCutAcross = {
    "embedding", "softmax",       "argmax",      "argmin",        "_max",   "_min",   "_cumsum",
    "_cumprod",  "_softmax_grad", "log_softmax", "_logcumsumexp", "cummax", "cummin", "_log_softmax_grad"};

// The most elements for which all calls of the op's samples run in parts.
int64_t limit_of(const Op& op) {
  if (elementwise_use(op) || kCut.count(op.name)) return 4;
  return kProducts.count(op.name) ? 128 : kCutAcross.count(op.name) ? 24 : 0;
}

TEST_CASE(
    "samples of ops that run in parts, and their gradients, equal the CPU's if kernels count few elements") {
  std::set<std::string> left;  // to the CPU, by ops that run in parts
  int count = 0;
  for (const Sample& sample : samples()) {
    const Op* op = find_op(sample.op);
    const TensorList inputs = sample_inputs(sample);
    const int64_t most = limit_of(*op);
    if (inputs.empty() || most == 0 || asks_for_c128(*op, sample)) continue;
    const SampleResult expected = run_sample(*op, sample, inputs);
    TensorList there;
    for (const Tensor& x : inputs) there.push_back(arrange(x, Arrangement::contiguous));
    Fallbacks fallbacks;
    const LimitElements limit(most);
    const SampleResult got = run_sample(*op, sample, there);
    ++count;
    for (const auto& [name, times] : fallbacks.ops)
      if (const int64_t of_name = limit_of(*find_op(name)); of_name != 0 && of_name <= most)
        left.insert(name);
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

TEST_CASE("numbers that are made in parts equal the numbers of a single pass") {
  const NoGrad off;
  Device& device = gpu();
  const auto draws = [&](DType type) {
    context().generator.seed(8);
    const Tensor chances = full({5, 37}, 0.3, type, device);
    return TensorList{rand({5, 37}, type, device), randn({5, 37}, type, device), dropout(chances, 0.4),
                      bernoulli(chances)};
  };
  const auto integers = [&] {
    context().generator.seed(9);
    return TensorList{randint(-3, 90, {101}, DType::i64, device),
                      randint(-3, 90, {101}, DType::i32, device),
                      randint(-3, int64_t(1) << 40, {101}, DType::i64, device),
                      arange(-5, 200, 3, DType::i64, device),
                      arange(0, 130, 1, DType::u8, device),
                      eye(13, 11, DType::f32, device),
                      full({7, 19}, 3, DType::bf16, device)};
  };
  const auto ramps = [&] {
    return TensorList{arange(0.5, 60, 0.7, DType::f32, device), linspace(-3, 7, 101, DType::f32, device),
                      linspace(0, 50, 31, DType::f16, device)};
  };
  const auto compare = [&](auto&& made) {
    const TensorList whole = made();
    for (const int64_t most : {9, 16, 41}) {
      const Fallbacks fallbacks;
      const LimitElements limit(most);
      const TensorList parts = made();
      require_none(fallbacks);
      for (size_t i = 0; i < whole.size(); ++i)
        CHECK_MESSAGE(words(parts[i]) == words(whole[i]), "tensor " << i);
    }
  };
  for (const DType type : {DType::f32, DType::f16, DType::bf16}) compare([&] { return draws(type); });
  compare([&] {
    context().generator.seed(8);
    return TensorList{view_as_real(randn({33}, DType::c64, device))};
  });
  compare(integers);
  const TensorList whole = ramps();
  const LimitElements limit(17);
  const TensorList parts = ramps();
  for (size_t i = 0; i < whole.size(); ++i)
    CHECK(distance(to(parts[i], cpu_device()), to(whole[i], cpu_device())) < (i == 2 ? 1e-3 : 1e-7));
}

TEST_CASE("sums of complex numbers count both parts") {
  const NoGrad off;
  const Tensor z = to(complex(random({6, 11}, 3), random({6, 11}, 4)), gpu());
  const Fallbacks fallbacks;
  const auto sums = [&](const Value& dims) { return apply1(*find_op("sum"), {z}, {dims, false}); };
  for (const Value& dims : {Value(), Value(Dims{0}), Value(Dims{1})}) {
    const Tensor wanted = sums(dims);
    const LimitElements limit(8);  // fewer than four results
    CHECK(distance(to(sums(dims), cpu_device()), to(wanted, cpu_device())) < 1e-6);
  }
  require_none(fallbacks);
}

TEST_CASE("products with a large result are cut along batches and rows") {
  const NoGrad off;
  struct Sides {
    Shape a, b;
  };
  for (const Sides& sides : {Sides{{9, 5}, {5, 7}}, Sides{{3, 4, 5}, {5, 7}}, Sides{{4, 5}, {3, 5, 7}},
                             Sides{{2, 1, 4, 5}, {3, 5, 7}}, Sides{{1, 3, 4, 5}, {2, 1, 5, 7}},
                             Sides{{40, 5}, {5}}, Sides{{6, 9, 5}, {5}}, Sides{{5}, {6, 5, 7}}}) {
    INFO(sides.a, " and ", sides.b);
    const Tensor a = to(random(sides.a, 1), gpu()), b = to(random(sides.b, 2), gpu());
    const Tensor wanted = matmul(a, b);
    const Fallbacks fallbacks;
    const LimitElements limit(15);
    CHECK(distance(to(matmul(a, b), cpu_device()), to(wanted, cpu_device())) < 1e-6);
    require_none(fallbacks);
  }
}

TEST_CASE("variances are right in parts, also far from 0") {
  const NoGrad off;
  const Tensor x = to(random({3, 50, 7}, 3, 100, 101), gpu());
  for (const char* const name : {"var", "std", "_var_mean", "_std_mean"})
    for (const Value& dims : {Value(), Value(Dims{0}), Value(Dims{1, 2}), Value(Dims{0, 2})})
      for (const int64_t correction : {0, 1}) {
        const Values params = {dims, Value(), true, correction};
        const Operands whole = apply(*find_op(name), {x}, params);
        const Fallbacks fallbacks;
        const LimitElements limit(20);
        const Operands parts = apply(*find_op(name), {x}, params);
        require_none(fallbacks);
        for (size_t i = 0; i < whole.size(); ++i)
          CHECK(distance(to(parts[i], cpu_device()), to(whole[i], cpu_device())) < 1e-4);
      }
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
    apply(*find_op("argmax"), {x}, complete(*find_op("argmax"), {}));
  }
  CHECK(reasons.last == "the device's kernel cannot count so many elements");
  const Tensor exact = to(to(x, DType::f64), gpu());
  (void)(exact + 1.0);
  CHECK(reasons.last == "the device has no kernel for f64");
}

TEST_CASE("a call that fits neither the device's kernel nor the host's memory is an error") {
  const NoGrad off;
  const Tensor x = expand(zeros({1}, DType::f32, gpu()), {int64_t(1) << 42});
  std::string message;
  try {
    apply(*find_op("argmax"), {x}, complete(*find_op("argmax"), {}));
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::memory);
    message = error.what();
  }
  CHECK(message.starts_with("argmax: the device's kernel cannot count so many elements, and"));
  CHECK(message.find("[4398046511104]") != std::string::npos);
  CHECK(message.find("chunk()") != std::string::npos);
}

}  // namespace
}  // namespace lunagrad::tests
