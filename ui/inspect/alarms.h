#pragma once
// What is wrong with a training, found in its statistics: gradients that vanish or explode, units that are
// dead, parameters that nothing reaches, steps that are too large, NaN. One table of rules with thresholds
// and reasons. Knows no window and no session: a test feeds it. Drawing thread only.
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "script/view/step_statistics.h"

namespace lunagrad {

enum class AlarmKind { nan, exploding, large_steps, vanishing, dead, unused };

// A rule as a user reads it.
struct AlarmRule {
  AlarmKind kind;
  const char* name;  // "vanishing"
  double threshold;
  int patience;        // so many looks in a row
  const char* says;    // what is compared with the threshold
  const char* reason;  // why this threshold
  const char* hint;    // what usually helps
};
std::span<const AlarmRule> alarm_rules();
const AlarmRule& alarm_rule(AlarmKind);

struct Alarm {
  AlarmKind kind;
  std::string subject;  // a parameter, "fc1.weight", or an op with its line
  std::string op;       // of an op's alarm; empty for a parameter's
  SourcePlace place;
  uint64_t node = 0;  // of the parameter's leaf, or of the op in the latest look
  int64_t since = 0;  // the first step of it that was looked at
  int64_t until = 0;  // the last, when it is over; 0: it goes on
  std::string fact;   // "the norm is 3.1e-9, 2.1e7 times smaller than that of fc3.weight"
};

class Alarms {
 public:
  void add(const StepStatistics&);
  void clear();
  // Those that go on, the gravest first, then those that are over.
  const std::vector<Alarm>& list() const { return list_; }
  int active() const;

 private:
  // What a rule has seen of one subject.
  struct Streak {
    int looks = 0;
    int64_t since = 0;
  };
  struct Usual {
    int count = 0;
    double log = 0;  // of the geometric mean
  };
  // The alarm that goes on, for its fact to be told; null for none. Valid until the next call.
  Alarm* judge(AlarmKind, const std::string& subject, bool bad, const StepStatistics&, const Alarm& about);

  std::map<std::pair<AlarmKind, std::string>, Streak> streaks_;
  std::map<std::string, Usual> usual_;
  std::vector<Alarm> list_;
};

}  // namespace lunagrad
