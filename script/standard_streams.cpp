#include "script/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>

namespace lunagrad {

void fill_closed_streams() {
  int opened = 0;
  // The lowest free number is taken, hence the one that is missing.
  do opened = open("/dev/null", O_RDWR);
  while (opened >= 0 && opened <= STDERR_FILENO);
  if (opened >= 0) close(opened);
}

int code_with_output(int code) {
  constexpr int kBadFile = 6;
  std::cout.flush();
  const bool lost = std::fflush(stdout) != 0 || std::ferror(stdout) || !std::cout;
  if (!lost) return code;
  std::fputs("lunagrad: standard output: not all could be written\n", stderr);
  return code ? code : kBadFile;
}

}  // namespace lunagrad
