#include "script/trust/trust_key.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "runtime/core/error.h"
#include "runtime/system/posix/descriptor.h"

namespace lunagrad {
namespace fs = std::filesystem;
namespace {

constexpr size_t kKeyBytes = 32;

// The key in a file; "" with the reason in `why` when there is no key that only this user can read.
std::string key_in(const std::string& path, std::string& why) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) {
    why = errno == ENOENT ? "this user has no key yet, " + path : path + ": " + std::strerror(errno);
    return {};
  }
  struct stat status {};
  std::array<char, kKeyBytes + 1> bytes{};
  const bool known = ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode);
  const ssize_t count = known ? ::read(file.get(), bytes.data(), bytes.size()) : -1;
  if (!known || count != ssize_t(kKeyBytes))
    why = path + " is no key";
  else if (status.st_uid != ::geteuid() || (status.st_mode & 077) != 0)
    why = path + " is not a file that this user alone can read";
  else
    return {bytes.data(), kKeyBytes};
  return {};
}

// Whether this user owns the folder, or else its nearest existing parent. Keeps root from making a key in a
// user's home, and a key from being made in a shared folder. A missing home is not made.
bool is_users_own(fs::path folder) {
  struct stat status {};
  while (::stat(folder.c_str(), &status) != 0) {
    folder = folder.parent_path();
    if (folder == folder.parent_path()) return false;
  }
  return status.st_uid == ::geteuid();
}

// If several programs make a key at the same time, the first wins.
void make_key(const std::string& folder) {
  std::error_code error;
  if (!is_users_own(folder)) return;
  fs::create_directories(fs::path(folder).parent_path(), error);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return;
  std::array<char, kKeyBytes> key{};
  if (::getrandom(key.data(), key.size(), 0) != ssize_t(key.size())) return;
  std::string draft = folder + "/key-XXXXXX";
  const Descriptor file(::mkstemp(draft.data()));
  if (!file) return;
  const bool whole =
      ::write(file.get(), key.data(), key.size()) == ssize_t(key.size()) && ::fsync(file.get()) == 0;
  if (whole) [[maybe_unused]]
    const int linked = ::link(draft.c_str(), (folder + "/key").c_str());
  ::unlink(draft.c_str());
}

// The key that was last read, and its folder.
std::mutex mutex;
std::string known_folder;
std::shared_ptr<const TrustKey> known;

std::shared_ptr<const TrustKey> find_in(const std::string& folder, std::string& why) {
  const std::lock_guard lock(mutex);
  if (known && folder == known_folder) return known;
  const std::string key = key_in(folder + "/key", why);
  if (key.empty()) return nullptr;
  known_folder = folder;
  return known = std::make_shared<TrustKey>(key);
}

std::string list_file() {
  const std::string folder = trust_folder();
  return folder.empty() ? "" : folder + "/trusted";
}

}  // namespace

std::string trust_folder() {
  const char *const data = std::getenv("XDG_DATA_HOME"), *const home = std::getenv("HOME");
  if (data && *data == '/') return std::string(data) + "/lunagrad/trust";
  if (home && *home == '/') return std::string(home) + "/.local/share/lunagrad/trust";
  return {};
}

std::shared_ptr<const TrustKey> TrustKey::find(std::string& why) {
  const std::string folder = trust_folder();
  if (!folder.empty()) return find_in(folder, why);
  why = "this user has no home, and so no key";
  return nullptr;
}

std::shared_ptr<const TrustKey> TrustKey::make() {
  const std::string folder = trust_folder();
  if (folder.empty()) return nullptr;
  std::string why;
  if (auto found = find_in(folder, why)) return found;
  make_key(folder);
  return find_in(folder, why);
}

std::string TrustKey::mark(std::string_view purpose, std::string_view after, std::string_view text) const {
  std::string whole;
  whole.reserve(purpose.size() + after.size() + text.size() + 2);
  whole.append(purpose).append("\n").append(after).append("\n").append(text);
  return hash_.mark(whole);
}

bool is_trusted(const std::string& content) {
  const std::string path = list_file();
  if (content.empty() || path.empty()) return false;
  std::ifstream in(path, std::ios::binary);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(content + " ")) return true;
  return false;
}

void remember_trust(const std::string& content, const std::string& name) {
  const std::string path = list_file();
  if (content.empty() || path.empty() || is_trusted(content) || !TrustKey::make()) return;
  std::string line = content + " " + name;
  for (char& c : line)
    if (static_cast<unsigned char>(c) < ' ') c = '?';
  const Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  if (!file) return;
  line += '\n';
  [[maybe_unused]] const ssize_t written = ::write(file.get(), line.data(), line.size());
}

}  // namespace lunagrad
