#include "script/view/json.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace lunagrad {

Json json_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

}  // namespace lunagrad
