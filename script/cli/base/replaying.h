#pragma once
// A replay for a command: with the run's number of threads, progress on a terminal, and warnings on standard
// error. For the main thread.
#include <memory>
#include <string>

#include "script/cli/base/progress.h"
#include "script/time/replay.h"

namespace lunagrad {

class ShownReplay {
 public:
  // Uses from `options` the limits of the replay and the sink for its events, which is called on its
  // session's thread. Throws the errors of Replay.
  ShownReplay(const std::string& command, const std::string& folder, ReplayOptions options);

  Replay& operator*() { return *replay_; }
  Replay* operator->() { return replay_.get(); }
  void show_up_to(int64_t last) { last_ = last; }
  // Removes the progress. Error when the replay met something else than the run did.
  void finish();

 private:
  Progress progress_;
  int64_t last_ = 0;
  std::unique_ptr<Replay> replay_;  // last, because its thread uses the others
};

}  // namespace lunagrad
