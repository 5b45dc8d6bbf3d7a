#pragma once
// The op sample table. Each public op of the engine has at least one sample: operands by shape, range and
// kind, and parameters. test_ops.cpp runs every sample over dtypes, layouts and devices, against the same op
// in double precision, against central differences, and to second order. Samples come from the files of this
// folder and from the examples of the records (Op::examples); those of elementwise rows are derived from
// elementwise.def.
#include <string>
#include <vector>

#include "runtime/op.h"

namespace lunagrad::tests {

using SampleInput = ExampleOperand;
using Kind = ExampleOperand::Kind;

struct Sample {
  std::string op;
  std::vector<SampleInput> inputs;
  Values params = {};       // missing ones take their fallbacks
  double tolerance = 1e-5;  // of f32 against f64, relative to the largest value
  bool second_order = true;
  bool contiguous = false;  // the op takes only contiguous operands
};

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
inline SampleInput absent() { return {{}, 0, 0, Kind::absent}; }

// The samples of related ops: one file of this folder each, listed in samples.cpp.
struct SampleFamily {
  std::vector<Sample> (*samples)();
  std::vector<BadSample> (*bad_samples)();
};

std::vector<Sample> samples();
std::vector<BadSample> bad_samples();

// The parameters with fallbacks for those that are missing.
Values complete(const Op&, const Values&);

// The elements of a tensor; of a complex one the real and imaginary parts.
std::vector<double> numbers_of(const Tensor&);

}  // namespace lunagrad::tests
