#include "runtime/system/clock.h"

namespace lunagrad {

std::tm utc_of(std::time_t time) {
  std::tm date{};
  ::gmtime_r(&time, &date);
  return date;
}

}  // namespace lunagrad
