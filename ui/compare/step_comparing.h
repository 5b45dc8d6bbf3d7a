#pragma once
// The comparison of the shown step with another way to compute it, node by node: on another device, in
// another dtype, or each call at once. Owns the request and its answer, which belong to one step; both end
// when the script runs on. Drawing thread only; the session's thread computes.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "script/session.h"
#include "ui/actions/shown_step.h"
#include "ui/base/device_list.h"
#include "ui/compare/step_marks.h"
#include "ui/inspect/step_inquiry.h"
#include "ui/record/actions.h"
#include "ui/tape/model.h"

namespace lunagrad {

class StepComparing {
 public:
  // All references outlive this object. `wake` is called on any thread. `begins`: a comparison takes over the
  // colours of the tape.
  StepComparing(const TapeModel&, ShownStep&, Actions&, std::function<void()> wake,
                std::function<void()> begins);

  struct Side {
    std::string with;  // as compare_step takes it
    std::string help;
  };
  // What this machine offers for the shown tape. The first call begins to look for devices.
  std::vector<Side> sides();
  bool knows_devices() { return devices_.ready(); }
  std::string lacks() const;  // why the shown step cannot be compared now, "" when it can

  void compare(const std::string& with) { actions_.act("compare_step", {with}); }
  void close() { actions_.act("close_step_comparison"); }  // ends a request, too
  void forget() { inquiry_.close(); }                      // as a part of something else
  // Ends what belongs to a step that has passed. Once a frame, after the tape was updated.
  void update();

  const StepInquiry& inquiry() const { return inquiry_; }
  // Of the tape that is shown; null: none.
  const StepComparison* shown() const { return marks_ ? answer_.get() : nullptr; }
  const std::shared_ptr<const NodeMarks>& marks() const { return marks_; }
  std::string problem() const;  // why there is no answer, "" otherwise

 private:
  void add_actions();

  const TapeModel& tape_;
  ShownStep& shown_;
  Actions& actions_;
  const std::function<void()> wake_, begins_;
  StepInquiry inquiry_;
  DeviceList devices_;
  uint64_t source_ = 0;                           // of the request: shown_.source()
  TapePtr marked_;                                // the tape and the answer that
  std::shared_ptr<const StepComparison> answer_;  // the marks were made of
  std::shared_ptr<const NodeMarks> marks_;
};

}  // namespace lunagrad
