// A program that shows a C Lua 5.4 to all that it loads, and loads a plugin with Lunagrad in it: LOADER PLUGIN VERSION.
#include <dlfcn.h>
#include <lauxlib.h>
#include <stdio.h>

int main(int count, char** arguments) {
  (void)count;
  lua_State* L = luaL_newstate();
  void* plugin = dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL);
  if (!plugin) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  int (*run)(const char*) = (int (*)(const char*))dlsym(plugin, "run_host");
  const int result = run(arguments[2]);
  lua_close(L);
  return result;
}
