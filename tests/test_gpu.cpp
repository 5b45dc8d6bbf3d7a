// The Vulkan device against the CPU: every op sample, extreme arguments, layouts, types, ordering, memory,
// training. Runs as a program of its own, with the validation layer watching (LUNAGRAD_VALIDATION=1).
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <string>

#include "gpu/gpu.h"
#include "runtime/ops.h"
#include "runtime/ops/elementwise.h"
#include "runtime/tape.h"
#include "tests/samples.h"

namespace lunagrad::tests {
namespace {

Device& gpu() { return require_device("vulkan"); }

// Counts what the device lacked.
class Fallbacks final : public Trace {
 public:
  Fallbacks() : previous_(context().trace) { context().trace = this; }
  ~Fallbacks() override { context().trace = previous_; }
  void ran(const Call&, uint64_t) override {}
  // Double precision and complex numbers are the CPU's by design, and not counted.
  void fell_back(const Call& call, const char*) override {
    const auto wide = [](const Tensor& x) {
      return x.defined() && ((x.dtype() == DType::f64 && !x.is_number()) || is_complex(x.dtype()));
    };
    if (std::none_of(call.in.begin(), call.in.end(), wide) && std::none_of(call.out.begin(), call.out.end(), wide))
      ++ops[call.op->name];
  }
  std::map<std::string, int> ops;

 private:
  Trace* previous_;
};

std::vector<float> uniform(int64_t count, uint64_t stream, double low = -2, double high = 2) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(low + (high - low) * uniform_f64(philox(7, stream, i)[0], philox(7, stream, i)[1]));
  return values;
}
Tensor random(const Shape& shape, uint64_t stream, double low = -2, double high = 2) {
  return Tensor::from<float>(uniform(numel(shape), stream, low, high), shape);
}

// Largest difference relative to the largest finite value (at least 1e-3); infinite when NaN or infinities
// differ.
double distance(const Tensor& got, const Tensor& expected) {
  if (!(got.shape() == expected.shape())) return INFINITY;
  if (is_complex(got.dtype()) && is_complex(expected.dtype()))
    return distance(view_as_real(to(got.detach(), cpu_device())), view_as_real(expected.detach()));
  const std::vector<double> x = got.to_vector<double>(), y = expected.to_vector<double>();
  double largest = 1e-3, worst = 0;
  for (const double value : y)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(y[i]) ? std::isnan(x[i]) : x[i] == y[i]) continue;
    const double error = std::abs(x[i] - y[i]) / largest;
    worst = std::isnan(error) ? INFINITY : std::max(worst, error);
  }
  return worst;
}

double largest(const Tensor& x) { return x.numel() == 0 ? 0 : amax(x).item(); }

enum class Arrangement { contiguous, transposed, sliced };

// The same elements on the device, otherwise laid out in memory.
Tensor arrange(const Tensor& x, Arrangement arrangement) {
  if (!x.defined()) return x;
  const NoGrad off;
  const Tensor there = to(x, gpu());
  if (arrangement == Arrangement::transposed && x.ndim() >= 2)
    return transpose(clone(transpose(there, 0, -1)), 0, -1);
  if (arrangement == Arrangement::sliced && x.ndim() >= 1) {
    Shape wide = x.shape();
    wide[x.ndim() - 1] = 2 * wide[x.ndim() - 1] + 1;
    const Tensor memory = zeros(wide, x.dtype(), gpu());
    return copy_(slice(memory, -1, 1, wide[x.ndim() - 1], 2), there);
  }
  return there;
}

Tensor sample_input(const SampleInput& spec, uint64_t stream) {
  if (spec.kind == Kind::absent) return {};
  const NoGrad off;
  const Tensor reals = random(spec.shape, stream, spec.low, spec.high);
  if (spec.kind == Kind::index) return to(floor(reals), DType::i64);
  if (spec.kind == Kind::complex) return complex(reals, random(spec.shape, stream + 100, spec.low, spec.high));
  if (spec.kind == Kind::boolean) return gt(reals, Tensor::number((spec.low + spec.high) / 2));
  return reals;
}

