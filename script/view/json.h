#pragma once
// JSON values; their objects keep the order of the keys. Each value belongs to one thread.
#include <nlohmann/json_fwd.hpp>

namespace lunagrad {

using Json = nlohmann::ordered_json;

// JSON lacks NaN and infinities: they are "NaN", "Infinity" and "-Infinity".
Json json_number(double value);

}  // namespace lunagrad
