#include "script/report/run_report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "runtime/core/figures.h"
#include "runtime/core/path_text.h"
#include "runtime/io/json_text.h"
#include "script/report/run_file.h"
#include "script/run/json.h"
#include "script/run/notes.h"

namespace lunagrad {
namespace {

constexpr int64_t kConfigBytes = 1 << 20;

std::string counted(size_t count, const char* what) {
  return count_figure(int64_t(count)) + " " + what + (count == 1 ? "" : "s");
}

// Cuts after the last line break, or else after the last whole character, so that the next read begins with a
// whole one.
void cut_to_line(std::string& text) {
  if (const size_t line = text.rfind('\n'); line != text.npos) {
    text.resize(line + 1);
    return;
  }
  size_t begin = text.size(), have = 1;  // of the last character
  while (begin > 0 && have < 4 && (text[begin - 1] & 0xc0) == 0x80) --begin, ++have;
  if (begin == 0) return;
  const auto lead = static_cast<unsigned char>(text[begin - 1]);
  const size_t needs = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  if (have < needs) text.resize(begin - 1);
}

}  // namespace

ReportLimits ReportLimits::shared_by(size_t runs) const {
  if (runs < 2) return *this;
  ReportLimits part = *this;
  const auto share = [&](auto& value) { value = std::max<std::decay_t<decltype(value)>>(value / runs, 1); };
  share(part.buckets);
  share(part.histograms);
  for (int64_t* bytes :
       {&part.image_bytes, &part.all_text_bytes, &part.log_begin, &part.log_end, &part.tape_bytes})
    *bytes = std::max<int64_t>(*bytes / int64_t(runs), 4096);
  return part;
}

RunReport::RunReport(std::string folder, ReportLimits limits, bool embed)
    : folder_(std::move(folder)), limits_(limits), embed_(embed), follower_(folder_) {}

bool RunReport::more() {
  refuse_links(folder_);
  const bool news = follower_.more();
  const RunRecord& run = follower_.record();
  if (run.voided != voided_ || follower_.offset() < offset_) {
    ++generation_;
    curves_.clear();
    taken_.clear();
  }
  voided_ = run.voided;
  offset_ = follower_.offset();
  const size_t count = std::max<size_t>(std::min(run.metrics.size(), limits_.curves), 1);
  const size_t most = std::clamp(limits_.buckets / count, std::min<size_t>(limits_.buckets_per_curve, 256),
                                 limits_.buckets_per_curve) &
                      ~size_t(1);
  for (const auto& [name, points] : run.metrics) {
    auto found = curves_.find(name);
    if (found == curves_.end()) {
      if (curves_.size() == limits_.curves) continue;
      found = curves_.emplace(name, CurveBuckets(most)).first;
    }
    size_t& taken = taken_[name];
    for (; taken < points.size(); ++taken)
      found->second.append(points[taken].step, points[taken].time, points[taken].value, offset_);
  }
  return news;
}

Json RunReport::facts() const {
  const RunRecord& run = record();
  Json json{{"name", path_text(run.name)},
            {"script", path_text(run.script)},
            {"started", run.started},
            {"outcome", run.outcome},
            {"steps", run.steps},
            {"steps_total", run.steps_total},
            {"seconds", json_number(run.seconds)},
            {"seed", run.seed},
            {"device", run.device},
            {"command_line", path_text(run.command_line)},
            {"arguments", path_texts(run.arguments)},
            {"git_commit", run.git_commit},
            {"params", run.params},
            {"set", run.set}};
  const RunNotes notes = read_notes(folder_);
  json["starred"] = notes.starred;
  json["note"] = notes.note;
  Json config;
  if (const auto file = read_run_file(folder_, "config.json", kConfigBytes))
    config = read_json<Json>(file->text);
  if (config.is_object()) erase_checksum(config);
  json["config"] = config.is_object() ? std::move(config) : Json::object();
  json["changes"] = Json::array();
  for (const ParamChange& change : run.changes)
    json["changes"].push_back({{"step", change.step}, {"name", change.name}, {"value", change.value}});
  json["reloads"] = run.reloads;
  json["checkpoints"] = Json::array();
  for (const LoggedItem& item : run.checkpoints) json["checkpoints"].push_back(item.step);
  json["watched"] = Json::object();
  for (const auto& [part, numbers] : run.watched)
    for (const auto& [name, latest] : numbers) json["watched"][part][name] = json_number(latest.value);
  return json;
}

Json RunReport::curves(uint64_t since, LeftOut& left_out) const {
  Json list = Json::array();
  for (const auto& [name, buckets] : curves_) {
    Json curve{{"name", name}};
    curve.update(buckets.json(since));
    if (since == 0 || !curve["step"].empty()) list.push_back(std::move(curve));
  }
  if (record().metrics.size() > curves_.size()) {
    left_out.push_back(counted(record().metrics.size() - curves_.size(), "curve") + " of " +
                       counted(record().metrics.size(), "metric") + ": a page has at most " +
                       count_figure(int64_t(limits_.curves)));
  }
  return list;
}

Json RunReport::log(int64_t& since, LeftOut& left_out) const {
  Json json;
  const auto begin = read_run_file(folder_, "log.txt", limits_.log_begin + limits_.log_end, since);
  if (!begin) return json;
  std::string text = begin->text;
  const auto cut = [&](std::string& last) {
    if (!embed_) cut_to_line(last);  // the next read continues there
  };
  if (begin->offset + int64_t(text.size()) < begin->size) {
    auto end = read_run_file(folder_, "log.txt", limits_.log_end, -limits_.log_end);
    text.resize(size_t(std::min<int64_t>(limits_.log_begin, int64_t(text.size()))));
    cut_to_line(text);
    since = begin->offset + int64_t(text.size());
    json["begin"] = std::move(text);
    if (!end || end->offset < since) return json;  // the file was replaced in the meantime
    cut(end->text);
    const int64_t missing = end->offset - since;
    left_out.push_back(bytes_figure(double(missing)) + " from the middle of the console's " +
                       bytes_figure(double(end->size)));
    since = end->offset + int64_t(end->text.size());  // the file may have grown since `begin` was read
    json["missing"] = missing;
    json["end"] = std::move(end->text);
  } else {
    cut(text);
    since = begin->offset + int64_t(text.size());
    json["begin"] = std::move(text);
  }
  return json;
}

// Each tape is one line of its file. A line voids earlier lines of later steps, because the run went back.
Json RunReport::tapes(int64_t& since, LeftOut& left_out) const {
  Json list = Json::array();
  auto file = read_run_file(folder_, "tape.jsonl", limits_.tape_bytes, since);
  if (!file) return list;
  if (file->offset + int64_t(file->text.size()) < file->size)
    left_out.push_back("the tapes behind the first " + bytes_figure(double(limits_.tape_bytes)) + " of " +
                       bytes_figure(double(file->size)));
  size_t begin = 0, damaged = 0;
  for (size_t end; (end = file->text.find('\n', begin)) != file->text.npos; begin = end + 1) {
    const std::string_view line = std::string_view(file->text).substr(begin, end - begin);
    Json tape = is_damaged(line) ? Json() : read_json<Json>(line);
    if (tape.is_object() && tape.contains("step") && tape["step"].is_number_integer()) {
      erase_checksum(tape);
      list.push_back(std::move(tape));
    } else {
      ++damaged;
    }
  }
  if (damaged > 0) left_out.push_back(counted(damaged, "damaged record") + " of tape.jsonl");
  since = file->offset + int64_t(begin);
  return list;
}

Json RunReport::script(LeftOut& left_out) const {
  Json list = Json::array();
  const auto add = [&](const std::string& name, const std::string& title, int64_t most) {
    const auto file = read_run_file(folder_, name, most);
    if (!file || file->size == 0) return;
    if (int64_t(file->text.size()) < file->size)
      left_out.push_back(bytes_figure(double(file->size - int64_t(file->text.size()))) + " of " + name);
    list.push_back({{"file", name}, {"title", title}, {"text", file->text}});
  };
  add("script.lua", record().script, limits_.script_bytes);
  if (const auto config = read_run_file(folder_, "config.json", kConfigBytes)) {
    const Json parsed = read_json<Json>(config->text);
    constexpr size_t kMostReloads = 20;
    if (parsed.is_object() && parsed.contains("reloads") && parsed["reloads"].is_array())
      for (const Json& reload : parsed["reloads"]) {
        if (list.size() > kMostReloads) break;
        if (!reload.is_object() || !reload.contains("script") || !reload["script"].is_string()) continue;
        const std::string name = reload["script"];
        if (name.starts_with("script-") && name.ends_with(".lua"))
          add(name, "after a reload: " + name, limits_.script_bytes);
      }
  }
  add("git.diff", "uncommitted changes", limits_.diff_bytes);
  return list;
}

Json RunReport::json(ReportCursor since) const {
  LeftOut left_out;
  Json json = facts();
  json["generation"] = generation_;
  const bool fresh = since.rows == 0 || offset_ != since.rows;
  json["curves"] = fresh ? curves(since.rows, left_out) : Json::array();
  json["images"] = fresh ? images(since.rows, left_out) : Json::object();
  json["histograms"] = fresh ? histograms(since.rows, left_out) : Json::object();
  json["texts"] = fresh ? texts(since.rows, left_out) : Json::object();
  json["log"] = log(since.log, left_out);
  json["tapes"] = tapes(since.tapes, left_out);
  if (since.rows == 0) json["scripts"] = script(left_out);
  if (record().damaged > 0)
    left_out.push_back(counted(size_t(record().damaged), "damaged record") + " of metrics.jsonl");
  if (record().config_damaged) left_out.push_back("config.json is damaged: what it says may be wrong");
  json["left_out"] = left_out;
  json["cursor"] = {{"rows", offset_}, {"log", since.log}, {"tapes", since.tapes}};
  return json;
}

}  // namespace lunagrad
