#pragma once
// Dates. Any thread.
#include <ctime>

namespace lunagrad {

std::tm utc_of(std::time_t);  // the date and time of day in UTC

}  // namespace lunagrad
