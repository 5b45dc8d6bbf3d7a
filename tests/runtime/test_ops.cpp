// The generic test of every op on the CPU: samples (tests/samples) x dtype x layout.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>

#include "runtime/elementwise/elementwise.h"
#include "runtime/ops.h"
#include "runtime/tape/gradcheck.h"
#include "tests/samples/samples.h"

namespace lunagrad::tests {
namespace {

enum class Arrangement { contiguous, transposed, sliced };
constexpr Arrangement kArrangements[] = {Arrangement::contiguous, Arrangement::transposed,
                                         Arrangement::sliced};

// The same elements in another memory layout.
Tensor arrange(const Tensor& x, Arrangement arrangement) {
  if (!x.defined() || x.ndim() == 0) return x;
  const NoGrad off;
  if (arrangement == Arrangement::transposed && x.ndim() >= 2)
    return transpose(clone(transpose(x, 0, -1)), 0, -1);
  if (arrangement == Arrangement::sliced) {
    Shape wide = x.shape();
    wide[x.ndim() - 1] = 2 * wide[x.ndim() - 1] + 1;
    const Tensor memory = zeros(wide, x.dtype());
    const Tensor view = slice(memory, -1, 1, wide[x.ndim() - 1], 2);
    return copy_(view, x);
  }
  return x;
}

Operands run_sample(const Op& op, const Sample& sample, const TensorList& inputs) {
  context().generator.seed(11);
  return apply(op, inputs, complete(op, sample.params));
}

TensorList inputs_of(const Sample& sample) {
  TensorList inputs;
  for (size_t i = 0; i < sample.inputs.size(); ++i) inputs.push_back(make_input(sample.inputs[i], i));
  return inputs;
}

template <class Tensors>
bool has_complex(const Tensors& tensors) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const Tensor& x) { return x.defined() && is_complex(x.dtype()); });
}

// Largest |a - b| over the elements, relative to the largest finite |b| (at least `smallest_scale`). NaN must
// meet NaN, and infinities infinities of the same sign.
double distance(const Tensor& a, const Tensor& b, double smallest_scale = 1e-3) {
  if (!(a.shape() == b.shape()) || is_complex(a.dtype()) != is_complex(b.dtype())) return INFINITY;
  const std::vector<double> x = numbers_of(a), y = numbers_of(b);
  double largest = smallest_scale, worst = 0;
  for (const double value : y)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(y[i]) ? std::isnan(x[i]) : x[i] == y[i]) continue;
    const double error = std::abs(x[i] - y[i]) / largest;
    worst = std::isnan(error) ? INFINITY : std::max(worst, error);
  }
  return worst;
}

// The result of each op and check: "ok", or the first failure.
struct Grid {
  std::map<std::string, std::map<std::string, std::string>> cells;
  std::set<std::string> columns;

  void note(const std::string& op, const std::string& column, bool ok, const std::string& detail) {
    columns.insert(column);
    std::string& cell = cells[op][column];
    if (!ok && (cell.empty() || cell == "ok")) cell = detail.empty() ? "wrong" : detail;
    if (cell.empty()) cell = "ok";
  }

  void print(const char* title) const {
    std::printf("\n%s\n%-28s", title, "op");
    for (const std::string& column : columns) std::printf(" %-10s", column.c_str());
    std::printf("\n");
    size_t good = 0, all = 0;
    for (const auto& [op, row] : cells) {
      std::printf("%-28s", op.c_str());
      for (const std::string& column : columns) {
        const auto found = row.find(column);
        std::printf(" %-10s", found == row.end() ? "-" : found->second == "ok" ? "ok" : "WRONG");
        if (found != row.end()) ++all, good += found->second == "ok";
      }
      std::printf("\n");
    }
    std::printf("%zu of %zu cells pass\n", good, all);
  }

  void check() const {
    for (const auto& [op, row] : cells)
      for (const auto& [column, cell] : row)
        CHECK_MESSAGE(cell == "ok", op << ", " << column << ": " << cell);
  }
};

// Runs `body`; an exception makes the cell wrong.
template <class F>
void cell(Grid& grid, const Sample& sample, const std::string& column, F&& body) {
  try {
    const auto [ok, detail] = body();
    grid.note(sample.op, column, ok, name_of(sample) + ": " + detail);
  } catch (const std::exception& error) {
    grid.note(sample.op, column, false, name_of(sample) + ": " + error.what());
  }
}

struct Verdict {
  bool ok;
  std::string detail;
};

Verdict within(double error, double bound) {
  return {error <= bound, text("error ", error, " over ", bound)};
}

