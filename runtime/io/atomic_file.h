#pragma once
// The one writer of files. A regular file is replaced as a whole: the content goes to a temporary file in the
// same folder, which is synced and renamed; the file keeps its permissions, owner and group. Links are
// followed. A pipe, a device or a descriptor of this process (/dev/stdout, /dev/fd/63) is written directly.
// Some files stay the same file, and commit() copies into them: a file with several hard links, with an owner
// that this user cannot set, that is itself a mount point, or whose folder is not writable. Owns the
// temporary file until commit(); without a commit the destructor removes it. One thread at a time; waiting
// for the reader of a pipe ends when the thread's context is asked to stop.
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace lunagrad {

struct WriteTarget;  // the file that `path` names, as the system describes it

// What a power failure may leave of a written file.
enum class Sync {
  none,     // perhaps an empty file, for half a minute
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
  // Whether bytes that were written before can be replaced, for example a header whose content is known only
  // at the end. False for a pipe and other files without positions.
  bool has_positions() const;
  void rewrite(size_t offset, std::string_view text);
  void commit(Sync = Sync::name);  // gives the file its name

  // For a library that writes files by name: the library writes a file of this name; then take_up() opens
  // that file.
  const std::string& temporary_name();
  void take_up();

  // If `path` has other hard links, gives it a file of its own with the same content.
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

  std::string path_;  // as the caller gave it, for errors
  std::unique_ptr<WriteTarget> target_;
  std::string temporary_;
  bool elsewhere_ = false;  // the temporary file is not in the target's folder
  int descriptor_ = -1;     // of the temporary file
  int through_ = -1;        // of a file or device that is written directly
  size_t counted_ = 0;      // bytes of the temporary file that disk_limit.h has counted
  bool streams_ = false;    // a pipe, terminal or socket: it accepts only as much as its reader takes
};

// Whether writing to `path` replaces a file's content: false for pipes, devices and this process's streams.
// Error of kind file when it cannot be written.
bool replaces_file(const std::string& path);
// Whether `path` names an AtomicFile's temporary file, which a killed program may leave.
bool is_temporary(const std::string& path);

// The content of a file. Error of kind file that names it.
std::string read_file(const std::string& path);
// Writes the file through an AtomicFile.
void write_file(const std::string& path, std::string_view content, Sync = Sync::name);

}  // namespace lunagrad
