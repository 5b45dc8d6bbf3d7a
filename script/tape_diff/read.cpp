#include "script/tape_diff/read.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <unordered_map>

#include "runtime/core/error.h"
#include "runtime/core/path_text.h"
#include "runtime/io/json_text.h"
#include "script/run/json.h"
#include "script/run/record.h"

namespace lunagrad {
namespace fs = std::filesystem;
namespace {

template <class... Parts>
[[noreturn]] void damaged(const std::string& where, const Parts&... parts) {
  fail_as(ErrorKind::file, where, ": ", parts...);
}

std::string read_text(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) damaged(path, "no such file");
  if (!fs::is_regular_file(path, error)) damaged(path, "not a regular file");
  std::ifstream in(path, std::ios::binary);
  std::ostringstream content;
  content << in.rdbuf();
  if (!in) damaged(path, "cannot be read");
  return content.str();
}

std::string text_at(const SortedJson& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

double number_at(const SortedJson& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

// NaN and infinities, for which JSON has no number, were written as texts.
double figure_of(const SortedJson& value) {
  if (value.is_number()) return value.get<double>();
  if (value == "Infinity") return std::numeric_limits<double>::infinity();
  if (value == "-Infinity") return -std::numeric_limits<double>::infinity();
  return std::nan("");
}

std::vector<int64_t> shape_of(const SortedJson& value, const std::string& where) {
  std::vector<int64_t> shape;
  if (!value.is_array()) damaged(where, "a shape is not a list of numbers");
  for (const SortedJson& size : value) {
    if (!size.is_number_integer() || size.get<int64_t>() < 0)
      damaged(where, "a shape has ", size.dump(), " where a size belongs");
    shape.push_back(size.get<int64_t>());
  }
  return shape;
}

// [elements, zeros, NaN, Inf, lowest, highest, mean, norm], followed by the sums of the sketch.
std::optional<TapeValue> value_of(const SortedJson& list) {
  constexpr size_t kSummary = 8;
  if (!list.is_array() || list.size() < kSummary) return std::nullopt;
  for (size_t i = 0; i < 4; ++i)
    if (!list[i].is_number_integer()) return std::nullopt;
  TapeValue value;
  Summary& s = value.summary;
  s.count = list[0], s.zeros = list[1], s.nans = list[2], s.infs = list[3];
  s.min = figure_of(list[4]), s.max = figure_of(list[5]);
  s.mean = figure_of(list[6]), s.norm = figure_of(list[7]);
  if (list.size() < kSummary + Sketch().size()) return value;
  value.sketch.emplace();
  for (size_t k = 0; k < value.sketch->size(); ++k) (*value.sketch)[k] = figure_of(list[kSummary + k]);
  return value;
}

TapeNode node_in(const SortedJson& json, const std::string& where) {
  if (!json.is_object()) damaged(where, "a node is not an object but ", json.type_name());
  TapeNode node;
  node.op = text_at(json, "op");
  if (node.op.empty()) damaged(where, "a node has no op");
  node.kind = node.op == "leaf" ? TapeNode::Kind::leaf : TapeNode::Kind::op;
  node.name = text_at(json, "name");
  node.module = text_at(json, "module");
  node.device = text_at(json, "device");
  node.file = path_of_text(text_at(json, "file"));
  const double line = number_at(json, "line");
  if (line > 0 && line < double(std::numeric_limits<int>::max())) node.line = int(line);
  if (const auto shape = json.find("shape"); shape != json.end()) node.shape = shape_of(*shape, where);
  node.dtype = text_at(json, "dtype");
  if (const auto attributes = json.find("attrs"); attributes != json.end() && attributes->is_object())
    for (const auto& [name, value] : attributes->items())
      node.attributes.emplace_back(name, value.is_string() ? value.get<std::string>() : value.dump());
  return node;
}

TapeNode source_of(const std::string& name, const SortedJson& shape, const SortedJson& dtype,
                   const std::string& where) {
  TapeNode source;
  source.kind = TapeNode::Kind::source;
  source.op = "source";
  source.name = name;
  if (!shape.is_null()) source.shape = shape_of(shape, where);
  if (dtype.is_string()) source.dtype = dtype.get<std::string>();
  return source;
}

const SortedJson& list_at(const SortedJson& object, const char* key, const std::string& where) {
  static const SortedJson kNone = SortedJson::array();
  const auto found = object.find(key);
  if (found == object.end()) return kNone;
  if (!found->is_array()) damaged(where, "\"", key, "\" is not a list but ", found->type_name());
  return *found;
}

// The nodes of lg.tape(x):json(), in which inputs name nodes and tensors by their ids.
std::vector<TapeNode> nodes_by_id(const SortedJson& list, const std::string& path) {
  std::vector<TapeNode> nodes;
  std::unordered_map<int64_t, int> by_id, by_tensor;
  const auto where = [&](size_t i) { return text(path, ": node ", i + 1); };
  for (size_t i = 0; i < list.size(); ++i) {
    TapeNode& node = nodes.emplace_back(node_in(list[i], where(i)));
    node.forward_ns = number_at(list[i], "forward_ns");
    node.backward_ns = number_at(list[i], "backward_ns");
    const auto id = list[i].find("id");
    if (id == list[i].end() || !id->is_number_integer()) damaged(where(i), "it has no id");
    if (!by_id.emplace(id->get<int64_t>(), int(i)).second)
      damaged(where(i), "its id ", id->get<int64_t>(), " is also the id of another node");
    node.id = id->get<int64_t>();
    if (const auto value = list[i].find("value"); value != list[i].end()) node.value = value_of(*value);
    if (const auto value = list[i].find("gradient"); value != list[i].end()) node.gradient = value_of(*value);
  }
  for (size_t i = 0; i < list.size(); ++i) {
    for (const SortedJson& input : list_at(list[i], "inputs", where(i))) {
      if (!input.is_object()) damaged(where(i), "an input is not an object but ", input.type_name());
      if (const auto maker = input.find("node"); maker != input.end() && maker->is_number_integer()) {
        const auto found = by_id.find(maker->get<int64_t>());
        if (found == by_id.end())
          damaged(where(i), "it reads node ", maker->get<int64_t>(), ", which the tape does not have");
        nodes[i].inputs.push_back(found->second);
        continue;
      }
      const auto shape = input.find("shape"), dtype = input.find("dtype");
      // Each tensor has a dtype. An optional operand that was left out has none, but some versions gave it
      // the shape [].
      if (shape == input.end() || text_at(input, "dtype").empty()) {
        nodes[i].inputs.push_back(-1);
        continue;
      }
      const auto tensor = int64_t(number_at(input, "tensor"));
      const auto [at, fresh] = by_tensor.try_emplace(tensor, int(nodes.size()));
      nodes[i].inputs.push_back(at->second);
      if (fresh) nodes.push_back(source_of(text_at(input, "name"), *shape, *dtype, where(i)));
    }
  }
  return nodes;
}

// The nodes of a line of tape.jsonl, in which inputs name nodes by position and sources by number.
std::vector<TapeNode> nodes_by_position(const SortedJson& list, const SortedJson& line,
                                        const std::string& path) {
  std::vector<TapeNode> nodes;
  const SortedJson &values = list_at(line, "values", path), &times = list_at(line, "times", path),
                   &sources = list_at(line, "sources", path);
  std::unordered_map<int64_t, int> by_number;
  const auto where = [&](size_t i) { return text(path, ": node ", i + 1); };
  for (const SortedJson& json : list) nodes.push_back(node_in(json, where(nodes.size())));
  for (size_t i = 0; i < list.size(); ++i) {
    if (i < values.size() && values[i].is_array() && values[i].size() >= 2) {
      nodes[i].value = value_of(values[i][0]);
      nodes[i].gradient = value_of(values[i][1]);
    }
    if (i < times.size() && times[i].is_array() && times[i].size() >= 2) {
      nodes[i].forward_ns = figure_of(times[i][0]);
      nodes[i].backward_ns = figure_of(times[i][1]);
    }
    for (const SortedJson& input : list_at(list[i], "in", where(i))) {
      if (!input.is_array() || input.empty() || !input[0].is_number_integer())
        damaged(where(i), "an input does not begin with the number of a node");
      const auto from = input[0].get<int64_t>();
      if (from >= int64_t(list.size()))
        damaged(where(i), "it reads node ", from + 1, ", but the tape has ", list.size());
      if (from >= 0) {
        nodes[i].inputs.push_back(int(from));
        continue;
      }
      const std::string name = input.size() > 1 && input[1].is_string() ? input[1].get<std::string>() : "";
      const SortedJson shape = input.size() > 2 ? input[2] : SortedJson(),
                       dtype = input.size() > 3 ? input[3] : SortedJson();
      if (!dtype.is_string() || dtype.get<std::string>().empty()) {
        nodes[i].inputs.push_back(-1);
        continue;
      }
      const bool numbered = input.size() > 4 && input[4].is_number_integer();
      const int64_t number = numbered ? input[4].get<int64_t>() : -1;
      if (numbered && by_number.count(number)) {
        nodes[i].inputs.push_back(by_number[number]);
        continue;
      }
      nodes[i].inputs.push_back(int(nodes.size()));
      if (numbered) by_number[number] = int(nodes.size());
      TapeNode source = source_of(name, shape, dtype, where(i));
      if (numbered && number >= 0 && number < int64_t(sources.size()))
        source.value = value_of(sources[size_t(number)]);
      nodes.push_back(std::move(source));
    }
  }
  return nodes;
}

// Gives each source the place of its reader, because it was made elsewhere.
void place_sources(std::vector<TapeNode>& nodes) {
  for (const TapeNode& node : nodes)
    for (const int input : node.inputs) {
      if (input < 0 || nodes[size_t(input)].kind != TapeNode::Kind::source) continue;
      TapeNode& source = nodes[size_t(input)];
      if (source.line > 0) continue;
      source.module = node.module;
      source.file = node.file;
      source.line = node.line;
    }
}

int64_t step_in(const SortedJson& object) {
  const auto step = object.find("step");
  return step != object.end() && step->is_number_integer() ? step->get<int64_t>() : -1;
}

}  // namespace

TapeGraph read_tape_file(const std::string& path) { return read_tape_text(read_text(path), path); }

TapeGraph read_tape_text(const std::string& content, const std::string& path) {
  if (content.empty()) damaged(path, "the file is empty; lg.tape(loss):json() gives the text of a tape");
  SortedJson json;
  try {
    json = parse_json<SortedJson>(content, path);
  } catch (const SortedJson::exception& error) {
    damaged(path, "not JSON, or cut off (", content.size(), " bytes): ", error.what());
  }
  const SortedJson* list = &json;
  if (json.is_object() && json.contains("nodes")) list = &json["nodes"];
  if (!list->is_array())
    damaged(path, "not a tape: neither a list of nodes nor an object with \"nodes\" (got ", json.type_name(),
            ")");
  if (list->empty()) damaged(path, "the tape has no nodes");
  TapeGraph graph;
  graph.title = path;
  graph.step = json.is_object() ? step_in(json) : -1;
  const bool is_line = (*list)[0].is_object() && (*list)[0].contains("in");
  graph.nodes = is_line ? nodes_by_position(*list, json.is_object() ? json : SortedJson::object(), path)
                        : nodes_by_id(*list, path);
  graph.nodes = in_order(std::move(graph.nodes), path);
  place_sources(graph.nodes);
  return graph;
}

// --- the tapes of a run ---

RunTapes::RunTapes(std::string folder) : folder_(std::move(folder)) {
  const std::string path = (fs::path(folder_) / "tape.jsonl").string();
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    damaged(folder_, "the run has no tape.jsonl: it ended before its first step with a backward pass");
  const std::string content = read_text(path);
  size_t begin = 0;
  for (int64_t number = 1; begin < content.size(); ++number) {
    const size_t end = content.find('\n', begin);
    // A line without a newline is half-written: after a crash, or because a run is writing it.
    if (end == content.npos) break;
    damaged_ += !read_line(content.substr(begin, end - begin), text(path, ":", number));
    begin = end + 1;
  }
  if (kept_.empty())
    damaged(path, "it holds no complete tape", damaged_ > 0 ? text(", and ", damaged_, " damaged") : "");
}

std::string RunTapes::damage() const {
  return damaged_ > 0 ? skipped_text(damaged_, folder_ + "/tape.jsonl") : "";
}

// A line voids the earlier lines of later steps, because the run went back. A line that refers to the nodes
// of a damaged line is damaged too.
bool RunTapes::read_line(const std::string& line, const std::string& where) {
  if (is_damaged(line)) return false;
  SortedJson json = read_json<SortedJson>(line);
  if (!json.is_object() || step_in(json) < 0) return false;
  const int64_t step = step_in(json);
  Kept kept;
  kept.where = where;
  if (const auto like = json.find("like"); like != json.end()) {
    const auto found = like->is_number_integer() ? kept_.find(like->get<int64_t>()) : kept_.end();
    if (found == kept_.end()) return false;
    kept.line = std::move(json);
    kept.line["nodes"] = found->second.line["nodes"];
  } else {
    kept.line = std::move(json);
  }
  kept_.erase(kept_.lower_bound(step), kept_.end());
  kept_.emplace(step, std::move(kept));
  return true;
}

std::vector<int64_t> RunTapes::steps() const {
  std::vector<int64_t> all;
  for (const auto& [step, kept] : kept_) all.push_back(step);
  return all;
}

std::string RunTapes::steps_text() const {
  std::string list;
  for (const auto& [step, kept] : kept_) list += (list.empty() ? "" : ", ") + std::to_string(step);
  return list;
}

TapeGraph RunTapes::tape(int64_t step) const { return graph_of(step, kept_.at(step)); }

TapeGraph RunTapes::repeated_tape(int64_t step, const std::string& line) const {
  return graph_of(step, {folder_, parse_json<SortedJson>(line, folder_)});
}

TapeGraph RunTapes::graph_of(int64_t step, const Kept& kept) const {
  const auto& [where, line] = kept;
  if (line.contains("left_out"))
    damaged(where, "the tape of step ", step, " has ", line["left_out"].dump(),
            " nodes, more than a run's folder keeps; lg.tape(loss):json() gives all of them");
  const SortedJson& list = list_at(line, "nodes", where);
  if (list.empty()) damaged(where, "the tape has no nodes");
  TapeGraph graph;
  graph.title = folder_;
  graph.step = step;
  graph.nodes = in_order(nodes_by_position(list, line, where), where);
  place_sources(graph.nodes);
  add_script(graph);
  return graph;
}

// Adds the script that ran at the step: a reload after step n wrote script-<n>.lua.
void RunTapes::add_script(TapeGraph& graph) const {
  std::string file = folder_ + "/script.lua";
  int64_t latest = -1;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("script-") || !name.ends_with(".lua")) continue;
    const int64_t after = std::atoll(name.c_str() + sizeof "script-" - 1);
    if (after <= latest || after >= graph.step) continue;
    latest = after;
    file = entry.path().string();
  }
  if (!is_run(folder_) || !fs::is_regular_file(file, ignored)) return;
  graph.script = read_text(file);
  graph.script_name = read_run_config(folder_).script;
  std::vector<std::string> lines;
  std::istringstream in(graph.script);
  for (std::string line; std::getline(in, line);) {
    const size_t begin = line.find_first_not_of(" \t");
    lines.push_back(begin == line.npos ? "" : line.substr(begin));
  }
  for (TapeNode& node : graph.nodes)
    if (node.file == graph.script_name && node.line > 0 && size_t(node.line) <= lines.size())
      node.code = lines[size_t(node.line) - 1];
}

}  // namespace lunagrad
