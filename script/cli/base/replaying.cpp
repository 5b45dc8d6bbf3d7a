#include "script/cli/base/replaying.h"

#include <cstdio>

#include "runtime/cpu/parallel.h"

namespace lunagrad {

ShownReplay::ShownReplay(const std::string& command, const std::string& folder, ReplayOptions options)
    : progress_(resolve(ProgressStyle::automatic, false)) {
  options.warn = [this, command](const std::string& fact) {
    progress_.write(stderr, "lunagrad " + command + ": " + fact + "\n");
  };
  options.progress = [this](int64_t step) { progress_.step(step, last_); };
  replay_ = std::make_unique<Replay>(folder, std::move(options));
  if (const int threads = replay_->run().threads; threads > 0) set_thread_count(threads);
}

void ShownReplay::finish() {
  progress_.write(stderr, "");
  replay_->require_same();
}

}  // namespace lunagrad
