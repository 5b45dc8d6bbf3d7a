#include "ui/inspect/why_tape.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "runtime/core/op.h"

namespace lunagrad {

WhyTape::WhyTape(const WhyFacts& facts) : facts_(facts) {
  const std::vector<NodeInfo>& all = nodes();
  readers_.resize(all.size());
  values_.resize(all.size());
  gradients_.resize(all.size());
  index_.reserve(all.size());
  for (size_t i = 0; i < all.size(); ++i) index_.emplace(all[i].id, int(i));
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t k = 0; k < all[i].inputs.size(); ++k) {
      const int made_by = input(int(i), k);
      if (made_by < 0) continue;
      std::vector<int>& readers = readers_[size_t(made_by)];
      if (readers.empty() || readers.back() != int(i)) readers.push_back(int(i));
    }
  if (facts_.tape && facts_.tape->has_statistics)
    take_own_figures();
  else
    take_measured_figures();
  if (facts_.steps.empty()) return;
  for (const ParameterStatistics& p : facts_.steps.back()->parameters)
    if (const int leaf = find(p.node); leaf >= 0 && p.weight.count > 0) values_[size_t(leaf)] = &p.weight;
}

const std::vector<NodeInfo>& WhyTape::nodes() const {
  static const std::vector<NodeInfo> none;
  return facts_.tape ? facts_.tape->nodes : none;
}

void WhyTape::take_own_figures() {
  measured_step_ = facts_.tape->step;
  for (size_t i = 0; i < nodes().size(); ++i) {
    if (nodes()[i].output_summary) values_[i] = &*nodes()[i].output_summary;
    if (nodes()[i].gradient_summary) gradients_[i] = &*nodes()[i].gradient_summary;
  }
}

// An op is another node in each step: nodes of one op, module and line are paired in their order.
void WhyTape::take_measured_figures() {
  if (!facts_.tape || facts_.steps.empty()) return;
  const StepStatistics& step = *facts_.steps.back();
  measured_step_ = step.step;
  using Key = std::tuple<std::string_view, std::string_view, std::string_view, int>;
  std::map<Key, std::vector<const NodeStatistics*>> found;
  std::unordered_map<uint64_t, const NodeStatistics*> leaves;
  for (const NodeStatistics& node : step.nodes) {
    if (node.op == "leaf")
      leaves.emplace(node.node, &node);
    else
      found[{node.op, node.module, node.place.file, node.place.line}].push_back(&node);
  }
  std::map<Key, size_t> taken;
  for (size_t i = 0; i < nodes().size(); ++i) {
    const NodeInfo& node = nodes()[i];
    const NodeStatistics* figures = nullptr;
    if (node.op == "leaf") {
      if (const auto leaf = leaves.find(node.id); leaf != leaves.end()) figures = leaf->second;
    } else {
      const Key key{node.op, node.module, node.place.file, node.place.line};
      const auto same = found.find(key);
      if (same != found.end() && taken[key] < same->second.size()) figures = same->second[taken[key]++];
    }
    if (!figures) continue;
    if (figures->output.count > 0) values_[i] = &figures->output;
    if (figures->has_gradient) gradients_[i] = &figures->gradient;
  }
}

int WhyTape::find(uint64_t id) const {
  const auto found = index_.find(id);
  return found == index_.end() ? -1 : found->second;
}

int WhyTape::find_leaf(std::string_view name) const {
  if (const ParameterStatistics* const known = parameter(name))
    if (const int leaf = find(known->node); leaf >= 0) return leaf;
  for (size_t i = 0; i < nodes().size(); ++i)
    if (nodes()[i].op == "leaf" && !nodes()[i].outputs.empty() && nodes()[i].outputs[0].name == name)
      return int(i);
  return -1;
}

int WhyTape::find_op(std::string_view op, const SourcePlace& place) const {
  return facts_.tape ? node_at(*facts_.tape, op, place) : -1;
}

int WhyTape::input(int node, size_t i) const {
  const std::vector<OperandInfo>& inputs = (*this)[node].inputs;
  return i < inputs.size() && inputs[i].node != 0 ? find(inputs[i].node) : -1;
}

const ParameterStatistics* WhyTape::parameter(std::string_view name) const {
  if (facts_.steps.empty()) return nullptr;
  for (const ParameterStatistics& p : facts_.steps.back()->parameters)
    if (p.name == name) return &p;
  return nullptr;
}

std::string_view role_of(const NodeInfo& node, size_t input) {
  const Op* const op = find_op(node.op);
  if (op && input < op->inputs.size()) return op->inputs[input].name;
  return node.inputs[input].name;
}

bool all_zero(const Summary* s) { return s && s->count > 0 && s->zeros == s->count; }
bool any_nonzero(const Summary* s) { return s && s->finite() && s->zeros < s->count; }
bool any_not_finite(const Summary* s) { return s && !s->finite(); }

double size_of_elements(const Summary& s) {
  const int64_t finite = s.count - s.nans - s.infs;
  return finite > 0 ? s.norm / std::sqrt(double(finite)) : 0;
}

std::string attribute(const NodeInfo& node, std::string_view name) {
  for (const auto& [key, value] : node.attributes)
    if (key == name) {
      const bool quoted = value.size() >= 2 && value.front() == '"' && value.back() == '"';
      return quoted ? value.substr(1, value.size() - 2) : value;
    }
  return {};
}

std::string activation_of(const NodeInfo& node) {
  const std::string name = attribute(node, "activation");
  return name == "none" ? std::string() : name;
}

bool op_among(std::string_view op, std::initializer_list<std::string_view> names) {
  if (op.starts_with('_')) op.remove_prefix(1);
  return std::find(names.begin(), names.end(), op) != names.end();
}

}  // namespace lunagrad