// c128 is the CPU's alone.
bool asks_for_c128(const Op& op, const Sample& sample) {
  for (size_t i = 0; i < sample.params.size(); ++i)
    if (op.params[i].kind == ParamKind::dtype && sample.params[i] == Value(DType::c128)) return true;
  return false;
}

struct Result {
  Operands outputs;
  TensorList gradients;
};

// Outputs and the gradients of their sum.
Result run_sample(const Op& op, const Sample& sample, TensorList inputs) {
  for (Tensor& x : inputs)
    if (x.defined() && is_differentiable(x.dtype())) x = x.detach().requires_grad_();
  context().generator.seed(11);
  Result result;
  result.outputs = apply(op, inputs, complete(op, sample.params));
  Tensor loss;
  for (const Tensor& y : result.outputs)
    if (y.requires_grad()) loss = loss.defined() ? loss + sum(norm_sq(y)) : sum(norm_sq(y));
  if (loss.defined()) backward(loss);
  for (const Tensor& x : inputs)
    if (loss.defined() && x.defined() && is_differentiable(x.dtype()))
      result.gradients.push_back(x.grad().defined() ? x.grad() : zeros_like(x));
  return result;
}

TEST_CASE("every op sample gives on the device what it gives on the CPU, in any layout, with its gradient") {
  std::map<std::string, std::set<std::string>> missing;  // op -> kernels it lacked
  int rows = 0;
  for (const Sample& sample : samples()) {
    const Op* op = find_op(sample.op);
    REQUIRE(op);
    TensorList inputs;
    for (size_t i = 0; i < sample.inputs.size(); ++i) inputs.push_back(sample_input(sample.inputs[i], i));
    const Result expected = run_sample(*op, sample, inputs);
    if (inputs.empty() || asks_for_c128(*op, sample)) continue;  // creation: below
    ++rows;
    for (const Arrangement arrangement :
         {Arrangement::contiguous, Arrangement::transposed, Arrangement::sliced}) {
      if (sample.contiguous && arrangement != Arrangement::contiguous) continue;
      TensorList there;
      for (const Tensor& x : inputs) there.push_back(arrange(x, arrangement));
      Fallbacks fallbacks;
      const Result got = run_sample(*op, sample, there);
      for (const auto& [name, count] : fallbacks.ops) missing[sample.op].insert(name);
      for (size_t i = 0; i < got.outputs.size(); ++i)
        CHECK_MESSAGE(distance(got.outputs[i], expected.outputs[i]) <= sample.tolerance,
                      sample.op << " on the device, layout " << int(arrangement));
      for (size_t i = 0; i < got.gradients.size(); ++i)
        CHECK_MESSAGE(distance(got.gradients[i], expected.gradients[i]) <= 2 * sample.tolerance,
                      sample.op << ": gradient " << i << " on the device, layout " << int(arrangement));
    }
  }
  std::printf("%d samples; through the CPU, for lack of a kernel:\n", rows);
  std::set<std::string> lacking;
  for (const auto& [op, kernels] : missing) {
    std::printf("  %-20s", op.c_str());
    for (const std::string& kernel : kernels) std::printf(" %s", kernel.c_str());
    std::printf("\n");
    lacking.insert(kernels.begin(), kernels.end());
  }
  // What a classifier is made of must not be among them.
  for (const char* needed : {"matmul",
                             "linear",
                             "sum",
                             "mean",
                             "amax",
                             "amin",
                             "softmax",
                             "_softmax_grad",
                             "log_softmax",
                             "_log_softmax_grad",
                             "_cross_entropy",
                             "_cross_entropy_grad",
                             "mse_loss",
                             "_dropout",
                             "index_select",
                             "argmax",
                             "clone",
                             "_copy",
                             "_cast",
                             "cat",
                             "zeros",
                             "full"})
    CHECK_MESSAGE(!lacking.contains(needed), std::string(needed) << " must run on the device");
  for (const std::string& kernel : lacking)
    CHECK_MESSAGE(!elementwise_use(*find_op(kernel)), kernel << " is elementwise and must run on the device");
}

