// What a host and the script of its session exchange: values, functions, evaluated lines, parameters, events
// and tapes.
#include <condition_variable>
#include <memory>
#include <mutex>

#include "capi/session/host_call.h"
#include "capi/session/session.h"
#include "capi/structs.h"
#include "capi/values.h"
#include "script/view/tape_json.h"

using namespace lunagrad;
using namespace lunagrad::capi;

namespace {

constexpr size_t kEvent = 104;  // size of the first version
static_assert(sizeof(lg_event) == kEvent);
constexpr size_t kMostResults = 32;  // of a host's function

// The result of a line that another thread evaluates, which may come after the host has given up waiting.
struct Evaluation {
  std::mutex mutex;
  std::condition_variable ended;
  bool over = false, good = false;
  std::string results;
};

const char* checked_name(const char* name) {
  require(name, "name");
  if (!*name) refuse(LG_INVALID_ARGUMENT, "name is empty");
  return name;
}

std::vector<SessionValue> call_function(lg_function function, void* user,
                                        const std::vector<SessionValue>& given) {
  CallEngine call;
  Engine& engine = call.engine();
  std::vector<lg_value*> arguments;
  for (const SessionValue& value : given) arguments.push_back(new_value(engine, value));
  lg_value* results[kMostResults] = {};
  size_t count = kMostResults;
  const lg_code code = function(user, call.handle(), arguments.data(), arguments.size(), results, &count);
  try {
    check_host_code(code);
    if (count > kMostResults) fail("the function of the program says that it has ", count, " results");
    std::vector<SessionValue> made;
    for (size_t i = 0; i < count; ++i)
      made.push_back(results[i] ? value_of(results[i], engine).value : SessionValue());
    return made;
  } catch (const Fault& fault) {
    fail("a result of the program's function: ", fault.message);
  }
}

}  // namespace

lg_code lg_session_evaluate(lg_session* session, const char* code, double seconds, lg_text** results) {
  return with_session(session, [&](Engine& engine, SessionObject& object) {
    require(code, "code");
    const double longest = longest_wait(seconds);
    const auto evaluation = std::make_shared<Evaluation>();
    object.session->evaluate(code, [evaluation](bool good, std::string text) {
      const std::lock_guard lock(evaluation->mutex);
      evaluation->over = true;
      evaluation->good = good;
      evaluation->results = std::move(text);
      evaluation->ended.notify_all();
    });
    std::unique_lock lock(evaluation->mutex);
    if (!wait_until(evaluation->ended, lock, longest, [&] { return evaluation->over; }))
      refuse(LG_TIMED_OUT, "the line is evaluated when the script reaches its next point between operations");
    if (!evaluation->good) refuse(LG_SCRIPT, evaluation->results);
    if (results) *results = new_text(engine, std::move(evaluation->results));
  });
}

lg_code lg_session_set_param(lg_session* session, const char* name, const char* value) {
  return with_session(session, [&](Engine&, SessionObject& object) {
    require(value, "value");
    std::string why;
    if (!object.session->set_param(checked_name(name), value, &why)) refuse(LG_VALUE, why);
  });
}

lg_code lg_session_set(lg_session* session, const char* name, lg_value* value) {
  return with_session(session, [&](Engine& engine, SessionObject& object) {
    const SessionValue given = value ? value_of(value, engine).value : SessionValue();
    std::string why;
    if (!object.session->set_value(checked_name(name), given, &why)) refuse(LG_VALUE, why);
  });
}

lg_code lg_session_get(lg_session* session, const char* name, lg_value** value, int64_t* step) {
  return with_session(session, [&](Engine& engine, SessionObject& object) {
    require(value, "value");
    const SessionHost::Got found = object.session->get_value(checked_name(name));
    *value = new_value(engine, with_tensors(found.value));
    if (step) *step = found.step;
  });
}

lg_code lg_session_add_function(lg_session* session, const char* name, lg_function function, void* user) {
  return with_session(session, [&](Engine&, SessionObject& object) {
    if (!function) refuse(LG_INVALID_ARGUMENT, "function is null");
    const auto call = [function, user](const std::vector<SessionValue>& given) {
      return call_function(function, user, given);
    };
    std::string why;
    if (!object.session->add_value_function(checked_name(name), call, &why)) refuse(LG_VALUE, why);
  });
}

lg_code lg_session_poll_event(lg_session* session, double seconds, lg_event* event) {
  return with_session(session, [&](Engine&, SessionObject& object) {
    const double longest = longest_wait(seconds);
    write_struct(event, lg_event{}, kEvent, "lg_event");  // refuses a wrong struct before an event is taken
    auto [kept, dropped] = object.outlet->next(longest);
    object.polled = std::move(kept);
    write_struct(event, object.polled.view(dropped), kEvent, "lg_event");
  });
}

lg_code lg_session_tape(lg_session* session, lg_text** json) {
  return with_session(session, [&](Engine& engine, SessionObject& object) {
    require(json, "json");
    if (!object.keeps_tape) refuse(LG_NOT_FOUND, "the session was opened without LG_SESSION_TAPE");
    const std::shared_ptr<const TapeSnapshot> tape = object.session->tape();
    if (!tape) refuse(LG_NOT_FOUND, "there was no backward pass yet");
    *json = new_text(engine, tape_json(*tape));
  });
}
