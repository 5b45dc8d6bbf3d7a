#pragma once
// A file that is replaced atomically: written to a temporary file in the same folder, synced, renamed. Owns
// the temporary file until commit(); the destructor removes it if there was no commit. One thread at a time.
#include <cstddef>
#include <string>
#include <string_view>

namespace lunagrad {

class AtomicFile {
 public:
  explicit AtomicFile(std::string path);  // Error of kind file when the folder is not writable
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;

  void write(const void* bytes, size_t count);  // Error of kind file, for example on a full disk
  void write(std::string_view text) { write(text.data(), text.size()); }
  void commit();  // after this the file has its name and is on disk

  // For a library that writes files by name: it replaces the file of this name; then take_up() opens the new
  // file.
  const std::string& temporary_name() const { return temporary_; }
  void take_up();

 private:
  [[noreturn]] void give_up(const char* what) const;
  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
};

// The content of a file. Error of kind file that names it.
std::string read_file(const std::string& path);
// Writes the content through an AtomicFile.
void write_file(const std::string& path, std::string_view content);

}  // namespace lunagrad