TEST_CASE("elementwise kernels hold at extreme arguments") {
  const float nan = NAN, inf = INFINITY;
  const std::vector<float> edges = {
      0.0f,  -0.0f,  1.0f,       -1.0f, 0.5f,   -0.5f,   1.5f,     -1.5f, 2.5f,   -2.5f,      nan,     inf,
      -inf,  1e-30f, -1e-30f,    1e-4f, -1e-4f, 3e38f,   -3e38f,   88.0f, -88.0f, 100.0f,     -100.0f, 1e5f,
      -1e5f, 1e10f,  12345.678f, 3.0f,  -3.0f,  0.9999f, -0.9999f, 20.0f, -20.0f, 8388609.0f, 2.0f,    -7.0f};
  const std::set<Row> cancels = {Row::lerp, Row::addcmul,   Row::addcdiv, Row::affine, Row::tanhshrink,
                                 Row::gelu, Row::hardswish, Row::mish,    Row::_bce};
  for (int row = 0; row < kRowCount; ++row) {
    const Op& op = elementwise_op(Row(row));
    const RowTraits& traits = row_traits(row);
    std::vector<float> operands[3];
    const size_t n = edges.size();
    for (size_t i = 0; i < n * n; ++i) {
      if (traits.arity == 1 && i >= n) break;
      operands[0].push_back(edges[i % n]);
      operands[1].push_back(edges[i / n]);
      operands[2].push_back(edges[(3 * i + 1) % n]);
    }
    const Shape shape = {int64_t(operands[0].size())};
    TensorList inputs;
    for (int i = 0; i < traits.arity; ++i) inputs.push_back(Tensor::from<float>(operands[i], shape, gpu()));
    if (Row(row) == Row::where) inputs[0] = isnan(inputs[0]);
    Sample sample{op.name, {}};
    for (const ParamSpec& spec : op.params)
      sample.params.push_back(spec.fallback.present() ? spec.fallback : Value(0.5));
    const Values params = complete(op, sample.params);
    const NoGrad off;
    const std::vector<double> got = apply1(op, inputs, params).to_vector<double>();
    // Where float arithmetic itself overflows or cancels, the CPU's float result counts as right too.
    TensorList here;
    for (const Tensor& x : inputs) here.push_back(to(x, cpu_device()));
    const std::vector<double> in_float = apply1(op, here, params).to_vector<double>();
    int wrong = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      double x[3];
      for (int k = 0; k < traits.arity; ++k) x[k] = double(operands[k][i]);
      if (Row(row) == Row::where) x[0] = std::isnan(operands[0][i]);
      const double exact =
          reference_value(op, std::span(x, size_t(traits.arity)), {params.data(), params.size()});
      const double rounded = double(float(exact));
      // Rows that add numbers of opposite signs, or overflow on the way, are as exact as what they add.
      double bound = 4e-6 * std::abs(rounded) + 1e-37;
      if (cancels.contains(Row(row))) {
        double product = 1;
        for (int k = 0; k < traits.arity; ++k)
          product *= std::max(
              1.0, std::max(std::abs(x[k]), Row(row) == Row::addcdiv && k == 2 ? 1 / std::abs(x[k]) : 0.0));
        if (!(product < 1e37)) continue;
        bound = 4e-6 * product;
      }
      const auto close = [&](double value) {
        return std::isnan(value) ? std::isnan(got[i]) : got[i] == value || std::abs(got[i] - value) <= bound;
      };
      const bool same = close(rounded) || close(in_float[i]);
      if (!same && ++wrong <= 3)
        CHECK_MESSAGE(same, std::string(op.name) << "(" << x[0] << ", " << (traits.arity > 1 ? x[1] : 0)
                                                 << ") = " << got[i] << ", expected " << rounded);
    }
    CHECK_MESSAGE(wrong == 0, std::string(op.name) << ": " << wrong << " of " << got.size());
  }
}

