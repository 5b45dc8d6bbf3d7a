#pragma once
// Keyframes in memory, within a budget of bytes. A window passes it to a run as RunOptions::keyframe_sink,
// and to a Replay as its source. The session's thread adds keyframes; any thread may read. One lock guards
// the list; the keyframes themselves do not change.
#include <map>
#include <mutex>

#include "script/time/keyframe.h"
#include "script/time/spacing.h"

namespace lunagrad {

class MemoryKeyframes final : public KeyframeSink, public KeyframeSource {
 public:
  explicit MemoryKeyframes(size_t budget) : spacing_(budget) {}

  void set_budget(size_t bytes);  // any thread
  void begin(int64_t step) override;
  bool wants(int64_t step) override;
  void take(KeyframePtr, uint64_t cost) override;
  KeyframePtr latest(int64_t first, int64_t last) override;
  std::vector<int64_t> steps() const override;
  size_t bytes() const;
  double share() const;  // fraction of the run's time spent on taking them

 private:
  void drop_surplus();

  mutable std::mutex mutex_;
  Spacing spacing_;
  std::map<int64_t, KeyframePtr> frames_;
};

}  // namespace lunagrad
