#include "script/time/timeline.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "runtime/core/error.h"
#include "runtime/core/path_text.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/input_file.h"
#include "runtime/io/json_text.h"
#include "script/run/run.h"
#include "script/time/keyframe.h"
#include "script/trust/inside.h"

namespace lunagrad {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

std::string text_at(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

int64_t integer_at(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<int64_t>() : 0;
}

SafePlace place_named(const std::string& name) {
  for (const SafePlace place : {SafePlace::op, SafePlace::line, SafePlace::step_end})
    if (name == name_of(place)) return place;
  return SafePlace::midst;
}

void drop_after(Timeline& line, int64_t step) {
  const auto later = [&](const auto& item) { return item.step > step; };
  std::erase_if(line.edits, later);
  std::erase_if(line.console, later);
  while (line.spans.size() > 1 && line.spans.back().step >= step) line.spans.pop_back();
}

std::string value_text(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// Where a confined run finds a module: in the run's folder, at the module's path relative to the script. For
// a module outside of the script's folder every end of its path is a place, because it is not known where the
// module's name begins.
std::vector<std::string> confined_places(const RunRecord& record, const std::string& file) {
  const fs::path script = fs::path(record.script).parent_path(), path = fs::path(file).lexically_normal();
  const fs::path within = path.lexically_relative(script.empty() ? "." : script.lexically_normal());
  if (stays_inside(within.string())) return {record.folder + "/" + within.string()};
  std::vector<std::string> places;
  fs::path rest;
  for (fs::path outer = path; outer.has_filename() && outer != outer.parent_path();
       outer = outer.parent_path()) {
    rest = rest.empty() ? outer.filename() : outer.filename() / rest;
    places.push_back(record.folder + "/" + rest.string());
  }
  return places;
}

void read_module(Timeline& line, const json& row) {
  const std::string file = path_of_text(text_at(row, "file")), copy = path_of_text(text_at(row, "copy"));
  const std::string source =
      read_regular_file(file_inside(line.record.folder, copy, line.record.folder + "/metrics.jsonl"));
  Modules& modules = line.spans.back().modules;
  if (!line.confined)
    modules[file] = source;
  else
    for (const std::string& place : confined_places(line.record, file)) modules[place] = source;
}

// The checkpoint in a resume's row. A missing checkpoint is not an error: a replay then begins earlier.
std::string checkpoint_in(const Timeline& line, const json& row) {
  const std::string path = path_of_text(text_at(row, "resume"));
  std::error_code ignored;
  if (line.confined && !path.empty() && fs::exists(path, ignored) && !lies_inside(path, line.record.folder))
    fail_as(ErrorKind::file, line.record.folder, "/metrics.jsonl: names the checkpoint ", path,
            ", which is not in the run's folder; only a run that is trusted may");
  return path;
}

void read_row(Timeline& line, const json& row) {
  const int64_t step = integer_at(row, "step");
  if (row.contains("resume")) {
    drop_after(line, step);
    line.spans.push_back({step, "script.lua", checkpoint_in(line, row), {}});
  } else if (row.contains("reload")) {
    drop_after(line, step);
    line.spans.push_back({step, text_at(row, "reload"), "", {}});
  } else if (const auto param = row.find("param"); param != row.end() && param->is_object()) {
    for (const auto& [name, value] : param->items()) line.edits.push_back({step, name, value_text(value)});
  } else if (const auto console = row.find("console"); console != row.end() && console->is_object()) {
    line.console.push_back({step, integer_at(*console, "ops"), place_named(text_at(*console, "place")),
                            int(integer_at(*console, "line")), text_at(*console, "code")});
  } else if (const auto module = row.find("module"); module != row.end() && module->is_object()) {
    read_module(line, *module);
  }
}

// Whether the row affects what runs. Most rows have metrics and do not.
bool decides(const std::string& row) {
  for (const char* key : {"\"resume\":", "\"reload\":", "\"param\":", "\"console\":", "\"module\":"})
    if (row.find(key) != row.npos) return true;
  return false;
}

KeyframePtr without_loaders(const Keyframe& keyframe) {
  auto copy = std::make_shared<Keyframe>(keyframe);
  remove_entry(copy->content, "loaders");
  return copy;
}

json config_of(const RunRecord& record) {
  const std::string path = record.folder + "/config.json";
  json config = read_json<json>(read_regular_file(path));
  if (record.config_damaged) fail_as(ErrorKind::file, path, ": is damaged: it does not say what was run");
  if (!config.is_object() || record.script.empty())
    fail_as(ErrorKind::file, path, ": does not say what was run");
  return config;
}

}  // namespace

const ReloadSpan& Timeline::span_of(int64_t step) const {
  for (auto span = spans.rbegin(); span != spans.rend(); ++span)
    if (span->step < step) return *span;
  return spans.front();
}

std::string Timeline::script_of(const ReloadSpan& span) const { return read_script_copy(record, span.copy); }

Modules Timeline::texts_of(int64_t step) const {
  const ReloadSpan& span = span_of(step);
  Modules texts = span.modules;
  texts[script_to_run()] = script_of(span);
  return texts;
}

Timeline read_timeline(const std::string& folder, bool confined) {
  if (confined) require_inside(folder);
  Timeline line;
  line.record = read_run(folder);
  line.confined = confined;
  const json config = config_of(line.record);
  if (const int64_t ranks = integer_at(config, "ranks"); ranks > 1)
    fail_as(ErrorKind::file, folder, ": a run of ", ranks,
            " ranks, which no single process can repeat; run its script on one rank");
  line.steps = std::max(line.record.steps, integer_at(config, "last_step"));
  line.spans.push_back({line.record.parent_step, "script.lua", "", {}});
  std::ifstream in(folder + "/metrics.jsonl");
  for (std::string row; std::getline(in, row);)
    if (decides(row) && is_row(row))
      if (const json parsed = read_json<json>(row); parsed.is_object()) read_row(line, parsed);
  return line;
}

RunOptions options_behind(const Timeline& line, const ReloadSpan& span, KeyframePtr keyframe) {
  const RunRecord& record = line.record;
  RunOptions options;
  options.source = line.script_of(span);
  options.arguments = record.arguments;
  options.set = record.set;
  uint64_t seed = 0;
  std::from_chars(record.seed.data(), record.seed.data() + record.seed.size(), seed);
  options.seed = seed;
  options.device = record.device;
  options.sandbox = record.sandbox || line.confined;
  if (line.confined) options.folder = record.folder;
  options.steps = record.steps_option;
  options.edits = line.edits;
  options.console = line.console;
  options.modules = span.modules;
  options.resume = span.checkpoint;
  options.write_run = false;
  const int64_t step = keyframe ? keyframe->step : span.step;
  // earlier edits and lines are in the states already; lines at the end of the step come after a keyframe
  if (step > 0) {
    std::erase_if(options.edits, [&](const ParamEdit& edit) { return edit.step <= step; });
    std::erase_if(options.console, [&](const TypedLine& line) {
      return line.step < step || (line.step == step && !(keyframe && line.place == SafePlace::step_end));
    });
  }
  if (!keyframe) return options;
  // A reload starts data loaders again, and passes parameters on as to a changed script.
  const bool reloaded = span.step == step && &span != &line.spans.front();
  options.resume.clear();
  options.start = reloaded ? without_loaders(*keyframe) : std::move(keyframe);
  options.start_changed = reloaded || (record.parent_changed && step == record.parent_step);
  return options;
}

}  // namespace lunagrad
