#pragma once
// Keyframes as files in a run's folder: keyframes/step-00000100.keyframe. Each file is complete or absent.
// The writer belongs to the session's thread; the reader may be used by any thread, one at a time.
#include <functional>
#include <string>

#include "script/time/keyframe.h"
#include "script/time/spacing.h"

namespace lunagrad {

class KeyframeWriter final : public KeyframeSink {
 public:
  // Keeps at most `budget` bytes of files. When a keyframe cannot be written, `warn` is called once, and no
  // more are written.
  KeyframeWriter(std::string run_folder, size_t budget, std::function<void(const std::string&)> warn);

  void begin(int64_t step) override;
  bool wants(int64_t step) override;
  void take(KeyframePtr, uint64_t cost) override;

 private:
  const std::string folder_;
  const std::function<void(const std::string&)> warn_;
  Spacing spacing_;
  bool failed_ = false;
};

// Writes one keyframe into a run's folder, before the run begins there. Error of kind file.
void write_keyframe(const std::string& run_folder, const Keyframe&);

class KeyframeReader final : public KeyframeSource {
 public:
  // A damaged file is left out, with a warning.
  KeyframeReader(const std::string& run_folder, std::function<void(const std::string&)> warn);

  KeyframePtr latest(int64_t first, int64_t last) override;
  std::vector<int64_t> steps() const override { return steps_; }

 private:
  const std::string folder_;
  const std::function<void(const std::string&)> warn_;
  std::vector<int64_t> steps_;
};

}  // namespace lunagrad
