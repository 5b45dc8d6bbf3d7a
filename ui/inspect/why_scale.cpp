// Why a gradient is small or large: the ops between the loss and the node that change its size most. Also why
// a parameter moves too far or not at all, and why the loss does not move.
#include <algorithm>
#include <cmath>
#include <map>

#include "runtime/core/op_name.h"
#include "ui/inspect/why_writer.h"

namespace lunagrad {
namespace {

constexpr double kStrong = 3;       // a factor between two nodes that is worth a sentence
constexpr size_t kMostHops = 3;     // such sentences in one trail
constexpr int kMany = 4;            // ops of one kind that are told together
constexpr double kSameLoss = 1e-6;  // relative: a smaller change of the loss is none
constexpr size_t kFewLosses = 3;    // measured steps that tell whether the loss moves

}  // namespace

std::vector<int> WhyWriter::path_to_loss(int node) const {
  std::vector<int> path{node};
  for (size_t guard = 0; guard < tape_.nodes().size(); ++guard) {
    int next = -1;
    double most = -1;
    for (const int reader : tape_.readers(path.back())) {
      const Summary* const gradient = tape_.gradient(reader);
      if (gradient && size_of_elements(*gradient) > most) most = size_of_elements(*gradient), next = reader;
    }
    if (next < 0) break;
    path.push_back(next);
  }
  return path;
}

// The path leads from the node to the loss; the gradient comes the other way.
void WhyWriter::compare_along_path(int node, bool grows) {
  const std::vector<int> path = path_to_loss(node);
  if (path.size() < 2) return say("The ops between it and the loss have no figures in the shown step.");
  struct Hop {
    int from, to;   // from: nearer to the loss
    double factor;  // by which the size of an element changes, above 1 in the asked direction
  };
  std::vector<Hop> hops;
  std::map<std::string, std::pair<int, double>> kinds;  // op -> its number on the path, and its whole factor
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    const Summary *near = tape_.gradient(path[i + 1]), *far = tape_.gradient(path[i]);
    if (!near || !far) continue;
    const double a = size_of_elements(*near), b = size_of_elements(*far);
    if (!(a > 0) || !(b > 0)) continue;
    const double factor = grows ? b / a : a / b;
    hops.push_back({path[i + 1], path[i], factor});
    auto& [count, all] = kinds.try_emplace(tape_[path[i + 1]].op, 0, 1.0).first->second;
    ++count;
    all *= factor;
  }
  if (hops.empty()) return say("The ops between it and the loss have no figures in the shown step.");
  const char* const verb = grows ? "enlarges" : "shrinks";
  std::string many;
  const auto worst = std::max_element(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) {
    return a.second.second < b.second.second;
  });
  if (worst->second.first >= kMany && worst->second.second > kStrong) {
    many = worst->first;
    const auto last =
        std::find_if(hops.begin(), hops.end(), [&](const Hop& hop) { return tape_[hop.from].op == many; });
    say_of(last->from, std::to_string(worst->second.first) + " ops " + public_op_name(many) +
                           " on the way from the loss " + (grows ? "enlarge" : "shrink") +
                           " it together by a factor of " + why_figure(worst->second.second) + ".");
  }
  std::vector<Hop> strong;
  for (const Hop& hop : hops)
    if (hop.factor > kStrong && tape_[hop.from].op != many) strong.push_back(hop);
  std::stable_sort(strong.begin(), strong.end(),
                   [](const Hop& a, const Hop& b) { return a.factor > b.factor; });
  if (strong.size() > kMostHops) strong.resize(kMostHops);
  for (const Hop& hop : strong) {
    std::string sentence = words(hop.from) + " " + verb + " it by a factor of " + why_figure(hop.factor);
    if (const Summary* const value = tape_.value(hop.from))
      sentence += "; its results go " + why_range(*value);
    say_of(hop.from, sentence + ".");
  }
  if (strong.empty() && many.empty())
    say("No single op does it: each of " + std::to_string(hops.size()) +
        " changes it by less than a factor of " + why_figure(kStrong) + ".");
}

void WhyWriter::vanishing(int node) {
  const Summary* const gradient = tape_.gradient(node);
  if (!gradient) return unreached_node(node);
  if (all_zero(gradient)) return zero_gradient(node);
  say_of(node, "The gradient of " + words(node) + " is small: " + why_figure(size_of_elements(*gradient)) +
                   " by element.");
  compare_along_path(node, false);
}

