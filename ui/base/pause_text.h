#pragma once
// What the window says about the position at which a run stands still, and the command that makes sense next.
// Pure functions.
#include <string>

#include "script/view/pause.h"

namespace lunagrad {

struct PauseText {
  std::string reason;  // "NaN in step 50"
  std::string place;   // "train.lua:10"; "": no line is known
  std::string op;      // "div", "backward of sqrt", "sqrt in std"; "": no op
  std::string values;  // "input: f32 [8, 4] from -1.8 to 2; other: f32 scalar, 0; result: f32 [8, 4], 32 Inf"
  std::string action, command;  // the button's label, and the command that it runs
};
PauseText pause_text(const PausePosition&);

// The text with "…" in its middle, at most `most` bytes long besides; never cut within a character.
std::string without_middle(const std::string&, size_t most);

}  // namespace lunagrad
