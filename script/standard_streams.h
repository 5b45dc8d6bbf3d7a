#pragma once
// The three streams that a program is started with. For its main function, before it opens a file.
#include <memory>
#include <streambuf>

namespace lunagrad {

// Puts /dev/null where the parent closed one (`>&-`): otherwise the next file that is opened, as a run's
// metrics, would take its number, and what is printed would go into that file.
void fill_closed_streams();

// While it lives, what is written to std::cout and std::cerr is shown as by terminal_text(): file names,
// errors and what others wrote into runs drive no terminal. Text with styles of our own is written to stdout
// itself.
class TerminalStreams {
 public:
  TerminalStreams();
  ~TerminalStreams();
  TerminalStreams(const TerminalStreams &) = delete;

 private:
  std::unique_ptr<std::streambuf> out_, err_;
  std::streambuf *const old_out_, *const old_err_;
};

// The program's exit code: `code`, or 6, said on the error stream, when what was printed could not all be
// written.
int code_with_output(int code);

}  // namespace lunagrad