void WhyWriter::exploding(int node) {
  const Summary* const gradient = tape_.gradient(node);
  if (any_not_finite(gradient)) return not_finite_gradient(node);
  if (!gradient) return unreached_node(node);
  const std::string name = parameter_name(node);
  say_of(node,
         "The gradient of " + words(node) + " is large: its norm is " + why_figure(gradient->norm) + ".");
  compare_along_path(node, true);
  // When it began: the measured step of the largest jump, and what happened there.
  const StepStatistics *before = nullptr, *after = nullptr;
  double most = 10;
  const StepStatistics* last = nullptr;
  for (const StepStatisticsPtr& step : facts_.steps) {
    const ParameterStatistics* const now = parameter_at(*step, name);
    const ParameterStatistics* const then = last ? parameter_at(*last, name) : nullptr;
    if (now && then && then->gradient.norm > 0 && now->gradient.norm / then->gradient.norm > most) {
      most = now->gradient.norm / then->gradient.norm;
      before = last;
      after = step.get();
    }
    if (now && now->has_gradient) last = step.get();
  }
  if (!after) return;
  say_at({}, after->step,
         "It rose most between steps " + std::to_string(before->step) + " and " +
             std::to_string(after->step) + ", by a factor of " + why_figure(most) + ".");
  changes_between(before->step, after->step);
  if (!before->nodes.empty() && !after->nodes.empty())
    say_at({}, after->step,
           "The loss was " + why_figure(before->nodes.front().output.mean) + " before and " +
               why_figure(after->nodes.front().output.mean) + " after.");
  const ParameterStatistics& moved = *parameter_at(*before, name);
  if (moved.update_ratio() > alarm_rule(AlarmKind::large_steps).threshold) update_at(moved, before->step);
}

void WhyWriter::large_steps(const std::string& parameter) {
  const ParameterStatistics* const p = tape_.parameter(parameter);
  if (!p) return say("No measured step has figures of " + parameter + ".");
  const int64_t step = facts_.steps.back()->step;
  say_at(p->updated_at, step,
         "In step " + std::to_string(step) + " an update moved " + parameter + " by " +
             why_figure(p->update_ratio()) + " of its size.");
  update_at(*p, step);
  const double least = alarm_rule(AlarmKind::large_steps).threshold;
  since(parameter, [least](const ParameterStatistics& then) { return then.update_ratio() > least; });
}

void WhyWriter::still(const std::string& parameter) {
  const ParameterStatistics& p = *tape_.parameter(parameter);
  const int64_t step = facts_.steps.back()->step;
  const std::string norm = "the norm of its gradient is " + why_figure(p.gradient.norm);
  if (!p.optimized)
    return say_at(p.place, step,
                  parameter + " does not move: " + norm + ", and no optimizer made a step with it in step " +
                      std::to_string(step) + ".");
  say_at(p.updated_at, step,
         parameter + " does not move, although " + norm + " and an optimizer made a step" +
             why_at(p.updated_at) + ".");
  say_at(
      p.updated_at, -1,
      "Its learning rate is 0 or too small for the dtype, or its gradient was cleared or clipped to 0 after "
      "backward(). Which of them is not recorded.");
  since(parameter, [](const ParameterStatistics& then) { return then.update_norm == 0; });
}

// About the root of the pass: whether it moves from step to step, and if not, why.
void WhyWriter::loss() {
  const Summary* const value = tape_.value(0);
  say_of(0, words(0) + " is the root of the backward pass" +
                (value ? ": its value is " + why_figure(value->mean) + "." : "."));
  std::vector<double> values;
  for (const StepStatisticsPtr& step : facts_.steps)
    if (!step->nodes.empty() && step->nodes.front().output.count == 1 &&
        step->nodes.front().op == tape_[0].op)
      values.push_back(step->nodes.front().output.mean);
  if (values.size() < kFewLosses)
    return say("Whether it moves is not known: only " + std::to_string(values.size()) +
               " measured steps have its value.");
  const auto [least, most] = std::minmax_element(values.end() - kFewLosses, values.end());
  if (*most - *least > kSameLoss * std::max(std::abs(*most), std::abs(*least)))
    return say("It moves: in the measured steps it went from " + why_figure(values.front()) + " to " +
               why_figure(values.back()) + ".");
  say("It has the same value in the latest measured steps.");
  const std::vector<ParameterStatistics>& all = facts_.steps.back()->parameters;
  const auto with = [&](const auto& holds) { return std::find_if(all.begin(), all.end(), holds); };
  if (all.empty()) return say("No parameter is known, so nothing can move it.");
  if (with([](const ParameterStatistics& p) { return p.has_gradient; }) == all.end())
    return unreached_parameter(all.front().name);
  const auto learns =
      with([](const ParameterStatistics& p) { return p.has_gradient && any_nonzero(&p.gradient); });
  if (learns == all.end()) {
    const auto zero = with([](const ParameterStatistics& p) { return p.has_gradient; });
    const int leaf = tape_.find_leaf(zero->name);
    if (leaf >= 0) return zero_gradient(leaf);
    return say("Every gradient is 0.");
  }
  const auto moves = with([](const ParameterStatistics& p) { return p.update_norm > 0; });
  if (moves == all.end()) return still(learns->name);
  const auto fastest = std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return (std::isfinite(a.update_ratio()) ? a.update_ratio() : 0) <
           (std::isfinite(b.update_ratio()) ? b.update_ratio() : 0);
  });
  say_at(fastest->updated_at, facts_.steps.back()->step,
         "The largest step moves " + fastest->name + " by " + why_figure(fastest->update_ratio()) +
             " of its size, where about 0.001 is usual: " +
             (fastest->update_ratio() < 1e-6 ? "the learning rate is too small."
                                             : "the steps are not too small."));
  update_at(*fastest, facts_.steps.back()->step);
  say("Labels and data need no gradient, so whether they are constant is not on the tape: the Data panel "
      "shows the latest batch.");
}

}  // namespace lunagrad
