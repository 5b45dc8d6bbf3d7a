#include "script/bind/deferral/captured_function.h"

#include <memory>
#include <new>
#include <utility>

#include "runtime/core/figures.h"
#include "runtime/deferral/captured_graph.h"
#include "runtime/deferral/explain.h"
#include "script/bind/deferral/queue.h"
#include "script/bind/deferral/values.h"
#include "script/lua/binding_state.h"
#include "script/lua/convert.h"
#include "script/lua/guard.h"
#include "script/lua/user_type.h"

namespace lunagrad {

// A call that Lua still makes in every run of the captured graph.
struct LiveCall {
  int function = 0;  // reference
  std::vector<Pattern> arguments;
};

// The settings that a call depends on, besides its sources.
struct CaptureMode {
  bool grad_enabled = context().grad_enabled;
  Device* device = context().device;
  MatmulPrecision precision = context().matmul_precision;
  bool operator==(const CaptureMode&) const = default;
};

// A recorded call of a function. Its Lua values are in a table of references.
struct FunctionRecording {
  int references = LUA_NOREF;  // in the registry
  CaptureMode mode;
  std::vector<Source> sources;
  std::vector<std::pair<int, bool>> modules;  // reference, training flag
  std::unique_ptr<Recording> recording;
  std::vector<LiveCall> live;
  std::vector<Pattern> results;
  std::unique_ptr<CapturedGraph> step;  // once the graph is captured
  int arguments = 0;
  uint64_t runs = 0, checks = 0;
};

namespace {

constexpr int kMostRecordings = 6;  // give up if no two in a row were equal
constexpr size_t kMostPlans = 8;    // for arguments of different shapes
constexpr int kMostCaptures = 64;   // for a function whose arguments keep changing
constexpr int kRunsBetweenChecks = 100;

struct CapturedFunction {
  int function = LUA_NOREF;  // reference in the registry
  std::vector<std::unique_ptr<FunctionRecording>> plans;
  std::unique_ptr<FunctionRecording> last;  // the latest recording, not equal to the one before it
  int recordings = 0;                       // since the last captured plan
  int captures = 0;
  std::string refused;  // why the function always runs as a script; "" if it does not
  bool stale = false;   // the model was changed since its plans and recordings were made
  bool running = false;
};

constexpr UserType<CapturedFunction> kCaptured("lunagrad.CapturedFunction", "captured function");

void forget(lua_State* L, std::unique_ptr<FunctionRecording>& recorded) {
  if (recorded) luaL_unref(L, LUA_REGISTRYINDEX, recorded->references);
  recorded.reset();
}

void forget_all(lua_State* L, CapturedFunction& captured) {
  for (auto& plan : captured.plans) forget(L, plan);
  forget(L, captured.last);
  luaL_unref(L, LUA_REGISTRYINDEX, captured.function);
}

// Whether calls may be recorded or run without Lua now: no viewer or setting needs the single calls.
bool may_capture(const BindingState& state) {
  const Context& ctx = context();
  return state.deferral != Deferral::off && !state.recorder && !(ctx.trace && ctx.trace->sees_calls()) &&
         ctx.guard == Guard::off && !ctx.checkpoint && !ctx.autocast && !ctx.read_only;
}

const char* const kTraining = "training";

bool training_flag(lua_State* L, int index) {
  index = lua_absindex(L, index);
  lua_pushstring(L, kTraining);
  lua_rawget(L, index);
  const bool flag = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return flag;
}

}  // namespace

// Records one call of a function, from construction to destruction. Its ops are deferred, because then
// backward adds gradients where they can join a group.
class StepRecorder {
 public:
  StepRecorder(lua_State* L, FunctionRecording& into, const TensorList& arguments, const TensorList& leaves)
      : state_(binding_state(L)),
        into_(into),
        outer_queue_(std::exchange(context().queue, &queue_of(state_).calls)) {
    into_.recording = std::make_unique<Recording>(arguments, leaves);
    lua_newtable(L);
    modules_ = luaL_ref(L, LUA_REGISTRYINDEX);
    outer_modules_ = std::exchange(state_.called_modules, modules_);
    state_.recorder = this;
    context().capturing = true;
  }
  ~StepRecorder() {
    context().capturing = false;
    state_.recorder = nullptr;
    state_.called_modules = outer_modules_;
    luaL_unref(state_.main, LUA_REGISTRYINDEX, modules_);
    context().queue = outer_queue_;
    if (!ended_) into_.recording.reset();  // after an error: the Trace must not outlive the call
  }
  StepRecorder(const StepRecorder&) = delete;

