#pragma once
// A keyframe: the state of a run after a step, from which a replay or a fork continues. Immutable once made;
// any thread may read it. KeyframeTaker makes keyframes, a KeyframeSink receives them.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "script/run/params.h"
#include "script/time/snapshot.h"

namespace lunagrad {

struct Keyframe {
  int64_t step = 0;
  // The states that a reload passes to the next script, and the positions of data loaders:
  // lua/lunagrad/run.lua.
  Snapshot content;
  std::vector<ParamStart> params;
  Hashes hashes;  // of the states and of the random generator
};
using KeyframePtr = std::shared_ptr<const Keyframe>;

// The hashes of a keyframe's content. A replay must reach equal hashes.
Hashes state_hashes(const Snapshot& content);

// A keyframe as the bytes of a file, which end with their hash. decode: Error of kind file, which names
// `path`, when the bytes are damaged or of another version.
std::string encode(const Keyframe&);
Keyframe decode(std::string_view bytes, const std::string& path);

// Receives the keyframes of a run. For the session's thread.
class KeyframeSink {
 public:
  virtual ~KeyframeSink() = default;
  // The run continues from `step` with another script, or went back to it: keyframes of later steps are void.
  virtual void begin(int64_t step) = 0;
  virtual bool wants(int64_t step) = 0;
  // `cost`: ticks that making the keyframe took.
  virtual void take(KeyframePtr, uint64_t cost) = 0;
};

// A place that has keyframes; any thread.
class KeyframeSource {
 public:
  virtual ~KeyframeSource() = default;
  // The latest keyframe from step `first` to `last`; null when there is none.
  virtual KeyframePtr latest(int64_t first, int64_t last) = 0;
  // The steps of all keyframes, in order.
  virtual std::vector<int64_t> steps() const = 0;
};

}  // namespace lunagrad
