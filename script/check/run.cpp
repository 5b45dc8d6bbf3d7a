#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "runtime/core/error.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/input_file.h"
#include "runtime/io/json_text.h"
#include "runtime/io/png.h"
#include "runtime/io/safetensors.h"
#include "runtime/system/posix/descriptor.h"
#include "script/check/aside.h"
#include "script/check/check.h"
#include "script/run/event_file.h"
#include "script/run/folder.h"
#include "script/run/json.h"
#include "script/run/record.h"
#include "script/time/keyframe.h"
#include "script/trust/inside.h"

namespace lunagrad {
namespace fs = std::filesystem;
namespace {

constexpr size_t kListed = 5;  // damaged lines of a file that are listed by number

// Takes the lock that a run holds while it writes to its folder.
class RunLock {
 public:
  explicit RunLock(const std::string& folder)
      : file_(::open((folder + "/metrics.jsonl").c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    held_ = !file_ || ::flock(file_.get(), LOCK_EX | LOCK_NB) == 0;
  }
  bool held() const { return held_; }

 private:
  Descriptor file_;
  bool held_ = false;
};

// The value of a key in a table as lg.io.save describes it: {"table": [[key, value], …]}.
const SortedJson* entry_of(const SortedJson& table, const char* name) {
  const auto pairs = table.find("table");
  if (!table.is_object() || pairs == table.end() || !pairs->is_array()) return nullptr;
  for (const SortedJson& pair : *pairs)
    if (pair.is_array() && pair.size() == 2 && pair[0] == name) return &pair[1];
  return nullptr;
}

int64_t integer_of(const SortedJson* value) {
  return value && value->is_number_integer() ? value->get<int64_t>() : 0;
}

class RunCheck {
 public:
  RunCheck(const std::string& folder, bool repair, CheckReport& report)
      : folder_(folder), report_(report), lock_(folder), repairs_(repair && lock_.held()) {
    if (repair && !repairs_)
      report_.notes.push_back(folder + ": a run is writing to it, so it is not repaired");
  }

  void check() {
    check_config();
    check_scripts();
    check_lines("metrics.jsonl",
                [this](const std::string& line) { return is_row(line) && has_images(line); });
    check_lines("tape.jsonl", [this](const std::string& line) { return is_tape(line); });
    for (const char* name : {"files.jsonl", "probes.jsonl"})
      check_lines(name, [](const std::string& line) {
        return !is_damaged(line) && read_json<SortedJson>(line).is_object();
      });
    check_checkpoints();
    check_files("keyframes", ".keyframe", [](const std::string& path) {
      const Keyframe keyframe = decode(read_regular_file(path), path);
      int64_t step = -1;
      std::sscanf(fs::path(path).filename().c_str(), "step-%" SCNd64, &step);
      if (step != keyframe.step)
        fail_as(ErrorKind::file, path, ": the keyframe of another step, ", keyframe.step);
    });
    check_files("modules", "", [](const std::string& path) {
      char hash[24];
      std::snprintf(hash, sizeof hash, "%016zx-", std::hash<std::string_view>()(read_regular_file(path)));
      if (!fs::path(path).filename().string().starts_with(hash))
        fail_as(ErrorKind::file, path, ": its content is not what its name says");
    });
    for (const std::string& path : files_in(""))
      if (fs::path(path).filename().string().starts_with("events.out.tfevents."))
        attempt(path, {}, [&] {
          const std::string damage = damage_of_event_file(read_regular_file(path));
          if (!damage.empty()) fail_as(ErrorKind::file, path, ": ", damage);
        });
  }

 private:
  std::string name_of(const std::string& path) const { return fs::path(path).lexically_relative(folder_); }

  // The regular files of a subfolder, sorted.
  std::vector<std::string> files_in(const std::string& part) const {
    std::vector<std::string> files;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(folder_) / part, error)) {
      std::error_code ignored;
      if (entry.is_regular_file(ignored))
        files.push_back((fs::path(folder_) / part / entry.path().filename()).string());
    }
    std::sort(files.begin(), files.end());
    return files;
  }

  // Calls `read`. When it throws, the file is damaged, and a repair moves the file and `others` aside.
  // Returns whether the file was whole.
  bool attempt(const std::string& path, const std::vector<std::string>& others,
               const std::function<void()>& read) {
    try {
      read();
      return true;
    } catch (const std::exception& error) {
      std::string what = error.what();
      if (what.starts_with(path + ": ")) what = what.substr(path.size() + 2);
      Damage damage{path, std::move(what), ""};
      std::error_code ignored;
      if (repairs_ && fs::exists(path, ignored)) damage.repair = move_aside(folder_, name_of(path));
      for (const std::string& other : others)
        if (repairs_ && fs::exists(other, ignored)) move_aside(folder_, name_of(other));
      report_.damages.push_back(std::move(damage));
      return false;
    }
  }

  void check_files(const std::string& part, const std::string& ending,
                   const std::function<void(const std::string&)>& read) {
    for (const std::string& path : files_in(part))
      if (path.ends_with(ending) &&
          fs::path(path).filename().string().find(".lunagrad-") == std::string::npos)
        attempt(path, {}, [&] { read(path); });
  }

  void check_config() {
    const std::string path = folder_ + "/config.json";
    std::error_code ignored;
    if (!fs::exists(path, ignored)) {
      report_.notes.push_back(path + ": is not there: the run was killed as it began, or the file is lost");
      return;
    }
    attempt(path, {}, [&] {
      const std::string content = read_regular_file(path);
      if (is_damaged(content)) fail_as(ErrorKind::file, path, ": its checksum is another one");
      if (!read_json<SortedJson>(content).is_object()) fail_as(ErrorKind::file, path, ": not a JSON object");
    });
  }

