#pragma once
// A regular file that is read by position, into memory that the caller owns: no mapping, so that a file that
// shrinks meanwhile is an error and no signal. Owns its descriptor; any number of threads may read at once.
// Errors are of kind file and name the file.
#include <cstdint>
#include <string>

namespace lunagrad {

class InputFile {
 public:
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }  // when it was opened

  // Long reads are split over the threads of the engine's pool and may be cancelled.
  void read(void* to, uint64_t offset, uint64_t count) const;

 private:
  void read_piece(char* to, uint64_t offset, uint64_t count) const;
  std::string path_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

}  // namespace lunagrad
