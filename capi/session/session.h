#pragma once
// What the handle of a session owns. For the engine's thread; lg_session_stop() is for any thread.
#include <atomic>
#include <memory>

#include "capi/engine.h"
#include "capi/session/outlet.h"
#include "script/session.h"

namespace lunagrad::capi {

// The longest time to wait, from `seconds` of the host: infinity for a negative number.
// LG_INVALID_ARGUMENT for what is no number.
double longest_wait(double seconds);

struct SessionObject final : Owned {
  ~SessionObject() override;
  // Ends the session. Returns false when its thread goes on; see lg_session_close().
  bool end(double seconds);

  std::shared_ptr<Outlet> outlet;
  // From the end of a close on: ops of the host are called no more.
  std::shared_ptr<std::atomic<bool>> closed = std::make_shared<std::atomic<bool>>(false);
  std::unique_ptr<Session> session;
  std::string device;
  uint64_t seed = 0;
  bool keeps_tape = false;
  double close_seconds = 10;
  KeptEvent polled;  // of the latest lg_session_poll_event()
};

// Runs f(engine, object) for the session of a handle, inside of the wall.
template <class F>
lg_code with_session(const lg_session* session, F f) {
  return wall([&] {
    HandleSlot& slot = slot_of(session, Kind::session);
    const Work work(*slot.engine);
    f(*slot.engine, static_cast<SessionObject&>(*slot.owned));
  });
}

}  // namespace lunagrad::capi
