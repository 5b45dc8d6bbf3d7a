#pragma once
// The memory that the composed ops take on a device, for the samples of the op table with larger operands.
#include <algorithm>
#include <map>
#include <string>

#include "runtime/core/memory_limit.h"
#include "runtime/ops.h"
#include "runtime/tape/tape.h"
#include "tests/samples/samples.h"
#include "tests/support/threads.h"

namespace lunagrad::tests {

// The sample with every dim above 1 as many times as large as `elements` elements in all operands allow.
inline Sample enlarged(Sample sample, double elements) {
  const auto total = [&](int64_t factor) {
    double sum = 0;
    for (const SampleInput& input : sample.inputs) {
      double product = input.kind == Kind::absent ? 0 : 1;
      for (const int64_t size : input.shape) product *= size == 1 ? 1 : double(size * factor);
      sum += product;
    }
    return sum;
  };
  int64_t factor = 1;
  while (factor < 4096 && total(factor * 2) <= elements) factor *= 2;
  for (SampleInput& input : sample.inputs)
    for (int d = 0; d < input.shape.size(); ++d)
      if (input.shape[d] != 1) input.shape[d] *= factor;
  return sample;
}

inline double bytes_of(const TensorList& tensors) {
  double bytes = 0;
  for (const Tensor& x : tensors)
    if (x.defined()) bytes += double(x.nbytes());
  return bytes;
}

// The peak of a call in relation to its operands and results, with `gradients` of the call and its backward
// pass in relation to these and their gradients. 0: the enlarged operands are too small to tell, or the op
// refuses them.
inline double peak_ratio(const Sample& given, Device& device, bool gradients, DType floats) {
  constexpr double kElements = 1 << 14, kLeastBytes = 1 << 14;
  const Sample sample = enlarged(given, kElements);
  const Op& op = *find_op(sample.op);
  device.sync();
  const size_t before = device.memory().in_use;
  TensorList in;
  for (size_t i = 0; i < sample.inputs.size(); ++i) {
    const Tensor x = make_input(sample.inputs[i], i);
    const DType type = !x.defined()             ? floats
                       : is_complex(x.dtype())  ? DType::c64
                       : is_floating(x.dtype()) ? floats
                                                : x.dtype();
    in.push_back(x.defined() ? to(to(x, type), device) : x);
    if (gradients && is_trained(in.back())) in.back().requires_grad_();
  }
  device.sync();
  device.reset_peak();
  try {
    TensorList out;
    for (const Tensor& y : apply(op, in, complete(op, sample.params))) out.push_back(y);
    double bytes = bytes_of(in) + bytes_of(out);
    if (gradients) {
      TensorList roots, seeds, grads;
      for (const Tensor& y : out)
        if (y.requires_grad()) roots.push_back(y), seeds.push_back(ones_like(y.detach()));
      if (roots.empty()) return 0;
      TensorList leaves;
      for (const Tensor& x : in)
        if (x.defined() && x.requires_grad()) leaves.push_back(x);
      GradOptions options;
      options.allow_unused = true;
      grads = grad(roots, leaves, seeds, options);
      bytes += bytes_of(grads) + bytes_of(seeds);
    }
    device.sync();
    return bytes < kLeastBytes ? 0 : double(device.memory().peak - before) / bytes;
  } catch (const Error&) {
    return 0;  // a parameter that does not fit the enlarged operands
  }
}

// The largest ratio of each composed op, and the sample that has it.
struct PeakOfOp {
  double ratio = 0;
  std::string sample;
};
inline std::map<std::string, PeakOfOp> peak_ratios(Device& device, bool gradients,
                                                   DType floats = DType::f32) {
  // Some results grow with a power of the operands: these calls are errors.
  struct Limit {
    Limit() { set_memory_limit({2 * memory_in_use() + (size_t(64) << 20)}); }
    ~Limit() { set_memory_limit({}); }
  } const limit;
  const Threads one(1);
  std::map<std::string, PeakOfOp> found;
  for (const Sample& sample : samples()) {
    if (!find_op(sample.op)->compose) continue;
    const double ratio = peak_ratio(sample, device, gradients, floats);
    PeakOfOp& most = found[sample.op];
    if (ratio > most.ratio) most = {ratio, name_of(sample)};
  }
  return found;
}

}  // namespace lunagrad::tests
