#pragma once
// Walks the values that a script keeps alive: every reference to a tensor that the Lua state reaches, each
// with the shortest path to it. Goes breadth first from the local variables of active functions, the globals,
// modules, the states of lg.run.state, functions that the engine keeps (hooks), and the registry. Weak
// references are not followed. Runs nothing of the script: no metamethod, no finalizer. For the thread of the
// Lua state.
#include <lua.hpp>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "runtime/core/tensor.h"
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

  // `most`: how many tables, functions and other objects to visit.
  HeapWalk(lua_State* L, size_t most) : lua_(L), most_(most) {}
  HeapWalk(const HeapWalk&) = delete;

  // Adds a tensor of lg.host, which C++ holds for the script.
  void add_host_value(const std::string& name, const Tensor& x) {
    tensors_.push_back(
        {x, new_vertex(-1, {HeapStep::Kind::host, "", {}}), {HeapStep::Kind::field, name, {}}});
  }
  void run();

  const std::vector<Held>& tensors() const { return tensors_; }
  bool complete() const { return !cut_; }  // false: there are more objects than were to be visited
  // Whether functions of the script are active; otherwise its local variables are gone.
  bool sees_locals() const { return sees_locals_; }
  HeapPath path(const Held&) const;  // from the root to the tensor
  // Where the script assigns its globals and fields, as far as its active functions show it.
  const ScriptPlaces& places() const { return places_; }

 private:
  struct Vertex {
    int parent;
    HeapStep step;
  };
  void walk();
  // Pops the value at the top of the stack and notes that `parent` holds it; -1: it is a root.
  void add(int parent, HeapStep step);
  template <class F>
  void add_by(int parent, const F& step);  // step() is called only when the step is needed
  void add_stack(int parent, lua_State* thread, bool of_library);
  void add_frame(int parent, lua_State* thread, lua_Debug& frame);
  // Pops the table at the top of the stack and adds its entries as roots.
  void add_entries(HeapStep::Kind kind);
  void add_registry();
  int new_vertex(int parent, HeapStep step);
  void visit_all(size_t& next);
  void visit_table(int vertex, int table, size_t place);
  void visit_function(int vertex, int function);
  void visit_late(int vertex, int table, bool weak_keys);
  HeapStep step_of_key(int key) const;
  bool is_object(int index) const;  // the value may hold other values, or is a tensor

  lua_State* const lua_;
  const size_t most_;
  bool cut_ = false, sees_locals_ = false;
  int queue_ = 0;  // stack index of the list of objects to visit
  std::vector<Vertex> vertices_;
  std::vector<int> queued_;  // the vertices of the queued objects, in the queue's order
  std::vector<Held> tensors_;
  std::unordered_set<const void*> seen_;
  // Tables with objects as keys, by their places in the queue. They are visited last: a user thinks last of a
  // path through a key, and the values of weak keys live as long as the keys.
  struct Late {
    size_t place;
    bool weak_keys;
  };
  std::vector<Late> late_;
  std::set<std::pair<const void*, const void*>> late_seen_;  // tables, and some of their keys
  ScriptPlaces places_;
};

}  // namespace lunagrad
