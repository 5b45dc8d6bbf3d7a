// Runs the call of a kept node again: in f64 against central differences, and on another device against the
// CPU.
#include "script/inspect/node_checks.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "runtime/core/numbers.h"
#include "runtime/ops.h"
#include "script/inspect/recompute.h"
#include "script/inspect/without_listeners.h"

namespace lunagrad {
namespace {

// Each checked element costs two evaluations. In a larger input, evenly spaced elements and those with the
// largest gradients are checked.
constexpr int64_t kMostChecked = 192, kLargest = 64;
constexpr double kStep = 1e-5;
constexpr int64_t kMapSide = 128;  // cells along each side of an error map

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void check_wanted(const std::stop_token& stop, const char* what) {
  if (stop.stop_requested()) fail_as(ErrorKind::cancelled, what, ": cancelled");
  context().check_stop();
}

Tensor laid_out_like(const std::vector<double>& numbers, const Tensor& like) {
  const Tensor dense = from_numbers(numbers, like.shape(), is_complex(like.dtype()), cpu_device());
  if (like.is_contiguous()) return dense;
  int64_t extent = 1;
  for (int d = 0; d < like.ndim(); ++d) extent += (like.size(d) - 1) * like.strides()[d];
  const Tensor memory = zeros({extent}, like.dtype(), cpu_device());
  const Tensor view = as_strided(memory, like.shape(), like.strides(), 0);
  return copy_(view, dense);
}

// A copy on the CPU in f64. Keeps the strides of the original unless elements overlap, because a view's
// parameters may refer to strides.
Tensor in_f64(const Tensor& x) {
  const NoGrad off;
  const Tensor host = to(x.detach(), cpu_device());
  if (!is_differentiable(x.dtype())) return clone(host);
  const DType double_type = is_complex(x.dtype()) ? DType::c128 : DType::f64;
  const Tensor dense = clone(to(host, double_type));
  if (x.is_contiguous() || x.numel() == 0 || overlaps(x.shape(), x.strides())) return dense;
  return laid_out_like(
      numbers_of(dense),
      Tensor(dense.storage_ref(), LayoutRef(new Layout(x.shape(), x.strides())), 0, double_type));
}

// Sum over the outputs of <output, weights>; for complex outputs over their parts. When there are several
// outputs, only those that a gradient reached count: others may be internal results without a gradient.
Tensor contract(const TensorList& outputs, const std::vector<bool>& reached) {
  const bool any = std::find(reached.begin(), reached.end(), true) != reached.end();
  Tensor total;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (any && i < reached.size() && !reached[i]) continue;
    if (!outputs[i].defined() || !is_differentiable(outputs[i].dtype())) continue;
    const bool complex = is_complex(outputs[i].dtype());
    const Tensor weights = contraction_weights(outputs[i], i);
    const Tensor output = to(outputs[i], complex ? DType::c128 : DType::f64);
    const Tensor part = complex ? sum(real(conj(weights) * output)) : sum(weights * output);
    total = total.defined() ? total + part : part;
  }
  return total;
}

// Which elements of an input are perturbed.
std::vector<size_t> choice(const std::vector<double>& gradient) {
  std::vector<size_t> all(gradient.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  if (int64_t(all.size()) <= kMostChecked + kLargest) return all;
  std::vector<size_t> largest = all;
  std::nth_element(largest.begin(), largest.begin() + kLargest, largest.end(),
                   [&](size_t a, size_t b) { return std::abs(gradient[a]) > std::abs(gradient[b]); });
  std::vector<size_t> chosen(largest.begin(), largest.begin() + kLargest);
  for (int64_t i = 0; i < kMostChecked; ++i)
    chosen.push_back(size_t(i) * (all.size() - 1) / size_t(kMostChecked - 1));
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

class GradientChecker {
 public:
  GradientChecker(const TapeWatch::Recomputed& recomputation, const std::stop_token& stop)
      : node_(*recomputation.node),
        info_(*recomputation.info),
        reached_(recomputation.reached),
        stop_(stop),
        params_(node_.params) {
    // A cast inside the op would hide errors.
    for (size_t i = 0; i < params_.size() && i < node_.op->params.size(); ++i)
      if (node_.op->params[i].kind == ParamKind::dtype && params_[i].present() &&
          is_differentiable(DType(params_[i].i)))
        params_[i] = Value(is_complex(DType(params_[i].i)) ? DType::c128 : DType::f64);
    for (size_t i = 0; i < recomputation.inputs.size(); ++i) {
      const Tensor& x = recomputation.inputs[i];
      inputs_.push_back(x.defined() ? in_f64(x) : x);
      const bool number = node_.in[i].is_number, index = i < 16 && (node_.op->integer_inputs >> i & 1);
      if (x.defined() && number) inputs_.back().body()->is_number = true;
      if (x.defined() && !number && !index && node_.in[i].maker != 0 && is_differentiable(x.dtype()))
        checked_.push_back(i);
    }
  }

  GradientCheck run() {
    GradientCheck check;
    if (checked_.empty()) fail("none of its inputs gets a gradient");
    const GradMode on(true);
    TensorList leaves = inputs_, wanted;
    for (const size_t i : checked_) {
      leaves[i] = inputs_[i].detach();
      wanted.push_back(leaves[i].requires_grad_());
    }
    const Tensor loss = contract(run_again(node_, params_, leaves), reached_);
    if (!loss.defined()) fail("it has no floating output");
    GradOptions options;
    options.allow_unused = true;
    const TensorList gradients =
        loss.requires_grad() ? grad({loss}, wanted, {}, options) : TensorList(wanted.size());
    const NoGrad off;
    base_ = contract(run_again(node_, params_, inputs_), reached_).item();
    check.ran = check.ok = true;
    for (size_t k = 0; k < checked_.size(); ++k) {
      check.inputs.push_back(compare(checked_[k], gradients[k], check.tolerance));
      check.ok &= check.inputs.back().ok;
    }
    return check;
  }

 private:
  double value_at(size_t input, std::vector<double>& numbers, size_t place, double shifted) {
    check_wanted(stop_, "check gradient");
    const double before = std::exchange(numbers[place], shifted);
    TensorList arguments = inputs_;
    arguments[input] = laid_out_like(numbers, inputs_[input]);
    numbers[place] = before;
    return contract(run_again(node_, params_, arguments), reached_).item();
  }

  GradientCheck::Input compare(size_t i, const Tensor& analytic, double tolerance) {
    const Tensor& x = inputs_[i];
    GradientCheck::Input result;
    result.name = i < info_.inputs.size() ? info_.inputs[i].name : text(i + 1);
    result.shape = {x.shape().begin(), x.shape().end()};
    result.count = x.numel();
    std::vector<double> numbers = numbers_of(x);
    const std::vector<double> gradient =
        analytic.defined() ? numbers_of(analytic) : std::vector<double>(numbers.size(), 0.0);
    const bool complex = is_complex(x.dtype());
    struct Slope {
      size_t place;
      double central, left, right;
    };
    std::vector<Slope> slopes;
    double scale = 1;
    for (const size_t place : choice(gradient)) {
      const double at = numbers[place], h = kStep * std::max(1.0, std::abs(at));
      const double right = value_at(i, numbers, place, at + h), left = value_at(i, numbers, place, at - h);
      slopes.push_back({place, (right - left) / (2 * h), (base_ - left) / h, (right - base_) / h});
      if (std::isfinite(slopes.back().central)) scale = std::max(scale, std::abs(slopes.back().central));
    }
    result.checked = int64_t(slopes.size());
    for (const Slope& slope : slopes) {
      const double found = gradient[slope.place];
      double error = std::abs(found - slope.central) / scale;
      if (std::isnan(error)) error = INFINITY;
      // Where the one-sided slopes differ there is no derivative: any value between them is correct.
      const double slack = 1e-4 * scale;
      const auto [low, high] = std::minmax(slope.left, slope.right);
      if (error > tolerance && high - low > 10 * slack && found >= low - slack && found <= high + slack) {
        ++result.kinks;
        continue;
      }
      if (error < result.worst || (error == result.worst && !result.at.empty())) continue;
      result.worst = error;
      const Dims at = position_of(int64_t(complex ? slope.place / 2 : slope.place), x.shape());
      result.at.assign(at.begin(), at.end());
      result.imaginary = complex && slope.place % 2;
      result.gradient = found;
      result.difference = slope.central;
    }
    result.ok = result.worst <= tolerance;
    return result;
  }

  const KeptNode& node_;
  const NodeInfo& info_;
  const std::vector<bool>& reached_;
  const std::stop_token& stop_;
  Values params_;
  TensorList inputs_;
  std::vector<size_t> checked_;
  double base_ = 0;
};

// The absolute difference; infinite when only one of the two is NaN.
double error_of(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double error = std::abs(a - b);
  return std::isnan(error) ? INFINITY : error;
}

DeviceComparison::Output compare_output(const std::string& name, const Tensor& cpu, const Tensor& other) {
  DeviceComparison::Output output;
  output.name = name;
  output.shape = {cpu.shape().begin(), cpu.shape().end()};
  output.dtype = dtype_name(cpu.dtype());
  output.count = cpu.numel();
  const std::vector<double> a = numbers_of(to(cpu, is_complex(cpu.dtype()) ? DType::c128 : DType::f64));
  const std::vector<double> b = numbers_of(to(other, is_complex(cpu.dtype()) ? DType::c128 : DType::f64));
  const int64_t parts = is_complex(cpu.dtype()) ? 2 : 1;
  const int64_t columns = cpu.ndim() > 0 ? std::max<int64_t>(cpu.size(-1), 1) : 1,
                rows = output.count / columns;
  output.cell_rows = std::min(rows, kMapSide);
  output.cell_columns = std::min(columns, kMapSide);
  output.errors.assign(size_t(output.cell_rows * output.cell_columns), 0);
  double magnitude = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double error = error_of(a[i], b[i]);
    if (std::isfinite(a[i])) magnitude = std::max(magnitude, std::abs(a[i]));
    if (error == 0) continue;
    ++output.different;
    const int64_t element = int64_t(i) / parts;
    const int64_t row = element / columns * output.cell_rows / rows;
    double& cell =
        output.errors[size_t(row * output.cell_columns + element % columns * output.cell_columns / columns)];
    cell = std::max(cell, error);
    if (error <= output.largest) continue;
    output.largest = error;
    const Dims at = position_of(element, cpu.shape());
    output.at.assign(at.begin(), at.end());
    output.cpu = a[i];
    output.other = b[i];
  }
  output.relative = magnitude > 0 ? output.largest / magnitude : output.largest;
  return output;
}

Device* other_device() {
  for (const auto& device : devices())
    if (!device->is_cpu()) return device.get();
  return nullptr;
}

}  // namespace

GradientCheck check_gradient(TapeWatch& tape, int64_t step, uint64_t node, const std::stop_token& stop) {
  const auto start = std::chrono::steady_clock::now();
  const WithoutListeners aside;
  GradientCheck check;
  try {
    context().device = &cpu_device();
    check_wanted(stop, "check gradient");
    check = GradientChecker(tape.recompute(step, node, [&] { check_wanted(stop, "check gradient"); }), stop)
                .run();
  } catch (const std::exception& error) {
    check = GradientCheck();
    check.reason = error.what();
  }
  check.seconds = seconds_since(start);
  return check;
}

DeviceComparison compare_devices(TapeWatch& tape, int64_t step, uint64_t node, const std::stop_token& stop) {
  const WithoutListeners aside;
  DeviceComparison comparison;
  try {
    const NoGrad off;
    check_wanted(stop, "compare devices");
    const TapeWatch::Recomputed recomputation =
        tape.recompute(step, node, [&] { check_wanted(stop, "compare devices"); });
    if (std::string_view(recomputation.node->op->name).starts_with("_as_strided"))
      fail("it looks at memory through other strides; there is nothing to compute");
    Device* const other = other_device();
    if (!other) {
      const std::string why = missing_devices();
      fail("no Vulkan device", why.empty() ? "" : ": " + why);
    }
    comparison.device = text(other->name(), " (", other->description(), ")");
    const auto run_on = [&](Device& device, double& seconds) {
      context().device = &device;
      TensorList inputs;
      for (const Tensor& x : recomputation.inputs) {
        inputs.push_back(x.defined() && !x.is_number() ? to(clone(x.detach()), device) : x);
      }
      device.sync();
      const auto start = std::chrono::steady_clock::now();
      const TensorList outputs = run_again(*recomputation.node, recomputation.node->params, inputs);
      device.sync();
      seconds = seconds_since(start);
      return outputs;
    };
    const TensorList cpu = run_on(cpu_device(), comparison.cpu_seconds);
    check_wanted(stop, "compare devices");
    const TensorList there = run_on(*other, comparison.other_seconds);
    for (size_t i = 0; i < cpu.size(); ++i) {
      if (!cpu[i].defined()) continue;
      const std::string name =
          i < recomputation.info->outputs.size() ? recomputation.info->outputs[i].name : text(i + 1);
      comparison.outputs.push_back(compare_output(name, cpu[i], to(there[i], cpu_device())));
    }
    comparison.ran = true;
  } catch (const std::exception& error) {
    comparison = DeviceComparison();
    comparison.reason = error.what();
  }
  return comparison;
}

}  // namespace lunagrad
