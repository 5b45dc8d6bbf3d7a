#pragma once
// The three standard streams of the program. For its main function, before it opens a file.
#include <memory>
#include <streambuf>

namespace lunagrad {

// Opens /dev/null in place of a stream that the parent closed (`>&-`). Otherwise the next file that is
// opened, such as a run's metrics, would take its number, and printed text would go into that file.
void fill_closed_streams();

// While it lives, text written to std::cout and std::cerr passes through terminal_text(), so that file names,
// errors and text that others wrote into runs cannot control the terminal. Text with our own styles is
// written to stdout itself.
class TerminalStreams {
 public:
  TerminalStreams();
  ~TerminalStreams();
  TerminalStreams(const TerminalStreams &) = delete;

 private:
  std::unique_ptr<std::streambuf> out_, err_;
  std::streambuf *const old_out_, *const old_err_;
};

// The program's exit code: `code`, or 6, with a message on the error stream, when not all output could be
// written.
int code_with_output(int code);

}  // namespace lunagrad
