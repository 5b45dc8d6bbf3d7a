#include "script/run/folder.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <utility>

#include "runtime/core/error.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/disk_limit.h"
#include "runtime/system/clock.h"
#include "runtime/system/open_file.h"
#include "script/run/json.h"
#include "script/run/record.h"
#include "script/trust/inside.h"

namespace lunagrad {
namespace fs = std::filesystem;
namespace {

constexpr const char* kCheckpoints = "checkpoints";

// Bytes that the name of a script, module or image may have in a file name. A file name has at most 255
// bytes, with what is added: times, steps, hashes, endings of bundles and of temporary files.
constexpr size_t kLongestStem = 100;

// The number of bytes of the printable UTF-8 character at the start of `text`; 0 if there is none.
size_t printable_character(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool no_character = (first == 0xed && byte(1) > 0x9f) || (first == 0xf4 && byte(1) > 0x8f);
  return overlong || no_character ? 0 : length;
}

std::string hash_digits(std::string_view text) {
  char digits[24];
  std::snprintf(digits, sizeof digits, "%016zx", std::hash<std::string_view>()(text));
  return digits;
}

// Writes everything, or returns errno.
int write_all(OpenFile& file, std::string_view data) {
  while (!data.empty()) {
    const int64_t written = file.append(data);
    if (written < 0) return errno;
    data.remove_prefix(size_t(written));
  }
  return 0;
}

// The run writes into the files of its folder, not to the targets of links in it. The folder may have been
// made by anyone.
void require_own_files(const std::string& folder) {
  for (const char* name : {"config.json", "script.lua", "metrics.jsonl", "log.txt", "tape.jsonl",
                           "files.jsonl", "git.diff", "checkpoints", "images", "keyframes", "modules"})
    require_entry_inside(folder, name);
}

// The checkpoints that are still valid after all resumes and reloads.
std::map<int64_t, std::string> valid_checkpoints(const std::string& folder) {
  std::map<int64_t, std::string> found = checkpoints_in(folder);
  if (found.empty()) return found;
  for (const int64_t step : abandoned_checkpoints(folder)) found.erase(step);
  return found;
}

}  // namespace

std::string plain_name(std::string_view name, size_t longest) {
  std::string plain;
  while (!name.empty()) {
    const size_t length = printable_character(name);
    const std::string_view piece = length ? name.substr(0, length) : "_";
    if (plain.size() + piece.size() > longest) break;
    plain += piece;
    name.remove_prefix(std::max<size_t>(length, 1));
  }
  return plain;
}

std::string default_run_directory(const std::string& script) {
  const std::tm utc = utc_of(std::time(nullptr));
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &utc);
  char id[8];
  std::snprintf(id, sizeof id, "%06x", unsigned(std::random_device{}() & 0xffffff));
  std::string stem = plain_name(fs::path(script).stem().string(), kLongestStem);
  if (stem.empty()) stem = "script";
  return text("runs/", stamp, "-", stem, "-", id);
}

std::string unused_run_directory(const std::string& wanted) {
  std::error_code ignored;
  const std::string base = wanted.substr(0, wanted.find_last_not_of('/') + 1);
  std::string free = base;
  for (int copy = 2; fs::exists(fs::path(free) / "metrics.jsonl", ignored); ++copy)
    free = text(base, "-", copy);
  return free;
}

std::map<int64_t, std::string> checkpoints_in(const std::string& folder) {
  std::map<int64_t, std::string> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(folder) / kCheckpoints, error)) {
    const std::string name = entry.path().filename().string();
    int64_t step = 0;
    int end = 0;
    if (std::sscanf(name.c_str(), "step-%" SCNd64 ".safetensors%n", &step, &end) != 1) continue;
    if (size_t(end) == name.size() && step >= 0) found[step] = entry.path().string();
  }
  return found;
}

std::string latest_checkpoint(const std::string& folder) {
  const std::map<int64_t, std::string> found = valid_checkpoints(folder);
  return found.empty() ? "" : found.rbegin()->second;
}

std::vector<std::string> checkpoints_before(const std::string& path) {
  const std::string folder = folder_of_checkpoint(path);
  if (folder.empty()) return {};
  std::map<int64_t, std::string> all = valid_checkpoints(folder);
  for (const auto& [step, checkpoint] : checkpoints_in(folder))
    if (fs::path(checkpoint).filename() == fs::path(path).filename()) all[step] = checkpoint;
  const auto same = [&](const auto& one) {
    return fs::path(one.second).filename() == fs::path(path).filename();
  };
  std::vector<std::string> before;
  for (auto it = std::find_if(all.begin(), all.end(), same); it != all.end() && it != all.begin();)
    before.push_back((--it)->second);
  return before;
}

std::string folder_of_checkpoint(const std::string& path) {
  const fs::path within = fs::path(path).parent_path();
  const fs::path folder = within.parent_path();
  std::error_code ignored;
  const bool in_run = within.filename() == kCheckpoints && fs::exists(folder / "metrics.jsonl", ignored);
  return in_run ? folder.string() : "";
}

