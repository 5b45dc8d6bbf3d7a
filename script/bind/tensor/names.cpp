// Functions of lunagrad.core that suggest the name that was probably meant. Only the Lua library calls them.
#include "script/lua/bindings.h"
#include "script/lua/convert.h"
#include "script/lua/guard.h"
#include "script/lua/traceback.h"
#include "script/meta/explain.h"
#include "script/meta/pytorch.h"

namespace lunagrad {
namespace {

// _edits(a, b) -> the edit distance
int count_edits(lua_State* L) {
  lua_pushinteger(L, lua_Integer(edits(check_string(L, 1, "_edits"), check_string(L, 2, "_edits"))));
  return 1;
}

// _suggest(name, among) -> "; did you mean lg.zeros?" or ""
int suggest_name(lua_State* L) {
  push_string(L, suggest(check_string(L, 1, "_suggest"), check_string(L, 2, "_suggest")));
  return 1;
}

// _pytorch("lg.save") -> "torch.save is lg.io.save" or ""
int instead_of_pytorch(lua_State* L) {
  push_string(L, pytorch_instead(std::string(check_string(L, 1, "_pytorch"))));
  return 1;
}

// _advised(message) -> the error message with advice added, for a message handler
int advise(lua_State* L) {
  push_string(L, advised_message(L));
  return 1;
}

constexpr luaL_Reg kNameFunctions[] = {{"_advised", guard<advise>},
                                       {"_edits", guard<count_edits>},
                                       {"_suggest", guard<suggest_name>},
                                       {"_pytorch", guard<instead_of_pytorch>},
                                       {nullptr, nullptr}};

}  // namespace

void bind_names(lua_State* L, int core, int) {
  lua_pushvalue(L, core);
  luaL_setfuncs(L, kNameFunctions, 0);
  lua_pop(L, 1);
}

}  // namespace lunagrad
