#pragma once
// A limit on the files that one thread's work writes. Each thread has its own limit, initially none. It
// counts what is written less what is replaced or removed; pipes and devices do not count.
#include <cstddef>
#include <string>

namespace lunagrad {

void set_disk_limit(size_t bytes);  // of the calling thread, which has written nothing yet; 0: none

// Counts so many more bytes. False, and nothing is counted, when they do not fit the limit.
bool may_write(size_t bytes);
void freed_on_disk(size_t bytes);
// The same for a file that is about to be removed.
void frees_on_disk(const std::string& path);
std::string disk_limit_sentence();  // why nothing more is written
// Why a file was not written: the limit behind EFBIG in a sandbox, where no file may be longer than it.
std::string why_not_written(int error);

// For the life of the object the thread has no limit: for what a run writes at its end.
class NoDiskLimit {
 public:
  NoDiskLimit();
  ~NoDiskLimit();
  NoDiskLimit(const NoDiskLimit&) = delete;

 private:
  size_t limit_;
};

}  // namespace lunagrad
