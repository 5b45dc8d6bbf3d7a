#pragma once
// The one writer of files. A regular file is replaced as a whole: what is written goes to a temporary file in
// the same folder, is synced and renamed, and the file keeps its permissions, owner and group. Links are
// followed. A pipe, a device or a descriptor of this process (/dev/stdout, /dev/fd/63) is written through at
// once. A file with several hard links, with an owner whom this user cannot give it, that is mounted by
// itself or whose folder is not writable stays the same file: commit() copies into it. Owns the temporary
// file until commit(); the destructor removes it if there was no commit. One thread at a time; waiting for
// the reader of a pipe ends when the thread's context is asked to stop.
#include <cstddef>
#include <string>
#include <string_view>

#include "runtime/io/write_target.h"

namespace lunagrad {

// What a failure of the power leaves of a file that was written.
enum class Sync {
  none,     // perhaps an empty one, for half a minute
  content,  // the old or the new content
  name,     // the new content, once commit() has returned
};

class AtomicFile {
 public:
  // Error of kind file when the file or its folder is not writable.
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;

  void write(const void* bytes, size_t count);  // Error of kind file, for example on a full disk
  void write(std::string_view text) { write(text.data(), text.size()); }
  // Bytes that were written before may be replaced, as a header whose content is known at the end; not in
  // what has no positions, such as a pipe.
  bool has_positions() const;
  void rewrite(size_t offset, std::string_view text);
  void commit(Sync = Sync::name);  // after this the file has its name

  // For a library that writes files by name: it replaces the file of this name; then take_up() opens the new
  // file.
  const std::string& temporary_name();
  void take_up();

  // Gives `path` a file of its own, with the same content, when other names are hard links to it.
  static void part_from_links(const std::string& path);

 private:
  [[noreturn]] void give_up(const char* what) const;
  void count_on_disk(size_t bytes);  // Error of kind file beyond the thread's limit
  void put_bytes(const void* bytes, size_t count);
  void open_through();
  void make_temporary_beside();
  void make_temporary_elsewhere();
  bool take_over_owner();
  void copy(Sync);

  std::string path_;  // as it was given, for errors
  WriteTarget target_;
  std::string temporary_;
  bool elsewhere_ = false;  // the temporary file is not in the target's folder
  int descriptor_ = -1;     // of the temporary file
  int through_ = -1;        // of the file or device that is written through
  size_t counted_ = 0;      // bytes of the temporary file, by disk_limit.h
  bool streams_ = false;    // which takes only as much as somebody reads
};

// Whether writing to `path` replaces what a file holds: false for pipes, devices and this process's streams.
// Error of kind file for what cannot be written.
bool replaces_file(const std::string& path);
// Whether it is the name of a temporary file of an AtomicFile, which a killed program may leave.
bool is_temporary(const std::string& path);

// The content of a file. Error of kind file that names it.
std::string read_file(const std::string& path);
// Writes the content through an AtomicFile.
void write_file(const std::string& path, std::string_view content, Sync = Sync::name);

}  // namespace lunagrad
