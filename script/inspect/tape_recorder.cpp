#include "script/inspect/tape_recorder.h"

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "runtime/core/context.h"
#include "runtime/core/figures.h"
#include "runtime/core/path_text.h"
#include "runtime/ops.h"
#include "runtime/tape/autocast.h"
#include "script/inspect/kept_pass.h"
#include "script/inspect/without_listeners.h"
#include "script/view/json.h"

namespace lunagrad {
namespace {

// A larger pass is not recorded: it could not be read node by node, and a run's folder should stay small.
constexpr size_t kMostNodes = 4000;
// How many values are summarised in one step. A step that calls more ops calls them in loops.
constexpr size_t kMostFigures = 20000;

// Rounded to six digits, which is enough to read.
Json number(double value) {
  return json_number(std::isfinite(value) ? std::strtod(number_figure(value, 6).c_str(), nullptr) : value);
}

// `at`: index into the figures, plus one; 0: there are none.
Json figures_json(const std::vector<ValueFigures>& figures, size_t at) {
  if (at == 0 || at > figures.size() || figures[at - 1].summary.count == 0) return nullptr;
  const Summary& s = figures[at - 1].summary;
  Json json = Json::array(
      {s.count, s.zeros, s.nans, s.infs, number(s.min), number(s.max), number(s.mean), number(s.norm)});
  for (const double sum : figures[at - 1].sketch) json.push_back(number(sum));
  return json;
}

// The inputs of a tape's nodes that no node made, in the order in which the nodes refer to them.
struct SourceList {
  const std::unordered_map<uint64_t, size_t>& known;  // tensor id -> index into the figures, plus one
  std::unordered_map<uint64_t, size_t> numbers;       // tensor id -> number in the list
  std::vector<size_t> figures;                        // for each input; 0: there are none

  // An input without figures has a number, too: it tells whether two nodes read the same tensor.
  size_t number_of(uint64_t tensor) {
    const auto [at, fresh] = numbers.try_emplace(tensor, figures.size());
    const auto found = known.find(tensor);
    if (fresh) figures.push_back(found == known.end() ? 0 : found->second);
    return at->second;
  }
};

Json node_json(const NodeInfo& node, const std::unordered_map<uint64_t, size_t>& positions,
               SourceList& sources) {
  Json json{{"op", node.op}};
  if (!node.module.empty()) json["module"] = node.module;
  if (node.op == "leaf" && !node.outputs.empty() && !node.outputs[0].name.empty())
    json["name"] = node.outputs[0].name;
  if (node.place.line > 0) {
    json["file"] = path_text(node.place.file);
    json["line"] = node.place.line;
  }
  if (!node.outputs.empty()) {
    json["shape"] = node.outputs[0].shape;
    json["dtype"] = node.outputs[0].dtype;
  }
  if (!node.device.empty()) json["device"] = node.device;
  if (!node.attributes.empty()) {
    for (const auto& [name, value] : node.attributes) json["attrs"][name] = value;
  }
  Json inputs = Json::array();
  for (const OperandInfo& operand : node.inputs) {
    const auto from = positions.find(operand.node);
    const bool made = from != positions.end();
    Json input = Json::array({made ? int64_t(from->second) : -1, operand.name, operand.shape, operand.dtype});
    const bool absent = operand.dtype.empty();
    if (!made && !absent) input.push_back(sources.number_of(operand.tensor));
    inputs.push_back(std::move(input));
  }
  json["in"] = std::move(inputs);
  return json;
}

}  // namespace

class TapeRecorder::Look {
 public:
  explicit Look(TapeRecorder& owner) : owner_(owner), off_(false), no_autocast_(nullptr) {
    owner_.busy_ = true;
    trace_ = std::exchange(context().trace, nullptr);
    guard_ = std::exchange(context().guard, Guard::off);
  }
  ~Look() {
    context().trace = trace_;
    context().guard = guard_;
    owner_.busy_ = false;
  }
  Look(const Look&) = delete;