TEST_CASE("a thousand additions in place give exactly a thousand") {
  const NoGrad off;
  for (const int64_t count : {1, 1000, 20000}) {
    Tensor x = zeros({count}, DType::f32, gpu());
    const Tensor one = ones({count}, DType::f32, gpu());
    for (int i = 0; i < 1000; ++i) apply_in_place(elementwise_op(Row::add), {x, one});
    const std::vector<float> values = x.to_vector<float>();
    CHECK(std::all_of(values.begin(), values.end(), [](float v) { return v == 1000.0f; }));
  }
}

TEST_CASE("writes, reads and reuse of memory stay in order") {
  const NoGrad off;
  // y depends on every x before it was overwritten; temporaries are freed and their memory used again at
  // once.
  Tensor x = full({5000}, 1.0, DType::f32, gpu()), y = zeros({5000}, DType::f32, gpu());
  double expected = 0;
  for (int i = 1; i <= 300; ++i) {
    y = y + x * double(i);
    copy_(x, Tensor::number(double(i % 7)));
    expected += double(i) * (i == 1 ? 1 : (i - 1) % 7);
  }
  const std::vector<float> values = y.to_vector<float>();
  CHECK(std::all_of(values.begin(), values.end(), [&](float v) { return v == float(expected); }));
}

TEST_CASE("elements are converted between all types as on the CPU") {
  const NoGrad off;
  const std::vector<float> values = {0,      1,   -1,       2.5f,      -2.5f, 300,   -300,  1e10f,
                                     -1e10f, NAN, INFINITY, -INFINITY, 65519, 65520, 1e-7f, 3.14159f};
  const Tensor source = Tensor::from<float>(values, {4, 4});
  const DType types[] = {DType::boolean, DType::u8,   DType::i32, DType::i64,
                         DType::f16,     DType::bf16, DType::f32, DType::f64};
  for (const DType from : types)
    for (const DType to_type : types) {
      const Tensor here = to(source, from);
      const Tensor expected = to(here, to_type);
      CHECK_MESSAGE(distance(to(to(here, gpu()), to_type), expected) == 0,
                    "from " << from << " to " << to_type);
      const Tensor turned = transpose(to(here, gpu()), 0, 1);
      CHECK_MESSAGE(distance(to(turned, to_type), transpose(expected, 0, 1)) == 0,
                    "transposed, from " << from << " to " << to_type);
    }
}

TEST_CASE("integers are computed as integers") {
  const NoGrad off;
  const std::vector<int64_t> a = {7, -7, 7, -7, 0, int64_t(1) << 40, 5, 3}, b = {2, 2, -2, -2, 3, 3, 5, -1};
  for (const DType type : {DType::i32, DType::i64}) {
    const Tensor x = to(Tensor::from<int64_t>(a, {8}), type), y = to(Tensor::from<int64_t>(b, {8}), type);
    for (const Row row : {Row::add, Row::sub, Row::mul, Row::floor_divide, Row::remainder, Row::fmod,
                          Row::maximum, Row::minimum, Row::eq, Row::lt, Row::ge, Row::div}) {
      const Op& op = elementwise_op(row);
      const Tensor expected = apply1(op, {x, y}), got = apply1(op, {to(x, gpu()), to(y, gpu())});
      CHECK(got.dtype() == expected.dtype());
      CHECK_MESSAGE(distance(got, expected) == 0, std::string(op.name) << " of " << type);
    }
  }
}

