#include "ui/inspect/alarms.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <tuple>

#include "runtime/core/error.h"
#include "runtime/core/op_name.h"

namespace lunagrad {
namespace {

// In order of severity.
constexpr std::array<AlarmRule, 7> kRules = {{
    {AlarmKind::nan, "NaN", 0, 1, "elements of a gradient or of the weights that are NaN or infinite",
     "one is enough: every later value that depends on it is NaN too",
     "Run again to the first NaN: the run pauses at the op that makes it and says why."},
    {AlarmKind::growing, "growing graph", 45, 1, "of the latest 50 steps have nodes that one variable holds",
     "the graph of every step stays in memory, and each backward pass may walk all of it",
     "Add numbers, as with loss:item(), or loss:detach()."},
    {AlarmKind::exploding, "exploding", 100, 1,
     "times its usual norm, the geometric mean of the looks before, and more than ever before",
     "from batch to batch a norm varies by a factor of a few, not of a hundred; what is small in a network "
     "that has "
     "converged may vary by more",
     "Clip the gradients (nn.utils.clip_grad_norm_), lower the learning rate, or look at the batch of that "
     "step."},
    {AlarmKind::large_steps, "large steps", 0.2, 3,
     "of its own size is what a weight matrix moves in one step",
     "healthy training moves weights by about a thousandth; a fifth at a time forgets what was learned",
     "Lower the learning rate, by a factor of ten to begin with, or begin with a warm-up."},
    {AlarmKind::vanishing, "vanishing", 1e-5, 3,
     "of the largest gradient of any parameter, by element, is the gradient of a weight matrix",
     "layers of one network differ by a factor of a hundred or so; a step a hundred thousand times smaller "
     "teaches nothing",
     "Use ReLU or GELU in place of saturating activations, normalisation, residual connections, or a better "
     "initialisation."},
    {AlarmKind::dead, "dead", 0.95, 3, "of the elements are exactly 0",
     "a ReLU passes about half of its input; one that passes nothing gets no gradient and cannot recover",
     "Lower the learning rate, use LeakyReLU or GELU, or start with another bias."},
    {AlarmKind::unused, "unused", 0, 2, "backward passes reached it in a row",
     "an optimizer updates it, so that it was meant to learn",
     "Use the layer in forward(), or take the parameter out of the optimizer; a detach() or no_grad() cuts "
     "it off, too."},
}};

constexpr int kKnownEnough = 5;  // samples after which the usual norm is known
// If the largest gradient has become this much smaller, the network has converged, and differences are noise.
constexpr double kConverged = 1e-3;

bool rectifies(const NodeStatistics& node) {
  return node.op == "relu" || node.op == "relu6" || node.activation == "relu";
}

// Root mean square of the elements, so that large and small parameters are comparable.
double size_of(const ParameterStatistics& p) {
  const int64_t finite = p.gradient.count - p.gradient.nans - p.gradient.infs;
  return finite > 0 ? p.gradient.norm / std::sqrt(double(finite)) : 0;
}

}  // namespace

std::span<const AlarmRule> alarm_rules() { return kRules; }

const AlarmRule& alarm_rule(AlarmKind kind) {
  return *std::find_if(kRules.begin(), kRules.end(),
                       [&](const AlarmRule& rule) { return rule.kind == kind; });
}

std::string headline(const AlarmGroup& group) {
  const Alarm& alarm = *group.first;
  const size_t others = group.others.size();
  std::string head = std::string(alarm.until > 0 ? "(over) " : "! ") +
                     (alarm.name.empty() ? alarm_rule(alarm.kind).name : alarm.name) + ": " + alarm.subject;
  if (others > 0) head += " and " + std::to_string(others) + (others == 1 ? " other" : " others");
  // If steps between two samples were not looked at, it may have begun earlier.
  head += (alarm.since - alarm.after <= 1 ? ", since step " : ", first seen at step ") +
          std::to_string(alarm.since);
  if (alarm.until > 0) head += ", until " + std::to_string(alarm.until);
  return head;
}

std::string advice(const Alarm& alarm) {
  std::string fact = alarm.fact.empty() ? "" : alarm.fact + ".";
  if (!fact.empty()) fact[0] = char(std::toupper(static_cast<unsigned char>(fact[0])));
  return fact + (alarm.until > 0 ? "" : std::string(" ") + alarm_rule(alarm.kind).hint);
}

void Alarms::clear() {
  streaks_.clear();
  usual_.clear();
  largest_ = latest_ = 0;
  list_.clear();
  ++revision_;
}

void Alarms::set_found(std::vector<Alarm> found, int64_t step) {
  const auto same_as = [](const Alarm& a) {
    return [&a](const Alarm& b) { return b.kind == a.kind && b.subject == a.subject && b.until == 0; };
  };
  bool changed = false;
  for (Alarm& alarm : list_)
    if (alarm.found && alarm.until == 0 && std::none_of(found.begin(), found.end(), same_as(alarm))) {
      alarm.until = std::max(step, alarm.since);
      changed = true;
    }
  for (Alarm& alarm : found)
    if (std::none_of(list_.begin(), list_.end(), same_as(alarm))) {
      alarm.found = true;
      list_.push_back(std::move(alarm));
      changed = true;
    }
  if (changed) sort();
  revision_ += changed;
}

// The session's own findings come before the parameters' alarms, which are consequences of them.
void Alarms::sort() {
  std::stable_sort(list_.begin(), list_.end(), [](const Alarm& a, const Alarm& b) {
    return std::tuple(a.until > 0, a.kind, a.since) < std::tuple(b.until > 0, b.kind, b.since);
  });
}

std::vector<AlarmGroup> Alarms::groups() const {
  std::vector<AlarmGroup> groups;
  for (const Alarm& alarm : list_) {
    const bool same = !groups.empty() && groups.back().first->kind == alarm.kind &&
                      (groups.back().first->until > 0) == (alarm.until > 0);
    if (same)
      groups.back().others.push_back(&alarm);
    else
      groups.push_back({&alarm, {}});
  }
  return groups;
}

int Alarms::active() const {
  return int(std::count_if(list_.begin(), list_.end(), [](const Alarm& a) { return a.until == 0; }));
}

Alarm* Alarms::judge(AlarmKind kind, const std::string& subject, bool bad, const StepStatistics& step,
                     const Alarm& about) {
  Streak& streak = streaks_[{kind, subject}];
  const auto known = std::find_if(list_.begin(), list_.end(), [&](const Alarm& a) {
    return a.kind == kind && a.subject == subject && a.until == 0;
  });
  if (!bad) {
    streak = {0, 0, step.step};
    if (known != list_.end()) known->until = step.step;
    return nullptr;
  }
  if (streak.looks++ == 0) streak.since = step.step;
  if (streak.looks < alarm_rule(kind).patience) return nullptr;
  if (known != list_.end()) {
    known->node = about.node;
    return &*known;
  }
  Alarm& made = list_.emplace_back(about);
  made.kind = kind;
  made.subject = subject;
  made.since = streak.since;
  made.after = streak.good;
  return &made;
}

void Alarms::add(const StepStatistics& step) {
  const ParameterStatistics* strongest = nullptr;
  for (const ParameterStatistics& p : step.parameters)
    if (p.has_gradient && (!strongest || size_of(p) > size_of(*strongest))) strongest = &p;

  const double top = strongest ? size_of(*strongest) : 0;
  // Gradients that fade have converged; gradients that are all exactly 0 from one sample to the next, or from
  // the first sample on, while there is a loss, are dead.
  const bool any_loss = !step.nodes.empty() && step.nodes.front().output.norm > 0;
  const bool stopped = strongest && top == 0 && any_loss && latest_ >= kConverged * largest_;
  const bool converged = !stopped && (top < kConverged * largest_ || top == 0);
  if (top > 0 && std::isfinite(top)) latest_ = top;
  if (std::isfinite(top)) largest_ = std::max(largest_, top);
  // While there is a NaN, other alarms would be its consequences.
  const bool broken = std::any_of(list_.begin(), list_.end(),
                                  [](const Alarm& a) { return a.kind == AlarmKind::nan && a.until == 0; });

  for (const ParameterStatistics& p : step.parameters) {
    Alarm about{};
    about.place = p.place;
    about.node = p.node;
    const auto judged = [&](AlarmKind kind, bool bad) { return judge(kind, p.name, bad, step, about); };
    const Summary& g = p.gradient;
    // A parameter without a gradient is unused only if the optimizer updates it: in this step the script may
    // train another model, or it may have replaced this one.
    if (p.optimized || p.has_gradient)
      if (Alarm* const alarm = judged(AlarmKind::unused, !p.has_gradient))
        alarm->fact = "no backward pass reaches it";
    const int64_t in_gradient = g.nans + g.infs, in_weights = p.weight.nans + p.weight.infs;
    if (Alarm* const alarm = judged(AlarmKind::nan, in_gradient + in_weights > 0))
      alarm->fact =
          text(in_gradient > 0 ? in_gradient : in_weights, " of ", p.weight.count, " elements of its ",
               in_gradient > 0 ? "gradient" : "weights", " are NaN or infinite");
    if (!p.has_gradient || broken || in_gradient + in_weights > 0) continue;

    Usual& usual = usual_[p.name];
    const double mean = std::exp(usual.log);
    const bool explodes =
        usual.count >= kKnownEnough && g.norm > alarm_rule(AlarmKind::exploding).threshold * mean &&
        (g.norm > usual.largest || p.update_ratio() > alarm_rule(AlarmKind::large_steps).threshold);
    if (Alarm* const alarm = judged(AlarmKind::exploding, explodes))
      alarm->fact = text("the gradient's norm is ", g.norm, ", usual is ", mean);
    if (g.norm > 0 && !explodes) {
      usual.largest = std::max(usual.largest, g.norm);
      ++usual.count;
      usual.log += (std::log(g.norm) - usual.log) / std::min(usual.count, 10);
    }

    // A bias that starts at 0 changes by more than its own size, which is normal.
    const double ratio = p.update_ratio();
    if (Alarm* const alarm =
            judged(AlarmKind::large_steps,
                   p.shape.size() >= 2 && ratio > alarm_rule(AlarmKind::large_steps).threshold))
      alarm->fact = text("a step moves it by ", ratio, " of its size");
    if (Alarm* const alarm = judged(AlarmKind::dead, !converged && g.count > 0 && g.zeros == g.count))
      alarm->fact = "its gradient is 0 everywhere";
    const double part = top > 0 ? size_of(p) / top : 1;
    // Biases are excluded: before a normalization a bias has a gradient that is 0 except for rounding.
    const bool vanishes = !converged && p.shape.size() >= 2 && g.zeros < g.count &&
                          part < alarm_rule(AlarmKind::vanishing).threshold;
    if (Alarm* const alarm = judged(AlarmKind::vanishing, vanishes))
      alarm->fact = text("its gradient is ", part, " of the gradient of ", strongest->name, ", by element");
  }

  for (const NodeStatistics& node : step.nodes) {
    if (broken || !rectifies(node) || node.output.count == 0) continue;
    const double zeros = double(node.output.zeros) / double(node.output.count);
    const std::string place = file_and_line(node.place);
    const std::string what =
        node.activation.empty() ? public_op_name(node.op) : public_op_name(node.op) + "'s " + node.activation;
    const std::string subject =
        what + (node.module.empty() ? "" : " of " + node.module) + (place.empty() ? "" : " at " + place);
    Alarm alarm{};
    alarm.op = node.op;
    alarm.place = node.place;
    alarm.node = node.node;
    if (Alarm* const dead =
            judge(AlarmKind::dead, subject, zeros > alarm_rule(AlarmKind::dead).threshold, step, alarm))
      dead->fact = text(std::round(zeros * 1000) / 10, " % of what it gives out is 0");
  }
  ++revision_;
  sort();
}

}  // namespace lunagrad
