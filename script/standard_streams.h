#pragma once
// The three streams that a program is started with. For its main function, before it opens a file.

namespace lunagrad {

// Puts /dev/null where the parent closed one (`>&-`): otherwise the next file that is opened, as a run's
// metrics, would take its number, and what is printed would go into that file.
void fill_closed_streams();
// The program's exit code: `code`, or 6, said on the error stream, when what was printed could not all be
// written.
int code_with_output(int code);

}  // namespace lunagrad
