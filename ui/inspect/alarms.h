#pragma once
// Detects training problems in the step statistics: vanishing or exploding gradients, dead units, unused
// parameters, too large steps, NaN. One table of rules with thresholds and reasons. Needs no window and no
// session: a test feeds it. Drawing thread only.
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "script/view/step_statistics.h"

namespace lunagrad {

enum class AlarmKind { nan, growing, exploding, large_steps, vanishing, dead, unused };

// A rule, in the words that the user sees.
struct AlarmRule {
  AlarmKind kind;
  const char* name;  // "vanishing"
  double threshold;
  int patience;        // samples in a row that must be over the threshold
  const char* says;    // the quantity that is compared with the threshold
  const char* reason;  // why this threshold
  const char* hint;    // what usually helps
};
std::span<const AlarmRule> alarm_rules();
const AlarmRule& alarm_rule(AlarmKind);

struct Alarm {
  AlarmKind kind;
  std::string subject;  // a parameter, "fc1.weight", or an op with its line
  std::string name;     // replaces the rule's name, if not empty
  std::string op;       // "" for a parameter's alarm
  SourcePlace place;
  bool found = false;  // the session found it
  uint64_t node = 0;   // the parameter's leaf, or the op in the latest sample
  int64_t since = 0;   // first step that was sampled in this state
  int64_t after = 0;   // the last step that was sampled before it, in another state
  int64_t until = 0;   // last step of an alarm that is over; 0: it is active
  std::string fact;    // "the norm is 3.1e-9, 2.1e7 times smaller than fc3.weight's"
};

// Alarms of one kind that are all active or all over. `first`: the oldest alarm; among equals the first in
// the order of the parameters.
struct AlarmGroup {
  const Alarm* first;
  std::vector<const Alarm*> others;
};

// "! dead: fc1.weight and 2 others, since step 20". An exclamation mark is the sign of an active alarm.
std::string headline(const AlarmGroup&);
// What was measured and, of an active alarm, what usually helps.
std::string advice(const Alarm&);

class Alarms {
 public:
  void add(const StepStatistics&);
  // Sets the findings of the session itself that still hold: a NaN in a step, which replaces the parameters'
  // alarms about it, and a variable whose graph grows. Earlier findings that are not in the list end at
  // `step`.
  void set_found(std::vector<Alarm>, int64_t step);
  void clear();
  // Active alarms, the most severe first, then alarms that are over.
  const std::vector<Alarm>& list() const { return list_; }
  std::vector<AlarmGroup> groups() const;  // valid until the next change
  int active() const;
  // The first of list() if it is active: the most severe alarm; else null. Valid until the next change.
  const Alarm* worst() const { return !list_.empty() && list_.front().until == 0 ? &list_.front() : nullptr; }
  uint64_t revision() const { return revision_; }  // a number that differs after each change

 private:
  // The samples of one subject under one rule.
  struct Streak {
    int looks = 0;
    int64_t since = 0, good = 0;
  };
  struct Usual {
    int count = 0;
    double log = 0;      // log of the geometric mean
    double largest = 0;  // the largest norm of all samples
  };
  // Returns the active alarm, so that its fact can be updated; null if there is none. The pointer is valid
  // until the next call.
  Alarm* judge(AlarmKind, const std::string& subject, bool bad, const StepStatistics&, const Alarm& about);
  void sort();

  std::map<std::pair<AlarmKind, std::string>, Streak> streaks_;
  std::map<std::string, Usual> usual_;
  double largest_ = 0;  // the largest root mean square gradient of a parameter so far
  double latest_ = 0;   // the largest of the latest sample in which there was one
  std::vector<Alarm> list_;
  uint64_t revision_ = 0;
};

}  // namespace lunagrad
