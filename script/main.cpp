// The program `lunagrad`. The composition root: the only file of the command line that knows the GPU backend.
#include <signal.h>

#include <cstdio>
#include <iostream>
#include <string_view>

#include "runtime/dist/world.h"
#include "script/cli/base/out_of_memory.h"
#include "script/cli/commands.h"
#include "script/cli/ranks/follow.h"
#include "script/standard_streams.h"
#ifdef LUNAGRAD_HAS_GPU
#include "gpu/gpu.h"
#endif

int main(int argc, char** argv) {
  lunagrad::fill_closed_streams();
  const lunagrad::TerminalStreams streams;
  // When the reader of the output exits, the program ends quietly, as others do, also when a parent process
  // ignored the signal.
  signal(SIGPIPE, SIG_DFL);
  // A write past the file size that ulimit -f allows is an error of the write, as on a full disk, and does
  // not end the program.
  signal(SIGXFSZ, SIG_IGN);
  // Each line appears when it is written, also in a pipe, and none is lost when the program is killed.
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);
  try {
#ifdef LUNAGRAD_HAS_GPU
    lunagrad::gpu::install();
#endif
    // A window with --ranks starts its other ranks with `lunagrad follow`.
    const bool follows = argc == 2 && argv[1] == std::string_view("follow") && lunagrad::dist::lasts();
    int code = follows ? lunagrad::follow_window()
                       : lunagrad::code_with_output(lunagrad::run_command_line(argc, argv));
    code = lunagrad::dist::close_world(code);
#ifdef LUNAGRAD_HAS_GPU
    lunagrad::gpu::close();
#endif
    return code;
  } catch (const std::exception& error) {
    std::cerr << "lunagrad: " << error.what() << "\n";
    return lunagrad::exit_code_of(error);
  }
}
