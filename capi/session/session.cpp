// Sessions of the C library: opened, closed, and asked to run scripts.
#include "capi/session/session.h"

#include <cmath>
#include <limits>

#include "capi/sessions.h"
#include "capi/structs.h"

namespace lunagrad::capi {

double longest_wait(double seconds) {
  if (std::isnan(seconds)) refuse(LG_INVALID_ARGUMENT, "seconds is not a number");
  constexpr double kLongest = 1e9;  // clocks cannot count much further
  return seconds < 0 || seconds > kLongest ? std::numeric_limits<double>::infinity() : seconds;
}

SessionObject::~SessionObject() {
  if (session) end(close_seconds);
}

bool SessionObject::end(double seconds) {
  const std::unique_ptr<Session> ending = std::move(session);
  const bool ended = ending->end(seconds);
  closed->store(true);
  return ended;
}

// The handle ends first: no other thread may find the session while it ends.
static std::unique_ptr<SessionObject> take_session(HandleSlot& slot) {
  const std::lock_guard lock(ending_mutex());
  std::unique_ptr<SessionObject> taken(static_cast<SessionObject*>(slot.owned));
  slot.owned = nullptr;
  slot.engine->slots.release(slot);
  return taken;
}

void close_session(HandleSlot& slot) { take_session(slot).reset(); }

namespace {

constexpr size_t kSessionOptions = 88, kModule = 32, kRun = 96, kInfo = 40;  // sizes of the first versions
static_assert(sizeof(lg_session_options) == kSessionOptions && sizeof(lg_module) == kModule &&
              sizeof(lg_run) == kRun && sizeof(lg_session_info) == kInfo);

std::string text_from(const char* text) { return text ? text : ""; }

SessionOptions options_from(const lg_session_options& given) {
  SessionOptions made;
  made.process_streams = given.flags & LG_SESSION_STDIO;
  if (given.n_modules) require(given.modules, "modules");
  for (size_t i = 0; i < given.n_modules; ++i) {
    const lg_module module = read_struct(&given.modules[i], sizeof(lg_module), "lg_module");
    require(module.name, "the name of a module");
    if (module.length) require(module.text, "the text of a module");
    made.modules[module.name] = std::string(module.length ? module.text : "", module.length);
  }
  return made;
}

RunOptions run_options(const lg_run* run, const SessionObject& object) {
  lg_run given{};
  if (run) given = read_struct(run, kRun, "lg_run");
  constexpr uint32_t kFlags = LG_RUN_PAUSED | LG_RUN_PRELOAD | LG_RUN_SANDBOX | LG_RUN_INTERACTIVE;
  if (given.flags & ~kFlags) refuse(LG_INVALID_ARGUMENT, "flags has unknown bits (", given.flags, ")");
  if (given.n_arguments) require(given.arguments, "arguments");
  if (given.n_params) require(given.params, "params");
  if (given.steps < 0) refuse(LG_INVALID_ARGUMENT, "steps is ", given.steps);
  RunOptions made;
  for (size_t i = 0; i < given.n_arguments; ++i) {
    require(given.arguments[i], "an argument");
    made.arguments.emplace_back(given.arguments[i]);
  }
  for (size_t i = 0; i < given.n_params; ++i) {
    require(given.params[i], "a parameter");
    const std::string line = given.params[i];
    const size_t equals = line.find('=');
    if (equals == 0 || equals == line.npos)
      refuse(LG_INVALID_ARGUMENT, "a parameter is 'name=value', and '", line, "' is given");
    made.set[line.substr(0, equals)] = line.substr(equals + 1);
  }
  made.device = given.device ? given.device : object.device;
  require_device(made.device);
  if (const uint64_t seed = given.seed ? given.seed : object.seed) made.seed = seed;
  if (given.steps) made.steps = given.steps;
  made.memory = given.memory_limit;
  made.write_run = given.folder || given.resume;
  made.run_directory = text_from(given.folder);
  made.resume = text_from(given.resume);
  made.begin_paused = given.flags & LG_RUN_PAUSED;
  made.preload = given.flags & LG_RUN_PRELOAD;
  made.sandbox = given.flags & LG_RUN_SANDBOX;
  made.interactive = given.flags & LG_RUN_INTERACTIVE;
  return made;
}

// Throws how the latest run ended, unless it ended well.
void check_outcome(const SessionObject& object, Outcome outcome) {
  if (outcome == Outcome::ok) return;
  if (outcome == Outcome::stopped) refuse(LG_STOPPED, "the run was stopped");
  refuse(LG_SCRIPT, object.outlet->last_error());
}

}  // namespace
}  // namespace lunagrad::capi

using namespace lunagrad;
using namespace lunagrad::capi;

