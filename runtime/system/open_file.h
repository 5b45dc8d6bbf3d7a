#pragma once
// An open file that is read by position or grows at its end. No other program inherits it. Functions that
// fail set errno. Closed by the destructor. One thread at a time, except that several threads may read.
#include <cstdint>
#include <string>
#include <string_view>

namespace lunagrad {

class OpenFile {
 public:
  // What a file that grows is opened for. Files are made where they do not exist.
  enum class Growth {
    append,
    append_lines,      // reads, too, for drop_half_written_line()
    append_new_lines,  // fails when the file exists
  };
  struct Status {
    bool is_regular = false;
    uint64_t size = 0;  // bytes
  };

  OpenFile() = default;
  ~OpenFile() { close(); }
  OpenFile(const OpenFile&) = delete;

  // The file must not be open. Both return false when it cannot be opened.
  bool open_to_read(const std::string& path);  // does not wait for the writer of a pipe
  bool open_to_grow(const std::string& path, Growth);
  bool is_open() const { return file_ >= 0; }
  void close();

  bool get_status(Status&) const;
  // Both do one read or write. They return the number of bytes, which may be smaller than asked; -1 on
  // failure.
  int64_t read_at(void* to, size_t bytes, uint64_t offset) const;
  int64_t append(std::string_view bytes);
  // Takes the lock of the file until it is closed. Returns false when another process has the lock. A file
  // system without locks counts as locked.
  bool lock();
  // Removes an incomplete last line, which a crash left: lines appended after it would leave it inside the
  // file.
  bool drop_half_written_line();

 private:
  int64_t file_ = -1;  // the system's number of the open file
};

}  // namespace lunagrad