TEST_CASE("matrix products of odd sizes, transposes and batches") {
  const NoGrad off;
  struct Case {
    Shape a, b;
  };
  const Case cases[] = {{{1, 1}, {1, 1}},
                        {{3, 5}, {5, 7}},
                        {{65, 33}, {33, 129}},
                        {{130, 17}, {17, 131}},
                        {{256, 64}, {64, 200}},
                        {{5}, {5}},
                        {{5}, {5, 3}},
                        {{4, 5}, {5}},
                        {{3, 4, 5}, {3, 5, 6}},
                        {{3, 4, 5}, {5, 6}},
                        {{2, 1, 4, 5}, {3, 5, 2}},
                        {{4, 0}, {0, 3}},
                        {{1, 300}, {300, 1}},
                        {{200, 1}, {1, 200}},
                        {{2000, 8}, {8, 1100}}};
  for (const Case& c : cases) {
    const Tensor a = random(c.a, 1), b = random(c.b, 2);
    const Tensor exact = matmul(to(a, DType::f64), to(b, DType::f64));
    // Errors are measured against what the products add up to without their signs.
    const Tensor size = matmul(abs(to(a, DType::f64)), abs(to(b, DType::f64))) + 1e-30;
    for (const Arrangement left : {Arrangement::contiguous, Arrangement::transposed, Arrangement::sliced})
      for (const Arrangement right : {Arrangement::contiguous, Arrangement::transposed})
        CHECK_MESSAGE(
            largest(
                abs(to(to(matmul(arrange(a, left), arrange(b, right)), cpu_device()), DType::f64) - exact) /
                size) < 1e-6,
            "matmul of " << text(c.a, " and ", c.b) << ", layouts " << int(left) << " " << int(right));
  }
  const Tensor x = random({3, 7, 40}, 3), w = random({33, 40}, 4), bias = random({33}, 5);
  const Tensor exact = linear(to(x, DType::f64), to(w, DType::f64), to(bias, DType::f64));
  CHECK(distance(linear(to(x, gpu()), to(w, gpu()), to(bias, gpu())), exact) < 2e-6);
  CHECK(distance(
            linear(arrange(x, Arrangement::transposed), arrange(w, Arrangement::transposed), to(bias, gpu())),
            exact) < 2e-6);
}

TEST_CASE("reductions over any dims, short and long") {
  const NoGrad off;
  for (const Shape& shape :
       {Shape{3, 4, 5}, Shape{1, 700, 3}, Shape{300, 70}, Shape{2, 100000}, Shape{100000, 2}, Shape{0, 3}}) {
    const Tensor x = random(shape, 1);
    const Tensor wide = to(x, DType::f64);
    for (uint32_t mask = 0; mask < 1u << shape.size(); ++mask) {
      Dims dims;
      for (int d = 0; d < shape.size(); ++d)
        if (mask >> d & 1) dims.push_back(d);
      for (const Arrangement arrangement :
           {Arrangement::contiguous, Arrangement::transposed, Arrangement::sliced}) {
        const Tensor there = arrange(x, arrangement);
        const std::string what = text("of ", shape, " over ", dims, ", layout ", int(arrangement));
        const double scale = std::max(1.0, std::sqrt(double(x.numel())));
        const auto close = [&](const Tensor& got, const Tensor& exact) {
          const std::vector<double> g = got.to_vector<double>(), e = exact.to_vector<double>();
          double worst = 0;
          for (size_t i = 0; i < g.size(); ++i)
            if (!(std::isnan(g[i]) && std::isnan(e[i]))) worst = std::max(worst, std::abs(g[i] - e[i]));
          return worst;
        };
        CHECK_MESSAGE(close(sum(there, dims), sum(wide, dims)) < 1e-5 * scale, "sum " << what);
        CHECK_MESSAGE(close(mean(there, dims), mean(wide, dims)) < 1e-5, "mean " << what);
        if (x.numel() == 0) continue;
        CHECK_MESSAGE(close(amax(there, dims), amax(wide, dims)) == 0, "amax " << what);
        CHECK_MESSAGE(close(amin(there, dims), amin(wide, dims)) == 0, "amin " << what);
      }
    }
  }
  const Tensor flags = gt(random({1000}, 3), Tensor::number(0.0));
  CHECK(sum(to(flags, gpu())).item_integer() == sum(flags).item_integer());
  const std::vector<float> with_nan = {1, NAN, 3};
  CHECK(std::isnan(amax(Tensor::from<float>(with_nan, {3}, gpu())).item()));
  CHECK(std::isnan(amin(Tensor::from<float>(with_nan, {3}, gpu())).item()));
}

