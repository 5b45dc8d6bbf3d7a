#include "ui/inspect/why.h"

#include "ui/inspect/why_writer.h"

namespace lunagrad {

WhyTrail why(const WhyFacts& facts, const WhyQuestion& question) {
  WhyTrail trail;
  WhyWriter writer(facts);
  trail.step = facts.tape ? facts.tape->step : facts.steps.empty() ? 0 : facts.steps.back()->step;
  const int node = question.node ? writer.tape().find(question.node) : -1;
  if (question.alarm) {
    trail.subject = question.alarm->subject;
    writer.about_alarm(*question.alarm);
  } else if (!question.parameter.empty()) {
    trail.subject = question.parameter;
    writer.about_parameter(question.parameter);
  } else if (node >= 0) {
    trail.subject = writer.words(node);
    writer.about_node(node);
  }
  trail.links = writer.take();
  if (trail.links.empty())
    trail.links.push_back({"The cause is not known: nothing about it was recorded.", 0, {}, -1});
  return trail;
}

}  // namespace lunagrad
