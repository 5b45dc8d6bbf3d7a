#pragma once
// Compares one step with another way to compute it: on another device, in another dtype, or eagerly instead
// of deferred. Each node is computed again from the run's values, so that a node that is wrong by itself
// stands out from nodes that inherit its error. Plain values; any thread may hold a copy.
#include <cstdint>
#include <string>
#include <vector>

#include "script/view/run.h"
#include "script/view/source_place.h"

namespace lunagrad {

// The other way to compute: "vulkan", "vulkan:1", "cpu"; "f64", "f32", "bf16", "f16"; or "eager".
struct ComparisonQuery {
  std::string with = "vulkan";
  double tolerance = 1;  // multiplies the allowed rounding errors
};

// The largest difference of one tensor, relative to its largest magnitude.
struct TensorError {
  std::string name;  // "output", "gradient of weight"
  std::vector<int64_t> shape;
  std::string dtype;        // in the run
  double error = 0;         // infinite when NaN or infinities differ
  double allowed = 0;       // the error that rounding may cause at that element
  std::vector<int64_t> at;  // index of the element, from 0
  // the values of that element; of a complex number the part that differs more
  double reference = 0, other = 0;
  double inherited = 0;  // error when the other side computes the whole step from its own values
};

enum class Verdict : uint8_t {
  right,        // correct within rounding
  wrong,        // wrong by itself
  not_compared  // `note` gives the reason
};

// The computation of one node: its call, or the gradients of its inputs. For a leaf: its whole gradient,
// which can only be inherited.
struct ComparedNode {
  uint64_t node = 0;
  size_t pass = 0;  // which backward pass of the step, from 0
  bool backward = false;
  std::string op, name, module;  // name: for a leaf
  SourcePlace place;
  std::vector<TensorError> tensors;
  size_t worst = 0;  // index of the tensor that is nearest to its allowed error, or farthest beyond it
  Verdict verdict = Verdict::right;
  std::string note;  // "the CPU computed it: vulkan has no kernel"
};

struct StepComparison {
  bool ran = false;
  std::string reason;             // why the comparison did not run; else ""
  Outcome outcome = Outcome::ok;  // the exit code for `reason`
  int64_t step = 0;
  std::string reference, other;     // what was compared: "cpu, as the script says", "vulkan (llvmpipe …)"
  std::vector<ComparedNode> nodes;  // in the order of execution
  size_t wrong = 0, not_compared = 0;
};

// Texts for people. Pure; any thread.
const char* direction_name(const ComparedNode&);       // "forward", "backward"
const TensorError* worst_tensor(const ComparedNode&);  // null if nothing was compared
double inherited_error(const ComparedNode&);           // the largest inherited error of its tensors
bool only_inherits(const ComparedNode&);               // a leaf: no computation of its own made its gradient
std::string error_figure(double);                      // "3.1e-04", "0"
std::string compared_place(const ComparedNode&);       // "net.1 at train.lua:12", ""
std::string comparison_counts(const StepComparison&);  // "none of 24 computations is wrong by itself"

}  // namespace lunagrad