TEST_CASE("softmax of rows of any length and of large numbers") {
  const NoGrad off;
  for (const int64_t n : {1, 2, 10, 63, 1000, 5000}) {
    const Tensor x = random({7, n}, 1, -80, 80);
    for (const int dim : {0, 1}) {
      const Tensor wide = to(x, DType::f64);
      for (const Arrangement arrangement : {Arrangement::contiguous, Arrangement::transposed}) {
        CHECK(distance(softmax(arrange(x, arrangement), dim), softmax(wide, dim)) < 2e-6);
        CHECK(distance(log_softmax(arrange(x, arrangement), dim), log_softmax(wide, dim)) < 2e-6);
      }
    }
  }
  const std::vector<float> far = {1e30f, 1e30f, -1e30f, -INFINITY};
  const std::vector<float> result = softmax(Tensor::from<float>(far, {4}, gpu()), 0).to_vector<float>();
  CHECK(result == std::vector<float>{0.5f, 0.5f, 0, 0});
}

// Losses of a small MLP, trained with one of the optimizers on one device from the same start.
std::vector<double> train(Device& device, const std::string& optimizer, int steps,
                          TensorList* final_params = nullptr) {
  const Tensor x = to(random({96, 20}, 1), device);
  std::vector<int64_t> ids(96);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = int64_t(philox(3, 0, i)[0] % 5);
  const Tensor labels = Tensor::from<int64_t>(ids, {96}, device);
  TensorList params, states[3];
  for (const Shape& shape : {Shape{32, 20}, Shape{32}, Shape{5, 32}, Shape{5}}) {
    params.push_back(to(random(shape, 10 + params.size(), -0.3, 0.3), device).detach().requires_grad_());
    for (TensorList& state : states) state.push_back(zeros(shape, DType::f32, device));
  }
  std::vector<double> losses;
  for (int step = 1; step <= steps; ++step) {
    const Tensor hidden = relu(linear(x, params[0], params[1]));
    const Tensor loss = cross_entropy(linear(hidden, params[2], params[3]), labels);
    backward(loss);
    losses.push_back(loss.item());
    TensorList grads;
    for (const Tensor& p : params) grads.push_back(p.grad());
    if (optimizer == "sgd") sgd_step(params, grads, {}, {.lr = 0.1, .weight_decay = 0.01, .step = step});
    if (optimizer == "momentum")
      sgd_step(params, grads, states[0],
               {.lr = 0.05, .momentum = 0.9, .dampening = 0.1, .step = step, .nesterov = false});
    if (optimizer == "nesterov")
      sgd_step(params, grads, states[0], {.lr = 0.05, .momentum = 0.9, .step = step, .nesterov = true});
    if (optimizer == "adam")
      adam_step(params, grads, states[0], states[1], {}, {.lr = 0.01, .weight_decay = 0.01, .step = step});
    if (optimizer == "amsgrad")
      adam_step(params, grads, states[0], states[1], states[2], {.lr = 0.01, .step = step});
    if (optimizer == "adamw")
      adam_step(params, grads, states[0], states[1], {},
                {.lr = 0.01, .weight_decay = 0.1, .step = step, .decoupled = true});
    for (const Tensor& p : params) p.set_grad({});
  }
  if (final_params) *final_params = params;
  return losses;
}

TEST_CASE(
    "an MLP trains on the device as on the CPU, with every optimizer and nothing sent through the CPU") {
  for (const char* optimizer : {"sgd", "momentum", "nesterov", "adam", "amsgrad", "adamw"}) {
    TensorList here, there;
    const std::vector<double> expected = train(cpu_device(), optimizer, 25, &here);
    const Fallbacks fallbacks;
    const std::vector<double> got = train(gpu(), optimizer, 25, &there);
    CHECK(fallbacks.ops.empty());
    CHECK_MESSAGE(got.back() < got.front(), optimizer);
    for (size_t i = 0; i < got.size(); ++i)
      CHECK_MESSAGE(std::abs(got[i] - expected[i]) < 2e-4, optimizer << ", step " << i + 1);
    for (size_t i = 0; i < there.size(); ++i)
      CHECK_MESSAGE(distance(there[i].detach(), here[i].detach()) < 1e-3, optimizer << ", parameter " << i);
  }
}

