#pragma once
// THE OP SAMPLE TABLE. Each op of the engine has at least one row: operands by shape, range and kind, and parameters.
// test_ops.cpp runs every row over dtypes, layouts and devices, against the same op in double precision, against
// central differences, and to second order. Elementwise rows come from elementwise.def by themselves.
#include <string>
#include <vector>

#include "runtime/op.h"

namespace lunagrad::tests {

enum class Kind { real, index, boolean, absent };

struct SampleInput {
  Shape shape;
  double low = -2, high = 2;  // index: integers in [low, high)
  Kind kind = Kind::real;
};

struct Sample {
  std::string op;
  std::vector<SampleInput> inputs;
  Values params = {};       // missing ones take the record's defaults
  double tolerance = 1e-5;  // of f32 against f64, relative to the largest value
  bool second_order = true;
};

struct BadSample {
  std::string op;
  std::vector<SampleInput> inputs;
  Values params;
  std::string message;  // must occur in the error
};

std::vector<Sample> samples();
std::vector<BadSample> bad_samples();

// Values for the parameters that a row leaves out.
Values complete(const Op&, const Values&);

}  // namespace lunagrad::tests
