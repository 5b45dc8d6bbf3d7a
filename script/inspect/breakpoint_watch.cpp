#include "script/inspect/breakpoint_watch.h"

#include <algorithm>
#include <filesystem>

#include "runtime/core/op_name.h"
#include "runtime/ops.h"
#include "runtime/statistics/summary.h"
#include "script/lua/convert.h"
#include "script/lua/size.h"
#include "script/lua/source.h"

namespace lunagrad {
namespace {

using Condition = Breakpoint::Condition;
using Pass = Breakpoint::Pass;

constexpr size_t kMostHits = 1000;

std::string_view plain_op(std::string_view op) { return op.starts_with('_') ? op.substr(1) : op; }

// A user writes the public name; "attention" for _attention was right before there was one.
bool is_named(std::string_view op, const std::string& name) {
  return plain_op(op) == plain_op(name) || (op.starts_with('_') && public_op_name(op) == name);
}

bool fits(const std::vector<int64_t>& pattern, const Shape& shape) {
  if (int(pattern.size()) != shape.size()) return false;
  for (int d = 0; d < shape.size(); ++d)
    if (pattern[size_t(d)] >= 0 && pattern[size_t(d)] != shape[d]) return false;
  return true;
}

std::string without_detours(const std::string& path) {
  std::error_code failed;
  const auto whole = std::filesystem::weakly_canonical(path, failed);
  return failed ? path : whole.string();
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

BreakpointWatch::Quietly::Quietly(BreakpointWatch& watch)
    : watch_(watch),
      trace_(std::exchange(context().trace, nullptr)),
      guard_(std::exchange(context().guard, Guard::off)),
      off_(false) {
  watch_.busy_ = true;
}

BreakpointWatch::Quietly::~Quietly() {
  watch_.busy_ = false;
  context().trace = trace_;
  context().guard = guard_;
}

// ---- any thread

uint64_t BreakpointWatch::add(Breakpoint added) {
  if (!problem_of(added).empty()) return 0;
  uint64_t id;
  {
    const std::lock_guard lock(mutex_);
    id = added.id = next_id_++;
    added.hits = 0;
    shared_.push_back(std::move(added));
  }
  owner_.changed();
  return id;
}

bool BreakpointWatch::change(const Breakpoint& changed) {
  if (!problem_of(changed).empty()) return false;
  {
    const std::lock_guard lock(mutex_);
    const auto known =
        std::find_if(shared_.begin(), shared_.end(), [&](const Breakpoint& b) { return b.id == changed.id; });
    if (known == shared_.end()) return false;
    const int64_t hits = known->hits;
    *known = changed;
    known->hits = hits;
    known->problem.clear();
  }
  owner_.changed();
  return true;
}

bool BreakpointWatch::remove(uint64_t id) {
  {
    const std::lock_guard lock(mutex_);
    if (std::erase_if(shared_, [&](const Breakpoint& b) { return b.id == id; }) == 0) return false;
  }
  owner_.changed();
  return true;
}

std::vector<Breakpoint> BreakpointWatch::list() const {
  const std::lock_guard lock(mutex_);
  return shared_;
}

std::vector<BreakHit> BreakpointWatch::hits() const {
  const std::lock_guard lock(mutex_);
  return hits_;
}

// ---- the session's thread

void BreakpointWatch::begin_run() {
  const std::lock_guard lock(mutex_);
  hits_.clear();
  for (Breakpoint& b : shared_) b.hits = 0;
}

void BreakpointWatch::close_state() {
  predicates_.clear();
  last_step_.clear();
  finding_.reset();
  step_ = 0;
}

void BreakpointWatch::take_over() {
  {
    const std::lock_guard lock(mutex_);
    active_.clear();
    for (const Breakpoint& b : shared_)
      if (b.enabled && b.problem.empty()) active_.push_back(b);
  }
  predicates_.clear();  // the texts of predicates may have changed
  ops_ = gradients_ = finite_ = false;
  for (const Breakpoint& b : active_) {
    if (b.condition == Condition::not_finite) {
      finite_ |= b.step <= step_;
      gradients_ = true;  // to have the nodes of the pass in which a NaN is found
    } else if (b.condition != Condition::step) {
      ops_ |= b.pass != Pass::backward;
      gradients_ |= b.pass != Pass::forward;
    }
  }
}

void BreakpointWatch::begin_step(int64_t step) {
  step_ = step;
  finite_ = std::any_of(active_.begin(), active_.end(), [&](const Breakpoint& b) {
    return b.condition == Condition::not_finite && b.step <= step_;
  });
  for (const Breakpoint& b : active_) {
    if (b.condition != Condition::step || b.step != step || finding_) continue;
    find(b, {b.id, step, false, "", {}, 0, text("step ", step, " begins"), ""}, {}, nullptr, nullptr);
  }
}

void BreakpointWatch::record(const BreakHit& hit) {
  const std::lock_guard lock(mutex_);
  hits_.push_back(hit);
  if (hits_.size() > kMostHits) hits_.erase(hits_.begin());
  for (Breakpoint& b : shared_) b.hits += b.id == hit.breakpoint;
}

void BreakpointWatch::ran(const Call& call) {
  if (!ops_ || busy_ || finding_ || context().differentiating) return;
  const TensorList results(call.out.begin(), call.out.end());
  check({call.op->name, context().line, false, results, nullptr}, &call.in);
}

void BreakpointWatch::gradient(const Node& node, uint32_t, const Tensor& gradient) {
  if (!gradients_ || busy_ || finding_) return;
  const TensorList arrived{gradient};
  check({node.label(), node.line, true, arrived, &node}, nullptr);
}

void BreakpointWatch::check(const Subject& subject, const Operands* operands) {
  for (Breakpoint& b : active_) {
    if (b.pass == (subject.backward ? Pass::forward : Pass::backward)) continue;
    size_t which = 0;
    const std::optional<std::string> why = meets(b, subject, which);
    if (!why) continue;
    const Tensor value = which < subject.values.size() ? subject.values[which] : Tensor();
    const std::string what =
        text(subject.backward ? "backward of " : "", public_op_name(subject.op), ": ", *why);
    find(b, {b.id, step_, subject.backward, public_op_name(subject.op), place_of(subject.line), 0, what, ""},
         value, operands, subject.node);
    return;
  }
}

std::optional<std::string> BreakpointWatch::meets(Breakpoint& b, const Subject& subject, size_t& which) {
  const auto shape_text = [](const Tensor& x) {
    return x.defined() ? text(x.shape()) : std::string("nothing");
  };
  const char* const result = subject.backward ? "a gradient" : "a result";
  switch (b.condition) {
    case Condition::not_finite:
    case Condition::step:
      return {};
    case Condition::op:
      if (!is_named(subject.op, b.text)) return {};
      return text(result, " of shape ", shape_text(subject.values.empty() ? Tensor() : subject.values[0]));
    case Condition::line:
      if (!is_at(b.place, subject.line)) return {};
      return text("line ", b.place.line, " was reached");
    case Condition::shape: {
      const auto pattern = parse_shape_pattern(b.text);
      for (which = 0; which < subject.values.size(); ++which)
        if (const Tensor& x = subject.values[which]; x.defined() && fits(*pattern, x.shape()))
          return text(result, " of shape ", x.shape());
      return {};
    }
    case Condition::norm: {
      if (const auto last = last_step_.find(b.id); last != last_step_.end() && last->second == step_)
        return {};
      const Quietly quietly(*this);
      for (which = 0; which < subject.values.size(); ++which) {
        const Tensor& x = subject.values[which];
        if (!x.defined() || !is_differentiable(x.dtype())) continue;
        const Summary s = summarize(x);
        if (s.norm > b.limit)
          return text(result, " of shape ", x.shape(), " has norm ", s.norm, ", more than ", b.limit,
                      "; from ", s.min, " to ", s.max);
      }
      return {};
    }
    case Condition::predicate:
      for (which = 0; which < subject.values.size(); ++which)
        if (const Tensor& x = subject.values[which];
            x.defined() && b.problem.empty() && is_true(b, subject, x))
          return text(b.text, " is true of ", result, " of shape ", x.shape());
      return {};
  }
  return {};
}

bool BreakpointWatch::is_at(const SourcePlace& wanted, SourceLine line) {
  if (!line.known() || line.line != wanted.line) return false;
  const std::string& name = interned(line.file);
  if (name == wanted.file) return true;
  const auto known = files_.find(line.file);
  const std::string& path = known != files_.end() ? known->second : files_[line.file] = without_detours(name);
  return path == without_detours(wanted.file);
}

// The expression sees op (a table: name, shape, dtype, device, backward, step, file, line, module) and x, the
// tensor.
bool BreakpointWatch::is_true(Breakpoint& b, const Subject& subject, const Tensor& x) {
  lua_State* const L = owner_.state();
  if (!L) return false;
  const Quietly quietly(*this);
  bool truth = false;
  try {
    std::unique_ptr<LuaFunction>& function = predicates_[b.id];
    const int top = lua_gettop(L);
    luaL_checkstack(L, 8, "breakpoint");
    if (!function) {
      const std::string code = "local op, x = ... return " + b.text;
      if (luaL_loadbufferx(L, code.data(), code.size(), "=breakpoint", "t") != LUA_OK) {
        const std::string message = lua_tostring(L, -1);
        lua_settop(L, top);
        fail(message);
      }
      function = std::make_unique<LuaFunction>(L, -1);
      lua_settop(L, top);
    }
    function->protect("", [&](lua_State* state) {
      luaL_checkstack(state, 8, "breakpoint");
      function->push(state);
      lua_createtable(state, 0, 9);
      const auto set = [&](const char* name, const std::string& value) {
        push_string(state, value);
        lua_setfield(state, -2, name);
      };
      set("name", public_op_name(subject.op));
      set("dtype", dtype_name(x.dtype()));
      set("device", std::string(x.device().name()));
      set("file", interned(subject.line.file));
      set("module", interned(subject.node ? subject.node->module : context().module));
      push_dims(state, x.shape());
      lua_setfield(state, -2, "shape");
      lua_pushboolean(state, subject.backward);
      lua_setfield(state, -2, "backward");
      lua_pushinteger(state, step_);
      lua_setfield(state, -2, "step");
      lua_pushinteger(state, subject.line.line);
      lua_setfield(state, -2, "line");
      push_tensor(state, x.detach());
      lua_call(state, 2, 1);
      truth = lua_toboolean(state, -1);
    });
  } catch (const Error& error) {
    if (owner_.ending()) throw;  // the script is being stopped
    b.problem = error.what();
    owner_.warn(text("the breakpoint on ", b.text, " is switched off: ", b.problem));
    const std::lock_guard lock(mutex_);
    for (Breakpoint& shared : shared_)
      if (shared.id == b.id) shared.problem = b.problem;
  }
  return truth;
}

bool BreakpointWatch::raises(const NotFinite& found) {
  if (busy_) return raises_;
  const bool backward = found.node != nullptr;
  for (const Breakpoint& b : active_) {
    if (finding_ || b.condition != Condition::not_finite || step_ < b.step ||
        b.pass == (backward ? Pass::forward : Pass::backward))
      continue;
    // After the first NaN of a step, most later values are NaN too.
    if (const auto last = last_step_.find(b.id); last != last_step_.end() && last->second == step_) continue;
    find(b,
         {b.id, step_, backward, public_op_name(found.op), place_of(found.line), 0, first_line(found.message),
          found.message},
         found.value, nullptr, found.node);
    if (raises_) owner_.pause();
    break;
  }
  return raises_;
}

void BreakpointWatch::find(const Breakpoint& b, BreakHit hit, const Tensor& value, const Operands* operands,
                           const Node* node) {
  if (hit.explanation.empty()) hit.explanation = hit.summary;
  last_step_[b.id] = step_;
  Finding finding{b, std::move(hit), value, {}, Ref<Node>(const_cast<Node*>(node)), {}};
  if (operands)
    for (const Tensor& x : *operands)
      if (x.defined()) finding.operands.push_back(x);
  if (node)
    for (Node* other : pass_) finding.pass.emplace_back(other);
  finding_ = std::move(finding);
  owner_.found();
}

std::string problem_of(const Breakpoint& b) {
  switch (b.condition) {
    case Breakpoint::Condition::not_finite:
      return {};
    case Breakpoint::Condition::norm:
      return b.limit >= 0 ? "" : "breakpoint: a norm is at least 0";
    case Breakpoint::Condition::op:
      // The names of custom ops are known only while a script runs.
      return b.text.empty() ? "breakpoint: the name of an op is missing" : "";
    case Breakpoint::Condition::shape:
      return parse_shape_pattern(b.text)
                 ? ""
                 : text("breakpoint: '", b.text, "' is no shape such as [64, 10]; * stands for any size");
    case Breakpoint::Condition::step:
      return b.step >= 1 ? "" : text("breakpoint: steps count from 1 (got ", b.step, ")");
    case Breakpoint::Condition::line:
      return b.place.file.empty() || b.place.line < 1 ? "breakpoint: a file and a line are needed" : "";
    case Breakpoint::Condition::predicate: {
      if (b.text.empty()) return "breakpoint: an expression is needed, such as x:norm():item() > 10";
      SourcePlace ignored;
      const std::string error = syntax_error("return " + b.text, "=predicate", ignored);
      return error.empty() ? "" : "breakpoint: " + error;
    }
  }
  return {};
}

}  // namespace lunagrad
