#include "script/compare/pass_comparer.h"

#include <cmath>

#include "runtime/core/numbers.h"
#include "runtime/ops.h"
#include "script/compare/factors.h"

namespace lunagrad {
namespace {

// Whether the error ends the whole comparison instead of leaving out one node.
bool ends_all(const Error& error) {
  return error.kind() == ErrorKind::cancelled || error.kind() == ErrorKind::memory;
}

TensorList concat(const CallValues& values) {
  TensorList all = values.inputs;
  all.insert(all.end(), values.outputs.begin(), values.outputs.end());
  all.insert(all.end(), values.gradients.begin(), values.gradients.end());
  return all;
}

CallValues parted(const TensorList& all, const CallValues& as) {
  const auto at = [&](size_t begin, size_t count) {
    return TensorList(all.begin() + int64_t(begin), all.begin() + int64_t(begin + count));
  };
  const size_t inputs = as.inputs.size(), outputs = as.outputs.size();
  return {at(0, inputs), at(inputs, outputs), at(inputs + outputs, as.gradients.size())};
}

// Whether the node can be recorded without its forward pass. Custom ops cannot: they save their own values.
bool is_recorded(const KeptNode& node) { return !is_custom(*node.op); }

Side in_f64() { return Side(&cpu_device(), DType::f64); }

}  // namespace

PassComparer::PassComparer(const PassQuery& query)
    : query_(query), pass_(*query.values.passes()[query.pass]), nodes_(pass_.nodes), own_(nodes_.size()) {
  for (const KeptNode& node : nodes_) one_node_.push_back(node.op && is_recorded(node));
  for (const KeptNode& node : nodes_)
    for (const KeptOperand& operand : node.in)
      if (const int maker = operand.maker ? pass_.find(operand.maker) : -1; maker >= 0)
        ++readers_[{size_t(maker), operand.output}];
  for (const KeptPass::Given& given : pass_.given) given_[{given.node, given.output}] = given.gradient;
}

void PassComparer::run(std::unordered_set<uint64_t>& seen, std::vector<ComparedNode>& rows) {
  for (size_t i = nodes_.size(); i-- > 0;) {
    query_.check_wanted();
    ComparedNode row = begin_row(i, false);
    query_.begins(row);
    forward(i, row);
    if (nodes_[i].op && seen.insert(nodes_[i].id).second) rows.push_back(std::move(row));
  }
  for (size_t i = 0; i < nodes_.size(); ++i) {
    query_.check_wanted();
    ComparedNode row = begin_row(i, true);
    query_.begins(row);
    if (!nodes_[i].reached) continue;
    nodes_[i].op ? backward(i, row) : end_at_leaf(i, row);
    rows.push_back(std::move(row));
    own_[i].clear();
  }
}

ComparedNode PassComparer::begin_row(size_t node, bool backward) const {
  ComparedNode row;
  row.node = nodes_[node].id;
  row.pass = query_.pass;
  row.backward = backward;
  row.op = nodes_[node].label();
  row.name = interned(nodes_[node].name);
  row.module = interned(nodes_[node].module);
  row.place = {interned(nodes_[node].line.file), nodes_[node].line.line};
  return row;
}

// A value of the run. Error when it no longer exists.
Tensor PassComparer::value(size_t node, bool input, size_t index) const {
  const KeptOperand& operand = input ? nodes_[node].in[index] : nodes_[node].out[index];
  if (!operand.layout) return {};
  const StepValues::Found found = query_.values.value(query_.pass, node, input, index, query_.check_wanted);
  const std::string name = text(input ? "its input " : "its output ", index + 1);
  if (!found.value.defined()) fail(name, " is gone: ", found.reason);
  if (!found.note.empty()) fail(name, " was ", found.note);
  const Tensor plain = found.value.detach();
  plain.body()->is_number = input && operand.is_number;
  return plain;
}

CallValues PassComparer::values_of(size_t node) const {
  CallValues values;
  for (size_t i = 0; i < nodes_[node].in.size(); ++i) values.inputs.push_back(value(node, true, i));
  for (size_t i = 0; i < nodes_[node].out.size(); ++i) values.outputs.push_back(value(node, false, i));
  return values;
}

CallValues PassComparer::rounded(const CallValues& values) const {
  if (!query_.narrows) return values;
  CallValues result;
  for (const Tensor& x : values.inputs) result.inputs.push_back(query_.other.rounded(x));
  for (const Tensor& x : values.outputs) result.outputs.push_back(query_.other.rounded(x));
  for (const Tensor& x : values.gradients) result.gradients.push_back(query_.other.rounded(x));
  return result;
}

// The operands of a node from the other side's own results. Values with which the pass begins are copied from
// the run.
TensorList PassComparer::own_inputs(size_t node, const CallValues& values) const {
  TensorList inputs;
  for (size_t i = 0; i < nodes_[node].in.size(); ++i) {
    const KeptOperand& operand = nodes_[node].in[i];
    const int maker = operand.maker ? pass_.find(operand.maker) : -1;
    const bool made = maker >= 0 && operand.output < own_[size_t(maker)].size() &&
                      own_[size_t(maker)][operand.output].defined();
    inputs.push_back(made ? own_[size_t(maker)][operand.output].detach()
                          : query_.other.bring(values.inputs[i], nodes_[node]));
  }
  return inputs;
}

void PassComparer::forward(size_t i, ComparedNode& row) {
  const KeptNode& node = nodes_[i];
  const Side& other = query_.other;
  CallValues values;
  try {
    values = values_of(i);
    if (!node.op) {
      own_[i] = other.bring(values.outputs, node);
      return;
    }
    const Side::Computed own = other.compute(node, own_inputs(i, values));
    own_[i] = own.outputs;
    one_node_[i] = own.one_node;
    row.note = own.note;
    const CallValues used = rounded(values);
    const TensorList expected =
        query_.narrows ? reference_.compute(node, used.inputs).outputs : values.outputs;
    const TensorList found = other.compute(node, other.bring(used.inputs, node)).outputs;
    const Side f64_side = in_f64();
    std::vector<std::string> names;
    for (size_t k = 0; k < expected.size(); ++k)
      names.push_back(expected.size() == 1 ? "output" : text("output[", k + 1, ']'));
    const auto compute = [&](const TensorList& operands) {
      return comparable(node, f64_side.compute(node, operands).outputs);
    };
    judge({node, names, used, comparable(node, expected), comparable(node, found),
           comparable(node, values.outputs), comparable(node, own_[i]), compute,
           f64_side.bring(used.inputs, node)},
          query_.factor, row);
  } catch (const Error& error) {
    if (ends_all(error)) throw;
    row.verdict = Verdict::not_compared;
    row.note = error.what();
    if (own_[i].empty()) own_[i] = brought(values.outputs, i);
  }
}

// Whether the gradient that the run recorded for the input's maker comes from this node alone.
bool PassComparer::is_sole_reader(size_t i, size_t input) const {
  const KeptOperand& operand = nodes_[i].in[input];
  const int maker = operand.maker ? pass_.find(operand.maker) : -1;
  if (maker < 0) return false;
  const Place place(size_t(maker), operand.output);
  return readers_.at(place) == 1 && !given_.contains(place);
}

// The run's gradients of the inputs. When several nodes read an input, the run recorded only the sum, so the
// reference computes this node's part again.
TensorList PassComparer::recorded_gradients(size_t i, const CallValues& values) const {
  const KeptNode& node = nodes_[i];
  TensorList gradients(node.in.size()), again;
  for (size_t k = 0; k < node.in.size(); ++k) {
    if (node.in[k].maker == 0) continue;
    if (is_sole_reader(i, k))
      gradients[k] = query_.values.gradient(query_.pass, i, true, k, query_.check_wanted).value;
    if (gradients[k].defined()) continue;
    if (again.empty()) again = reference_.differentiate(node, values, is_recorded(node));
    gradients[k] = again[k];
  }
  return gradients;
}

// The sum of the gradients from the readers; undefined when there are none.
Tensor PassComparer::own_gradient(Place place) const {
  const NoGrad off;
  Tensor sum;
  if (const auto parts = parts_.find(place); parts != parts_.end())
    for (const Tensor& part : parts->second.own) sum = sum.defined() ? add(sum, part) : part;
  return sum;
}

// The gradients of the node's results on the other side. A gradient that came from outside the pass is the
// run's own.
TensorList PassComparer::own_seeds(size_t i, const CallValues& values) const {
  TensorList seeds(nodes_[i].out.size());
  for (uint32_t k = 0; k < seeds.size(); ++k) {
    const auto given = given_.find({i, k});
    if (given == given_.end()) seeds[k] = own_gradient({i, k});
    if (!seeds[k].defined())
      seeds[k] = query_.other.bring(given == given_.end() ? values.gradients[k] : given->second, nodes_[i]);
  }
  return seeds;
}

// Passes a node's gradients on to the nodes that made its inputs.
void PassComparer::pass_on(size_t i, const TensorList& reference, const TensorList& own) {
  for (size_t k = 0; k < nodes_[i].in.size(); ++k) {
    const KeptOperand& operand = nodes_[i].in[k];
    const int maker = operand.maker ? pass_.find(operand.maker) : -1;
    if (maker < 0) continue;
    const Place place(size_t(maker), operand.output);
    Parts& parts = parts_[place];
    if (k < own.size() && own[k].defined()) parts.own.push_back(own[k]);
    if (k < reference.size() && reference[k].defined() && readers_.at(place) > 1)
      parts.reference.push_back(reference[k]);
  }
}

void PassComparer::backward(size_t i, ComparedNode& row) {
  const KeptNode& node = nodes_[i];
  const Side& other = query_.other;
  TensorList reference, own;
  try {
    CallValues values = values_of(i);
    for (size_t k = 0; k < node.out.size(); ++k)
      values.gradients.push_back(query_.values.gradient(query_.pass, i, false, k, query_.check_wanted).value);
    reference = recorded_gradients(i, values);
    own = other.differentiate(node, {own_inputs(i, values), own_[i], own_seeds(i, values)}, one_node_[i]);
    const CallValues used = rounded(values);
    const TensorList expected =
        query_.narrows ? reference_.differentiate(node, used, is_recorded(node)) : reference;
    const CallValues there{other.bring(used.inputs, node), other.bring(used.outputs, node),
                           other.bring(used.gradients, node)};
    const TensorList found = other.differentiate(node, there, one_node_[i]);
    const Side f64_side = in_f64();
    const auto differentiate = [&](const TensorList& operands) {
      return f64_side.differentiate(node, parted(operands, used), is_recorded(node));
    };
    std::vector<std::string> names;
    const NodeInfo info = describe(pass_, i);
    for (const OperandInfo& input : info.inputs) names.push_back("gradient of " + input.name);
    judge({node, names, used, expected, found, reference, own, differentiate,
           f64_side.bring(concat(used), node)},
          query_.factor, row);
    compare_sums(i, row);
  } catch (const Error& error) {
    if (ends_all(error)) throw;
    row.verdict = Verdict::not_compared;
    row.note = error.what();
    if (own.empty()) own = brought(reference, i);
  }
  pass_on(i, reference, own);
}

// These values on the other side; undefined where it cannot hold a value.
TensorList PassComparer::brought(const TensorList& values, size_t node) const {
  TensorList there;
  for (const Tensor& x : values) try {
      there.push_back(query_.other.bring(x, nodes_[node]));
    } catch (const Error& error) {
      if (ends_all(error)) throw;
      there.emplace_back();
    }
  return there;
}

// The run's gradient of an output that several nodes read is a sum; the other side adds up the same parts.
void PassComparer::compare_sums(size_t i, ComparedNode& row) {
  const NoGrad off;
  for (uint32_t k = 0; k < nodes_[i].out.size(); ++k) {
    const auto found = parts_.find({i, k});
    if (found == parts_.end()) continue;
    const TensorList parts = std::move(found->second.reference);
    parts_.erase(found);
    const Tensor reference = query_.values.gradient(query_.pass, i, false, k, query_.check_wanted).value;
    if (parts.size() < 2 || int(parts.size()) != readers_.at({i, k}) || given_.contains({i, k}) ||
        !reference.defined())
      continue;
    Tensor sum;
    std::vector<double> magnitude;
    for (const Tensor& part : parts) {
      const Tensor there = query_.other.bring(part, nodes_[i]);
      sum = sum.defined() ? add(sum, there) : there;
      std::vector<double> numbers = numbers_of(part);
      magnitude.resize(numbers.size());
      for (size_t n = 0; n < numbers.size(); ++n) magnitude[n] += std::abs(numbers[n]);
    }
    const Rounding rounding =
        rounding_of(reference.dtype(), sum.dtype(), double(parts.size()), query_.factor);
    TensorError error = compare_tensors(reference, sum, rounding, magnitude);
    error.name = text("sum of ", parts.size(), " gradients");
    add_tensor(std::move(error), row);
  }
}

// A leaf has no call: its own error is the error of the sum of its gradients.
void PassComparer::end_at_leaf(size_t i, ComparedNode& row) {
  const Tensor reference = query_.values.gradient(query_.pass, i, false, 0, query_.check_wanted).value;
  const Tensor own = own_gradient({i, 0});
  if (!reference.defined() || !own.defined()) {
    row.verdict = Verdict::not_compared;
    row.note = "its gradient is gone";
    return;
  }
  const Rounding rounding = rounding_of(reference.dtype(), own.dtype(), 1, query_.factor);
  TensorError error;
  error.name = "gradient";
  error.shape = {reference.shape().begin(), reference.shape().end()};
  error.dtype = dtype_name(reference.dtype());
  error.inherited = relative_error(reference, own, rounding);
  add_tensor(std::move(error), row);
  compare_sums(i, row);
}

}  // namespace lunagrad