RunFolder::RunFolder(std::string path, bool go_on, std::function<void(const std::string&)> warn)
    : path_(std::move(path)), marks_(path_, go_on), warn_(std::move(warn)) {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) fail_as(ErrorKind::file, "run folder ", path_, ": ", error.message());
  if (go_on && !marks_.are_made()) require_own_files(path_);
  if (!go_on && fs::exists(fs::path(path_) / "metrics.jsonl", error)) {
    fail_as(ErrorKind::file, "run folder ", path_, ": holds a run already; --resume ", path_,
            " goes on with it");
  }
  const std::string metrics = path_ + "/metrics.jsonl";
  using enum OpenFile::Growth;
  if (!metrics_.open_to_grow(metrics, go_on ? append_lines : append_new_lines))
    fail_as(ErrorKind::file, metrics, ": ", std::strerror(errno));
  if (!metrics_.lock()) fail_as(ErrorKind::file, "run folder ", path_, ": another run is writing to it");
  if (!metrics_.drop_half_written_line()) fail_as(ErrorKind::file, metrics, ": ", std::strerror(errno));
  const std::string log = path_ + "/log.txt";
  if (!log_.open_to_grow(log, OpenFile::Growth::append))
    fail_as(ErrorKind::file, log, ": ", std::strerror(errno));
}

void RunFolder::lose(const std::string& name, const std::string& why) {
  if (std::find(lost_.begin(), lost_.end(), name) != lost_.end()) return;
  lost_.push_back(name);
  if (!why.empty()) warn_(why + "; the run goes on without it");
}

void RunFolder::regain(const std::string& name) { std::erase(lost_, name); }

// config.json is written again at the end of the run, so only the last write is synced. The source is written
// once and synced, because keyframes and checkpoints need it.
void RunFolder::write_config(nlohmann::ordered_json config, bool last) {
  marks_.mark_config(config);
  write("config.json", checked_text(config, 2) + "\n", last ? Sync::name : Sync::none);
}

void RunFolder::write_script(const char* name, std::string_view source) {
  marks_.know_text(name, source);
  write(name, source, Sync::content);
}

void RunFolder::write(const std::string& name, std::string_view content, Sync sync) {
  try {
    write_file(path_ + "/" + name, content, sync);
    regain(name);
  } catch (const Error& error) {
    lose(name, error.what());
  }
}

std::string RunFolder::write_module(const std::string& file, std::string_view text) {
  const fs::path own = fs::path(file).filename();
  const std::string name = "modules/" + hash_digits(text) + "-" +
                           plain_name(own.stem().string(), kLongestStem) +
                           plain_name(own.extension().string(), kLongestStem);
  std::error_code error;
  fs::create_directories(path_ + "/modules", error);
  if (error)
    lose("modules", path_ + "/modules: " + error.message());
  else if (!fs::exists(path_ + "/" + name, error))
    write(name, text, Sync::content);
  return name;
}

std::string RunFolder::checkpoint_path(int64_t step) const {
  const std::string folder = path_ + "/" + kCheckpoints;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail_as(ErrorKind::file, folder, ": ", error.message());
  char name[48];
  std::snprintf(name, sizeof name, "/step-%08" PRId64 ".safetensors", step);
  AtomicFile::part_from_links(folder + name);
  return folder + name;
}

std::string RunFolder::image_name(std::string_view name, int64_t step) const {
  std::error_code error;
  fs::create_directories(path_ + "/images", error);
  if (error) fail_as(ErrorKind::file, path_, "/images: ", error.message());
  std::string file;
  char piece[32];
  for (std::string_view rest = name; !rest.empty();) {
    const size_t length = printable_character(rest);
    const char c = rest[0];
    const bool plain = length > 1 || std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' ||
                       c == ' ' || (c == '.' && !file.empty());
    std::snprintf(piece, sizeof piece, "%%%02x", static_cast<unsigned char>(c));
    const std::string_view next = plain ? rest.substr(0, length) : piece;
    if (file.size() + next.size() > kLongestStem) {
      file += "-" + hash_digits(name);
      break;
    }
    file += next;
    rest.remove_prefix(plain ? length : 1);
  }
  std::snprintf(piece, sizeof piece, "-%08" PRId64 ".png", step);
  file = "images/" + file + piece;
  AtomicFile::part_from_links(path_ + "/" + file);
  return file;
}

void RunFolder::append_metrics(std::string line) { append(metrics_, "metrics.jsonl", line += '\n'); }

void RunFolder::append_decision(std::string row) { append_metrics(marks_.mark_row(std::move(row))); }

void RunFolder::append_tape(std::string line) { append(tape_, "tape.jsonl", std::move(line)); }
void RunFolder::append_file(std::string line) {
  append(files_, "files.jsonl", marks_.mark_file(std::move(line)));
}

void RunFolder::append(LateFile& file, const char* name, std::string line) {
  if (!std::exchange(file.begun, true)) {
    const std::string path = path_ + "/" + name;
    if (!file.file.open_to_grow(path, OpenFile::Growth::append_lines))
      return lose(name, text(path, ": ", std::strerror(errno)));
    file.file.drop_half_written_line();  // if that fails, readers skip the line
  }
  append(file.file, name, with_checksum(std::move(line)) + '\n');
}

void RunFolder::append_log(std::string_view text) { append(log_, "log.txt", text); }

void RunFolder::append(OpenFile& file, const char* name, std::string_view data) {
  if (!file.is_open()) return;
  const bool room = may_write(data.size());
  const int error = room ? write_all(file, data) : 0;
  if (room && error == 0) return;
  if (&file != &log_) file.drop_half_written_line();  // if that fails, readers skip the line
  file.close();
  lose(name, text(path_, "/", name, ": ", room ? std::strerror(error) : disk_limit_sentence()));
}

}  // namespace lunagrad
