#include "script/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <string>

#include "runtime/core/terminal_text.h"

namespace lunagrad {
namespace {

// Writes to a buffered C stream. The bytes of a character may come in several writes.
class TerminalBuffer final : public std::streambuf {
 public:
  explicit TerminalBuffer(std::FILE* stream) : stream_(stream) {}

 protected:
  int_type overflow(int_type c) override {
    if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    const char one = traits_type::to_char_type(c);
    return xsputn(&one, 1) == 1 ? c : traits_type::eof();
  }
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    begun_.append(text, size_t(size));
    const size_t whole = begun_.size() - begun_character(begun_);
    const bool written = write(std::string_view(begun_).substr(0, whole));
    begun_.erase(0, whole);
    return written ? size : 0;
  }
  int sync() override {
    const bool written = write(begun_);
    begun_.clear();
    return written && std::fflush(stream_) == 0 ? 0 : -1;
  }

 private:
  bool write(std::string_view text) const {
    const std::string shown = terminal_text(text);
    return std::fwrite(shown.data(), 1, shown.size(), stream_) == shown.size();
  }

  std::FILE* const stream_;
  std::string begun_;  // the first bytes of an unfinished character
};

}  // namespace

TerminalStreams::TerminalStreams()
    : out_(std::make_unique<TerminalBuffer>(stdout)),
      err_(std::make_unique<TerminalBuffer>(stderr)),
      old_out_(std::cout.rdbuf(out_.get())),
      old_err_(std::cerr.rdbuf(err_.get())) {}

TerminalStreams::~TerminalStreams() {
  std::cout.flush();
  std::cerr.flush();
  std::cout.rdbuf(old_out_);
  std::cerr.rdbuf(old_err_);
}

void fill_closed_streams() {
  int opened = 0;
  // open() takes the lowest free number, hence the number of the closed stream.
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
