// Lua's stdin, stdout and stderr. Lua's object code reads them relative to its own place, which a shared
// library cannot do with libc's variables: cmake/lua.cmake gives them these names.
#include <cstdio>

extern "C" {
FILE* lunagrad_stdin;
FILE* lunagrad_stdout;
FILE* lunagrad_stderr;
}

[[gnu::constructor]] static void set_lua_streams() {
  lunagrad_stdin = stdin;
  lunagrad_stdout = stdout;
  lunagrad_stderr = stderr;
}
