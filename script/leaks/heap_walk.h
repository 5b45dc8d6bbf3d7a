#pragma once
// Walks what a script keeps alive: every reference to a tensor that the Lua state reaches, each with the
// shortest path to it, breadth first from the local variables of active functions, the globals, modules, the
// states of lg.run.state, functions that the engine keeps (hooks), and the registry. Weak references are not
// followed. Nothing of the script runs meanwhile: no metamethod, no finalizer. For the thread of the Lua
// state.
#include <lua.hpp>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "runtime/tensor.h"
#include "script/leaks/owner_name.h"
#include "script/leaks/script_places.h"

namespace lunagrad {

class HeapWalk {
 public:
  // A reference to a tensor; `holder` is for path().
  struct Held {
    Tensor tensor;
    int holder;
    HeapStep step;
  };

  // `most`: how many tables, functions and other objects are visited.
  HeapWalk(lua_State* L, size_t most) : lua_(L), most_(most) {}
  HeapWalk(const HeapWalk&) = delete;

  // A tensor of lg.host, which C++ holds for the script.
  void add_host_value(const std::string& name, const Tensor& x) {
    tensors_.push_back(
        {x, new_vertex(-1, {HeapStep::Kind::host, "", {}}), {HeapStep::Kind::field, name, {}}});
  }
  void run();

  const std::vector<Held>& tensors() const { return tensors_; }
  HeapPath path(const Held&) const;  // from the root to the tensor
  // Where the script assigns its globals and fields, as far as its active functions show.
  const ScriptPlaces& places() const { return places_; }

 private:
  struct Vertex {
    int parent;
    HeapStep step;
  };
  void walk();
  // The value at the top of the stack, which it pops, is held by `parent`; -1: it is a root.
  void add(int parent, HeapStep step);
  template <class F>
  void add_by(int parent, const F& step);  // step() makes the step, if it is needed
  void add_stack(int parent, lua_State* thread, bool of_library);
  void add_frame(int parent, lua_State* thread, lua_Debug& frame);
  void add_entries(HeapStep::Kind kind);  // of the table at the top of the stack, which it pops, as roots
  void add_registry();
  int new_vertex(int parent, HeapStep step);
  void visit_all(size_t& next);
  void visit_table(int vertex, int table, size_t place);
  void visit_function(int vertex, int function);
  void visit_late(int vertex, int table, bool weak_keys);
  HeapStep step_of_key(int key) const;
  bool is_object(int index) const;  // that may hold others, or is a tensor

  lua_State* const lua_;
  const size_t most_;
  int queue_ = 0;  // stack index of the list of objects that are visited
  std::vector<Vertex> vertices_;
  std::vector<int> queued_;  // the vertices that have objects, in the order of the queue
  std::vector<Held> tensors_;
  std::unordered_set<const void*> seen_;
  // Tables with objects as keys, by their places in the queue. They wait until nothing else is left: a path
  // through a key is the last that a user thinks of, and the values behind weak keys live as long as the
  // keys.
  struct Late {
    size_t place;
    bool weak_keys;
  };
  std::vector<Late> late_;
  std::set<std::pair<const void*, const void*>> late_seen_;  // tables, and keys of theirs
  ScriptPlaces places_;
};

}  // namespace lunagrad
