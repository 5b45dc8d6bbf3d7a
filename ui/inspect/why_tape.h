#pragma once
// A tape as the search for causes needs it: who reads a node, and the figures of its value and gradient. If
// the tape's own step was not measured, the figures are of the latest measured step. Keeps references: the
// facts outlive this object. One thread.
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ui/inspect/why_trail.h"

namespace lunagrad {

class WhyTape {
 public:
  explicit WhyTape(const WhyFacts&);

  bool any() const { return !nodes().empty(); }
  const std::vector<NodeInfo>& nodes() const;
  const NodeInfo& operator[](int node) const { return nodes()[size_t(node)]; }
  int find(uint64_t id) const;                 // -1: not on the tape
  int find_leaf(std::string_view name) const;  // -1: not on the tape
  int find_op(std::string_view op, const SourcePlace&) const;
  const std::vector<int>& readers(int node) const { return readers_[size_t(node)]; }
  int input(int node, size_t i) const;  // the node that made input `i`; -1: none is on the tape
  bool is_root(int node) const { return readers(node).empty() && node == 0; }

  // Null: not known. The value of a leaf is the parameter's at the end of its latest measured step.
  const Summary* value(int node) const { return values_[size_t(node)]; }
  const Summary* gradient(int node) const { return gradients_[size_t(node)]; }
  bool measured() const { return measured_step_ >= 0; }
  int64_t measured_step() const { return measured_step_; }            // the step of the figures; -1: none
  const ParameterStatistics* parameter(std::string_view name) const;  // in the latest measured step; or null

 private:
  void take_own_figures();
  void take_measured_figures();

  const WhyFacts& facts_;
  std::unordered_map<uint64_t, int> index_;
  std::vector<std::vector<int>> readers_;
  std::vector<const Summary*> values_, gradients_;
  int64_t measured_step_ = -1;
};

// What an input is for its op, as "weight": the name of an input is a parameter's own name where it has one.
std::string_view role_of(const NodeInfo&, size_t input);

bool all_zero(const Summary*);                                  // known, and each element is 0
bool any_nonzero(const Summary*);                               // known, finite, and not all zero
bool any_not_finite(const Summary*);                            // known, with a NaN or Inf
double size_of_elements(const Summary&);                        // root mean square of the finite elements
std::string attribute(const NodeInfo&, std::string_view name);  // as printed, without quotes; "": none
std::string activation_of(const NodeInfo&);                     // fused into the op; "": none
// An internal op counts as the public op: `_cross_entropy` is cross_entropy.
bool op_among(std::string_view op, std::initializer_list<std::string_view> names);

}  // namespace lunagrad
