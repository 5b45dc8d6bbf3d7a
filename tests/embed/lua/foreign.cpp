// Prints why script/lua/foreign_lua.cpp refuses the Lua that this program has bound, if it does.
#include <cstdio>
#include <exception>

#include "script/lua/foreign_lua.h"

int main() {
  try {
    lunagrad::refuse_foreign_lua();
    std::puts("accepted");
  } catch (const std::exception& error) {
    std::puts(error.what());
  }
}