  // A starting run writes the scripts before config.json, which has their checksums.
  void check_scripts() {
    if (!lock_.held() || !is_run(folder_)) return;
    const RunRecord run = read_run_config(folder_);
    for (const auto& [name, sum] : run.scripts) {
      std::error_code ignored;
      const std::string path = folder_ + "/" + name;
      if (fs::exists(path, ignored)) attempt(path, {}, [&, &name = name] { read_script_copy(run, name); });
    }
  }

  // Checks a file of lines. A last line without a newline is being written, or was cut by a crash.
  void check_lines(const std::string& name, const std::function<bool(const std::string&)>& is_good) {
    const std::string path = folder_ + "/" + name;
    std::error_code ignored;
    if (!fs::exists(path, ignored)) return;
    std::string good, bad, numbers;
    size_t count = 0;
    try {
      const std::string content = read_regular_file(path);
      size_t begin = 0;
      for (int64_t number = 1; begin < content.size(); ++number) {
        const size_t end = content.find('\n', begin);
        const bool whole = end != content.npos;
        if (!whole && !lock_.held()) break;
        const std::string line = content.substr(begin, whole ? end - begin : end);
        begin = whole ? end + 1 : content.size();
        if (whole && is_good(line)) {
          good += line + '\n';
          continue;
        }
        bad += line + '\n';
        if (++count <= kListed) numbers += (count > 1 ? ", " : "") + std::to_string(number);
      }
    } catch (const Error& error) {
      report_.damages.push_back({path, error.what(), ""});
      return;
    }
    if (count == 0) return;
    Damage damage{path,
                  text(count, count == 1 ? " damaged record, line " : " damaged records, lines ", numbers,
                       count > kListed ? ", …" : ""),
                  ""};
    if (repairs_) {
      damage.repair = put_aside(folder_, name, bad);
      write_file(path, good);
    }
    report_.damages.push_back(std::move(damage));
  }

  // Whether the images that a row of metrics names exist and are whole. Each is read once.
  bool has_images(const std::string& line) {
    if (line.find("\"image\":") == line.npos) return true;
    const SortedJson row = read_json<SortedJson>(line);
    const auto images = row.find("image");
    if (images == row.end() || !images->is_object()) return true;
    bool whole = true;
    for (const auto& [name, file] : images->items()) {
      if (!file.is_string()) continue;
      const std::string path = folder_ + "/images/" + fs::path(file.get<std::string>()).filename().string();
      auto known = images_.find(path);
      if (known == images_.end())
        known = images_.emplace(path, attempt(path, {}, [&] { decode_png(path); })).first;
      whole = whole && known->second;
    }
    return whole;
  }

  // A line may refer to the nodes of a line above. It makes lines of later steps above it invalid.
  bool is_tape(const std::string& line) {
    if (is_damaged(line)) return false;
    const SortedJson tape = read_json<SortedJson>(line);
    if (!tape.is_object() || !tape.contains("step") || !tape["step"].is_number_integer()) return false;
    const auto like = tape.find("like");
    if (like != tape.end() && (!like->is_number_integer() || !tapes_.contains(like->get<int64_t>())))
      return false;
    const int64_t step = tape["step"];
    tapes_.erase(tapes_.lower_bound(step), tapes_.end());
    tapes_.insert(step);
    return true;
  }

  void check_checkpoints() {
    size_t without = 0;
    for (const auto& [step, path] : checkpoints_in(folder_)) {
      const std::string shards = fs::path(path).replace_extension(".shards").string();
      attempt(path, {shards}, [&, &path = path] {
        const FileInfo info = check_safetensors(path);
        without += !info.has_checksums;
        const auto about = info.metadata.find("lunagrad");
        const SortedJson table =
            about == info.metadata.end() ? SortedJson() : read_json<SortedJson>(about->second);
        const SortedJson* const format = entry_of(table, "format");
        if (!format || *format != "lunagrad checkpoint") fail_as(ErrorKind::file, path, ": not a checkpoint");
        if (const SortedJson* const parts = entry_of(table, "shards")) check_shards(shards, *parts);
      });
    }
    if (without > 0)
      report_.notes.push_back(text(folder_, ": ", without,
                                   without == 1 ? " checkpoint has" : " checkpoints have",
                                   " no checksums, since an earlier version wrote it"));
  }

  static void check_shards(const std::string& folder, const SortedJson& about) {
    const int64_t number = integer_of(entry_of(about, "number")),
                  ranks = integer_of(entry_of(about, "ranks"));
    for (int64_t rank = 0; rank < ranks; ++rank)
      check_safetensors(text(folder, "/", number, "-", rank, "-of-", ranks, ".safetensors"));
  }

  const std::string folder_;
  CheckReport& report_;
  const RunLock lock_;
  const bool repairs_;
  std::map<std::string, bool> images_;
  std::set<int64_t> tapes_;
};

}  // namespace

bool CheckReport::has_unrepaired() const {
  return std::any_of(damages.begin(), damages.end(),
                     [](const Damage& damage) { return damage.repair.empty(); });
}

void check_run(const std::string& named, bool repair, CheckReport& report) {
  const std::string folder = named.substr(0, named.find_last_not_of('/') + 1);
  ++report.runs;
  try {
    refuse_special(folder);
  } catch (const Error& error) {
    report.damages.push_back({folder, error.what(), ""});
    return;
  }
  repair = repair && may_repair(folder, report);
  if (!is_run(folder)) {
    Damage damage{folder + "/metrics.jsonl", "is missing", ""};
    if (repair) {
      write_file(damage.path, "");
      damage.repair = "made anew, without the run's numbers";
    }
    report.damages.push_back(std::move(damage));
  }
  RunCheck(folder, repair, report).check();
}

}  // namespace lunagrad
