#pragma once
// The call that a pause or an error is about, with its line, and its operands and results as text. Keeps the
// tensors alive. For the session's thread.
#include <string>

#include "runtime/core/op.h"
#include "script/view/pause.h"

namespace lunagrad {

struct NotedCall {
  Call call;
  SourceLine line;
  uint32_t module = 0;
};
NotedCall note_of(const Call&);  // at the context's line and module

// Sets the op, the place, the operands and the results of a position.
void describe(const NotedCall&, PausePosition&);
// "f32 [2, 3] from -1 to 4, mean 1.5, 2 NaN and 1 -Inf"; of a very large tensor only dtype and shape. Waits
// for its device.
std::string value_text(const Tensor&);

}  // namespace lunagrad