TEST_CASE("cross entropy with weights, smoothing, ignored rows and every reduction") {
  for (const Shape& shape : {Shape{7, 5}, Shape{300, 70}, Shape{4, 3, 6}, Shape{1, 1000}}) {
    const Tensor logits = random(shape, 1, -8, 8), weight = random({shape[1]}, 2, 0.5, 2);
    Shape rows = shape;
    rows.erase(1);
    std::vector<int64_t> ids(static_cast<size_t>(numel(rows)));
    for (size_t i = 0; i < ids.size(); ++i)
      ids[i] = i % 6 == 4 ? -100 : int64_t(philox(4, 0, i)[0] % uint64_t(shape[1]));
    const Tensor labels = Tensor::from<int64_t>(ids, rows);
    for (const Reduction reduction : {Reduction::none, Reduction::mean, Reduction::sum})
      for (const double smoothing : {0.0, 0.1})
        for (const bool weighted : {false, true}) {
          const auto run = [&](Device& device) {
            const Tensor x = to(logits, device).detach().requires_grad_();
            const Tensor loss = cross_entropy(x, to(labels, device),
                                              {.weight = weighted ? to(weight, device) : Tensor(),
                                               .reduction = reduction,
                                               .label_smoothing = smoothing});
            backward(sum(loss * loss));
            return TensorList{loss.detach(), x.grad()};
          };
          const TensorList expected = run(cpu_device());
          const Fallbacks fallbacks;
          const TensorList got = run(gpu());
          CHECK(fallbacks.ops.empty());
          CHECK(distance(got[0], expected[0]) < 1e-5);
          CHECK(distance(got[1], expected[1]) < 1e-5);
        }
  }
}

TEST_CASE("a label that is no class is an error when a value is read, and the device goes on") {
  const std::vector<int64_t> ids = {0, 2, 7};
  const Tensor loss = cross_entropy(to(random({3, 5}, 1), gpu()), Tensor::from<int64_t>(ids, {3}, gpu()));
  CHECK_THROWS_WITH_AS(loss.item(), doctest::Contains("label 7 at position 3 is out of range for 5 classes"),
                       Error);
  CHECK(ones({2}, DType::f32, gpu()).to_vector<float>() == std::vector<float>{1, 1});
}

TEST_CASE("random numbers and dropout masks are the CPU's, bit for bit") {
  for (const int64_t count : {1, 6, 1023, 5000}) {
    Tensor drawn[2], dropped[2];
    Device* const devices[] = {&cpu_device(), &gpu()};
    for (int i = 0; i < 2; ++i) {
      context().generator.seed(uint64_t(0x123456789abcdef0));
      drawn[i] = rand({count}, DType::f32, *devices[i]);
      const Tensor x = to(random({count}, 5), *devices[i]).detach().requires_grad_();
      dropped[i] = dropout(x, 0.3, true);
      backward(sum(dropped[i]));
      dropped[i] = x.grad();
    }
    CHECK(drawn[0].to_vector<float>() == drawn[1].to_vector<float>());
    CHECK(dropped[0].to_vector<float>() == dropped[1].to_vector<float>());
  }
}

