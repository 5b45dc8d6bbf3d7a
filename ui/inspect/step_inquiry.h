#pragma once
// A comparison of a whole step with another way to compute it: the request, its progress, and the answer. The
// session answers on its own thread, at a safe point of its script; this class belongs to the drawing thread
// and never waits.
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "script/session_inspection.h"
#include "ui/base/awaited.h"

namespace lunagrad {

class StepInquiry {
 public:
  // `wake` is called on the session's thread when there is news.
  explicit StepInquiry(std::function<void()> wake);

  // Starts a comparison; ends the previous request.
  void compare(SessionInspection&, int64_t step, const ComparisonQuery&);
  void close();                                      // ends the request and forgets the answer
  const std::string& with() const { return with_; }  // the `with` of the latest request
  struct Progress {
    size_t done = 0, all = 0;  // numbers of computations; 0 of 0: it has not begun
    std::string name;          // the op of the next computation
  };
  std::optional<Progress> progress() const;  // nothing: no request is in progress
  std::shared_ptr<const StepComparison> answer() const { return answer_.get(); }

 private:
  struct Shared {
    std::mutex mutex;
    Progress progress;  // guarded by mutex
  };
  const std::function<void()> wake_;
  std::string with_;
  std::shared_ptr<Shared> shared_;  // shared with the callbacks of the latest request
  Awaited<StepComparison> answer_;
};

}  // namespace lunagrad
