#include "script/compare/judge.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "runtime/core/numbers.h"
#include "runtime/ops.h"

namespace lunagrad {
namespace {

// Such a loss is the logarithm of a sum that is near 1 where the prediction is right. Its rounding error is
// the sum's rounding error, however small the loss. Elementwise ops compute it without that error.
bool is_logarithm_of_sum(const Op& op) {
  const std::string_view name = op.name;
  const auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
  return op.elementwise < 0 && (has("log") || has("entropy") || has("ctc"));
}

std::optional<int> dim_of(const KeptNode& node, int ndim) {
  for (size_t i = 0; i < node.params.size() && i < node.op->params.size(); ++i)
    if (node.op->params[i].kind == ParamKind::dim && node.params[i].present())
      return int(node.params[i].i) + (node.params[i].i < 0 ? ndim : 0);
  return std::nullopt;
}

// The elements of the first operand that an output of indices selects; undefined when the output is not such
// indices.
Tensor selected(const NodeResults& results, const Tensor& indices) {
  const Tensor& from = results.values.inputs.empty() ? Tensor() : results.values.inputs[0];
  if (!from.defined() || !is_differentiable(from.dtype()) || from.ndim() == 0) return {};
  const std::optional<int> dim = dim_of(results.node, from.ndim());
  if (!dim) return {};
  Tensor index = to(to(indices, cpu_device()), DType::i64);
  if (index.ndim() + 1 == from.ndim()) index = unsqueeze(index, *dim);
  if (index.ndim() != from.ndim()) return {};
  return gather(to(from, cpu_device()), *dim, index);
}

// S of every result (rounding.h); where the node cannot be computed in f64, the results' largest elements.
std::vector<std::vector<double>> sensitivities_of(const NodeResults& results) {
  std::vector<std::vector<double>> found;
  try {
    found = sensitivities(results.evaluate, results.operands);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::cancelled || error.kind() == ErrorKind::memory) throw;
  }
  found.resize(results.expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    const Tensor& expected = results.expected[i];
    if (!expected.defined()) continue;
    std::vector<double> numbers = numbers_of(expected);
    if (found[i].size() == numbers.size()) continue;
    double largest = 0;
    for (const double value : numbers)
      if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
    found[i].assign(numbers.size(), largest);
  }
  return found;
}

}  // namespace

void add_tensor(TensorError error, ComparedNode& row) {
  const auto share = [](const TensorError& tensor) {
    return tensor.error == 0 ? 0 : tensor.allowed > 0 ? tensor.error / tensor.allowed : INFINITY;
  };
  if (!(error.error <= error.allowed)) row.verdict = Verdict::wrong;
  if (!row.tensors.empty() && share(error) > share(row.tensors[row.worst])) row.worst = row.tensors.size();
  row.tensors.push_back(std::move(error));
}

void judge(const NodeResults& results, double factor, ComparedNode& row) {
  const NoGrad off;
  const KeptNode& node = results.node;
  std::vector<std::vector<double>> scales;
  for (size_t i = 0; i < results.expected.size(); ++i) {
    const Tensor& expected = results.expected[i];
    if (!expected.defined() || expected.numel() == 0) continue;
    const Tensor found =
        i < results.found.size() && results.found[i].defined() ? results.found[i] : zeros_like(expected);
    if (!(found.shape() == expected.shape()))
      fail(results.names[i], " has shape ", found.shape(), " there, ", expected.shape(), " in the run");
    const double terms = terms_of(node, results.values.inputs, results.values.outputs, expected);
    const Rounding rounding = rounding_of(expected.dtype(), found.dtype(), terms, factor);
    TensorError error = compare_tensors(expected, found, rounding, {});
    if (error.error > error.allowed && is_integral(expected.dtype())) {
      if (const Tensor a = selected(results, expected); a.defined()) {
        const Tensor b = selected(results, found);
        error = compare_tensors(a, b, rounding_of(a.dtype(), a.dtype(), 1, factor), {});
      }
    } else if (error.error > error.allowed) {
      if (scales.empty()) scales = sensitivities_of(results);
      if (!row.backward && is_logarithm_of_sum(*node.op))
        for (double& scale : scales[i]) scale = std::max(scale, 1.0);
      error = compare_tensors(expected, found, rounding, scales[i]);
    }
    error.name = results.names[i];
    if (i < results.own.size() && results.own[i].defined() && i < results.reference.size() &&
        results.reference[i].defined() && is_differentiable(expected.dtype()))
      error.inherited = relative_error(results.reference[i], results.own[i], rounding);
    add_tensor(std::move(error), row);
  }
}

}  // namespace lunagrad