 private:
  TapeRecorder& owner_;
  GradMode off_;
  UseAutocast no_autocast_;
  Trace* trace_;
  const EagerCalls at_once_;
  Guard guard_;
};

void TapeRecorder::begin_step(bool chosen) {
  of_ops_.clear();
  of_pass_.clear();
  outputs_.clear();
  sources_.clear();
  recording_ = chosen;
  in_pass_ = false;
  pass_.clear();
  nodes_.clear();
  left_out_ = 0;
}

void TapeRecorder::ran(const Call& call) {
  const Context& ctx = context();
  if (!recording_ || busy_ || !ctx.grad_enabled || ctx.differentiating || call.aliases) return;
  bool recorded = false;
  for (const Tensor& x : call.in) recorded |= x.defined() && x.requires_grad();
  if (!recorded || call.out.empty() || !call.out[0].defined()) return;
  if (outputs_.size() + sources_.size() >= kMostFigures) return;
  const Look look(*this);
  outputs_[call.out[0].id()] = of_ops_.add(call.out[0]) + 1;
  for (const Tensor& x : call.in)
    if (x.defined() && !x.requires_grad() && !sources_.count(x.id())) sources_[x.id()] = of_ops_.add(x) + 1;
}

void TapeRecorder::begin(std::span<Node* const> nodes) {
  if (!recording_ || busy_) return;
  if (nodes.size() > kMostNodes) left_out_ = std::max(left_out_, nodes.size());
  if (nodes.size() > kMostNodes || nodes.size() < nodes_.size()) return;
  const Look look(*this);
  in_pass_ = true;
  pass_.assign(nodes.begin(), nodes.end());
  places_.assign(nodes.size(), {});
  positions_.clear();
  nodes_.clear();
  of_pass_.clear();
  const std::unique_ptr<KeptPass> kept = keep_pass(nodes);
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = *nodes[i];
    positions_[node.id] = i;
    nodes_.push_back(describe(*kept, i));
    if (node.out.empty()) continue;
    if (const auto made = outputs_.find(node.out[0].tensor_id); made != outputs_.end()) {
      places_[i].output = made->second;
    } else if (const Operand& out = node.out[0]; node.is_leaf() && out.saved) {
      places_[i].leaf = of_pass_.add(Tensor(out.saved, out.layout, out.offset, out.dtype)) + 1;
    }
  }
}

void TapeRecorder::gradient(const Node& node, uint32_t output, const Tensor& gradient) {
  if (!in_pass_ || busy_ || output > 0 || !gradient.defined()) return;
  const auto found = positions_.find(node.id);
  if (found == positions_.end()) return;
  const Look look(*this);
  places_[found->second].gradient = of_pass_.add(gradient) + 1;
}

void TapeRecorder::end() {
  if (!in_pass_) return;
  in_pass_ = false;
  for (size_t i = 0; i < nodes_.size(); ++i) nodes_[i].backward_ns = ticks_to_ns(pass_[i]->backward_ticks);
  pass_.clear();
}

// The figures of all values of the step; the figures of of_pass_ begin at `of_pass`. Returns none when values
// come from a faulty call whose error the script has caught. Throws an error that was not reported to the
// script yet.
std::vector<ValueFigures> TapeRecorder::read(size_t& of_pass) {
  const Look look(*this);
  of_pass = of_ops_.append(std::move(of_pass_));
  of_ops_.sync();
  try {
    return of_ops_.read();
  } catch (const Error&) {
    return {};
  }
}

std::string TapeRecorder::end_step(int64_t step) {
  if (!recording_) return {};
  recording_ = in_pass_ = false;
  pass_.clear();
  size_t of_pass = 0;
  const std::vector<ValueFigures> figures = read(of_pass);
  Json json{{"step", step}};
  if (nodes_.empty()) {
    if (left_out_ == 0) return {};
    json["left_out"] = left_out_;
    return json.dump();
  }
  Json nodes = Json::array(), values = Json::array(), times = Json::array(), of_sources = Json::array();
  SourceList sources{.known = sources_};
  const auto after = [&](size_t place) { return place ? of_pass + place : 0; };
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const Place& place = places_[i];
    nodes.push_back(node_json(nodes_[i], positions_, sources));
    values.push_back(Json::array({figures_json(figures, place.output ? place.output : after(place.leaf)),
                                  figures_json(figures, after(place.gradient))}));
    times.push_back(Json::array({std::round(nodes_[i].forward_ns), std::round(nodes_[i].backward_ns)}));
  }
  for (const size_t at : sources.figures) of_sources.push_back(figures_json(figures, at));
  std::string structure = nodes.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (structure == structure_) {
    json["like"] = structure_step_;
  } else {
    json["nodes"] = std::move(nodes);
    structure_ = std::move(structure);
    structure_step_ = step;
  }
  json["values"] = std::move(values);
  if (!of_sources.empty()) json["sources"] = std::move(of_sources);
  json["times"] = std::move(times);
  nodes_.clear();
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace lunagrad
