#pragma once
// Compares a replay with the run: each number that the run logged, and the hashes of each keyframe on the
// way. Keeps the first difference. see() and the sink are for the thread of the replay's session; first() may
// be called from any thread.
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "script/run/record.h"
#include "script/time/keyframe.h"
#include "script/view/run.h"

namespace lunagrad {

struct Difference {
  int64_t step = 0;
  std::string what;   // "model.fc1.weight", "loss is 0.25, was 0.5"
  std::string cause;  // a sentence without its full stop
};

class ReplayCheck final : public KeyframeSink {
 public:
  // Both must outlive this object.
  ReplayCheck(const RunRecord& record, KeyframeSource& keyframes);

  void see(const Event& metrics);
  std::optional<Difference> first() const;
  // keep(), called before the session starts: also keeps the keyframe of that step. kept(), called after the
  // session has passed the step: that keyframe, null when there was none.
  void keep(int64_t step) { kept_step_ = step; }
  KeyframePtr kept() const;

  void begin(int64_t) override {}
  bool wants(int64_t step) override;
  void take(KeyframePtr, uint64_t cost) override;

 private:
  void found(int64_t step, std::string what);

  const RunRecord& record_;
  KeyframeSource& keyframes_;
  std::vector<int64_t> steps_;  // steps of keyframes, in order
  // by metric: the latest step, and the index of its latest row
  std::map<std::string, std::pair<int64_t, size_t>, std::less<>> seen_;
  int64_t kept_step_ = -1;
  mutable std::mutex mutex_;
  std::optional<Difference> first_;  // under mutex_, like kept_
  KeyframePtr kept_;
};

}  // namespace lunagrad
