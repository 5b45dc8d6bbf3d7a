#pragma once
// What the engines of the C library need of sessions: capi/session/ has them, or, in a library without
// scripts, capi/session/none.cpp. For the engine's thread.
#include "capi/handles.h"

namespace lunagrad::capi {

// Releases the handle of a session and ends the session, within the deadline of its options.
void close_session(HandleSlot&);

}  // namespace lunagrad::capi
