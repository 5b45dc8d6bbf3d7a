#include "script/inspect/kept_pass.h"

#include <algorithm>

#include "runtime/tape/leaf_notes.h"
#include "runtime/tape/other_names.h"
#include "script/meta/signature.h"

namespace lunagrad {
namespace {

KeptOperand keep_operand(const Operand& from) {
  KeptOperand operand;
  if (!from.layout) return operand;
  operand.layout = from.layout;
  operand.offset = from.offset;
  operand.dtype = from.dtype;
  operand.is_number = from.is_number;
  operand.saved = bool(from.saved);
  operand.version = from.version;
  operand.version_now = from.saved ? from.saved->version : from.version;
  operand.tensor = from.tensor_id;
  operand.maker = from.node ? from.node->id : 0;
  operand.output = from.output;
  return operand;
}

std::vector<int64_t> as_vector(const Dims& dims) { return {dims.begin(), dims.end()}; }

OperandInfo describe_operand(const KeptOperand& operand) {
  OperandInfo info;
  if (!operand.layout) return info;
  info.node = operand.maker;
  info.tensor = operand.tensor;
  info.shape = as_vector(operand.layout->shape);
  info.strides = as_vector(operand.layout->strides);
  info.dtype = dtype_name(operand.dtype);
  info.saved = operand.saved;
  info.saved_version = operand.version;
  info.version_now = operand.version_now;
  return info;
}

uint64_t key_of(const Node& root) {
  return (uint64_t(root.line.file) << 40) ^ (uint64_t(uint32_t(root.line.line)) << 8) ^
         std::hash<std::string_view>()(root.label());
}

}  // namespace

int KeptPass::find(uint64_t node) const {
  const auto found = std::lower_bound(nodes.begin(), nodes.end(), node,
                                      [](const KeptNode& kept, uint64_t id) { return kept.id > id; });
  return found != nodes.end() && found->id == node ? int(found - nodes.begin()) : -1;
}

std::unique_ptr<KeptPass> keep_pass(std::span<Node* const> nodes) {
  auto pass = std::make_unique<KeptPass>();
  if (!nodes.empty()) pass->key = key_of(*nodes[0]);
  pass->nodes.reserve(nodes.size());
  for (Node* const node : nodes) {
    KeptNode& kept = pass->nodes.emplace_back();
    kept.id = node->id;
    kept.op = node->op;
    kept.device = node->device;
    kept.line = node->line;
    kept.module = node->module;
    kept.name = node->name;
    if (!node->is_leaf()) kept.gradient_of = node->gradient_of;
    kept.forward_ticks = node->forward_ticks;
    if (node->attributes) {
      kept.has_params = true;
      kept.params = node->attributes->params;
      kept.args = node->attributes->args;
    }
    kept.in.reserve(node->in.size());
    for (const Operand& operand : node->in) kept.in.push_back(keep_operand(operand));
    for (const Operand& operand : node->out) kept.out.push_back(keep_operand(operand));
    if (node->is_leaf()) kept.leaf = Ref<Node>(node);
    if (!node->extras || !node->extras->custom) continue;
    kept.custom = std::make_unique<CustomCall>(*node->extras->custom);
    kept.custom->saved.clear();
  }
  return pass;
}

NodeInfo describe(const KeptPass& pass, size_t position) {
  return describe(pass.nodes[position], [&pass](uint64_t id) {
    const int from = pass.find(id);
    return from >= 0 && !pass.nodes[size_t(from)].op ? pass.nodes[size_t(from)].name : 0;
  });
}

NodeInfo describe(const KeptNode& node, const std::function<uint32_t(uint64_t node)>& leaf_name) {
  NodeInfo info;
  info.id = node.id;
  info.op = node.label();
  info.device = node.device ? node.device->name() : "";
  info.module = interned(node.module);
  for (const uint32_t name : other_names(node.op ? node.module : node.name))
    info.also.push_back(interned(name));
  if (node.gradient_of) info.gradient_op = node.gradient_of->name;
  info.place = {interned(node.line.file), node.line.line};
  info.forward_ns = ticks_to_ns(node.forward_ticks);
  info.backward_ns = ticks_to_ns(node.backward_ticks);
  if (node.op && node.has_params)
    for (size_t i = 0; i < node.op->params.size(); ++i)
      info.attributes.emplace_back(node.op->params[i].name, print_value(node.op->params[i], node.params[i]));
  if (!node.op) info.travelled = leaf_note(node.id);
  for (size_t i = 0; i < node.in.size(); ++i) {
    OperandInfo operand = describe_operand(node.in[i]);
    const uint32_t name = leaf_name(node.in[i].maker);
    operand.name = name ? interned(name) : input_name(*node.op, i);
    info.inputs.push_back(std::move(operand));
  }
  for (size_t i = 0; i < node.out.size(); ++i) {
    OperandInfo operand = describe_operand(node.out[i]);
    operand.node = node.id;
    operand.name = !node.op               ? interned(node.name)
                   : node.out.size() == 1 ? "output"
                                          : text("output[", i + 1, ']');
    if (node.out[i].layout) info.bytes += node.out[i].layout->numel * int64_t(item_size(node.out[i].dtype));
    info.outputs.push_back(std::move(operand));
  }
  return info;
}

bool is_inner(std::span<const std::unique_ptr<KeptPass>> passes, size_t pass) {
  if (!passes[pass]->create_graph) return false;
  const auto goes_through = [&](const KeptPass& later) {
    return std::any_of(later.nodes.begin(), later.nodes.end(), [&](const KeptNode& node) {
      return node.op && node.id > passes[pass]->made_from && node.id < passes[pass]->made_to;
    });
  };
  for (size_t i = pass + 1; i < passes.size(); ++i)
    if (goes_through(*passes[i])) return true;
  return false;
}

int outer_pass(std::span<const std::unique_ptr<KeptPass>> passes) {
  int last = -1;
  for (size_t i = passes.size(); i-- > 0;) {
    if (!passes[i]->ended || is_inner(passes, i)) continue;
    if (passes[i]->accumulates) return int(i);
    if (last < 0) last = int(i);
  }
  return last;
}

}  // namespace lunagrad
