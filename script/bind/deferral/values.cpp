#include "script/bind/deferral/values.h"

#include <algorithm>
#include <set>

#include "runtime/tape/node.h"
#include "script/lua/binding_state.h"
#include "script/lua/convert.h"

namespace lunagrad {
namespace {

constexpr int kMostDepth = 4;  // nesting of tables

bool is_plain_table(lua_State* L, int index) {
  if (!lua_istable(L, index)) return false;
  if (!lua_getmetatable(L, index)) return true;
  lua_pop(L, 1);
  return false;
}

bool is_scalar(int type) { return type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TBOOLEAN; }

// Whether backward() from x would work: a pass inside of the step frees what it reads.
bool has_usable_graph(const Tensor& x) {
  if (!x.requires_grad() || x.is_leaf()) return false;
  const std::vector<Node*> nodes = nodes_of(x);
  return std::none_of(nodes.begin(), nodes.end(), [](const Node* node) { return node->freed; });
}

class Finder {
 public:
  Finder(lua_State* L, References& kept, TensorList& tensors) : L_(L), kept_(kept), tensors_(tensors) {}

  // Adds the value at the top of the stack, and pops it.
  void add(Source source, int depth = 0) {
    const int at = lua_gettop(L_);
    if (const Tensor* const x = to_tensor(L_, at); x && !x->requires_grad()) {
      source.tensor = int(tensors_.size());
      tensors_.push_back(*x);
      sources.push_back(std::move(source));
    } else if (source.root == Source::Root::argument && depth < kMostDepth && is_plain_table(L_, at)) {
      for (lua_pushnil(L_); lua_next(L_, at);) {
        Source field = source;
        lua_pushvalue(L_, -2);
        field.keys.push_back(kept_.keep(-1));
        lua_pop(L_, 1);
        add(std::move(field), depth + 1);  // pops the value
      }
    } else {
      source.constant = kept_.keep(at);
      sources.push_back(std::move(source));
      add_variables(at);
    }
    lua_pop(L_, 1);
  }

  // Adds the upvalues of a function of the script.
  void add_variables(int index) {
    if (!lua_isfunction(L_, index) || lua_iscfunction(L_, index)) return;
    lua_Debug about;
    lua_pushvalue(L_, index);
    lua_getinfo(L_, ">S", &about);
    if (binding_state(L_).chunk(about).library || !seen_.insert(lua_topointer(L_, index)).second) return;
    const int owner = kept_.keep(index);
    for (int n = 1;; ++n) {
      const char* const name = lua_getupvalue(L_, index, n);
      if (!name) break;
      Source source{Source::Root::variable, n, owner, {}, -1, 0, name};
      if (source.name == "_ENV") {
        lua_pop(L_, 1);
        continue;
      }
      add(std::move(source));
    }
  }

  void add_globals() {
    lua_pushglobaltable(L_);
    const int table = lua_gettop(L_);
    for (lua_pushnil(L_); lua_next(L_, table);) {
      const int type = lua_type(L_, -1);
      const bool script_function = type == LUA_TFUNCTION && !lua_iscfunction(L_, -1);
      if (lua_type(L_, -2) != LUA_TSTRING || !(is_scalar(type) || to_tensor(L_, -1) || script_function)) {
        lua_pop(L_, 1);
        continue;
      }
      Source source{Source::Root::global, 0, 0, {}, -1, 0, lua_tostring(L_, -2)};
      lua_pushvalue(L_, -2);
      source.owner = kept_.keep(-1);
      lua_pop(L_, 1);
      add(std::move(source));
    }
    lua_pop(L_, 1);
  }

  std::vector<Source> sources;

 private:
  lua_State* L_;
  References& kept_;
  TensorList& tensors_;
  std::set<const void*> seen_;
};

}  // namespace

int References::keep(int index) {
  lua_pushvalue(L_, index);
  if (lua_isnil(L_, -1)) {  // recorded as an absent entry
    lua_pop(L_, 1);
    return 0;
  }
  const int reference = int(lua_rawlen(L_, table_)) + 1;
  lua_rawseti(L_, table_, reference);
  return reference;
}

bool References::is(int index, int reference) const {
  push(reference);
  const bool equal = lua_rawequal(L_, index < 0 ? index - 1 : index, -1) &&
                     lua_type(L_, -1) == lua_type(L_, index < 0 ? index - 1 : index);
  lua_pop(L_, 1);
  return equal;
}

Pattern pattern_of(lua_State* L, int index, References& kept, Recording& recording) {
  index = lua_absindex(L, index);
  Pattern pattern;
  if (const Tensor* const x = to_tensor(L, index)) {
    if (has_usable_graph(*x))
      recording.refuse(text("it gives a tensor of shape ", x->shape(),
                            " with a graph: call backward() inside, or give tensor:detach()"));
    pattern.use = recording.use_of(*x);
    pattern.kind = Pattern::Kind::tensor;
    if (recording.slots()[size_t(pattern.use.slot)].kind == MemorySlot::Kind::outside)
      pattern.kind = Pattern::Kind::constant;
  } else if (is_plain_table(L, index)) {
    pattern.kind = Pattern::Kind::table;
    luaL_checkstack(L, 4, "compile");
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
      const int key = kept.keep(-2);
      pattern.fields.emplace_back(key, pattern_of(L, -1, kept, recording));
    }
    return pattern;
  } else if (lua_isfunction(L, index) && !lua_iscfunction(L, index)) {
    recording.refuse("it gives a function, or calls an optimizer with one");
  }
  if (pattern.kind == Pattern::Kind::constant) pattern.reference = kept.keep(index);
  return pattern;
}

bool Source::push(lua_State* L, const References& kept, int first) const {
  switch (root) {
    case Root::argument:
      if (first + number > lua_gettop(L)) return false;
      lua_pushvalue(L, first + number);
      break;
    case Root::variable:
      kept.push(owner);
      if (!lua_getupvalue(L, -1, number)) return lua_pop(L, 1), false;
      lua_remove(L, -2);
      break;
    case Root::global:
      lua_pushglobaltable(L);
      kept.push(owner);
      lua_rawget(L, -2);
      lua_remove(L, -2);
      break;
  }
  for (const int key : keys) {
    if (!lua_istable(L, -1)) return lua_pop(L, 1), false;
    kept.push(key);
    lua_rawget(L, -2);
    lua_remove(L, -2);
  }
  return true;
}

std::vector<Source> find_sources(lua_State* L, int function, int first, int last, References& kept,
                                 TensorList& tensors) {
  Finder finder(L, kept, tensors);
  for (int i = first; i <= last; ++i) {
    lua_pushvalue(L, i);
    finder.add({Source::Root::argument, i - first, 0, {}, -1, 0, {}});
  }
  finder.add_variables(function);
  finder.add_globals();
  return std::move(finder.sources);
}

int count_globals(lua_State* L) {
  int count = 0;
  lua_pushglobaltable(L);
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) ++count;
  lua_pop(L, 1);
  return count;
}

}  // namespace lunagrad
