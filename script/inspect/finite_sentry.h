#pragma once
// Finds the first NaN or Inf of a run without being asked, and names the op that made it. It checks the root
// of each backward pass, the small gradients of the pass, the parameters that an optimizer has changed, and
// the values that the script logs. Gradients and parameters are read in as many steps and backward passes as
// cost half a percent of the time, and for a few milliseconds at the beginning in any case. A root is traced
// over the graph (runtime/tape/origin.h). Values on a GPU are read with a delay, together. In a backward pass
// whose calls are deferred gradients are not read, since each read would end a group. While a captured graph
// is recorded the sentry reads nothing: it reads when it has time, so two recordings would differ. For the
// session's thread.
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/tape/finite.h"
#include "runtime/tape/tape.h"
#include "script/view/source_place.h"

namespace lunagrad {

class FiniteSentry final : public Capture {
 public:
  struct Found {
    const char* kind = "NaN";  // or "Inf", "-Inf"
    int64_t step = 0;          // step in which it was found; 0: outside of steps
    int64_t since = 0;         // the earliest step that can have made it
    std::string what;          // "sqrt at model.lua:31", "the gradient of fc1.weight"
    std::string explanation;
    SourcePlace place;
    uint64_t node = 0;
  };
  // `tell` is called once per run. `aside` says that the running ops are not the script's.
  FiniteSentry(std::function<void(const Found&)> tell, std::function<bool()> aside)
      : tell_(std::move(tell)), aside_(std::move(aside)) {}

  void set_on(bool on) { on_ = on; }
  bool looks() const { return on_ && !found_; }
  bool looks_at_gradients() const { return looks() && looking_; }  // at this moment
  bool found() const { return found_; }
  double spent() const { return ticks_to_ns(spent_); }  // nanoseconds spent on reading since the run began
  void begin_run(int64_t done);  // `done`: the completed steps of a run that is continued
  void begin_step(int64_t step);
  void end_step();
  void end_run();
  // An optimizer has made a step, called from the current line.
  void stepped(const TensorList& parameters);
  // A gradient scaler has skipped a step because of its scale.
  void skipped();
  // A logged value; only losses are checked.
  void logged(const std::string& name, double value, int64_t step, const SourcePlace&);

  void root(const Tensor&);  // the root of one of the script's backward passes
  void begin(std::span<Node* const> nodes) override;
  void gradient(const Node&, uint32_t output, const Tensor&) override;
  bool keep(const Node&) override { return false; }
  void end() override { pass_ = {}; }

 private:
  // The first gradient that was not finite.
  struct BadGradient {
    int64_t step = 0;
    const char* kind = "NaN";
    std::string what;
    SourcePlace place;
  };
  struct DeviceRoot {
    Tensor value;
    int64_t step;
    SourcePlace place;
  };
  void keep_to_the_part();  // decides whether there is time to read the next values
  bool finite(const Tensor&);
  bool sampled_finite(const Tensor&);
  void judge_root(const Tensor&);
  void judge_parameter(const Tensor&);
  void read_device_roots();
  void report(Found);

  const std::function<void(const Found&)> tell_;
  const std::function<bool()> aside_;
  bool on_ = false, found_ = false;
  int64_t step_ = 0;
  int64_t good_ = 0;  // the last step after which every parameter is known to have been finite
  std::span<Node* const> pass_;
  std::optional<BadGradient> bad_gradient_;
  std::optional<Found> pending_;  // waits for the gradient scaler, which may skip the step
  std::deque<DeviceRoot> roots_;
  bool looking_ = false;                                 // gradients and parameters are being read
  bool whole_ = false;                                   // large ones, too
  bool missed_ = false;                                  // a parameter was not read in this step
  bool stepped_ = false;                                 // an optimizer has made a step
  uint64_t began_ = 0, spent_ = 0, spent_on_whole_ = 0;  // ticks since the run began
};

}  // namespace lunagrad
