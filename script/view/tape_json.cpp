#include "script/view/tape_json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "runtime/core/path_text.h"
#include "script/view/json.h"

namespace lunagrad {
namespace {

Json operands_json(const std::vector<OperandInfo>& operands, const std::unordered_set<uint64_t>& left_out) {
  Json list = Json::array();
  for (const OperandInfo& operand : operands) {
    Json entry;
    if (!operand.name.empty()) entry["name"] = operand.name;
    entry["tensor"] = operand.tensor;
    if (!operand.node && operand.dtype.empty()) {  // an optional operand that was left out
      list.push_back(std::move(entry));
      continue;
    }
    if (operand.node && !left_out.contains(operand.node)) entry["node"] = operand.node;
    entry["shape"] = operand.shape;
    entry["stride"] = operand.strides;
    entry["dtype"] = operand.dtype;
    entry["saved"] = operand.saved;
    entry["version"] = operand.saved_version;
    list.push_back(std::move(entry));
  }
  return list;
}

Json summary_json(const Summary& s) {
  return Json::array({s.count, s.zeros, s.nans, s.infs, json_number(s.min), json_number(s.max),
                      json_number(s.mean), json_number(s.norm)});
}

}  // namespace

std::string tape_json(const TapeSnapshot& tape) {
  // As lg.tape and recorded tapes have it: only what a gradient goes through.
  std::unordered_set<uint64_t> left_out;
  for (const NodeInfo& node : tape.nodes)
    if (node.no_gradient) left_out.insert(node.id);
  Json nodes = Json::array();
  for (const NodeInfo& node : tape.nodes) {
    if (node.no_gradient) continue;
    Json entry;
    entry["id"] = node.id;
    entry["op"] = node.op;
    Json attributes = Json::object();
    for (const auto& [name, value] : node.attributes) attributes[name] = value;
    entry["attrs"] = std::move(attributes);
    entry["inputs"] = operands_json(node.inputs, left_out);
    entry["outputs"] = operands_json(node.outputs, left_out);
    if (!node.outputs.empty()) {
      entry["shape"] = node.outputs[0].shape;
      entry["dtype"] = node.outputs[0].dtype;
    }
    entry["device"] = node.device;
    if (node.place.line > 0) {
      entry["file"] = path_text(node.place.file);
      entry["line"] = node.place.line;
    }
    if (!node.module.empty()) entry["module"] = node.module;
    if (node.op == "leaf" && !node.outputs.empty() && !node.outputs[0].name.empty())
      entry["name"] = node.outputs[0].name;
    entry["forward_ns"] = node.forward_ns;
    entry["backward_ns"] = node.backward_ns;
    entry["bytes"] = node.bytes;
    if (node.output_summary) entry["value"] = summary_json(*node.output_summary);
    if (node.gradient_summary) entry["gradient"] = summary_json(*node.gradient_summary);
    nodes.push_back(std::move(entry));
  }
  const Json whole{{"step", tape.step}, {"nodes", std::move(nodes)}};
  return whole.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace lunagrad
