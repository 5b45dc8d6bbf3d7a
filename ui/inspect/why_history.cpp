// Since when a parameter is as it is, which update made it so, and what else happened between the measured
// steps around it.
#include <algorithm>
#include <cmath>

#include "ui/inspect/why_writer.h"

namespace lunagrad {

void WhyWriter::since(const std::string& parameter, const Holds& holds) {
  const ParameterStatistics* first = nullptr;
  const StepStatistics *first_step = nullptr, *before = nullptr;
  for (auto step = facts_.steps.rbegin(); step != facts_.steps.rend(); ++step) {
    const ParameterStatistics* const p = parameter_at(**step, parameter);
    if (!p) continue;
    if (!holds(*p)) {
      before = step->get();
      break;
    }
    first = p;
    first_step = step->get();
  }
  if (!first) return say("Since when " + parameter + " is so is not known: no measured step has its values.");
  if (before) {
    const bool next = first_step->step - before->step <= 1;
    say_at(first->updated_at, first_step->step,
           next ? parameter + " is so since step " + std::to_string(first_step->step) + "."
                : parameter + " became so after step " + std::to_string(before->step) + " and by step " +
                      std::to_string(first_step->step) + "; no step between them is recorded.");
    changes_between(before->step, first_step->step);
    return update_at(*first, first_step->step);
  }
  // An update as large as the values made them what they are. Otherwise they were so before it.
  const bool moved = std::isfinite(first->update_norm) && first->weight.norm > 0 &&
                     first->update_norm > 0.5 * first->weight.norm;
  const std::string at = std::to_string(first_step->step);
  if (moved) {
    say_at(first->updated_at, first_step->step,
           parameter + " is so since step " + at +
               (first_step->step > 1 ? ", the first that was measured." : "."));
    changes_between(0, first_step->step);
    return update_at(*first, first_step->step);
  }
  say_at(first->place, first_step->step,
         parameter + " was so in step " + at + " already, the first that was measured, before its update: " +
             (first_step->step <= 1 ? "it was initialised so" + why_at(first->place) + "."
                                    : "what made it so is not recorded."));
}

void WhyWriter::update_at(const ParameterStatistics& p, int64_t step) {
  const std::string of = "The update of step " + std::to_string(step) + why_at(p.updated_at);
  if (!std::isfinite(p.update_norm))
    return say_at(p.updated_at, step, of + " moved it by an amount that is not known.");
  std::string sentence = of + " moved it by " + why_figure(p.update_norm);
  if (p.weight.finite()) sentence += "; its norm is " + why_figure(p.weight.norm) + " after it";
  // Adam and others scale the gradient, so this is the learning rate of plain SGD alone.
  if (p.has_gradient && p.gradient.finite() && p.gradient.norm > 0 && p.update_norm > 0)
    sentence += ". That is " + why_figure(p.update_norm / p.gradient.norm) +
                " times its gradient: with SGD, this is the learning rate";
  if (p.updated_at.line < 1) sentence += p.optimized ? ". The optimizer's line is not recorded" : "";
  say_at(p.updated_at, step, sentence + ".");
}

void WhyWriter::changes_between(int64_t after, int64_t until) {
  for (const WhyChange& change : facts_.changes)
    if (change.step >= after && change.step <= until)
      say_at(change.place, change.step,
             "At step " + std::to_string(change.step) + " you changed the run: " + change.text + ".");
}

}  // namespace lunagrad