lg_code lg_session_open(lg_engine* engine, const lg_session_options* options, lg_session** session) {
  return capi::wall([&] {
    require(session, "session");
    Engine& held = own_engine_of(engine);
    const Work work(held);
    lg_session_options given{};
    if (options) given = read_struct(options, kSessionOptions, "lg_session_options");
    if (given.flags & ~uint32_t(LG_SESSION_STDIO | LG_SESSION_TAPE))
      refuse(LG_INVALID_ARGUMENT, "flags has unknown bits (", given.flags, ")");
    if (!(given.close_seconds >= 0))
      refuse(LG_INVALID_ARGUMENT, "close_seconds is ", given.close_seconds, ", not 0 or more");
    SessionOptions made_with = options_from(given);
    auto made = std::make_unique<SessionObject>();
    made->device = given.device ? given.device : "cpu";
    require_device(made->device);
    made->seed = given.seed;
    made->keeps_tape = given.flags & LG_SESSION_TAPE;
    if (given.close_seconds > 0) made->close_seconds = given.close_seconds;
    std::string why;
    if (given.library && !set_library(given.library, &why)) refuse(LG_FILE, "library: ", why);
    held.slots.reserve(1);
    made->outlet = std::make_shared<Outlet>(given);
    made->session = std::make_unique<Session>(
        [outlet = made->outlet](const Event& event) { outlet->take(event); }, std::move(made_with));
    made->session->watch_tape(made->keeps_tape);
    const std::lock_guard lock(ending_mutex());
    *session = held.slots.add_session(made.release());
  });
}

lg_code lg_session_close(lg_session* session, double seconds) {
  return capi::wall([&] {
    if (!session) return;
    HandleSlot& slot = slot_of(session, Kind::session);
    const Work work(*slot.engine);
    const double longest = longest_wait(seconds);
    const std::unique_ptr<SessionObject> taken = take_session(slot);
    if (!taken->end(seconds < 0 ? taken->close_seconds : longest))
      refuse(LG_TIMED_OUT, "the session's thread has not ended: it is in a function of the host, or of Lua");
  });
}

lg_code lg_session_run_text(lg_session* session, const char* text, size_t length, const lg_run* run) {
  return with_session(session, [&](Engine&, SessionObject& object) {
    if (length) require(text, "text");
    RunOptions options = run_options(run, object);
    const char* const name = run && run->name ? run->name : "script";
    object.session->run_text(std::string(length ? text : "", length), name, std::move(options));
  });
}

lg_code lg_session_run_file(lg_session* session, const char* path, const lg_run* run) {
  return with_session(session, [&](Engine&, SessionObject& object) {
    require(path, "path");
    object.session->run_file(path, run_options(run, object));
  });
}

lg_code lg_session_step(lg_session* session, double seconds, int32_t* end) {
  return with_session(session, [&](Engine&, SessionObject& object) {
    require(end, "end");
    switch (object.session->step_and_wait(longest_wait(seconds))) {
      case StepEnd::stepped:
        *end = LG_STEP_DONE;
        return;
      case StepEnd::paused:
        *end = LG_STEP_PAUSED;
        return;
      case StepEnd::timed_out:
        refuse(LG_TIMED_OUT, "the step has not ended");
      case StepEnd::ended:
        *end = LG_STEP_ENDED;
        check_outcome(object, object.session->wait());
    }
  });
}

lg_code lg_session_pause(lg_session* session) {
  return with_session(session, [](Engine&, SessionObject& object) { object.session->pause(); });
}

lg_code lg_session_resume(lg_session* session) {
  return with_session(session, [](Engine&, SessionObject& object) { object.session->resume(); });
}

lg_code lg_session_stop(lg_session* session, int32_t how) {
  return capi::wall([&] {
    if (how != LG_STOP_AT_STEP && how != LG_STOP_NOW) refuse(LG_INVALID_ARGUMENT, "how is ", how);
    const std::lock_guard lock(ending_mutex());
    const HandleSlot& slot = any_thread_slot(session, Kind::session);
    Session& held = *static_cast<SessionObject&>(*slot.owned).session;
    if (how == LG_STOP_NOW)
      held.interrupt();
    else
      held.stop();
  });
}

lg_code lg_session_wait(lg_session* session, double seconds, int32_t* outcome) {
  return with_session(session, [&](Engine&, SessionObject& object) {
    const std::optional<Outcome> found = object.session->wait_for(longest_wait(seconds));
    if (!found) refuse(LG_TIMED_OUT, "a script runs or is paused");
    if (outcome) *outcome = int32_t(*found);
    check_outcome(object, *found);
  });
}

lg_code lg_session_get_info(lg_session* session, lg_session_info* info) {
  return with_session(session, [&](Engine&, SessionObject& object) {
    lg_session_info found{};
    found.state = int32_t(object.session->state());
    found.events = object.outlet->waiting();
    if (const std::optional<Silence> silence = object.session->silence()) found.silence = silence->seconds;
    found.device = lasting(object.device);
    found.seed = object.seed;
    write_struct(info, found, kInfo, "lg_session_info");
  });
}
