#pragma once
// A limit on the bytes of files that one thread's work writes. Each thread has its own limit, initially none.
// Bytes that are replaced or removed are subtracted; pipes and devices do not count.
#include <cstddef>
#include <string>

namespace lunagrad {

void set_disk_limit(size_t bytes);  // of the calling thread, which counts from 0 again; 0: no limit

// Counts `bytes` more. Returns false, and counts nothing, when they do not fit the limit.
bool may_write(size_t bytes);
void freed_on_disk(size_t bytes);
// Subtracts the bytes of a file that is about to be removed.
void frees_on_disk(const std::string& path);
std::string disk_limit_sentence();  // says that the limit is reached
// The reason why a file was not written. In a sandbox no file may be longer than the limit: there EFBIG means
// the limit.
std::string why_not_written(int error);

// During the life of the object the thread has no limit: for files that a run writes at its end.
class NoDiskLimit {
 public:
  NoDiskLimit();
  ~NoDiskLimit();
  NoDiskLimit(const NoDiskLimit&) = delete;

 private:
  size_t limit_;
};

}  // namespace lunagrad
