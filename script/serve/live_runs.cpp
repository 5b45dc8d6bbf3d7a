#include "script/serve/live_runs.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

#include "runtime/core/error.h"
#include "runtime/core/path_text.h"
#include "script/report/run_file.h"
#include "script/run/json.h"
#include "script/run/notes.h"

namespace lunagrad {
namespace fs = std::filesystem;
namespace {

// How many runs stay in memory when no page requests them, and for how long.
constexpr size_t kMostShown = 12;
constexpr std::chrono::seconds kKept{120};
// Seconds: a run without an outcome that wrote within this time counts as running, as in the window.
constexpr double kAlive = 30;

// Seconds since the run last wrote, and a number that changes with its files.
struct Written {
  double age = 0;
  int64_t stamp = 0;
};
Written written(const std::string& folder) {
  Written found;
  timespec latest{}, now{};
  for (const char* name : {"metrics.jsonl", "config.json", "log.txt", "star", "note.txt"}) {
    struct stat status {};
    if (::lstat((folder + "/" + name).c_str(), &status) != 0) continue;
    for (const int64_t part : {int64_t(status.st_mtim.tv_sec), int64_t(status.st_mtim.tv_nsec),
                               int64_t(status.st_size), int64_t(status.st_ino)})
      found.stamp = int64_t(uint64_t(found.stamp) * 1000003 + uint64_t(part));
    if (status.st_mtim.tv_sec > latest.tv_sec) latest = status.st_mtim;
  }
  clock_gettime(CLOCK_REALTIME, &now);
  found.age = std::max(0.0, double(now.tv_sec - latest.tv_sec) + 1e-9 * double(now.tv_nsec - latest.tv_nsec));
  return found;
}

Json row_of(const std::string& folder) {
  Json row{{"name", path_text(name_of_folder(folder))}};
  try {
    refuse_links(folder);
    const RunRecord run = read_run_end(folder);
    row.update(Json{{"script", path_text(run.script)},
                    {"started", run.started},
                    {"outcome", run.outcome},
                    {"device", run.device},
                    {"steps", run.steps},
                    {"steps_total", run.steps_total},
                    {"seconds", json_number(run.seconds)},
                    {"params", run.params}});
    row["metrics"] = Json::object();
    constexpr size_t kMostMetrics = 40;
    for (const auto& [name, points] : run.metrics)
      if (!points.empty() && row["metrics"].size() < kMostMetrics)
        row["metrics"][name] = json_number(points.back().value);
    const RunNotes notes = read_notes(folder);
    row["starred"] = notes.starred;
    row["note"] = notes.note;
  } catch (const Error& error) {
    row["metrics"] = Json::object();
    row["problem"] = error.what();
  }
  return row;
}

}  // namespace

LiveRuns::LiveRuns(std::string folder)
    : folder_(std::move(folder)),
      single_(is_run(folder_)),
      process_(std::to_string(std::random_device{}())) {}

std::string LiveRuns::find(const std::string& text) const {
  const std::string name = path_of_text(text);
  if (single_) return name == name_of_folder(folder_) ? folder_ : "";
  if (name.empty() || name == "." || name == ".." || name.find('/') != name.npos ||
      name.find('\0') != name.npos)
    return "";
  const std::string folder = folder_ + "/" + name;
  std::error_code ignored;
  return fs::is_directory(fs::symlink_status(folder, ignored)) && is_own_file(folder, "metrics.jsonl")
             ? folder
             : "";
}

std::string LiveRuns::list() {
  std::vector<std::string> folders;
  if (single_) {
    folders.push_back(folder_);
  } else {
    for (const std::string& folder : find_runs(folder_))
      if (!find(path_text(fs::path(folder).filename().string())).empty()) folders.push_back(folder);
  }
  Json json{{"folder", path_text(name_of_folder(folder_))}, {"runs", Json::array()}};
  const std::lock_guard lock(rows_mutex_);
  std::map<std::string, Row> rows;
  for (const std::string& folder : folders) {
    const Written last = written(folder);
    Row row = std::move(rows_[folder]);
    if (row.json.is_null() || row.stamp != last.stamp) row = {last.stamp, row_of(folder)};
    Json entry = row.json;
    entry["age"] = last.age;
    entry["alive"] = last.age < kAlive;
    json["runs"].push_back(std::move(entry));
    rows[folder] = std::move(row);
  }
  rows_ = std::move(rows);
  return json_text(json);
}

std::shared_ptr<LiveRuns::Shown> LiveRuns::show(const std::string& name) {
  const std::lock_guard lock(shown_mutex_);
  const Clock::time_point now = Clock::now();
  std::erase_if(shown_, [&](const auto& entry) { return now - entry.second.first > kKept; });
  while (shown_.size() >= kMostShown && !shown_.count(name)) {
    shown_.erase(std::min_element(shown_.begin(), shown_.end(), [](const auto& a, const auto& b) {
      return a.second.first < b.second.first;
    }));
  }
  auto& [time, shown] = shown_[name];
  time = now;
  if (!shown) shown = std::make_shared<Shown>();
  return shown;
}

std::optional<std::string> LiveRuns::run(const std::string& name, const LiveCursor& cursor) {
  const std::string folder = find(name);
  if (folder.empty()) return std::nullopt;
  const std::shared_ptr<Shown> shown = show(name);
  const std::lock_guard lock(shown->mutex);
  struct stat status {};
  const bool there = ::lstat((folder + "/metrics.jsonl").c_str(), &status) == 0;
  const auto end = [&] {
    constexpr int64_t kBytes = 256;
    const auto offset = int64_t(shown->report->offset()), from = std::max<int64_t>(offset - kBytes, 0);
    const auto part = read_run_file(folder, "metrics.jsonl", offset - from, from);
    return part ? part->text : "";
  };
  if (!shown->report || !there || uint64_t(status.st_ino) != shown->inode || end() != shown->end) {
    shown->report = std::make_unique<RunReport>(folder, ReportLimits(), false);
    shown->inode = status.st_ino;  // a file system may use it again
    ++shown->number;
  }
  try {
    shown->report->more();
    shown->end = end();
  } catch (...) {
    shown->report.reset();
    throw;
  }
  const std::string generation = text(process_, '-', shown->number, '-', shown->report->generation());
  const bool goes_on = cursor.generation == generation;
  Json json = shown->report->json(goes_on ? cursor.read : ReportCursor());
  json["generation"] = generation;
  json["whole"] = !goes_on;
  const Written last = written(folder);
  json["age"] = last.age;
  json["alive"] = last.age < kAlive;
  return json_text(json);
}

std::optional<std::string> LiveRuns::picture(const std::string& name, const std::string& file) const {
  constexpr int64_t kMost = 64 << 20;
  const std::string folder = find(name);
  if (folder.empty()) return std::nullopt;
  std::optional<FilePart> part = read_run_file(folder, "images/" + file, kMost);
  if (!part || int64_t(part->text.size()) < part->size || !is_png(part->text)) return std::nullopt;
  return std::move(part->text);
}

}  // namespace lunagrad
