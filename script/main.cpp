// The program `lunagrad`. A composition root: the only file of the command line that knows the GPU backend.
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
  // A reader that went away ends the program quietly, as it ends others, also when a parent ignored the
  // signal.
  signal(SIGPIPE, SIG_DFL);
  // A file past the size that ulimit -f allows is an error of its writer, as on a full disk, and not the
  // program's end.
  signal(SIGXFSZ, SIG_IGN);
  // Lines appear when they are written, in a pipe too, and none is lost when the program is ended at once.
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);
  try {
#ifdef LUNAGRAD_HAS_GPU
    lunagrad::gpu::install();
#endif
    // A window with --ranks starts the others so.
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
