#include "script/inspect/growth_watch.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "script/lua/console_scope.h"
#include "script/lua/convert.h"
#include "script/lua/edge.h"

namespace lunagrad {
namespace {

constexpr int64_t kSteps = 50;  // to begin with, and how many of the latest count
constexpr size_t kEnough = 45;  // steps among them, of which a graph must have nodes
constexpr size_t kMostNodes = 1 << 18, kMostEntries = 4096;

}  // namespace

// The nodes that a variable keeps alive, by the step that made them.
struct GrowthWatch::Graph {
  const std::vector<uint64_t>& marks;
  std::unordered_set<const Node*> seen = {};
  std::set<size_t> steps = {};

  void add(const Tensor& x) {
    if (!x.defined() || !x.requires_grad() || !x.node() || x.node()->is_leaf()) return;
    std::vector<const Node*> stack{x.node().get()};
    while (!stack.empty() && seen.size() < kMostNodes) {
      const Node* const node = stack.back();
      stack.pop_back();
      if (!node || node->is_leaf() || node->id <= marks.front() || !seen.insert(node).second) continue;
      steps.insert(size_t(std::lower_bound(marks.begin(), marks.end(), node->id) - marks.begin()));
      for (const Operand& operand : node->in) stack.push_back(operand.node.get());
    }
  }
};

void GrowthWatch::begin_run() {
  told_ = false;
  steps_ = 0;
  next_ = kSteps;
  latest_ = 0;
  marks_.clear();
}

void GrowthWatch::root(const Tensor& x) {
  if (x.node()) latest_ = std::max(latest_, x.node()->id);
}

std::optional<GrowthWatch::Found> GrowthWatch::end_step(lua_State* L) {
  if (told_) return {};
  if (marks_.empty() || latest_ > marks_.back()) {
    if (latest_ > 0) marks_.push_back(latest_);
    if (int64_t(marks_.size()) > kSteps) marks_.erase(marks_.begin());
  }
  if (++steps_ < next_) return {};
  next_ = 2 * steps_;
  if (int64_t(marks_.size()) < kSteps) return {};
  std::optional<Found> found = look(L);
  told_ = bool(found);
  return found;
}

std::optional<GrowthWatch::Found> GrowthWatch::look(lua_State* L) const {
  std::optional<Found> found;
  const auto grows = [&](const Graph& graph, const Tensor& x, const std::string& name) {
    if (graph.steps.size() < kEnough) return false;
    const SourceLine line = x.defined() && x.node() ? x.node()->line : SourceLine();
    found = Found{name, int64_t(steps_), {interned(line.file), line.line}};
    return true;
  };
  // The value at the top of the stack, which it leaves there.
  const auto judge = [&](const std::string& name) {
    if (const Tensor* const x = to_tensor(L, -1)) {
      Graph graph{marks_};
      graph.add(*x);
      return grows(graph, *x, name);
    }
    if (lua_type(L, -1) != LUA_TTABLE) return false;
    Graph list{marks_};
    Tensor last;
    size_t entries = 0;
    const int table = lua_gettop(L);
    lua_pushnil(L);
    while (lua_next(L, table)) {
      if (++entries > kMostEntries) break;
      const Tensor* const x = to_tensor(L, -1);
      if (x && lua_type(L, -2) == LUA_TSTRING) {
        Graph own{marks_};
        own.add(*x);
        if (grows(own, *x, name + "." + lua_tostring(L, -2))) {
          lua_settop(L, table);
          return true;
        }
      } else if (x) {
        list.add(*x);
        last = *x;
      }
      lua_pop(L, 1);
    }
    lua_settop(L, table);
    return grows(list, last, name);
  };
  if (!lua_checkstack(L, 8)) return found;
  const int top = lua_gettop(L);
  visit_script_locals(L, [&](const lua_Debug& frame, int index, const char* name) {
    lua_getlocal(L, &frame, index);
    const bool stop = judge(name);
    lua_settop(L, top);
    return stop;
  });
  lua_Debug frame;
  for (int level = 0; !found && level < 100 && lua_getstack(L, level, &frame); ++level) {
    lua_getinfo(L, "Slf", &frame);
    const int function = lua_gettop(L);
    const bool own = frame.currentline >= 0 && !edge(L).chunk(frame).library;
    for (int i = 1; own && !found; ++i) {
      const char* const name = lua_getupvalue(L, function, i);
      if (!name) break;
      if (std::string_view(name) != "_ENV") judge(name);
      lua_settop(L, function);
    }
    lua_settop(L, top);
  }
  if (!found) {
    lua_pushglobaltable(L);
    const int globals = lua_gettop(L);
    lua_pushnil(L);
    while (!found && lua_next(L, globals)) {
      if (lua_type(L, -2) == LUA_TSTRING && to_tensor(L, -1)) judge(lua_tostring(L, -2));
      lua_settop(L, globals + 1);
    }
  }
  lua_settop(L, top);
  return found;
}

}  // namespace lunagrad