  FunctionRecording& into() { return into_; }
  void end() {
    into_.recording->end();
    ended_ = true;
  }
  void push_modules(lua_State* L) const { lua_rawgeti(L, LUA_REGISTRYINDEX, modules_); }

  // Stops recording during a live call.
  void pause() {
    into_.recording->pause();
    context().capturing = false;
    state_.recorder = nullptr;
  }
  void resume() {
    into_.recording->resume();
    context().capturing = true;
    state_.recorder = this;
  }

 private:
  BindingState& state_;
  FunctionRecording& into_;
  CallQueue* outer_queue_;
  int modules_ = LUA_NOREF, outer_modules_ = LUA_NOREF;
  bool ended_ = false;
};

namespace {

// _live(fn, ...): calls fn(...). If the enclosing call is captured, Lua makes this call in every run.
int live(lua_State* L) {
  check_callable(L, 1, "compile");
  StepRecorder* const recorder = binding_state(L).recorder;
  const int count = lua_gettop(L) - 1;
  if (!recorder) {
    lua_call(L, count, LUA_MULTRET);
    return lua_gettop(L);
  }
  FunctionRecording& into = recorder->into();
  lua_rawgeti(L, LUA_REGISTRYINDEX, into.references);
  lua_insert(L, 1);
  References kept(L, 1);
  LiveCall call;
  call.function = kept.keep(2);
  for (int i = 0; i < count; ++i) call.arguments.push_back(pattern_of(L, 3 + i, kept, *into.recording));
  into.live.push_back(std::move(call));
  recorder->pause();
  struct Resume {
    StepRecorder* recorder;
    ~Resume() { recorder->resume(); }
  } const resume{recorder};
  lua_call(L, count, LUA_MULTRET);
  for (int i = 2; i <= lua_gettop(L); ++i)
    if (!lua_isnil(L, i))
      into.recording->refuse("it uses the result of an optimizer's step or of a schedule");
  return lua_gettop(L) - 1;
}

// _capturing_graph() -> whether a call is being recorded, so that no value may be read
int is_capturing(lua_State* L) {
  lua_pushboolean(L, binding_state(L).recorder != nullptr);
  return 1;
}

// _refuse_capture(why): forbids to capture the call that is being recorded, if there is one.
int refuse_capture(lua_State* L) {
  if (StepRecorder* const recorder = binding_state(L).recorder)
    recorder->into().recording->refuse(std::string(check_string(L, 1, "refuse")));
  return 0;
}

void push_pattern(lua_State* L, const Pattern& pattern, const References& kept, const CapturedGraph& step) {
  switch (pattern.kind) {
    case Pattern::Kind::constant:
      return kept.push(pattern.reference);
    case Pattern::Kind::tensor:
      return push_result(L, step.take(pattern.use));
    case Pattern::Kind::table:
      luaL_checkstack(L, 4, "compile");
      lua_createtable(L, 0, int(pattern.fields.size()));
      for (const auto& [key, value] : pattern.fields) {
        kept.push(key);
        push_pattern(L, value, kept, step);
        lua_rawset(L, -3);
      }
  }
}

// Whether the sources and the modules' training flags are as recorded; appends the sources' tensors to
// `tensors`.
bool same_sources(lua_State* L, const FunctionRecording& plan, const References& kept, int first,
                  TensorList& tensors) {
  for (const Source& source : plan.sources) {
    if (!source.push(L, kept, first)) return false;
    bool same;
    if (source.tensor >= 0) {
      const Tensor* const x = to_tensor(L, -1);
      same = x != nullptr;
      if (same) tensors.push_back(*x);
    } else {
      same = kept.is(-1, source.constant);
    }
    lua_pop(L, 1);
    if (!same) return false;
  }
  for (const auto& [module, flag] : plan.modules) {
    kept.push(module);
    const bool same = training_flag(L, -1) == flag;
    lua_pop(L, 1);
    if (!same) return false;
  }
  return true;
}

// Runs the plan if it fits. The arguments are at `first` and above; the results are pushed. Returns the
// number of results, or -1 if the plan does not fit.
int run_plan(lua_State* L, FunctionRecording& plan, int first) {
  const int count = lua_gettop(L) - first + 1;
  if (count != plan.arguments || !(plan.mode == CaptureMode())) return -1;
  lua_rawgeti(L, LUA_REGISTRYINDEX, plan.references);
  const References kept(L, -1);
  TensorList tensors;
  if (!same_sources(L, plan, kept, first, tensors) || !plan.step->begin(tensors)) {
    lua_pop(L, 1);
    return -1;
  }
  ++plan.runs;
  for (size_t segment = 0; segment < plan.step->segments(); ++segment) {
    plan.step->run(segment);
    if (segment == plan.live.size()) break;
    const LiveCall& call = plan.live[segment];
    luaL_checkstack(L, int(call.arguments.size()) + 1, "compile");
    kept.push(call.function);
    for (const Pattern& argument : call.arguments) push_pattern(L, argument, kept, *plan.step);
    lua_call(L, int(call.arguments.size()), 0);
  }
  luaL_checkstack(L, int(plan.results.size()), "compile");
  for (const Pattern& result : plan.results) push_pattern(L, result, kept, *plan.step);
  plan.step->finish();
  after_op(L);
  return int(plan.results.size());
}

bool same_value(lua_State* L, const References& a, int one, const References& b, int other) {
  a.push(one);
  b.push(other);
  const bool same = lua_rawequal(L, -1, -2);
  lua_pop(L, 2);
  return same;
}

bool same_pattern(lua_State* L, const Pattern& a, const References& of_a, const Pattern& b,
                  const References& of_b) {
  if (a.kind != b.kind || a.fields.size() != b.fields.size()) return false;
  if (a.kind == Pattern::Kind::constant) return same_value(L, of_a, a.reference, of_b, b.reference);
  if (a.kind == Pattern::Kind::tensor) return same_use(a.use, b.use);
  for (const auto& [key, value] : a.fields) {
    bool found = false;
    for (const auto& [other_key, other] : b.fields)
      if (same_value(L, of_a, key, of_b, other_key)) found = same_pattern(L, value, of_a, other, of_b);
    if (!found) return false;
  }
  return true;
}

// "" if two recorded calls are the same; else the first difference.
std::string difference(lua_State* L, const FunctionRecording& a, const FunctionRecording& b) {
  if (!b.recording->knows_its_leaves()) return "it trains other parameters in each call";
  if (const std::string calls = a.recording->difference(*b.recording); !calls.empty()) return calls;
  lua_rawgeti(L, LUA_REGISTRYINDEX, a.references);
  lua_rawgeti(L, LUA_REGISTRYINDEX, b.references);
  const References of_a(L, -2), of_b(L, -1);
  std::string found;
  if (a.live.size() != b.live.size()) found = "it steps an optimizer more or less often";
  for (size_t i = 0; found.empty() && i < a.live.size(); ++i) {
    const LiveCall &one = a.live[i], &other = b.live[i];
    bool same = same_value(L, of_a, one.function, of_b, other.function) &&
                one.arguments.size() == other.arguments.size();
    for (size_t k = 0; same && k < one.arguments.size(); ++k)
      same = same_pattern(L, one.arguments[k], of_a, other.arguments[k], of_b);
    if (!same) found = "it gives an optimizer, a schedule or the log other values";
  }
  bool same = a.results.size() == b.results.size();
  for (size_t i = 0; same && i < a.results.size(); ++i)
    same = same_pattern(L, a.results[i], of_a, b.results[i], of_b);
  if (found.empty() && !same) found = "it gives another number, string or table";
  lua_pop(L, 2);
  return found;
}

// Error if the call changed a variable or a global: a run without the script would not change it.
void check_unchanged(lua_State* L, const FunctionRecording& recorded, const References& kept, int first,
                     const TensorList& before) {
  for (const Source& source : recorded.sources) {
    if (source.root == Source::Root::argument) continue;
    const bool there = source.push(L, kept, first);
    bool same = there;
    if (there && source.tensor >= 0) {
      const Tensor* const x = to_tensor(L, -1);
      same = x && x->same(before[size_t(source.tensor)]);
    } else if (there) {
      same = kept.is(-1, source.constant);
    }
    if (there) lua_pop(L, 1);
    if (!same)
      fail("compile: a captured function must not change the ",
           source.root == Source::Root::global ? "global" : "variable", " '", source.name,
           "', since its script does not run in every step; return the value");
  }
}

void note_modules(lua_State* L, const StepRecorder& recorder, FunctionRecording& recorded, References& kept) {
  recorder.push_modules(L);
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
    const bool flag = lua_toboolean(L, -1);
    recorded.modules.emplace_back(kept.keep(-2), flag);
  }
  lua_pop(L, 1);
}

// Runs the function's script and records its calls. The arguments are at `first` and above; the results are
// pushed.
std::unique_ptr<FunctionRecording> record(lua_State* L, const CapturedFunction& captured, int first,
                                          const TensorList& leaves) {
  auto recorded = std::make_unique<FunctionRecording>();
  const int last = lua_gettop(L);
  recorded->arguments = last - first + 1;
  lua_newtable(L);
  lua_pushvalue(L, -1);
  recorded->references = luaL_ref(L, LUA_REGISTRYINDEX);
  struct Unref {  // cleans up after an error
    lua_State* L;
    std::unique_ptr<FunctionRecording>& recorded;
    bool done = false;
    ~Unref() {
      if (!done) forget(L, recorded);
    }
  } unref{binding_state(L).main, recorded};
  References kept(L, -1);
  lua_rawgeti(L, LUA_REGISTRYINDEX, captured.function);
  TensorList tensors;
  recorded->sources = find_sources(L, lua_gettop(L), first, last, kept, tensors);
  const int globals = count_globals(L);
  const int results = lua_gettop(L);
  {
    StepRecorder recorder(L, *recorded, tensors, leaves);
    for (int i = first; i <= last; ++i) lua_pushvalue(L, i);
    lua_call(L, last - first + 1, LUA_MULTRET);
    for (int i = results; i <= lua_gettop(L); ++i)
      recorded->results.push_back(pattern_of(L, i, kept, *recorded->recording));
    // Compute before the recording ends, so that memory is freed in between. A plan reuses memory as the
    // queue does.
    compute_queue(L, queue_of(binding_state(L)).calls);
    recorder.end();
    note_modules(L, recorder, *recorded, kept);
  }
  check_unchanged(L, *recorded, kept, first, tensors);
  if (count_globals(L) != globals)
    fail(
        "compile: a captured function must not make or remove a global, since its script does not run in "
        "every "
        "step; return the value");
  lua_remove(L, results - 1);  // the references
  unref.done = true;
  return recorded;
}

std::vector<Use> uses_of(const FunctionRecording& recorded) {
  std::vector<Use> uses;
  const auto add = [&](auto& self, const Pattern& pattern) -> void {
    if (pattern.kind == Pattern::Kind::tensor) uses.push_back(pattern.use);
    for (const auto& field : pattern.fields) self(self, field.second);
  };
  for (const Pattern& result : recorded.results) add(add, result);
  for (const LiveCall& call : recorded.live)
    for (const Pattern& argument : call.arguments) add(add, argument);
  return uses;
}

void give_up(lua_State* L, CapturedFunction& captured, const std::string& why) {
  captured.refused = why;
  for (auto& plan : captured.plans) forget(L, plan);
  captured.plans.clear();
  forget(L, captured.last);
}

// Handles a new recording: captures the graph if the previous recording is equal.
void learn(lua_State* L, CapturedFunction& captured, std::unique_ptr<FunctionRecording> now) {
  Recording& recording = *now->recording;
  if (!recording.refused().empty()) {
    const std::string why = recording.refused();
    forget(L, now);
    return give_up(L, captured, why);
  }
  const std::string other = !captured.last || !(captured.last->mode == now->mode)
                                ? "never the same"
                                : difference(L, *captured.last, *now);
  if (other.empty()) {
    now->step = std::make_unique<CapturedGraph>(recording, uses_of(*now));
    recording.forget_results();
    forget(L, captured.last);
    captured.recordings = 0;
    if (++captured.captures > kMostCaptures) {
      forget(L, now);
      return give_up(L, captured, "its arguments, or the values that it sees, keep changing");
    }
    if (captured.plans.size() == kMostPlans) {
      forget(L, captured.plans.back());
      captured.plans.pop_back();
    }
    captured.plans.insert(captured.plans.begin(), std::move(now));
    return;
  }
  recording.forget_results();
  forget(L, captured.last);
  captured.last = std::move(now);
  if (++captured.recordings >= kMostRecordings)
    give_up(L, captured, "two calls in a row are never the same: " + other);
}

// Runs the script instead of the plan and compares the two. Error if they differ.
int check_plan(lua_State* L, CapturedFunction& captured, FunctionRecording& plan, int first) {
  const int below = lua_gettop(L);
  std::unique_ptr<FunctionRecording> now = record(L, captured, first, plan.recording->leaves());
  const std::string why =
      now->recording->refused().empty() ? difference(L, plan, *now) : now->recording->refused();
  forget(L, now);
  ++plan.runs;
  ++plan.checks;
  if (!why.empty()) {
    const uint64_t runs = plan.runs;
    give_up(L, captured, why);
    fail("compile: a captured function does not do what it did when it was captured, ", runs,
         " calls ago: ", why, ". Its script ran in one call of ", kRunsBetweenChecks,
         "; give what changes as an argument, or leave out {capture_graph = true}");
  }
  return lua_gettop(L) - below;
}

int run_script(lua_State* L, const CapturedFunction& captured) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, captured.function);
  lua_replace(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

class Running {
 public:
  explicit Running(CapturedFunction& captured) : captured_(captured) { captured.running = true; }
  ~Running() { captured_.running = false; }
  Running(const Running&) = delete;

 private:
  CapturedFunction& captured_;
};

// _run_captured(captured, ...): returns the results of the function.
int run_captured(lua_State* L) {
  const std::shared_ptr<CapturedFunction> held = kCaptured.check(L, 1, "compile");
  CapturedFunction& captured = *held;
  constexpr int kFirst = 2;
  // A live call may call the function again, which must not change the plan that runs.
  if (captured.running) return run_script(L, captured);
  const Running running(captured);
  if (std::exchange(captured.stale, false)) {
    give_up(L, captured, "");
    captured.recordings = captured.captures = 0;
  }
  if (!captured.refused.empty() || !may_capture(binding_state(L))) return run_script(L, captured);
  for (size_t i = 0; i < captured.plans.size(); ++i) {
    FunctionRecording& plan = *captured.plans[i];
    const bool due = plan.runs % kRunsBetweenChecks == kRunsBetweenChecks - 1;
    if (due) {
      // Check the plan only if it is the plan that would run.
      const int top = lua_gettop(L);
      lua_rawgeti(L, LUA_REGISTRYINDEX, plan.references);
      TensorList tensors;
      const bool fits = top - kFirst + 1 == plan.arguments && plan.mode == CaptureMode() &&
                        same_sources(L, plan, References(L, -1), kFirst, tensors) && plan.step->fits(tensors);
      lua_settop(L, top);
      if (fits) return check_plan(L, captured, plan, kFirst);
      continue;
    }
    if (const int results = run_plan(L, plan, kFirst); results >= 0) {
      if (i > 0) std::swap(captured.plans[i], captured.plans[0]);
      return results;
    }
  }
  const int below = lua_gettop(L);
  TensorList leaves;
  if (captured.last) leaves = captured.last->recording->found();
  learn(L, captured, record(L, captured, kFirst, leaves));
  return lua_gettop(L) - below;
}

int capture(lua_State* L) {
  check_callable(L, 1, "compile");
  lua_pushvalue(L, 1);
  const int function = luaL_ref(L, LUA_REGISTRYINDEX);
  const auto free = [alive = binding_state(L).alive](CapturedFunction* captured) {
    if (const BindingState* const state = *alive) forget_all(state->main, *captured);
    delete captured;
  };
  kCaptured.push(L, std::shared_ptr<CapturedFunction>(new CapturedFunction{.function = function}, free));
  return 1;
}

// _explain_captured(captured) -> text
int explain_captured(lua_State* L) {
  const std::shared_ptr<CapturedFunction> held = kCaptured.check(L, 1, "compile");
  const CapturedFunction& captured = *held;
  std::string text;
  if (!captured.refused.empty()) {
    text = "Not captured: " + captured.refused + ".\n";
  } else if (captured.plans.empty()) {
    text = "Not captured yet: two calls in a row must be the same.\n";
  }
  for (const auto& plan : captured.plans) {
    const CapturedGraph& step = *plan->step;
    text += lunagrad::text("Captured: ", plan->runs, " runs, ", plan->checks,
                           " of them by the script, to compare; ", plan->live.size(),
                           " calls stay with the script; ", bytes_figure(double(step.bytes_kept())),
                           " of results are kept between runs.\nIts plan: ", explain(step.report()));
  }
  push_string(L, text);
  return 1;
}

// _drop_graph(captured): the next call discards the plans, or the reason why there are none. The function may
// be running now.
int drop_graph(lua_State* L) {
  kCaptured.check(L, 1, "compile")->stale = true;
  return 0;
}

constexpr luaL_Reg kCaptureFunctions[] = {{"_capture_graph", guard<capture>},
                                          {"_run_captured", guard<run_captured>},
                                          {"_explain_captured", guard<explain_captured>},
                                          {"_live", guard<live>},
                                          {"_capturing_graph", guard<is_capturing>},
                                          {"_refuse_capture", guard<refuse_capture>},
                                          {"_drop_graph", guard<drop_graph>},
                                          {nullptr, nullptr}};

}  // namespace

void bind_captured_functions(lua_State* L, int core) {
  lua_pushvalue(L, core);
  luaL_setfuncs(L, kCaptureFunctions, 0);
  kCaptured.define(L);
  lua_pop(L, 2);
}

}  // namespace lunagrad
