// Why a parameter or a node gets no gradient at all: the loss does not depend on it, as far as the tape
// tells.
#include <algorithm>

#include "ui/inspect/why_writer.h"

namespace lunagrad {
namespace {

// "net.2" of "net.2.weight"; "" without a dot.
std::string module_of(const std::string& parameter) {
  const size_t dot = parameter.rfind('.');
  return dot == parameter.npos ? std::string() : parameter.substr(0, dot);
}

bool is_in(const std::string& path, const std::string& module) {
  if (module.empty() || path.size() < module.size()) return false;
  const bool ends = path.compare(path.size() - module.size(), module.size(), module) == 0;
  return ends && (path.size() == module.size() || path[path.size() - module.size() - 1] == '.');
}

}  // namespace

void WhyWriter::unreached_parameter(const std::string& name) {
  const int leaf = tape_.find_leaf(name);
  if (leaf >= 0) return unreached_node(leaf);
  const ParameterStatistics* const p = tape_.parameter(name);
  const SourcePlace place = p ? p->place : SourcePlace();
  say_at(place, -1, "No backward pass reaches " + name + ": no op of the shown tape reads it.");
  const StepStatistics* last = nullptr;
  for (auto step = facts_.steps.rbegin(); step != facts_.steps.rend() && !last; ++step)
    if (const ParameterStatistics* const then = parameter_at(**step, name); then && then->has_gradient)
      last = step->get();
  if (last) {
    say_at({}, last->step,
           "It had a gradient in step " + std::to_string(last->step) + ", the last measured one.");
    changes_between(last->step, facts_.steps.back()->step);
  } else if (!facts_.steps.empty()) {
    say("It had none in any measured step, from step " + std::to_string(facts_.steps.front()->step) + " on.");
  }
  const std::string module = module_of(name);
  const auto ran = std::find_if(tape_.nodes().begin(), tape_.nodes().end(),
                                [&](const NodeInfo& node) { return is_in(node.module, module); });
  if (ran != tape_.nodes().end())
    say_of(int(ran - tape_.nodes().begin()), "Its module " + module +
                                                 " does run, but this parameter is not read there, or is "
                                                 "read through detach() or under no_grad().");
  else if (!module.empty())
    say("No op of module " + module +
        " is on the tape: forward() does not call it, or detach(), item() or no_grad() cuts it off. The tape "
        "has only what needs a gradient, so it does not tell which.");
  if (p && p->optimized)
    say_at(p->updated_at, -1,
           "An optimizer updates it" + why_at(p->updated_at) + ", so it was meant to learn.");
}

void WhyWriter::unreached_node(int node) {
  if (!tape_.measured())
    return say_of(node, "Whether a gradient reaches " + words(node) +
                            " is not known: the step was not measured. Pause the run (F6) and ask again.");
  if (!visit(node, Side::gradient)) return;
  say_of(node, "No gradient reaches " + words(node) + ".");
  int at = node;
  for (size_t guard = 0; guard < tape_.nodes().size(); ++guard) {
    const std::vector<int>& readers = tape_.readers(at);
    if (readers.empty())
      return say_of(
          at, at == node ? "Nothing on the tape reads it, so the loss does not depend on it."
                         : words(at) + " is read by nothing on the tape, so the loss does not depend on it.");
    const auto reached =
        std::find_if(readers.begin(), readers.end(), [&](int r) { return tape_.gradient(r) != nullptr; });
    if (reached != readers.end())
      return say_of(*reached, words(*reached) +
                                  " reads it and passes no gradient to this operand: the op has no "
                                  "derivative for it.");
    at = readers.front();
  }
}

}  // namespace lunagrad
