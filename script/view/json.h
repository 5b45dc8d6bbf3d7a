#pragma once
// JSON values; their objects keep the order of the keys. Each value belongs to one thread.
#include <nlohmann/json_fwd.hpp>

namespace lunagrad {

using Json = nlohmann::ordered_json;

}  // namespace lunagrad