TensorList cast_reals(const TensorList& inputs, DType dtype) {
  const NoGrad off;
  TensorList cast = inputs;
  for (Tensor& x : cast)
    if (is_trained(x)) x = to(x, is_complex(x.dtype()) ? complex_type(dtype) : dtype);
  return cast;
}

// f32 against f64, in each arrangement.
void check_values(Grid& grid, const Op& op, const Sample& sample, const TensorList& inputs) {
  const NoGrad off;
  cell(grid, sample, "f32", [&]() -> Verdict {
    const TensorList narrow = cast_reals(inputs, DType::f32);
    const Operands expected = run_sample(op, sample, cast_reals(narrow, DType::f64));
    const Operands got = run_sample(op, sample, narrow);
    double worst = 0;
    for (size_t i = 0; i < got.size(); ++i) worst = std::max(worst, distance(got[i], expected[i]));
    return within(worst, kTolerance);
  });
  cell(grid, sample, "layouts", [&]() -> Verdict {
    const Operands expected = run_sample(op, sample, inputs);
    double worst = 0;
    for (const Arrangement arrangement : kArrangements) {
      if (sample.contiguous && arrangement != Arrangement::contiguous) continue;
      TensorList arranged;
      for (const Tensor& x : inputs) arranged.push_back(arrange(x, arrangement));
      const Operands got = run_sample(op, sample, arranged);
      for (size_t i = 0; i < got.size(); ++i) worst = std::max(worst, distance(got[i], expected[i]));
    }
    return within(worst, 1e-12);
  });
  if (has_complex(inputs) || has_complex(run_sample(op, sample, inputs)))
    return;  // there is no 16-bit complex type
  for (const DType half : {DType::f16, DType::bf16}) {
    cell(grid, sample, dtype_name(half), [&]() -> Verdict {
      const TensorList narrow = cast_reals(inputs, half);
      const Operands expected = run_sample(op, sample, cast_reals(narrow, DType::f64));
      const Operands got = run_sample(op, sample, narrow);
      double worst = 0;
      for (size_t i = 0; i < got.size(); ++i) worst = std::max(worst, distance(got[i], expected[i]));
      // The kernels compute in f32 and round to 16 bits (2^-11 of f16, 2^-8 of bf16); compositions round up
      // to four times.
      return within(worst, half == DType::f16 ? 0x1p-9 : 0x1p-6);
    });
  }
}

// The composition of a fused op must give the result of its kernel.
void check_composition(Grid& grid, const Op& op, const Sample& sample, const TensorList& inputs) {
  if (!op.compose || !op.cpu || op.random) return;
  cell(grid, sample, "compose", [&]() -> Verdict {
    const NoGrad off;
    Call call;
    call.op = &op;
    call.in = inputs;
    call.params = complete(op, sample.params);
    const Operands composed = op.compose(call), fused = run_sample(op, sample, inputs);
    double worst = 0;
    for (size_t i = 0; i < composed.size(); ++i) worst = std::max(worst, distance(fused[i], composed[i]));
    return within(worst, 1e-10);
  });
}

bool differentiable(const Op& op, const Operands& outputs) {
  return (op.vjp || op.compose) &&
         std::any_of(outputs.begin(), outputs.end(), [](const Tensor& y) { return y.requires_grad(); });
}

TensorList leaves(const TensorList& inputs, DType dtype) {
  TensorList result = cast_reals(inputs, dtype);
  for (Tensor& x : result)
    if (is_trained(x)) x = x.detach().requires_grad_();
  return result;
}

void check_gradients(Grid& grid, const Op& op, const Sample& sample, const TensorList& inputs) {
  if (!differentiable(op, run_sample(op, sample, leaves(inputs, DType::f64)))) return;
  const TensorFunction f = [&](const TensorList& arguments) {
    const Operands outputs = run_sample(op, sample, arguments);
    return TensorList(outputs.begin(), outputs.end());
  };
  for (const Arrangement arrangement : {Arrangement::contiguous, Arrangement::transposed}) {
    if (sample.contiguous && arrangement != Arrangement::contiguous) continue;
    cell(grid, sample, "gradient", [&]() -> Verdict {
      TensorList arranged;
      for (const Tensor& x : inputs) arranged.push_back(arrange(x, arrangement));
      const GradCheckResult result = gradcheck(f, leaves(arranged, DType::f64));
      return {result.ok, result.message};
    });
  }
  cell(grid, sample, "f32 grad", [&]() -> Verdict {
    const TensorList narrow = leaves(inputs, DType::f32),
                     wide = leaves(cast_reals(inputs, DType::f32), DType::f64);
    double worst = 0;
    TensorList gradients[2];
    for (int side = 0; side < 2; ++side) {
      const TensorList& arguments = side ? wide : narrow;
      backward(weighted_loss(sample, run_sample(op, sample, arguments)));
      for (const Tensor& x : arguments)
        if (is_trained(x)) gradients[side].push_back(x.grad().defined() ? x.grad() : zeros_like(x));
    }
    for (size_t i = 0; i < gradients[0].size(); ++i)
      worst = std::max(worst, distance(gradients[0][i], gradients[1][i], sample.smallest_scale));
    return within(worst, kTolerance);
  });
  if (!sample.second_order) return;
  cell(grid, sample, "2nd order", [&]() -> Verdict {
    const GradCheckResult result = gradgradcheck(f, leaves(inputs, DType::f64));
    return {result.ok, result.message};
  });
}

