#pragma once
// The values of the C library. A table's handles share its content until one of them changes it. For the
// engine's thread.
#include "capi/engine.h"
#include "script/session_value.h"

namespace lunagrad::capi {

struct ValueObject final : Owned {
  explicit ValueObject(SessionValue given) : value(std::move(given)) {}
  SessionValue value;
};

// The value of a handle, whose engine is `engine`.
ValueObject& value_of(const lg_value*, const Engine&);
// A new handle. bad_alloc when there is no room.
lg_value* new_value(Engine&, SessionValue);

}  // namespace lunagrad::capi
