#pragma once
// A comparison of one step with another way to compute it: on another device, in another dtype, or call by
// call instead of put off. Each node is computed there from the values of the run, so that the node that is
// wrong by itself stands out from those that inherit its error. Plain values; any thread may hold a copy.
#include <cstdint>
#include <string>
#include <vector>

#include "script/view/run.h"
#include "script/view/source_place.h"

namespace lunagrad {

// The other way to compute: "vulkan", "vulkan:1", "cpu"; "f64", "f32", "bf16", "f16"; or "eager", each call
// at once.
struct ComparisonQuery {
  std::string with = "vulkan";
  double tolerance = 1;  // multiplies the errors that rounding may make
};

// The largest difference of one tensor, relative to its largest magnitude.
struct TensorError {
  std::string name;  // "output", "gradient of weight"
  std::vector<int64_t> shape;
  std::string dtype;                // in the run
  double error = 0;                 // infinite when NaN or infinities differ
  double allowed = 0;               // what rounding may do at that element
  std::vector<int64_t> at;          // its index, from 0
  double reference = 0, other = 0;  // the values there; of complex numbers the part that differs more
  double inherited = 0;             // of the step that the other side computes from its own values
};

enum class Verdict : uint8_t {
  right,        // within rounding
  wrong,        // by itself
  not_compared  // `note` says why
};

// The computation of one node: its call, or the gradients of its inputs. Of a leaf: its whole gradient, which
// is inherited alone.
struct ComparedNode {
  uint64_t node = 0;
  size_t pass = 0;  // which backward pass of the step, from 0
  bool backward = false;
  std::string op, name, module;  // name: of a leaf
  SourcePlace place;
  std::vector<TensorError> tensors;
  size_t worst = 0;  // the tensor that is nearest to, or farthest beyond, what is allowed
  Verdict verdict = Verdict::right;
  std::string note;  // "the CPU computed it: vulkan has no kernel"
};

struct StepComparison {
  bool ran = false;
  std::string reason;             // why it did not run
  Outcome outcome = Outcome::ok;  // the exit code of that reason
  int64_t step = 0;
  std::string reference, other;     // what was compared: "cpu, as the script says", "vulkan (llvmpipe …)"
  std::vector<ComparedNode> nodes;  // in the order of execution
  size_t wrong = 0, not_compared = 0;
};

// For people. Pure; any thread.
const char* direction_name(const ComparedNode&);       // "forward", "backward"
const TensorError* worst_tensor(const ComparedNode&);  // null: nothing was compared
double inherited_error(const ComparedNode&);           // the largest of its tensors
bool only_inherits(const ComparedNode&);          // a leaf, whose gradient no computation of its own made
std::string error_figure(double);                 // "3.1e-04", "0"
std::string compared_place(const ComparedNode&);  // "net.1 at train.lua:12", ""
std::string comparison_counts(const StepComparison&);  // "none of 24 computations is wrong by itself"

}  // namespace lunagrad
