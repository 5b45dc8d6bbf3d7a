// Writes steps as nodes: by the rule of each op, or else by its composition.
#include <unordered_map>

#include "script/onnx/rule.h"

namespace lunagrad::onnx_export {
namespace {

const Rule* find_rule(std::string_view op) {
  static const std::unordered_map<std::string_view, const Rule*> by_name = [] {
    std::unordered_map<std::string_view, const Rule*> map;
    for (const auto family :
         {product_rules, window_rules, shape_rules, index_rules, reduction_rules, sequence_rules})
      for (const Rule& rule : family()) map.emplace(rule.op, &rule);
    return map;
  }();
  const auto found = by_name.find(op);
  return found == by_name.end() ? nullptr : found->second;
}

bool same_memory(const Value& a, const Value& b) {
  return a.tensor.storage_ref() == b.tensor.storage_ref() && a.tensor.offset() == b.tensor.offset() &&
         a.tensor.dtype() == b.tensor.dtype() && a.tensor.shape() == b.tensor.shape() &&
         a.tensor.strides() == b.tensor.strides();
}

}  // namespace

const std::string& Writer::name_of(int id) {
  Value& value = values_[size_t(id)];
  if (!value.name.empty()) return value.name;
  assert(value.tensor.defined());
  for (const int known : constants_)
    if (same_memory(values_[size_t(known)], value)) return value.name = values_[size_t(known)].name;
  if (value.tensor.storage().version != value.version)
    fail("io.onnx_export: ", graph_.origin().op, ": a constant of shape ", value.tensor.shape(),
         " that it reads was changed in place afterwards", at(graph_.origin().line));
  constants_.push_back(id);
  const std::string name = graph_.tensor(value.tensor);
  return values_[size_t(id)].name = name;
}

void Writer::write(const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    const Site site(*this, step);
    if (depth_ == 0) {
      std::string module = interned(step.module);
      if (module == root_) module.clear();
      if (!root_.empty() && module.starts_with(root_ + ".")) module.erase(0, root_.size() + 1);
      graph_.set_origin({step.call.op->name, step.line, module});
    }
    if (step.call.op->random || std::string_view(step.call.op->name) == "_dropout")
      site.refuse("random numbers cannot be exported; the model draws them in evaluation, too");
    if (step.call.op->elementwise >= 0)
      write_elementwise(site);
    else if (const Rule* const rule = find_rule(step.call.op->name))
      rule->write(site);
    else if (step.call.op->compose)
      write_composition(step);
    else
      site.refuse("this operation cannot be exported to ONNX");
  }
}

// Runs the op's compose() and writes the ops that it records. The operands may have been overwritten since
// the model ran: only their shapes matter, except for constants, whose values are used.
void Writer::write_composition(const Step& step) {
  std::vector<Step> parts;
  std::vector<int> results;
  {
    const NoGrad off;
    Recorder recorder(values_);
    for (size_t i = 0; i < step.in.size(); ++i) {
      if (step.in[i] == kAbsent) continue;
      const Value& value = values_[size_t(step.in[i])];
      if (!value.tensor.defined() || value.parameter) recorder.know(step.call.in[i], step.in[i]);
    }
    const Operands out = step.call.op->compose(step.call);
    for (const Tensor& y : out) results.push_back(recorder.value_of(y));
    if (!recorder.complaint().empty())
      fail("io.onnx_export: ", step.call.op->name, ": ", recorder.complaint());
    parts = recorder.take();
  }
  ++depth_;
  write(parts);
  --depth_;
  for (size_t i = 0; i < step.out.size(); ++i) {
    const Value& value = values_[size_t(results[i])];
    // A result that no node computes is a constant; name_of() names it at its first use.
    if (value.name.empty() && value.tensor.defined())
      values_[size_t(step.out[i])] = value;
    else
      values_[size_t(step.out[i])].name = value.name;
  }
}

Graph& Site::graph() const { return writer_.graph_; }

std::string Site::in(int i) const {
  if (size_t(i) >= step_.in.size() || step_.in[size_t(i)] == kAbsent) return {};
  return writer_.name_of(step_.in[size_t(i)]);
}

std::string Site::in(int i, DType type) const {
  const Tensor constant = known(i);
  if (constant.defined() && constant.is_number()) return graph().number(constant.item(), type);
  return cast(in(i), call.input(i).dtype(), type);
}

Tensor Site::known(int i) const {
  if (size_t(i) >= step_.in.size() || step_.in[size_t(i)] == kAbsent) return {};
  const Value& value = writer_.values_[size_t(step_.in[size_t(i)])];
  if (!value.tensor.defined() || value.tensor.storage().version != value.version) return {};
  return value.tensor;
}
std::string Site::known_name(int i) const { return writer_.values_[size_t(step_.in[size_t(i)])].name; }

void Site::give(int output, const std::string& name) const {
  writer_.values_[size_t(step_.out[size_t(output)])].name = name;
}

std::string Site::cast(const std::string& name, DType from, DType to) const {
  return from == to ? name : add("Cast", {name}, {{"to", to}});
}

std::string Site::unsqueeze(const std::string& name, const std::vector<int64_t>& dims) const {
  return add("Unsqueeze", {name, graph().integers(dims)});
}
std::string Site::squeeze(const std::string& name, const std::vector<int64_t>& dims) const {
  return add("Squeeze", {name, graph().integers(dims)});
}
std::string Site::slice(const std::string& name, int64_t dim, int64_t first, int64_t last,
                        int64_t step) const {
  return add("Slice", {name, graph().integers({first}), graph().integers({last}), graph().integers({dim}),
                       graph().integers({step})});
}

int64_t Site::dim(int parameter, int ndim) const {
  const int64_t given = call.integer(parameter);
  return given < 0 ? given + ndim : given;
}

double Site::real(int parameter) const {
  const lunagrad::Value& value = call.params[size_t(parameter)];
  return value.kind == lunagrad::Value::Kind::real ? value.f : double(value.i);
}

void Site::compose() const { writer_.write_composition(step_); }

void Site::refuse(const std::string& fact) const {
  const char* op = call.op->name;
  while (*op == '_') ++op;
  fail("io.onnx_export: ", op, ": ", fact, at(graph().origin().line));
}

}  // namespace lunagrad::onnx_export
