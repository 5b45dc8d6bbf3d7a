#include "script/leaks/heap_walk.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "script/lua/binding_state.h"
#include "script/lua/convert.h"

namespace lunagrad {
namespace {

// Stops the collector: no finalizer runs and no weak table changes while a table is being read.
class Collector {
 public:
  explicit Collector(lua_State* L) : lua_(L), runs_(lua_gc(L, LUA_GCISRUNNING) == 1) {
    if (runs_) lua_gc(L, LUA_GCSTOP);
  }
  ~Collector() {
    if (runs_) lua_gc(lua_, LUA_GCRESTART);
  }
  Collector(const Collector&) = delete;

 private:
  lua_State* const lua_;
  const bool runs_;
};

// Limit of stack frames. The middle of a deep recursion holds little more than its ends.
constexpr int kMostFrames = 200;

void move_value(lua_State* from, lua_State* to) {
  if (from != to) lua_xmove(from, to, 1);
}

}  // namespace

void HeapWalk::run() {
  luaL_checkstack(lua_, 16, "leaks");
  const int top = lua_gettop(lua_);
  {
    const Collector stopped(lua_);
    walk();
  }
  lua_settop(lua_, top);
}

void HeapWalk::walk() {
  lua_newtable(lua_);
  queue_ = lua_gettop(lua_);
  seen_.insert(lua_topointer(lua_, queue_));
  lua_State* const main = binding_state(lua_).main;
  for (const bool of_library : {false, true}) {
    add_stack(-1, lua_, of_library);
    if (main != lua_) add_stack(-1, main, of_library);
    if (of_library) break;
    lua_pushglobaltable(lua_);
    add_entries(HeapKind::global);
    lua_getfield(lua_, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    add_entries(HeapKind::module);
    lua_rawgeti(lua_, LUA_REGISTRYINDEX, binding_state(lua_).states);
    add_entries(HeapKind::state);
  }
  add_registry();
  size_t next = 0;
  visit_all(next);
  for (size_t found = 0; found != vertices_.size();) {
    found = vertices_.size();
    for (size_t i = 0; i < late_.size(); ++i) {
      lua_rawgeti(lua_, queue_, lua_Integer(late_[i].place) + 1);
      visit_late(queued_[late_[i].place], lua_gettop(lua_), late_[i].weak_keys);
      lua_pop(lua_, 1);
    }
    visit_all(next);
  }
}

void HeapWalk::visit_all(size_t& next) {
  for (; next < queued_.size(); ++next) {
    lua_rawgeti(lua_, queue_, lua_Integer(next) + 1);
    const int object = lua_gettop(lua_), vertex = queued_[next];
    switch (lua_type(lua_, object)) {
      case LUA_TTABLE:
        visit_table(vertex, object, next);
        break;
      case LUA_TFUNCTION:
        visit_function(vertex, object);
        break;
      case LUA_TTHREAD:
        for (const bool of_library : {false, true}) add_stack(vertex, lua_tothread(lua_, object), of_library);
        break;
      default:
        if (lua_getmetatable(lua_, object)) add(vertex, {HeapKind::metatable, "", {}});
        for (int i = 1; lua_getiuservalue(lua_, object, i) != LUA_TNONE; ++i)
          add(vertex, {HeapKind::uservalue, "", {}});
        break;
    }
    lua_settop(lua_, object - 1);
  }
}

bool HeapWalk::is_object(int index) const {
  const int type = lua_type(lua_, index);
  return type == LUA_TTABLE || type == LUA_TFUNCTION || type == LUA_TUSERDATA || type == LUA_TTHREAD;
}

int HeapWalk::new_vertex(int parent, HeapStep step) {
  vertices_.push_back({parent, std::move(step)});
  return int(vertices_.size()) - 1;
}

void HeapWalk::add(int parent, HeapStep step) {
  add_by(parent, [&]() -> HeapStep&& { return std::move(step); });
}

template <class F>
void HeapWalk::add_by(int parent, const F& step) {
  if (const Tensor* const x = to_tensor(lua_, -1)) {
    seen_.insert(lua_topointer(lua_, -1));
    HeapStep made = step();
    const Tensor gradient = x->node() && x->is_leaf() ? x->grad() : Tensor();
    if (gradient.defined())
      tensors_.push_back({gradient, new_vertex(parent, made), {HeapKind::gradient, "", {}}});
    tensors_.push_back({*x, parent, std::move(made)});
  } else if (is_object(-1) && !seen_.contains(lua_topointer(lua_, -1))) {
    cut_ |= queued_.size() >= most_;
    if (!cut_) {
      seen_.insert(lua_topointer(lua_, -1));
      queued_.push_back(new_vertex(parent, step()));
      lua_rawseti(lua_, queue_, lua_Integer(queued_.size()));
      return;
    }
  }
  lua_pop(lua_, 1);
}

// ---- roots

void HeapWalk::add_stack(int parent, lua_State* thread, bool of_library) {
  const bool own = thread == lua_ || thread == binding_state(lua_).main;
  if ((parent >= 0 && own) || !lua_checkstack(thread, 4)) return;
  lua_Debug frame;
  int count = 0;
  while (count < kMostFrames && lua_getstack(thread, count, &frame)) ++count;
  // The outermost frame first: a function's parameter is another name for a variable outside.
  for (int level = count - 1; level >= 0; --level) {
    if (!lua_getstack(thread, level, &frame)) continue;
    lua_getinfo(thread, "Sl", &frame);
    if (frame.currentline >= 0 && binding_state(lua_).chunk(frame).library == of_library)
      add_frame(parent, thread, frame);
  }
}

void HeapWalk::add_frame(int parent, lua_State* thread, lua_Debug& frame) {
  const Chunk chunk = binding_state(lua_).chunk(frame);
  const SourceLine defined{chunk.file, std::max(frame.linedefined, 1)};
  lua_getinfo(thread, "f", &frame);
  move_value(thread, lua_);
  const int function = lua_gettop(lua_);
  if (!chunk.library) places_.read(lua_, chunk.file, *frame.what == 'm');
  sees_locals_ |= !chunk.library && parent < 0;
  // Arguments after the named parameters have negative numbers.
  for (const int direction : {1, -1}) {
    for (int i = direction;; i += direction) {
      const char* const name = lua_getlocal(thread, &frame, i);
      if (!name) break;
      move_value(thread, lua_);
      if (*name == '(')
        add(parent, {HeapKind::temporary, "", defined});
      else
        add(parent, {HeapKind::local, name,
                     chunk.library ? SourceLine{chunk.file, frame.currentline}
                                   : places_.local(name, frame.currentline)});
    }
  }
  lua_pushvalue(lua_, function);
  add(parent, {HeapKind::function, "", defined});
  lua_settop(lua_, function - 1);
}

void HeapWalk::add_entries(HeapKind kind) {
  if (!lua_istable(lua_, -1)) return lua_pop(lua_, 1);
  const int table = lua_gettop(lua_);
  seen_.insert(lua_topointer(lua_, table));
  for (lua_pushnil(lua_); lua_next(lua_, table);) {
    if (lua_type(lua_, -2) != LUA_TSTRING) {
      lua_pop(lua_, 1);
      continue;
    }
    const std::string name = lua_tostring(lua_, -2);
    add(-1, {kind, name, kind == HeapKind::global ? places_.global(name) : SourceLine()});
  }
  lua_pop(lua_, 1);
}

void HeapWalk::add_registry() {
  const BindingState& state = binding_state(lua_);
  if (state.kept_functions)
    for (const auto& [reference, kept] : *state.kept_functions) {
      lua_rawgeti(lua_, LUA_REGISTRYINDEX, reference);
      add(-1, {HeapKind::hook, kept.role, kept.line});
    }
  lua_pushvalue(lua_, LUA_REGISTRYINDEX);
  const int registry = lua_gettop(lua_);
  for (lua_pushnil(lua_); lua_next(lua_, registry);) {
    const bool own = lua_type(lua_, -1) == LUA_TTHREAD;
    if (!own && is_object(-1))
      add(-1, {HeapKind::registry, step_of_key(lua_gettop(lua_) - 1).name, {}});
    else
      lua_pop(lua_, 1);
  }
  lua_pop(lua_, 1);
}

// ---- contents of objects

HeapStep HeapWalk::step_of_key(int key) const {
  switch (lua_type(lua_, key)) {
    case LUA_TSTRING:
      return {HeapKind::field, lua_tostring(lua_, key), {}};
    case LUA_TNUMBER: {
      lua_pushvalue(lua_, key);  // a conversion in place would confuse lua_next
      std::string name = lua_tostring(lua_, -1);
      lua_pop(lua_, 1);
      return {HeapKind::entry, std::move(name), {}};
    }
    case LUA_TBOOLEAN:
      return {HeapKind::entry, lua_toboolean(lua_, key) ? "true" : "false", {}};
    default:
      return {HeapKind::entry, to_tensor(lua_, key) ? "Tensor" : luaL_typename(lua_, key), {}};
  }
}

void HeapWalk::visit_table(int vertex, int table, size_t place) {
  bool weak_keys = false, weak_values = false;
  if (lua_getmetatable(lua_, table)) {
    lua_pushliteral(lua_, "__mode");
    if (lua_rawget(lua_, -2) == LUA_TSTRING) {
      const std::string_view mode = lua_tostring(lua_, -1);
      weak_keys = mode.find('k') != mode.npos;
      weak_values = mode.find('v') != mode.npos;
    }
    lua_pop(lua_, 1);
    add(vertex, {HeapKind::metatable, "", {}});
  }
  bool late = false;
  for (lua_pushnil(lua_); lua_next(lua_, table);) {
    const int value = lua_gettop(lua_), key = value - 1;
    const bool key_is_object = is_object(key);
    if (key_is_object && !weak_keys && to_tensor(lua_, key)) {
      lua_pushvalue(lua_, key);
      add(vertex, {HeapKind::key, "", {}});
    } else if (key_is_object) {
      late = late || !weak_keys || is_object(value);
    }
    const bool held = !weak_values && !(weak_keys && key_is_object);
    if (held && is_object(value))
      add_by(vertex, [&] { return step_of_key(key); });
    else
      lua_pop(lua_, 1);
  }
  if (late && !(weak_keys && weak_values)) late_.push_back({place, weak_keys});
}

// Visits the keys of a table; with weak keys, the values of keys that something else holds.
void HeapWalk::visit_late(int vertex, int table, bool weak_keys) {
  const void* const of = lua_topointer(lua_, table);
  for (lua_pushnil(lua_); lua_next(lua_, table); lua_settop(lua_, table + 1)) {
    const int value = lua_gettop(lua_), key = value - 1;
    if (!is_object(key) || (weak_keys && !is_object(value))) continue;
    const void* const at = lua_topointer(lua_, key);
    if (weak_keys ? !seen_.contains(at) : to_tensor(lua_, key) != nullptr) continue;
    if (!late_seen_.insert({of, at}).second) continue;
    lua_pushvalue(lua_, weak_keys ? value : key);
    add(vertex, weak_keys ? step_of_key(key) : HeapStep{HeapKind::key, "", {}});
  }
}

void HeapWalk::visit_function(int vertex, int function) {
  const bool of_lua = !lua_iscfunction(lua_, function);
  std::optional<SourceLine> line;
  const auto defined = [&] {
    lua_Debug frame;
    lua_pushvalue(lua_, function);
    lua_getinfo(lua_, ">S", &frame);
    return SourceLine{binding_state(lua_).chunk(frame).file, std::max(frame.linedefined, 1)};
  };
  for (int i = 1;; ++i) {
    const char* const name = lua_getupvalue(lua_, function, i);
    if (!name) return;
    if (!is_object(-1) || std::string_view(name) == "_ENV") {
      lua_pop(lua_, 1);
      continue;
    }
    add_by(vertex, [&] {
      if (!of_lua) return HeapStep{HeapKind::upvalue, "(of a C function)", {}};
      if (!line) line = defined();
      return HeapStep{HeapKind::upvalue, name, *line};
    });
  }
}

HeapPath HeapWalk::path(const Held& held) const {
  HeapPath path{held.step};
  for (int at = held.holder; at >= 0; at = vertices_[size_t(at)].parent)
    path.push_back(vertices_[size_t(at)].step);
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace lunagrad
