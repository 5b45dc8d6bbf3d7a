#include "script/view/step_comparison.h"

#include <algorithm>
#include <cstdio>

#include "runtime/core/error.h"

namespace lunagrad {

const char* direction_name(const ComparedNode& node) { return node.backward ? "backward" : "forward"; }

const TensorError* worst_tensor(const ComparedNode& node) {
  return node.tensors.empty() ? nullptr : &node.tensors[node.worst];
}

double inherited_error(const ComparedNode& node) {
  double most = 0;
  for (const TensorError& tensor : node.tensors) most = std::max(most, tensor.inherited);
  return most;
}

bool only_inherits(const ComparedNode& node) { return node.op == "leaf" && node.tensors.size() < 2; }

std::string error_figure(double value) {
  char digits[32];
  std::snprintf(digits, sizeof digits, value == 0 ? "0" : "%.1e", value);
  return digits;
}

std::string compared_place(const ComparedNode& node) {
  std::string words = node.module;
  if (node.place.line > 0) words += (words.empty() ? "" : " at ") + file_and_line(node.place);
  return words;
}

std::string comparison_counts(const StepComparison& comparison) {
  const size_t all = comparison.nodes.size(), wrong = comparison.wrong;
  std::string words = wrong == 0 ? text("none of ", all, " computations is wrong by itself")
                                 : text(wrong, " of ", all, " computations ", wrong == 1 ? "is" : "are",
                                        " wrong by ", wrong == 1 ? "itself" : "themselves");
  if (comparison.not_compared > 0) words += text("; ", comparison.not_compared, " could not be compared");
  return words;
}

}  // namespace lunagrad
