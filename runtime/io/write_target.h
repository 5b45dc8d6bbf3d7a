#pragma once
// Where a file that somebody names is written: symbolic links are followed, also when what they name does not
// exist yet, and names of this process's own descriptors (/dev/stdout, /dev/fd/63) are recognized. Any
// thread.
#include <sys/stat.h>

#include <string>

namespace lunagrad {

struct WriteTarget {
  std::string path;     // with the links followed
  bool exists = false;  // and `status` says what it is
  struct stat status {};
  int own_descriptor = -1;  // the number of this process's descriptor that the name stands for
  bool in_proc = false;     // a link below /proc: an open file, whose folder is not known
};

// Error of kind file when the links lead nowhere or in a circle, or when `path` is a folder.
WriteTarget write_target(const std::string& path);

std::string folder_of(const std::string& path);  // "." for a name alone

}  // namespace lunagrad
