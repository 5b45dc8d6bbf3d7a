#include "ui/inspect/pause_measuring.h"

namespace lunagrad {

void PauseMeasuring::stand(SessionInspection& session, const Pause& now, bool measured) {
  if (asked_ == now) return;
  asked_ = now;
  // A step that was measured within it is measured once more when the next pause comes.
  if (measured && measured_ != now.step) return;
  measured_ = now.step;
  auto answered = answer_.ask();
  session.measure_step(answer_.stop_token(), std::move(answered));
}

void PauseMeasuring::go_on() {
  if (waiting()) answer_.forget();
}

}  // namespace lunagrad