const Op& op_of(const std::string& name) {
  const Op* op = find_op(name);
  REQUIRE_MESSAGE(op, "samples.cpp names an op that does not exist: " << name);
  return *op;
}

TEST_CASE("every op computes, in every type and layout, what double precision says, and its gradients hold") {
  Grid grid;
  for (const Sample& sample : samples()) {
    const Op& op = op_of(sample.op);
    const TensorList inputs = inputs_of(sample);
    check_values(grid, op, sample, inputs);
    check_composition(grid, op, sample, inputs);
    check_gradients(grid, op, sample, inputs);
  }
  grid.print("The engine's ops on the CPU");
  grid.check();
}

TEST_CASE("elementwise rows agree with the double-precision reading of the same row") {
  for (const Sample& sample : samples()) {
    const Op& op = op_of(sample.op);
    const TensorList inputs = inputs_of(sample);
    if (op.elementwise < 0 || has_complex(inputs)) continue;
    const Values params = complete(op, sample.params);
    const NoGrad off;
    const Tensor got = apply1(op, inputs, params);
    std::vector<std::vector<double>> columns;
    for (const Tensor& x : inputs)
      columns.push_back(x.defined() ? expand(x, got.shape()).to_vector<double>() : std::vector<double>());
    const std::vector<double> values = got.to_vector<double>();
    for (size_t e = 0; e < values.size(); ++e) {
      std::vector<double> arguments;
      for (const auto& column : columns) arguments.push_back(column.empty() ? 0 : column[e]);
      const double expected = reference_value(op, arguments, {params.data(), params.size()});
      const bool same = std::isnan(expected)
                            ? std::isnan(values[e])
                            : std::abs(values[e] - expected) <= 1e-12 * std::max(1.0, std::abs(expected));
      REQUIRE_MESSAGE(
          same, sample.op << "(" << arguments[0] << ", …) = " << values[e] << ", expected " << expected);
    }
  }
}

TEST_CASE("every op has a sample row") {
  std::set<std::string> covered;
  for (const Sample& sample : samples()) covered.insert(sample.op);
  size_t visible = 0;
  for (const Op* op : all_ops()) {
    if (op->hidden()) continue;  // fused gradients and optimizers are tested through their callers
    ++visible;
    CHECK_MESSAGE(covered.count(op->name), op->name << " has no row in samples.cpp");
  }
  std::printf("%zu ops, each with a sample row\n", visible);
}

TEST_CASE("bad operands and parameters give one clear error") {
  for (const BadSample& bad : bad_samples()) {
    const Op& op = op_of(bad.op);
    TensorList inputs;
    for (size_t i = 0; i < bad.inputs.size(); ++i) inputs.push_back(make_input(bad.inputs[i], i));
    try {
      apply(op, inputs, complete(op, bad.params));
      FAIL_CHECK(bad.op << " accepted what it must refuse: " << bad.message);
    } catch (const Error& error) {
      CHECK_MESSAGE(std::string(error.what()).find(bad.message) != std::string::npos,
                    bad.op << " said \"" << error.what() << "\", expected \"" << bad.message << "\"");
    }
  }
}

TEST_CASE("ops accept tensors without elements") {
  for (const Sample& sample : samples()) {
    const Op& op = op_of(sample.op);
    if (op.elementwise < 0) continue;
    TensorList inputs;
    for (const SampleInput& spec : sample.inputs)
      inputs.push_back(make_input({{0, 3}, spec.low, spec.high, spec.kind}, 0));
    const NoGrad off;
    CHECK_MESSAGE(apply1(op, inputs, complete(op, sample.params)).numel() == 0, sample.op);
  }
}

}  // namespace
}  // namespace lunagrad::tests
