#include "script/tape_diff/json.h"

#include <nlohmann/json.hpp>

#include "runtime/core/path_text.h"
#include "script/run/json.h"

namespace lunagrad {
namespace {

constexpr size_t kTimes = 20;  // nodes whose times are listed

const char* kind_name(TapeFinding::Kind kind) {
  switch (kind) {
    case TapeFinding::Kind::removed:
      return "removed";
    case TapeFinding::Kind::added:
      return "added";
    case TapeFinding::Kind::changed:
      return "changed";
    case TapeFinding::Kind::value:
      return "value";
    case TapeFinding::Kind::gradient:
      break;
  }
  return "gradient";
}

// Without the sketch, whose sums mean nothing by themselves.
Json value_json(const std::optional<TapeValue>& value) {
  if (!value) return nullptr;
  const Summary& s = value->summary;
  return Json::array({s.count, s.zeros, s.nans, s.infs, json_number(s.min), json_number(s.max),
                      json_number(s.mean), json_number(s.norm)});
}

Json node_json(const TapeNode& node) {
  Json json{{"op", node.op}, {"label", label_of(node)}};
  if (!node.name.empty()) json["name"] = node.name;
  if (!node.module.empty()) json["module"] = node.module;
  if (node.line > 0) json["file"] = path_text(node.file), json["line"] = node.line;
  json["shape"] = node.shape;
  json["dtype"] = node.dtype;
  return json;
}

Json side_json(const TapeGraph& graph) {
  Json json{{"name", graph.title}};
  if (graph.step >= 0) json["step"] = graph.step;
  json["nodes"] = graph.nodes.size();
  json["values"] = graph.has_values();
  return json;
}

Json finding_json(const TapeDiff& diff, const TapeFinding& finding) {
  Json json{{"kind", kind_name(finding.kind)}, {"name", finding.name},      {"text", finding.text},
            {"score", finding.score},          {"cause", !finding.follows}, {"nodes", Json::array()}};
  for (const size_t p : finding.pairs) {
    const TapePair& pair = diff.pairs[p];
    json["nodes"].push_back({{"a", pair.a < 0 ? Json() : node_json(diff.a.nodes[size_t(pair.a)])},
                             {"b", pair.b < 0 ? Json() : node_json(diff.b.nodes[size_t(pair.b)])}});
  }
  if (finding.kind == TapeFinding::Kind::changed) {
    json["changes"] = Json::array();
    for (const TapeChange& change : diff.pairs[finding.pairs[0]].changes)
      json["changes"].push_back({{"what", change.what}, {"a", change.from}, {"b", change.to}});
  }
  return json;
}

Json time_json(const TapeDiff& diff) {
  const auto sum = [](const TapeGraph& graph, double TapeNode::*time) {
    double all = 0;
    for (const TapeNode& node : graph.nodes) all += node.*time;
    return json_number(all);
  };
  Json nodes = Json::array();
  for (const size_t p : by_time(diff, kTimes)) {
    const TapeNode &a = diff.a.nodes[size_t(diff.pairs[p].a)], &b = diff.b.nodes[size_t(diff.pairs[p].b)];
    nodes.push_back({{"name", label_of(b)},
                     {"forward_ns", {json_number(a.forward_ns), json_number(b.forward_ns)}},
                     {"backward_ns", {json_number(a.backward_ns), json_number(b.backward_ns)}}});
  }
  return {{"forward_ns", {sum(diff.a, &TapeNode::forward_ns), sum(diff.b, &TapeNode::forward_ns)}},
          {"backward_ns", {sum(diff.a, &TapeNode::backward_ns), sum(diff.b, &TapeNode::backward_ns)}},
          {"nodes", std::move(nodes)}};
}

Json full_node_json(const TapeNode& node) {
  Json json = node_json(node);
  if (!node.device.empty()) json["device"] = node.device;
  if (!node.code.empty()) json["code"] = node.code;
  Json attributes = Json::object();
  for (const auto& [name, value] : node.attributes) attributes[name] = value;
  if (!attributes.empty()) json["attrs"] = std::move(attributes);
  json["in"] = node.inputs;
  json["values"] = {value_json(node.value), value_json(node.gradient)};
  json["times"] = {json_number(node.forward_ns), json_number(node.backward_ns)};
  return json;
}

}  // namespace

Json difference_json(const TapeDiff& diff) {
  using Kind = TapeFinding::Kind;
  size_t matched = 0;
  for (const TapePair& pair : diff.pairs) matched += pair.a >= 0 && pair.b >= 0;
  Json json{{"equal", diff.equal()},
            {"a", side_json(diff.a)},
            {"b", side_json(diff.b)},
            {"rtol", diff.options.rtol},
            {"atol", diff.options.atol},
            {"structure", diff.options.structure},
            {"counts",
             {{"matched", matched},
              {"removed", diff.count(Kind::removed)},
              {"added", diff.count(Kind::added)},
              {"changed", diff.count(Kind::changed)},
              {"values", diff.count(Kind::value)},
              {"gradients", diff.count(Kind::gradient)}}},
            {"ranked", Json::array()},
            {"time", time_json(diff)},
            {"notes", diff.notes}};
  for (const TapeFinding& finding : diff.findings) json["ranked"].push_back(finding_json(diff, finding));
  return json;
}

Json page_json(const TapeDiff& diff) {
  Json json = difference_json(diff);
  for (size_t i = 0; i < diff.findings.size(); ++i) {
    Json& finding = json["ranked"][i];
    finding.erase("changes");
    finding["nodes"] = diff.findings[i].pairs;
  }
  json["pairs"] = Json::array();
  for (const TapePair& pair : diff.pairs) {
    Json changes = Json::array();
    for (const TapeChange& change : pair.changes) changes.push_back({change.what, change.from, change.to});
    json["pairs"].push_back({{"a", pair.a}, {"b", pair.b}, {"changes", std::move(changes)}});
  }
  for (const auto& [key, graph] : {std::pair("a", &diff.a), std::pair("b", &diff.b)}) {
    Json nodes = Json::array();
    for (const TapeNode& node : graph->nodes) nodes.push_back(full_node_json(node));
    json[key]["tape"] = std::move(nodes);
    json[key]["script"] = graph->script;
    json[key]["script_name"] = graph->script_name;
  }
  return json;
}

}  // namespace lunagrad
