#pragma once
// Calls of a host's C functions by a script. For the session's thread.
#include <vector>

#include "capi/engine.h"

namespace lunagrad::capi {

// The session's engine during one call: its handles end with the call.
class CallEngine {
 public:
  CallEngine();
  ~CallEngine();
  CallEngine(const CallEngine&) = delete;

  Engine& engine() { return engine_; }
  lg_engine* handle() const { return handle_; }

 private:
  Engine* const previous_;
  Engine engine_;
  lg_engine* handle_;
  const bool grad_enabled_;
  Device* const device_;
};

// Throws what the code of a host's function says, an Error of the script; returns if it is LG_OK.
void check_host_code(lg_code);

}  // namespace lunagrad::capi
