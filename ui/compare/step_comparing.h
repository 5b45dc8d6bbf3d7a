#pragma once
// Compares the shown step with another way to compute it, node by node: on another device, in another dtype,
// or eager. Owns the request and its answer, which belong to one step; both end when the script continues.
// Drawing thread only; the session's thread computes.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "script/view/step_comparison.h"
#include "ui/actions/shown_step.h"
#include "ui/base/device_list.h"
#include "ui/compare/step_marks.h"
#include "ui/inspect/step_inquiry.h"
#include "ui/record/actions.h"
#include "ui/tape/model.h"

namespace lunagrad {

class StepComparing {
 public:
  // All references outlive this object. `wake` is called on any thread. `begins` is called when a comparison
  // takes over the colours of the tape.
  StepComparing(const TapeModel&, ShownStep&, Actions&, std::function<void()> wake,
                std::function<void()> begins);

  struct Side {
    std::string with;  // the argument of compare_step
    std::string help;
  };
  // The sides that this machine can compute for the shown tape. The first call starts the search for devices.
  std::vector<Side> sides();
  bool knows_devices() { return devices_.ready(); }
  std::string lacks() const;  // why the shown step cannot be compared now, "" when it can

  void compare(const std::string& with) { actions_.act("compare_step", {with}); }
  void close() { actions_.act("close_step_comparison"); }  // also ends a request
  void forget() { inquiry_.close(); }                      // close() as a part of another action
  // Forgets the request and the answer when another session or another step of a replay is shown, or the
  // script runs. Once a frame, after the tape was updated.
  void update();

  const StepInquiry& inquiry() const { return inquiry_; }
  // The comparison of the shown tape; null if there is none.
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
  uint64_t source_ = 0;                           // the shown_.source() of the request
  TapePtr marked_;                                // the marks belong to this tape
  std::shared_ptr<const StepComparison> answer_;  // and to this answer
  std::shared_ptr<const NodeMarks> marks_;
};

}  // namespace lunagrad
