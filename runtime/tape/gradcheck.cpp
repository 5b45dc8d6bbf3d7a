#include "runtime/tape/gradcheck.h"

#include <algorithm>
#include <cmath>

#include "runtime/core/numbers.h"
#include "runtime/core/primitives.h"

namespace lunagrad {
namespace {

// Of errors that differ by rounding the first is reported, which is the same one on every machine.
constexpr double kSame = 1 + 1e-6;

bool is_checked(const Tensor& x) {
  return x.defined() && (x.dtype() == DType::f64 || x.dtype() == DType::c128) && x.requires_grad();
}

// The weights in the output's dtype, on its device.
Tensor weights_for(const Tensor& output, uint64_t stream) {
  return to(to(contraction_weights(output, stream), output.dtype()), output.device());
}

// The scalar that is differentiated: the sum over the outputs of <output, weights>; for complex outputs over
// their real and imaginary parts.
Tensor contract(const TensorList& outputs) {
  Tensor total;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].defined() || !is_differentiable(outputs[i].dtype())) continue;
    const DType double_type = is_complex(outputs[i].dtype()) ? DType::c128 : DType::f64;
    const Tensor product =
        mul(conjugated(to(weights_for(outputs[i], i), double_type)), to(outputs[i], double_type));
    const Tensor part = sum(real(product), {}, false);
    total = total.defined() ? add(total, part) : part;
  }
  return total;
}

// A tensor with these elements and x's strides, so that the same path of the kernel is tested.
Tensor laid_out_like(const Tensor& x, const std::vector<double>& values) {
  const Tensor dense = from_numbers(values, x.shape(), is_complex(x.dtype()), x.device());
  if (x.is_contiguous()) return dense;
  int64_t extent = 1;
  for (int i = 0; i < x.ndim(); ++i) extent += (x.size(i) - 1) * x.strides()[i];
  const Tensor memory = zeros({extent}, x.dtype(), x.device());
  const Tensor view(memory.storage_ref(), x.layout(), 0, x.dtype());
  for (int i = 0; i < x.ndim(); ++i)
    if (x.strides()[i] == 0 && x.size(i) > 1)
      return dense;  // elements that share memory cannot be varied one by one
  copy_(view, dense);
  return view;
}

// A leaf that requires grad, since the function may differentiate its inputs itself.
Tensor shifted_leaf(const Tensor& x, const std::vector<double>& values) {
  const NoGrad off;
  return laid_out_like(x, values).requires_grad_();
}

// Fresh leaves with the layout of the originals.
TensorList leaves_of(const TensorList& inputs) {
  TensorList leaves;
  const NoGrad off;
  for (const Tensor& x : inputs) {
    if (!is_checked(x)) {
      leaves.push_back(x.defined() ? x.detach() : x);
      continue;
    }
    Tensor leaf = x.detach();
    leaves.push_back(leaf.requires_grad_());
  }
  return leaves;
}

}  // namespace

GradCheckResult gradcheck(const TensorFunction& f, const TensorList& inputs, GradCheckOptions options) {
  GradCheckResult result;
  const TensorList leaves = leaves_of(inputs);
  TensorList wanted;
  std::vector<size_t> places;
  for (size_t i = 0; i < leaves.size(); ++i)
    if (is_checked(leaves[i])) {
      wanted.push_back(leaves[i]);
      places.push_back(i);
    }
  if (wanted.empty()) return {false, 0, "no input is f64 or c128 and requires grad"};

  const GradMode on(true);
  const Tensor loss = contract(f(leaves));
  if (!loss.defined()) return {false, 0, "there is no floating output"};
  GradOptions grad_options;
  grad_options.allow_unused = true;
  // A loss that does not depend on the inputs has zero gradients; the differences must be zero too.
  const TensorList analytic =
      loss.requires_grad() ? grad({loss}, wanted, {}, grad_options) : TensorList(wanted.size());

  for (size_t k = 0; k < wanted.size(); ++k) {
    const Tensor& x = wanted[k];
    const std::vector<double> values = numbers_of(x);
    const std::vector<double> gradient =
        analytic[k].defined() ? numbers_of(analytic[k]) : std::vector<double>(values.size(), 0.0);
    std::vector<double> numeric(values.size());
    double scale = 1;
    for (size_t e = 0; e < values.size(); ++e) {
      const auto value_at = [&](double shifted) {
        std::vector<double> moved = values;
        moved[e] = shifted;
        TensorList arguments = leaves;
        arguments[places[k]] = shifted_leaf(x, moved);
        return contract(f(arguments)).item();
      };
      numeric[e] =
          (value_at(values[e] + options.step) - value_at(values[e] - options.step)) / (2 * options.step);
      if (std::isfinite(numeric[e])) scale = std::max(scale, std::abs(numeric[e]));
    }
    for (size_t e = 0; e < values.size(); ++e) {
      const double error = std::abs(gradient[e] - numeric[e]) / scale;
      if (error <= result.worst || (!result.ok && error <= result.worst * kSame)) continue;
      result.worst = std::isnan(error) ? INFINITY : error;
      if (error <= options.tolerance) continue;
      result.ok = false;
      const std::string place =
          is_complex(x.dtype()) ? text(e / 2, e % 2 ? " (imaginary part)" : " (real part)") : text(e);
      result.message = text("input ", places[k] + 1, ", element ", place, ": gradient ", gradient[e],
                            ", central difference ", numeric[e]);
    }
  }
  return result;
}

GradCheckResult gradgradcheck(const TensorFunction& f, const TensorList& inputs, GradCheckOptions options) {
  size_t seeds = 0;
  TensorList extended = inputs;
  {
    const GradMode on(true);
    for (const Tensor& output : f(leaves_of(inputs))) {
      if (!output.defined() || !output.requires_grad()) continue;
      Tensor seed = weights_for(output, 100 + seeds++);
      extended.push_back(seed.requires_grad_());
    }
  }
  if (seeds == 0) return {false, 0, "no output depends on the inputs"};
  const size_t count = inputs.size();
  const TensorFunction first_order = [&, count](const TensorList& all) {
    const GradMode on(true);
    TensorList arguments(all.begin(), all.begin() + ptrdiff_t(count));
    for (size_t i = 0; i < count; ++i)
      // Central differences pass plain tensors, but the gradient needs tensors that require grad.
      if (is_checked(inputs[i]) && !arguments[i].requires_grad())
        arguments[i] = arguments[i].detach().requires_grad_();
    TensorList wanted;
    for (size_t i = 0; i < count; ++i)
      if (is_checked(inputs[i])) wanted.push_back(arguments[i]);
    TensorList outputs;
    for (const Tensor& output : f(arguments))
      if (output.defined() && output.requires_grad()) outputs.push_back(output);
    GradOptions grad_options;
    grad_options.create_graph = true;
    grad_options.allow_unused = true;
    TensorList gradients =
        grad(outputs, wanted, TensorList(all.begin() + ptrdiff_t(count), all.end()), grad_options);
    for (size_t i = 0; i < gradients.size(); ++i)
      if (!gradients[i].defined())
        gradients[i] = zeros(wanted[i].shape(), wanted[i].dtype(), wanted[i].device());
    return gradients;
  };
  return gradcheck(first_order, extended, options);
}

}  // namespace lunagrad