TEST_CASE("picking by index, and the places of extremes") {
  const NoGrad off;
  const Fallbacks fallbacks;
  const Tensor x = random({40, 30, 3}, 1);
  const std::vector<int64_t> picks = {5, 0, 5, 29, 17};
  const Tensor index = Tensor::from<int64_t>(picks, {5});
  CHECK(distance(index_select(to(x, gpu()), 1, to(index, gpu())), index_select(x, 1, index)) == 0);
  CHECK(distance(index_select(arrange(x, Arrangement::transposed), 0, to(index, gpu())),
                 index_select(x, 0, index)) == 0);
  CHECK(distance(embedding(to(index, gpu()), to(flatten(x, 1), gpu())), embedding(index, flatten(x, 1))) ==
        0);
  for (const int dim : {0, 1, 2}) {
    CHECK(distance(argmax(to(x, gpu()), dim, false), argmax(x, dim, false)) == 0);
    CHECK(distance(argmin(arrange(x, Arrangement::transposed), dim, true), argmin(x, dim, true)) == 0);
    CHECK(distance(max(to(x, gpu()), dim, false).first, max(x, dim, false).first) == 0);
    CHECK(distance(min(to(x, gpu()), dim, false).second, min(x, dim, false).second) == 0);
  }
  CHECK(argmax(to(x, gpu()), std::nullopt, false).item_integer() ==
        argmax(x, std::nullopt, false).item_integer());
  const std::vector<float> ties = {2, 7, NAN, 7, NAN};
  CHECK(argmax(Tensor::from<float>(ties, {5}, gpu()), 0, false).item_integer() == 2);
  CHECK(fallbacks.ops.empty());
  const std::vector<int64_t> wrong = {0, 40};
  const Tensor bad = index_select(to(x, gpu()), 0, Tensor::from<int64_t>(wrong, {2}, gpu()));
  CHECK_THROWS_WITH_AS(bad.to_vector<float>(), doctest::Contains("index 40 at position 2 is out of range"),
                       Error);
}

TEST_CASE("large tensors travel and come back as they were") {
  const std::vector<float> values = uniform((24 << 20) + 77, 9);  // more than the staging memory holds
  const Shape shape = {int64_t(values.size())};
  CHECK(Tensor::from<float>(values, shape, gpu()).to_vector<float>() == values);
}

TEST_CASE("memory of dropped tensors is used again") {
  const NoGrad off;
  const auto work = [] {
    Tensor x = full({100, 100}, 1.0, DType::f32, gpu());
    for (int i = 0; i < 50; ++i) x = x * 0.5 + 1.0;
    return x.to_vector<float>();
  };
  work();
  const size_t reserved = gpu().memory().reserved, in_use = gpu().memory().in_use;
  for (int i = 0; i < 20; ++i) work();
  CHECK(gpu().memory().reserved == reserved);
  CHECK(gpu().memory().in_use == in_use);
  gpu().release_unused();
  CHECK(gpu().memory().reserved <= reserved);
}

TEST_CASE("what does not fit is an error, and the device goes on") {
  const size_t in_use = gpu().memory().in_use;
  CHECK_THROWS_WITH_AS(Tensor::empty({int64_t(1) << 40}, DType::f32, gpu()), doctest::Contains("no room"),
                       Error);
  CHECK(gpu().memory().in_use == in_use);
  CHECK((ones({3}, DType::f32, gpu()) + 1.0).to_vector<float>() == std::vector<float>{2, 2, 2});
}

TEST_CASE("operands on two devices are an error that names both") {
  const Tensor here = ones({3}), there = ones({3}, DType::f32, gpu());
  CHECK_THROWS_WITH_AS(here + there, doctest::Contains("vulkan"), Error);
  CHECK_THROWS_WITH_AS(require_device("vulkan:77"), doctest::Contains("\"vulkan\""), Error);
}

TEST_CASE("the validation layer has nothing to say") { CHECK(gpu::validation_messages() == 0); }

}  // namespace
}  // namespace lunagrad::tests

int main(int argc, char** argv) {
  lunagrad::gpu::install();
  doctest::Context tests(argc, argv);
  tests.setOption("order-by", "file");
  const int result = tests.run();
  const int messages = lunagrad::gpu::validation_messages();
  if (messages > 0) std::fprintf(stderr, "%d validation messages\n", messages);
  return result != 0 || messages > 0;
}
