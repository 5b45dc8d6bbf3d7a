#pragma once
// A question "Why?", what is known to answer it, and the answer: a trail of causes, each a sentence with the
// place that it is about. Plain values; any thread may hold a copy.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "script/view/step_statistics.h"
#include "script/view/tape.h"
#include "ui/inspect/alarms.h"

namespace lunagrad {

// A change during the run that is not a part of the training: an edited parameter, a reload, surgery.
struct WhyChange {
  int64_t step = 0;
  std::string text;  // "lr = 10"
  SourcePlace place;
};

// The session's finding of the first NaN or Inf.
struct WhyNotFinite {
  bool nan = true;
  int64_t step = 0;
  std::string headline, explanation;
  SourcePlace place;
  uint64_t node = 0;
};

struct WhyFacts {
  const TapeSnapshot* tape = nullptr;    // the shown tape; null: there is none
  std::vector<StepStatisticsPtr> steps;  // measured steps, oldest first, none later than the shown step
  std::vector<WhyChange> changes;        // oldest first
  std::optional<WhyNotFinite> not_finite;
};

// About one of these.
struct WhyQuestion {
  uint64_t node = 0;  // an id
  std::string parameter = {};
  std::optional<Alarm> alarm = {};
};

struct WhyLink {
  std::string sentence;
  uint64_t node = 0;  // a node of the tape; 0: none
  SourcePlace place;  // a line; line 0: none
  int64_t step = -1;  // a step of the run; -1: none
};

struct WhyTrail {
  std::string subject;         // "hidden.weight"
  int64_t step = 0;            // of the tape that was asked about
  std::vector<WhyLink> links;  // from the effect to its first known cause; never empty
};

}  // namespace lunagrad
