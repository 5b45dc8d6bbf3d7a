#pragma once
// The file that a path to be written names: symbolic links are followed, even to a file that does not exist
// yet, and names of this process's own descriptors (/dev/stdout, /dev/fd/63) are recognized. Any thread.
#include <sys/stat.h>

#include <string>

namespace lunagrad {

struct WriteTarget {
  std::string path;     // after following links
  bool exists = false;  // if so, `status` describes it
  struct stat status {};
  int own_descriptor = -1;  // this process's descriptor that the path names; -1: none
  bool in_proc = false;     // a link below /proc: an open file, whose folder is not known
};

// Error of kind file when the links lead nowhere or in a circle, or when `path` is a folder.
WriteTarget write_target(const std::string& path);

std::string folder_of(const std::string& path);  // "." for a name without a folder

}  // namespace lunagrad
