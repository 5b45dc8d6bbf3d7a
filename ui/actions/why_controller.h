#pragma once
// Asks "Why?" about a node, a parameter or an alarm, and keeps the answer until it is closed or a new run
// begins. The answer is computed once, from the state at that moment. Drawing thread only.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ui/actions/shell.h"
#include "ui/actions/shown_step.h"
#include "ui/actions/tape_actions.h"
#include "ui/inspect/gradient_model.h"
#include "ui/inspect/why.h"
#include "ui/runs/journal.h"
#include "ui/tape/model.h"

namespace lunagrad {

class WhyController {
 public:
  // What an answer is made from; all of it outlives this object. `gradients` returns the statistics up to the
  // shown step.
  struct Uses {
    const TapeModel& tape;
    const Journal& journal;
    const ShownStep& shown;
    TapeActions& tape_actions;
    Actions& actions;
    std::function<const GradientModel&()> gradients;
  };
  explicit WhyController(Uses);

  void ask_node(int node);  // by its index on the tape
  void ask_parameter(const std::string& name);
  void ask_alarm(const Alarm&);
  void close() { uses_.actions.act("close_why"); }
  void begin_run() { trail_.reset(); }

  const WhyTrail* trail() const { return trail_ ? &*trail_ : nullptr; }
  // The index of the link's node on the shown tape, also of another step with the same structure; -1: the
  // tape does not have it.
  int node_of(size_t link) const;
  uint64_t number() const { return number_; }  // a number that differs for each answer

 private:
  void answer(const WhyQuestion&);
  WhyFacts facts() const;
  std::optional<WhyQuestion> question(const ActionArguments&) const;  // nothing: it cannot be asked yet

  Uses uses_;
  std::optional<WhyTrail> trail_;
  uint64_t structure_ = 0;  // of the tape that was asked about
  std::vector<int> nodes_;  // for each link the index of its node on that tape; -1: none
  uint64_t number_ = 0;
};

}  // namespace lunagrad
