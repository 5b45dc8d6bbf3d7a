#include "ui/app/alive_marker.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace lunagrad {
namespace fs = std::filesystem;

AliveMarker::AliveMarker(std::string folder) {
  if (folder.empty()) return;
  std::error_code failed;
  folder += "/running";
  fs::create_directories(folder, failed);
  if (failed) return;  // SettingsKeeper reports it
  look_for_crashes(folder);
  path_ = folder + "/" + std::to_string(getpid());
  descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (descriptor_ >= 0) flock(descriptor_, LOCK_EX | LOCK_NB);
}

void AliveMarker::end() {
  if (descriptor_ < 0) return;
  unlink(path_.c_str());
  close(descriptor_);
  descriptor_ = -1;
}

void AliveMarker::look_for_crashes(const std::string& folder) {
  std::error_code failed;
  fs::file_time_type latest{};
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
    const int descriptor = open(entry->path().c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor < 0) continue;
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) {
      std::error_code none;
      const fs::file_time_type when = fs::last_write_time(entry->path(), none);
      if (!crashed_ || when > latest) {
        std::ifstream file(entry->path(), std::ios::binary);
        crashed_ = std::string(std::istreambuf_iterator<char>(file), {});
        latest = when;
      }
      fs::remove(entry->path(), none);
    }
    close(descriptor);
  }
}

void AliveMarker::set_text(const std::string& text) {
  if (descriptor_ < 0) return;
  // On a full disk the file is shorter: then it is not valid JSON and is ignored.
  [[maybe_unused]] const bool written =
      ftruncate(descriptor_, 0) == 0 && pwrite(descriptor_, text.data(), text.size(), 0) >= 0;
}

}  // namespace lunagrad
