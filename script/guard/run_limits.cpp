#include "script/guard/run_limits.h"

#include <algorithm>
#include <filesystem>

#include "runtime/core/error.h"
#include "runtime/io/resolved_path.h"
#include "script/guard/places.h"
#include "script/run/folder.h"
#include "script/run/record.h"
#include "script/trust/trust_key.h"

namespace lunagrad {
namespace {

namespace fs = std::filesystem;

constexpr size_t kSandboxMemory = size_t(256) << 20, kSandboxDisk = size_t(1) << 30;

// kSystemFolders: system folders; no one keeps scripts there. kOfAll: folders that contain the folders of all
// users. A configuration may name a script in them, so they are not made readable.
constexpr const char* kSystemFolders[] = {"/etc", "/proc", "/sys", "/dev", "/boot"};
constexpr const char* kOfAll[] = {"/", "/home", "/media", "/mnt", "/run", "/srv", "/var"};

bool may_be_given(const std::string& place) {
  std::error_code error;
  const fs::path found = resolved_path(place, error);
  if (error) return false;
  for (const char* const folder : kOfAll)
    if (found == folder) return false;
  for (const char* const folder : kSystemFolders)
    if (lies_in(found, folder)) return false;
  return true;
}

void add_given(std::vector<std::string>& places, const std::string& place) {
  if (may_be_given(place)) places.push_back(place);
}

// The folder of the run that --resume continues. `found` may be one of its checkpoints. "": none.
std::string folder_of_resumed(const std::string& found) {
  std::error_code none;
  return folder_of_checkpoint(fs::is_directory(found, none) ? latest_checkpoint(found) : found);
}

}  // namespace

size_t memory_of(const RunOptions& run) {
  return run.sandbox && run.memory == 0 ? kSandboxMemory : run.memory;
}
size_t disk_of(const RunOptions& run) { return run.sandbox && run.disk == 0 ? kSandboxDisk : run.disk; }

void add_run_limits(GuardLimits& limits, const std::string& script, RunOptions& options, bool many) {
  std::error_code none;
  if (options.write_run) TrustKey::make();  // reads the user's key now, since the script must not
  const std::string folder =
      options.folder.empty() ? fs::path(script).parent_path().string() : options.folder;
  add_given(limits.readable, folder.empty() ? "." : folder);
  // The script may be a link.
  if (!script.empty() && options.folder.empty()) add_given(limits.readable, script);
  // A bundle names the stand-ins. Files are identified by their content, but a bundle can name any folder.
  for (const auto& [path, stand_in] : options.stand_ins)
    if (!fs::is_directory(stand_in, none) || lies_in(resolved_path(stand_in, none), resolved_path(".", none)))
      add_given(limits.readable, stand_in);
  std::string resumed;
  if (!options.resume.empty()) {
    const std::string found = find_if_named(options.resume);
    limits.readable.push_back(found);
    resumed = folder_of_resumed(found);
    if (!resumed.empty()) limits.readable.push_back(resumed);
  }
  if (options.write_run && options.run_directory.empty() && !resumed.empty()) {
    limits.writable.push_back(resumed);
  } else if (options.write_run) {
    if (options.run_directory.empty()) options.run_directory = default_run_directory(script);
    limits.writable.push_back(options.run_directory);
    fs::create_directories(options.run_directory, none);  // the run reports why it cannot be made
    if (many) options.run_directory += "/run";
  }
  for (const std::string& place : places_of_every_run()) limits.readable.push_back(place);
  limits.memory = memory_of(options);
  limits.disk = disk_of(options);
}

std::string unguarded_sentence(const std::vector<std::string>& missing) {
  std::string list;
  for (const std::string& wall : missing) list += (list.empty() ? "" : "; ") + wall;
  return list.empty() ? list : "in this sandbox the kernel does not limit " + list;
}

}  // namespace lunagrad
