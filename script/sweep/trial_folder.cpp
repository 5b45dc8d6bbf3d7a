#include "script/sweep/trial_folder.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>
#include <vector>

#include "runtime/core/error.h"
#include "runtime/io/atomic_file.h"
#include "script/run/folder.h"
#include "script/run/record.h"
#include "script/sweep/board.h"

namespace lunagrad::sweep {
namespace fs = std::filesystem;
namespace {

// The folder of an earlier claim, or (attempt -1) of a trial that had ended and is tried again.
struct Earlier {
  std::string path;
  std::string checkpoint;  // name of the newest checkpoint; "" without one
  int64_t attempt = -1;
};

std::vector<Earlier> earlier_folders(const std::string& sweep, const Leg& claim) {
  std::vector<Earlier> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(sweep + "/trials", error)) {
    const std::string name = entry.path().filename().string(), own = settled_name(claim.trial);
    Earlier earlier{entry.path().string(), {}, -1};
    if (name != own) {
      if (!name.starts_with(own + ".")) continue;
      const size_t dot = name.find('.', own.size() + 1);
      if (dot == std::string::npos) continue;
      earlier.attempt = std::strtoll(name.c_str() + own.size() + 1, nullptr, 10);
      if (earlier.attempt >= claim.attempt) continue;
    }
    earlier.checkpoint = fs::path(latest_checkpoint(earlier.path)).filename().string();
    found.push_back(std::move(earlier));
  }
  // Sorts the folder that got furthest first; names of checkpoints have leading zeros.
  std::sort(found.begin(), found.end(), [](const Earlier& a, const Earlier& b) {
    const auto key = [](const Earlier& e) {
      return std::tuple(e.checkpoint.size(), e.checkpoint, e.attempt);
    };
    return key(a) > key(b);
  });
  return found;
}

// Two folders may share files that are normally written once: a run that writes such a file again first
// breaks the link (run/folder.h).
void link_or_copy(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::create_hard_link(from, to, error);
  if (error) fs::copy_file(from, to);
}

// Copies the run. The checkpoint comes first: rows that are written during the copy belong to later steps,
// which the resumed run makes void.
void copy_run(const Earlier& from, const fs::path& to) {
  fs::create_directories(to / "checkpoints");
  const fs::path source = from.path;
  const fs::path checkpoint = fs::path("checkpoints") / from.checkpoint;
  link_or_copy(source / checkpoint, to / checkpoint);
  for (const char* part : {"checkpoints", "images"}) {
    if (!fs::exists(source / part)) continue;
    fs::create_directories(to / part);
    for (const fs::directory_entry& entry : fs::directory_iterator(source / part)) {
      const fs::path target = to / part / entry.path().filename();
      if (entry.is_regular_file() && !is_temporary(entry.path().string()) && !fs::exists(target))
        link_or_copy(entry.path(), target);
    }
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(source))
    if (entry.is_regular_file() && !is_temporary(entry.path().string()))
      fs::copy_file(entry.path(), to / entry.path().filename());
}

bool renamed(const std::string& from, const std::string& to) {
  return std::rename(from.c_str(), to.c_str()) == 0;
}

std::string path_of_claim(const std::string& sweep, const Leg& claim) {
  return sweep + "/trials/" + claim.folder();
}

// Checkpoints without a row in the run's log are automatic checkpoints.
void remove_automatic_checkpoints(const std::string& folder) {
  const RunRecord run = read_run(folder);
  std::set<std::string> logged;
  for (const LoggedItem& item : run.checkpoints) logged.insert(fs::path(item.what).filename().string());
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder + "/checkpoints", error))
    if (!logged.count(entry.path().filename().string())) fs::remove(entry.path(), error);
}

}  // namespace

std::string prepare_folder(const std::string& sweep, const Leg& claim, const std::optional<Leg>& rest) {
  const std::string own = path_of_claim(sweep, claim);
  // The worker that gave the leg back, or ended the previous leg, may rename the folder in the meantime.
  const bool moved = rest && (renamed(path_of_claim(sweep, *rest), own) ||
                              renamed(sweep + "/trials/" + settled_name(claim.trial), own));
  const std::string draft = sweep + "/copies/" + claim.folder();
  constexpr int kTries = 20;
  for (int i = 0; !moved && i < kTries; ++i) {
    const std::vector<Earlier> earlier = earlier_folders(sweep, claim);
    if (earlier.empty() || earlier[0].checkpoint.empty()) break;
    try {
      fs::remove_all(draft);
      copy_run(earlier[0], draft);
      fs::rename(draft, own);
      break;
    } catch (const fs::filesystem_error& error) {
      // The folder's worker still renames or replaces files: look again.
      if (error.code() != std::errc::no_such_file_or_directory || i + 1 == kTries)
        fail_as(ErrorKind::file, own, ": ", error.what());
    }
  }
  std::error_code ignored;
  for (const Earlier& earlier : earlier_folders(sweep, claim))
    if (earlier.attempt >= 0) fs::remove_all(earlier.path, ignored);
  if (latest_checkpoint(own).empty()) fs::remove_all(own, ignored);
  return own;
}

void settle_folder(const std::string& sweep, const Leg& claim) {
  const std::string own = path_of_claim(sweep, claim),
                    settled = sweep + "/trials/" + settled_name(claim.trial);
  try {
    if (!is_run(own)) return;
    remove_automatic_checkpoints(own);
    renamed(own, settled);
  } catch (const Error&) {
    // Another worker renamed the folder.
  }
}

void remove_folder(const std::string& sweep, const Leg& claim) {
  std::error_code ignored;
  fs::remove_all(path_of_claim(sweep, claim), ignored);
}

}  // namespace lunagrad::sweep
