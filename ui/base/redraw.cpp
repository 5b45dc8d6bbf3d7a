#include "ui/base/redraw.h"

#include <algorithm>
#include <chrono>
#include <limits>

namespace lunagrad {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
double demanded_at = kNever;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

void draw_again_in(double seconds) { demanded_at = std::min(demanded_at, now() + seconds); }
double demanded_draw() { return demanded_at - now(); }
void begin_demands() { demanded_at = kNever; }

}  // namespace lunagrad
