#include "runtime/core/error.h"

namespace lunagrad {

Error::Error(const std::string& message, ErrorKind kind) : std::runtime_error(message), kind_(kind) {}

}  // namespace lunagrad
