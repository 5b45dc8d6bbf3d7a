#include "script/compare/pass_comparer.h"

#include "runtime/ops.h"

namespace lunagrad {
namespace {

// Whether the comparison has to end with it, instead of leaving out one node.
bool ends_all(const Error& error) {
  return error.kind() == ErrorKind::cancelled || error.kind() == ErrorKind::memory;
}

TensorList joined(const CallValues& values) {
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

Side in_f64() { return Side(&cpu_device(), DType::f64); }

}  // namespace

PassComparer::PassComparer(const PassQuery& query)
    : query_(query),
      pass_(*query.values.passes()[query.pass]),
      nodes_(pass_.nodes),
      own_(nodes_.size()),
      one_node_(nodes_.size(), 1) {
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

// A value of the run. Error when it is gone.
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

// The operands of a node as the other side has made them, or brought over from where the pass begins.
TensorList PassComparer::own_inputs(size_t node, const CallValues& values) const {
  TensorList inputs;
  for (size_t i = 0; i < nodes_[node].in.size(); ++i) {
    const KeptOperand& operand = nodes_[node].in[i];
    const int maker = operand.maker ? pass_.find(operand.maker) : -1;
    const bool made = maker >= 0 && operand.output < own_[size_t(maker)].size();
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
    const Side wide = in_f64();
    std::vector<std::string> names;
    for (size_t k = 0; k < expected.size(); ++k)
      names.push_back(expected.size() == 1 ? "output" : text("output[", k + 1, ']'));
    judge({node, names, used, expected, found, values.outputs, own_[i],
           [&](const TensorList& operands) { return wide.compute(node, operands).outputs; },
           wide.bring(used.inputs, node)},
          query_.factor, row);
  } catch (const Error& error) {
    if (ends_all(error)) throw;
    row.verdict = Verdict::not_compared;
    row.note = error.what();
    if (own_[i].empty() && !values.outputs.empty()) own_[i] = other.bring(values.outputs, node);
  }
}

// Whether the gradient that the run recorded for the input's maker is what this node alone gave it.
bool PassComparer::is_sole_reader(size_t i, size_t input) const {
  const KeptOperand& operand = nodes_[i].in[input];
  const int maker = operand.maker ? pass_.find(operand.maker) : -1;
  if (maker < 0) return false;
  const std::pair<size_t, uint32_t> place(size_t(maker), operand.output);
  return readers_.at(place) == 1 && !given_.contains(place);
}

// The gradients of the inputs in the run. Where several nodes read an input the run recorded only the sum:
// the reference computes its part again.
TensorList PassComparer::recorded_gradients(size_t i, const CallValues& values) const {
  const KeptNode& node = nodes_[i];
  TensorList gradients(node.in.size()), again;
  for (size_t k = 0; k < node.in.size(); ++k) {
    if (node.in[k].maker == 0) continue;
    if (is_sole_reader(i, k))
      gradients[k] = query_.values.gradient(query_.pass, i, true, k, query_.check_wanted).value;
    if (gradients[k].defined()) continue;
    if (again.empty()) again = reference_.differentiate(node, values, !node.custom);
    gradients[k] = again[k];
  }
  return gradients;
}

// The gradients that reached the results of a node on the other side. One that came from outside is that of
// the run.
TensorList PassComparer::own_seeds(size_t i, const CallValues& values) {
  TensorList seeds(nodes_[i].out.size());
  for (uint32_t k = 0; k < seeds.size(); ++k) {
    const auto own = own_gradients_.find({i, k});
    if (const auto given = given_.find({i, k}); given != given_.end())
      seeds[k] = query_.other.bring(given->second, nodes_[i]);
    else if (own != own_gradients_.end())
      seeds[k] = own->second;
    else
      seeds[k] = query_.other.bring(values.gradients[k], nodes_[i]);
    if (own != own_gradients_.end()) own_gradients_.erase(own);
  }
  return seeds;
}

void PassComparer::pass_on(size_t i, const TensorList& gradients) {
  const NoGrad off;
  for (size_t k = 0; k < gradients.size(); ++k) {
    const KeptOperand& operand = nodes_[i].in[k];
    const int maker = operand.maker ? pass_.find(operand.maker) : -1;
    if (maker < 0 || !gradients[k].defined()) continue;
    Tensor& sum = own_gradients_[{size_t(maker), operand.output}];
    sum = sum.defined() ? add(sum, gradients[k]) : gradients[k];
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
        query_.narrows ? reference_.differentiate(node, used, !node.custom) : reference;
    const CallValues there{other.bring(used.inputs, node), other.bring(used.outputs, node),
                           other.bring(used.gradients, node)};
    const TensorList found = other.differentiate(node, there, one_node_[i]);
    const Side wide = in_f64();
    const auto differentiate = [&](const TensorList& operands) {
      return wide.differentiate(node, parted(operands, used), !node.custom);
    };
    std::vector<std::string> names;
    const NodeInfo info = describe(pass_, i);
    for (const OperandInfo& input : info.inputs) names.push_back("gradient of " + input.name);
    judge({node, names, used, expected, found, reference, own, differentiate, wide.bring(joined(used), node)},
          query_.factor, row);
  } catch (const Error& error) {
    if (ends_all(error)) throw;
    row.verdict = Verdict::not_compared;
    row.note = error.what();
    if (own.empty()) own = other.bring(reference, node);
  }
  pass_on(i, own);
}

// The gradient of a leaf is a sum: it has no error of its own.
void PassComparer::end_at_leaf(size_t i, ComparedNode& row) {
  const Tensor reference = query_.values.gradient(query_.pass, i, false, 0, query_.check_wanted).value;
  const auto own = own_gradients_.find({i, 0});
  if (!reference.defined() || own == own_gradients_.end()) {
    row.verdict = Verdict::not_compared;
    row.note = "its gradient is gone";
    return;
  }
  const Rounding rounding = rounding_of(reference.dtype(), own->second.dtype(), 1, query_.factor);
  TensorError error;
  error.name = "gradient";
  error.shape = {reference.shape().begin(), reference.shape().end()};
  error.dtype = dtype_name(reference.dtype());
  error.inherited = relative_error(reference, own->second, rounding);
  row.tensors.push_back(std::move(error));
  own_gradients_.erase(own);
}

}  // namespace lunagrad
