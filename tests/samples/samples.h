#pragma once
// THE OP SAMPLE TABLE. Each op of the engine has at least one row: operands by shape, range and kind, and
// parameters. test_ops.cpp runs every row over dtypes, layouts and devices, against the same op in double
// precision, against central differences, and to second order. Elementwise rows come from elementwise.def by
// themselves.
#include <string>
#include <vector>

#include "runtime/numbers.h"  // for tests that compare elements
#include "runtime/op.h"

namespace lunagrad::tests {

enum class Kind { real, complex, index, boolean, absent };

struct SampleInput {
  Shape shape;
  double low = -2, high = 2;  // index: integers in [low, high); complex: of both parts
  Kind kind = Kind::real;
};

struct Sample {
  std::string op;
  std::vector<SampleInput> inputs;
  Values params = {};       // missing ones take the record's defaults
  double tolerance = 1e-5;  // of f32 against f64, relative to the largest value
  bool second_order = true;
  bool contiguous = false;  // a view of contiguous memory alone
};

struct BadSample {
  std::string op;
  std::vector<SampleInput> inputs;
  Values params;
  std::string message;  // must occur in the error
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

// The rows of one family each; larger families have a file of their own in samples/. samples.cpp lists them.
struct SampleFamily {
  std::vector<Sample> (*samples)();
  std::vector<BadSample> (*bad_samples)();
};

std::vector<Sample> samples();
std::vector<BadSample> bad_samples();

// Values for the parameters that a row leaves out.
Values complete(const Op&, const Values&);

}  // namespace lunagrad::tests
