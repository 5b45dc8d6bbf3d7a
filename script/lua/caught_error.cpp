#include "script/lua/caught_error.h"

#include <cstdio>
#include <new>

namespace lunagrad {

void CaughtError::copy(const std::exception& error) noexcept {
  const bool no_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
  const auto* own = dynamic_cast<const Error*>(&error);
  kind = own ? own->kind() : no_memory ? ErrorKind::memory : ErrorKind::value;
  std::snprintf(message, sizeof message, "%s", no_memory ? "not enough memory" : error.what());
}

}  // namespace lunagrad
