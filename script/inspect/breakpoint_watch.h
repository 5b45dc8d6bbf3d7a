#pragma once
// Holds the breakpoints of a session and checks them: against each op that the script calls, each gradient
// that reaches a node, and each value that Guard::op finds not finite. The run pauses at the next safe point,
// when the op has its node; until then a Finding keeps the tensors. The list of breakpoints may be read and
// changed from any thread, under mutex_; everything else belongs to the session's thread.
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/core/context.h"
#include "runtime/core/op.h"
#include "runtime/tape/finite.h"
#include "runtime/tape/tape.h"
#include "script/inspect/noted_call.h"
#include "script/lua/function.h"
#include "script/view/breakpoints.h"

namespace lunagrad {

// A breakpoint that was met; the run has not paused for it yet.
struct Finding {
  Breakpoint breakpoint;
  BreakHit hit;
  Tensor value;                   // the result, or the gradient
  std::optional<NotedCall> call;  // when the value is a result
  Ref<Node> node;                 // when the value is a gradient
  std::vector<Ref<Node>> pass;    // the nodes of the current backward pass
};

class BreakpointWatch final : public Capture, public FiniteWatch {
 public:
  struct Owner {
    std::function<void()> changed;      // the list changed: take_over() at the next safe point
    std::function<void()> found;        // a breakpoint was met: pause at the next safe point
    std::function<void()> pause;        // pause now, because an error follows
    std::function<lua_State*()> state;  // returns the Lua state, for predicates
    std::function<bool()> ending;       // the script is being stopped
    std::function<void(const std::string&)> warn;
  };
  explicit BreakpointWatch(Owner owner) : owner_(std::move(owner)) {}

  // Any thread.
  uint64_t add(Breakpoint);
  bool change(const Breakpoint&);
  bool remove(uint64_t id);
  std::vector<Breakpoint> list() const;
  std::vector<BreakHit> hits() const;

  void begin_run();  // resets the counts of hits
  void close_state();
  void begin_step(int64_t step);
  // Copies the list as other threads changed it. The wants_… functions then say which events must be reported
  // here.
  void take_over();
  bool any() const { return !active_.empty(); }  // whether any breakpoint is enabled
  bool wants_ops() const { return ops_; }
  bool wants_gradients() const { return gradients_; }
  bool wants_finite() const { return finite_; }
  void set_raises(bool on) { raises_ = on; }  // the script also asked for an error on NaN

  void ran(const Call&);
  std::optional<Finding> take_finding() { return std::exchange(finding_, std::nullopt); }
  bool busy() const { return busy_; }  // inside a check, which may run a predicate; the list must not change
  void record(const BreakHit&);        // notes a hit for which the run has paused

  void begin(std::span<Node* const> nodes) override { pass_.assign(nodes.begin(), nodes.end()); }
  void gradient(const Node&, uint32_t output, const Tensor&) override;
  bool keep(const Node&) override { return false; }
  void end() override { pass_.clear(); }
  bool raises(const NotFinite&) override;

 private:
  // The values that a condition is tested on.
  struct Subject {
    const char* op;
    SourceLine line;
    bool backward;
    const TensorList& values;
    const Node* node;
  };
  class Quietly;
  void check(const Subject&, const Call*);
  std::optional<std::string> meets(Breakpoint&, const Subject&, size_t& which);
  bool is_true(Breakpoint&, const Subject&, const Tensor&);
  void find(const Breakpoint&, BreakHit, const Tensor& value, const Call*, const Node*);
  bool is_at(const SourcePlace&, SourceLine);

  const Owner owner_;
  mutable std::mutex mutex_;
  std::vector<Breakpoint> shared_;  // under mutex_, like the next two
  std::vector<BreakHit> hits_;
  uint64_t next_id_ = 1;

  std::vector<Breakpoint> active_;  // the enabled breakpoints
  // Last step in which a condition that counts once per step was met, by id.
  std::map<uint64_t, int64_t> last_step_;
  std::map<uint64_t, std::unique_ptr<LuaFunction>> predicates_;
  std::unordered_map<uint32_t, std::string> files_;  // interned name -> canonical path
  std::optional<Finding> finding_;
  std::vector<Node*> pass_;  // nodes of the current backward pass, which keeps them alive
  bool ops_ = false, gradients_ = false, finite_ = false, raises_ = false, busy_ = false;
  int64_t step_ = 0;
};

// While it exists, engine calls reach no listener and record no tape.
class BreakpointWatch::Quietly {
 public:
  explicit Quietly(BreakpointWatch&);
  ~Quietly();
  Quietly(const Quietly&) = delete;

 private:
  BreakpointWatch& watch_;
  Trace* trace_;
  Guard guard_;
  GradMode off_;
};

}  // namespace lunagrad
