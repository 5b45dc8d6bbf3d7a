#pragma once
// A file that appears under its name whole or not at all: written to a temporary name beside it, synced,
// renamed. Owns the temporary file until commit(), and removes it when destroyed before. One thread at a
// time.
#include <cstddef>
#include <string>
#include <string_view>

namespace lunagrad {

class AtomicFile {
 public:
  explicit AtomicFile(std::string path);  // Error of kind file when the folder cannot be written
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;

  void write(const void* bytes, size_t count);  // Error of kind file, as when the disk is full
  void write(std::string_view text) { write(text.data(), text.size()); }
  void commit();  // after this the file stands under its name, on the disk

  // For a library that writes files by name: it replaces the file of this name, and take_up() goes on with
  // what it wrote.
  const std::string& temporary_name() const { return temporary_; }
  void take_up();

 private:
  [[noreturn]] void give_up(const char* what) const;
  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
};

// The whole content of a file. Error of kind file that names it.
std::string read_file(const std::string& path);
// The same written at once through an AtomicFile.
void write_file(const std::string& path, std::string_view content);

}  // namespace lunagrad
