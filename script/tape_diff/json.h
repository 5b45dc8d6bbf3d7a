#pragma once
// The difference of two tapes as JSON, for `lunagrad tape diff --json` and for the page in a browser. Pure;
// any thread.
#include <nlohmann/json_fwd.hpp>

#include "script/tape_diff/difference.h"

namespace lunagrad {

// {"equal", "a", "b", "counts", "ranked": […], "time", "notes", …}, described in docs/reference.md.
nlohmann::ordered_json difference_json(const TapeDiff&);
// difference_json with all nodes of both tapes, their pairs and the scripts.
nlohmann::ordered_json page_json(const TapeDiff&);

}  // namespace lunagrad
