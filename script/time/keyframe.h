#pragma once
// A keyframe: the state of a run after a step, from which a replay or a fork goes on. Immutable once made;
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
  // What a reload hands to the next script, and the positions of data loaders: lua/lunagrad/run.lua.
  Snapshot content;
  std::vector<ParamStart> params;
  Hashes hashes;  // of the states and of the random generator
};
using KeyframePtr = std::shared_ptr<const Keyframe>;

// The hashes of a keyframe's content that a replay must meet again.
Hashes state_hashes(const Snapshot& content);

// A keyframe as the bytes of a file, which ends with their hash. decode: Error of kind file, which names
// `path`, when they are damaged or of another version.
std::string encode(const Keyframe&);
Keyframe decode(std::string_view bytes, const std::string& path);

// Who wants keyframes of a run. For the session's thread.
class KeyframeSink {
 public:
  virtual ~KeyframeSink() = default;
  // The run is at `step`; another script, or an earlier step, went on there: later keyframes are void.
  virtual void begin(int64_t step) = 0;
  virtual bool wants(int64_t step) = 0;
  // `cost`: what it took to make it, in ticks.
  virtual void take(KeyframePtr, uint64_t cost) = 0;
};

// Where keyframes are found; any thread.
class KeyframeSource {
 public:
  virtual ~KeyframeSource() = default;
  // The latest one from `first` to `last`, null when there is none.
  virtual KeyframePtr latest(int64_t first, int64_t last) = 0;
  // The steps of all, in order.
  virtual std::vector<int64_t> steps() const = 0;
};

}  // namespace lunagrad
