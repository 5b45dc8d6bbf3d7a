// Where the run of a session stands: the positions of its pauses, and of the error that ends it.
#include "runtime/core/op_name.h"
#include "script/lua/script_line.h"
#include "script/session/session_thread.h"
#include "script/view/failing_nodes.h"

namespace lunagrad {

PausePosition SessionThread::pause_position(lua_State* L, StepTo ended) {
  using Reason = PausePosition::Reason;
  PausePosition at;
  if (found_) at = *std::exchange(found_, std::nullopt);
  const bool met = at.reason != Reason::request;
  if (!met) at.step = run_->step();
  if (at.place.line < 1) at.place = lunagrad::place_of(L ? script_line(L) : context_.line);
  if (met) return at;
  if (ended == StepTo::line) at.reason = Reason::line;
  if (ended == StepTo::step_end) at.reason = Reason::step;
  if (ended != StepTo::op) return at;
  at.reason = Reason::op;
  if (const NotedCall* const noted = viewers_.noted_call()) {
    describe(*noted, at);
    at.node = viewers_.tape().show(*noted);
  } else if (const Node* const root = viewers_.noted_root()) {
    at.op = public_op_name(root->label());
    at.backward = true;
    at.summary = "the backward pass from here has ended";
    at.node = root->id;
  }
  viewers_.forget_noted();
  return at;
}

PausePosition SessionThread::failure_position(const ScriptError& error, const SourcePlace& place,
                                              const std::string& message) {
  PausePosition at;
  at.reason = PausePosition::Reason::error;
  at.step = run_ ? run_->step() : 0;
  at.summary = message.substr(0, message.find('\n'));
  at.good_step = handover_.kept_step().value_or(handover_ ? handover_.step() : -1);
  if (const Op* const op = error.op.empty() ? nullptr : find_op(error.op)) {
    NotedCall noted;
    noted.call.op = op;
    for (const Tensor& x : error.operands) noted.call.in.push_back(x);
    noted.line = {intern(place.file), place.line};
    noted.module = context_.module;
    try {
      describe(noted, at);
      at.node = viewers_.tape().show(noted, true);
    } catch (const std::exception&) {  // there is no memory for it
    }
  }
  at.place = place;
  return at;
}

// An error that no call made, or of a backward pass: looks for the nodes of its line.
void SessionThread::find_failed_node(PausePosition& at, const std::string& message) {
  const std::shared_ptr<const TapeSnapshot> tape = viewers_.tape().tape();
  if (!tape || !tape->failed) return;
  const std::vector<int> nodes = failing_nodes(*tape, message, at.place);
  if (nodes.empty()) return;
  const NodeInfo& node = tape->nodes[size_t(nodes[0])];
  at.node = node.id;
  at.backward = node.place != at.place;
  if (at.backward) at.op = public_op_name(node.op);
}

}  // namespace lunagrad
