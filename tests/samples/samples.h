#pragma once
// The op sample table. Each public op of the engine has at least one sample: operands by shape, range and
// kind, and parameters. runtime/test_ops.cpp runs every sample over dtypes and layouts, against the same op
// in f64, against central differences, and to second order; gpu/test_samples.cpp compares the Vulkan device
// with the CPU. Samples come from the files of this folder and from the examples of the records
// (Op::examples); the samples of elementwise rows are derived from elementwise.def.
#include <string>
#include <vector>

#include "runtime/core/numbers.h"  // for tests that compare elements
#include "runtime/core/op.h"

namespace lunagrad::tests {

using SampleInput = ExampleOperand;
using Kind = ExampleOperand::Kind;

struct Sample {
  std::string op;
  std::vector<SampleInput> inputs;
  Values params = {};  // missing ones take their fallbacks
  bool second_order = true;
  bool contiguous = false;  // the op takes only contiguous operands
  // Errors are relative to the largest expected element, or to this if that is smaller. Rows with a gradient
  // that is exactly 0 set it to what the rounding errors come from.
  double smallest_scale = 1e-3;
  OpExample::Types types =
      OpExample::Types::any;  // of the real inputs; types.cpp lists the types of ops without examples
};

// The largest error of f32 against f64 on the CPU, relative to the largest expected element: about 80 eps.
constexpr double kTolerance = 1e-5;

struct BadSample {
  std::string op;
  std::vector<SampleInput> inputs;
  Values params;
  std::string message;  // the Error must contain it
};

inline SampleInput real(const Shape& shape, double low = -2, double high = 2) {
  return {shape, low, high, Kind::real};
}
inline SampleInput complex_numbers(const Shape& shape, double low = -2, double high = 2) {
  return {shape, low, high, Kind::complex};
}
inline SampleInput boolean(const Shape& shape) { return {shape, 0, 1, Kind::boolean}; }
inline SampleInput index(const Shape& shape, double low, double high) {
  return {shape, low, high, Kind::index};
}
// The operand on the CPU, the same at each call with a number `stream`: f64 reals, c128 complex numbers, i64
// indices.
Tensor make_input(const SampleInput&, uint64_t stream);
inline SampleInput absent() { return {{}, 0, 0, Kind::absent}; }

// The samples of related ops: one file of this folder each, listed in samples.cpp.
struct SampleFamily {
  std::vector<Sample> (*samples)();
  std::vector<BadSample> (*bad_samples)();
};

std::vector<Sample> samples();
std::vector<BadSample> bad_samples();

Value equation(const char* text);  // the parameter of einsum

// The parameters with fallbacks for those that are missing.
Values complete(const Op&, const Values&);

// Whether the op takes this dtype for the real inputs of the sample; else it raises an error.
bool takes(const Sample&, DType);

inline bool is_trained(const Tensor& x) { return x.defined() && is_differentiable(x.dtype()); }

// The op and the shapes of its inputs: "softmax([2, 5])".
std::string name_of(const Sample&);

// The loss whose gradients the tests check: the sum over all outputs of <weights, output>, of complex outputs
// over both parts. The weights are random, +-[0.5, 1.5), so that no op has a constant loss (the plain sum of
// a softmax or of a norm is one). They depend on the name of the sample alone: every device and dtype gets
// the same. Undefined if no output requires grad.
Tensor weighted_loss(const Sample&, const Operands& outputs);

}  // namespace lunagrad::tests
