#include "script/time/keyframe_folder.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <filesystem>

#include "runtime/core/error.h"
#include "runtime/core/trace.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/disk_limit.h"
#include "runtime/io/input_file.h"

namespace lunagrad {
namespace fs = std::filesystem;
namespace {

std::string folder_in(const std::string& run_folder) { return run_folder + "/keyframes"; }

std::string file_of(const std::string& folder, int64_t step) {
  char name[48];
  std::snprintf(name, sizeof name, "/step-%08" PRId64 ".keyframe", step);
  return folder + name;
}

std::vector<int64_t> steps_in(const std::string& folder) {
  std::vector<int64_t> steps;
  std::error_code none;
  for (const fs::directory_entry& found : fs::directory_iterator(folder, none)) {
    const std::string name = found.path().filename().string();
    int64_t step = 0;
    int end = 0;
    if (std::sscanf(name.c_str(), "step-%" SCNd64 ".keyframe%n", &step, &end) == 1 &&
        size_t(end) == name.size())
      steps.push_back(step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

}  // namespace

KeyframeWriter::KeyframeWriter(std::string run_folder, size_t budget,
                               std::function<void(const std::string&)> warn)
    : folder_(folder_in(run_folder)), warn_(std::move(warn)), spacing_(budget) {}

void KeyframeWriter::begin(int64_t step) {
  spacing_.forget_after(step);
  std::error_code ignored;
  for (const int64_t found : steps_in(folder_)) {
    const std::string file = file_of(folder_, found);
    if (found > step)
      fs::remove(file, ignored);
    else
      spacing_.known(found, size_t(fs::file_size(file, ignored)));
  }
}

bool KeyframeWriter::wants(int64_t) { return !failed_ && spacing_.due(ticks()); }

void KeyframeWriter::take(KeyframePtr keyframe, uint64_t cost) {
  const uint64_t start = ticks();
  std::error_code error;
  fs::create_directories(folder_, error);
  const std::string bytes = encode(*keyframe);
  try {
    write_file(file_of(folder_, keyframe->step), bytes);
  } catch (const Error& failure) {
    failed_ = true;
    warn_(text(failure.what(), "; the run goes on without keyframes"));
    return;
  }
  const uint64_t now = ticks();
  spacing_.taken(keyframe->step, bytes.size(), now, cost + (now - start));
  while (const std::optional<int64_t> dropped = spacing_.next_to_drop()) {
    const std::string file = file_of(folder_, *dropped);
    frees_on_disk(file);
    fs::remove(file, error);
  }
}

void write_keyframe(const std::string& run_folder, const Keyframe& keyframe) {
  const std::string folder = folder_in(run_folder);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail_as(ErrorKind::file, folder, ": ", error.message());
  write_file(file_of(folder, keyframe.step), encode(keyframe));
}

KeyframeReader::KeyframeReader(const std::string& run_folder, std::function<void(const std::string&)> warn)
    : folder_(folder_in(run_folder)), warn_(std::move(warn)), steps_(steps_in(folder_)) {}

KeyframePtr KeyframeReader::latest(int64_t first, int64_t last) {
  for (;;) {
    const auto after = std::upper_bound(steps_.begin(), steps_.end(), last);
    if (after == steps_.begin() || *std::prev(after) < first) return nullptr;
    const std::string path = file_of(folder_, *std::prev(after));
    try {
      auto keyframe = std::make_shared<Keyframe>(decode(read_regular_file(path), path));
      if (keyframe->step != *std::prev(after))
        fail_as(ErrorKind::file, path, ": the keyframe of another step, ", keyframe->step);
      return keyframe;
    } catch (const Error& error) {
      warn_(text(error.what(), "; it is left out"));
      steps_.erase(std::prev(after));
    }
  }
}

}  // namespace lunagrad
