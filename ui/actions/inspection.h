#pragma once
// What the window shows of the selected node: which of its tensors is inspected, the values of that tensor,
// and the answers to gradient checks and device comparisons. Owns the probe and the inquiry that fetch them
// from the session; neither waits. Drawing thread only.
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "script/session_inspection.h"
#include "ui/actions/shell.h"
#include "ui/actions/shown_step.h"
#include "ui/inspect/node_inquiry.h"
#include "ui/inspect/value_probe.h"
#include "ui/runs/journal.h"
#include "ui/tape/model.h"

namespace lunagrad {

class Inspection {
 public:
  // All references outlive this object. `wake` is called on the session's thread when an answer arrives.
  Inspection(SessionInspection& session, const Journal& journal, const TapeModel& tape, ShownStep& shown,
             Shell& shell, const std::function<void()>& wake);

  // Fetches the values of the selected node, or forgets them when no node is selected. Returns the tape to
  // show next once its values have arrived, else null. Once a frame.
  TapePtr watch();
  void show();  // shows the values of the new tape. Once a frame, after watch()
  // Reports the result of a copy or save. Once a frame. Returns true when there is something new to show.
  bool update();

  // The inspected tensor of the selected node: input or output `index()`.
  bool shows_input() const { return input_; }
  int index() const { return index_; }
  void inspect_output(int output) { select_tensor("output", output); }
  void inspect_input(int input) { select_tensor("input", input); }
  const TensorPlace& place() const { return place_; }

  // The tensor's value and gradient, and which parts of them are fetched.
  const ValueProbe& probe() const { return probe_; }
  void look_at(const ValueProbe::Look& value, const ValueProbe::Look& gradient);

  const NodeInquiry& inquiry() const { return inquiry_; }
  // Checks the gradient of the selected node, in the shown step.
  void check_gradient() { shell_.actions().act("check_gradient"); }
  void compare_devices() { shell_.actions().act("compare_devices"); }
  void cancel() { shell_.actions().act("cancel_check"); }
  void close_answers() { shell_.actions().act("close_check"); }
  void begin_run() {
    inquiry_.close();
    awaited_.reset();
  }
  void copy(const TensorPlace& place, const SliceQuery& slice, SliceFormat format) {
    inquiry_.copy(shown_.session(), place, slice, format);
  }
  void save(const TensorPlace& place, const std::string& path) {
    inquiry_.save(shown_.session(), place, path);
  }
  void save(Which which, const std::string& path) {
    shell_.actions().act("save_tensor", {path, std::string(which == Which::gradient ? "gradient" : "value")});
  }
  const std::string& result() const { return result_; }  // the result of the last copy or save, a sentence

 private:
  using Clock = std::chrono::steady_clock;
  void add_actions();
  void select_tensor(const std::string& side, int index) {
    shell_.actions().act("select_tensor", {side, double(index + 1)});
  }
  const std::vector<OperandInfo>& side(const ActionArguments&) const;
  TensorPlace place_of(const TapeSnapshot&, const NodeInfo&);
  const NodeInfo* twin_of(const NodeInfo&, const TapeSnapshot& other) const;

  SessionInspection& session_;
  const Journal& journal_;
  const TapeModel& tape_;
  ShownStep& shown_;
  Shell& shell_;
  ValueProbe probe_;
  NodeInquiry inquiry_;
  bool input_ = false;
  int index_ = 0;
  TensorPlace place_;
  std::string result_;
  uint64_t source_ = 0;  // the shown_.source() whose values the probe requests
  struct Coming {
    TapePtr tape;
    Clock::time_point since;
  };
  std::optional<Coming> awaited_;  // the tape to show when its values have arrived
};

}  // namespace lunagrad
