#include "capi/session/host_call.h"

namespace lunagrad::capi {

CallEngine::CallEngine()
    : previous_(active),
      engine_(context()),
      grad_enabled_(engine_.context.grad_enabled),
      device_(engine_.context.device) {
  engine_.slots.reserve(1);
  const std::lock_guard lock(ending_mutex());
  handle_ = engine_.slots.add_engine();
  active = &engine_;
  forget_message();
}

CallEngine::~CallEngine() {
  if (active != &engine_) activate(&engine_);  // the host has used an engine of its own
  {
    const std::lock_guard lock(ending_mutex());
    engine_.slots.release(slot_of(handle_, Kind::engine));
  }
  engine_.slots.release_all();
  engine_.context.grad_enabled = grad_enabled_;
  engine_.context.device = device_;
  active = previous_;
}

namespace {

ErrorKind kind_of(lg_code code) {
  switch (code) {
    case LG_NUMERIC:
      return ErrorKind::numeric;
    case LG_DEVICE:
      return ErrorKind::device;
    case LG_FILE:
      return ErrorKind::file;
    case LG_OUT_OF_MEMORY:
      return ErrorKind::memory;
    case LG_STOPPED:
      return ErrorKind::cancelled;
    default:
      return ErrorKind::value;
  }
}

}  // namespace

void check_host_code(lg_code code) {
  if (code == LG_OK) return;
  const std::string words = last_message();
  fail_as(kind_of(code), words.empty() ? text("the function of the program gave the code ", code) : words);
}

}  // namespace lunagrad::capi
