#include "ui/editor/autosave.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "runtime/core/error.h"
#include "runtime/io/atomic_file.h"

namespace lunagrad {
namespace {

namespace fs = std::filesystem;

// A descriptor that holds the lock, -1 if another process holds it.
int take_lock(const fs::path& file, int flags) {
  const int descriptor = ::open(file.c_str(), flags | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor < 0) return -1;
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
  ::close(descriptor);
  return -1;
}

// The path ends with a zero byte; the rest is the text.
bool read(const fs::path& file, Autosave::Text& text) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream content;
  if (!std::getline(in, text.path, '\0')) return false;
  if (in.peek() != EOF) content << in.rdbuf();
  text.content = content.str();
  return true;
}

}  // namespace

Autosave::Autosave(std::string folder) : root_(std::move(folder)) {}

Autosave::~Autosave() {
  std::error_code ignored;
  bool kept = false;
  if (!own_.empty())
    for (const auto& entry : fs::directory_iterator(own_, ignored))
      kept |= entry.path().extension() == ".text";
  if (!own_.empty() && !kept) fs::remove_all(own_, ignored);
  if (lock_ >= 0) ::close(lock_);
  for (const auto& [path, lock] : taken_) ::close(lock);
}

std::vector<Autosave::Text> Autosave::left_behind() {
  std::vector<Text> texts;
  std::error_code ignored;
  if (root_.empty()) return texts;
  for (const auto& folder : fs::directory_iterator(root_, ignored)) {
    if (folder.path() == own_ || !folder.is_directory(ignored)) continue;
    const int lock = take_lock(folder.path() / "lock", 0);
    if (lock < 0) continue;
    taken_.emplace_back(folder.path().string(), lock);
    for (const auto& file : fs::directory_iterator(folder.path(), ignored)) {
      Text text;
      if (file.path().extension() == ".text" && read(file.path(), text)) texts.push_back(std::move(text));
    }
  }
  return texts;
}

void Autosave::forget_left_behind() {
  std::error_code ignored;
  for (const auto& [path, lock] : taken_) {
    fs::remove_all(path, ignored);
    ::close(lock);
  }
  taken_.clear();
}

bool Autosave::open() {
  if (!own_.empty()) return true;
  if (root_.empty()) return false;
  std::error_code error;
  fs::create_directories(root_, error);
  std::string name = root_ + "/XXXXXX";
  if (error || !::mkdtemp(name.data())) {
    trouble_ = root_ + ": " + (error ? error.message() : std::strerror(errno));
    return false;
  }
  own_ = name;
  lock_ = take_lock(own_ + "/lock", O_CREAT);
  return true;
}

bool Autosave::keep(int id, const std::string& path, std::string_view content) {
  if (!open()) return false;
  const std::string name = own_ + "/" + std::to_string(id) + ".text";
  try {
    write_file(name, path + '\0' + std::string(content));
  } catch (const Error& error) {
    trouble_ = error.what();
    return false;
  }
  trouble_.clear();
  return true;
}

void Autosave::drop(int id) {
  std::error_code ignored;
  if (!own_.empty()) fs::remove(own_ + "/" + std::to_string(id) + ".text", ignored);
}

}  // namespace lunagrad
