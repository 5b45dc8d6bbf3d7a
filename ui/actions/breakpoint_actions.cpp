#include "ui/actions/breakpoint_actions.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "runtime/core/op_name.h"

namespace lunagrad {
namespace {

using Condition = Breakpoint::Condition;

constexpr std::pair<Condition, const char*> kConditions[] = {
    {Condition::not_finite, "not_finite"}, {Condition::norm, "norm"}, {Condition::op, "op"},
    {Condition::shape, "shape"},           {Condition::step, "step"}, {Condition::line, "line"},
    {Condition::predicate, "predicate"}};
constexpr const char* kPasses[] = {"both", "forward", "backward"};

bool uses_text(Condition condition) {
  return condition == Condition::op || condition == Condition::shape || condition == Condition::predicate;
}

}  // namespace

BreakpointActions::BreakpointActions(SessionWatches& session, Actions& actions,
                                     std::function<std::string()> script)
    : session_(session), actions_(actions), script_(std::move(script)) {
  actions_.add({"add_breakpoint", "{condition =, limit =, text =, step =, file =, line =, pass =, enabled =}",
                [this](const ActionArguments& given) {
                  const Breakpoint made = breakpoint_of(given, 0);
                  if (const std::string problem = problem_of(made); !problem.empty()) given.refuse(problem);
                  if (!session_.add_breakpoint(made)) given.refuse("the session refused " + describe(made));
                }});
  const auto waits = [this](const ActionArguments& given) { return lacks(given); };
  actions_.add({"remove_breakpoint", "{...}",
                [this](const ActionArguments& given) {
                  const auto list = session_.breakpoints();
                  const Breakpoint* known = find(list, given);
                  if (!known) given.refuse(lacks(given));
                  session_.remove_breakpoint(known->id);
                },
                waits});
  actions_.add({"change_breakpoint", "{...}, {...}",
                [this](const ActionArguments& given) {
                  const auto list = session_.breakpoints();
                  const Breakpoint* known = find(list, given);
                  if (!known) given.refuse(lacks(given));
                  Breakpoint changed = breakpoint_of(given, 1);
                  if (const std::string problem = problem_of(changed); !problem.empty())
                    given.refuse(problem);
                  changed.id = known->id;
                  session_.change_breakpoint(changed);
                },
                waits});
}

ActionFields BreakpointActions::fields_of(const Breakpoint& breakpoint) const {
  ActionFields fields;
  const auto name = std::find_if(std::begin(kConditions), std::end(kConditions),
                                 [&](const auto& one) { return one.first == breakpoint.condition; });
  fields["condition"] = std::string(name->second);
  if (breakpoint.pass != Breakpoint::Pass::both)
    fields["pass"] = std::string(kPasses[size_t(breakpoint.pass)]);
  if (!breakpoint.enabled) fields["enabled"] = false;
  if (breakpoint.condition == Condition::norm) fields["limit"] = breakpoint.limit;
  if (uses_text(breakpoint.condition)) fields["text"] = breakpoint.text;
  if (breakpoint.step != 0) fields["step"] = double(breakpoint.step);
  if (breakpoint.condition == Condition::line) {
    if (breakpoint.place.file != script_()) fields["file"] = breakpoint.place.file;
    fields["line"] = double(breakpoint.place.line);
  }
  return fields;
}

Breakpoint BreakpointActions::breakpoint_of(const ActionArguments& given, size_t argument) const {
  const ActionFields& fields = given.fields(
      argument, "breakpoint", {"condition", "limit", "text", "step", "file", "line", "pass", "enabled"});
  Breakpoint made;
  const std::string condition = text_field(fields, "condition").value_or("");
  const auto known = std::find_if(std::begin(kConditions), std::end(kConditions),
                                  [&](const auto& one) { return condition == one.second; });
  if (known == std::end(kConditions))
    given.refuse("condition must be not_finite, norm, op, shape, step, line or predicate, got \"" +
                 condition + '"');
  made.condition = known->first;
  const std::string pass = text_field(fields, "pass").value_or("both");
  const auto passes = std::find(std::begin(kPasses), std::end(kPasses), pass);
  if (passes == std::end(kPasses))
    given.refuse("pass must be both, forward or backward, got \"" + pass + '"');
  made.pass = Breakpoint::Pass(passes - std::begin(kPasses));
  made.enabled = flag_field(fields, "enabled").value_or(true);
  made.limit = number_field(fields, "limit").value_or(made.condition == Condition::norm ? -1 : 0);
  made.text = text_field(fields, "text").value_or("");
  made.step = int64_t(number_field(fields, "step").value_or(0));
  if (made.condition == Condition::line) {
    const std::string script = script_();
    made.place = {text_field(fields, "file").value_or(script), int(number_field(fields, "line").value_or(0))};
    // A script can be named without its folder, as panels show it.
    if (std::filesystem::path(script).filename() == made.place.file) made.place.file = script;
  }
  return made;
}

const Breakpoint* BreakpointActions::find(const std::vector<Breakpoint>& list,
                                          const ActionArguments& given) const {
  const ActionFields wanted = fields_of(breakpoint_of(given, 0));
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const Breakpoint& one) { return fields_of(one) == wanted; });
  return found == list.end() ? nullptr : &*found;
}

std::string BreakpointActions::lacks(const ActionArguments& given) const {
  return find(session_.breakpoints(), given) ? ""
                                             : "there is no breakpoint " + describe(breakpoint_of(given, 0));
}

void BreakpointActions::change(const Breakpoint& breakpoint) {
  for (const Breakpoint& known : session_.breakpoints())
    if (known.id == breakpoint.id)
      actions_.act("change_breakpoint", {fields_of(known), fields_of(breakpoint)});
}

void BreakpointActions::remove(uint64_t id) {
  for (const Breakpoint& known : session_.breakpoints())
    if (known.id == id) actions_.act("remove_breakpoint", {fields_of(known)});
}

bool BreakpointActions::toggle(const SourcePlace& place) {
  bool removed = false;
  for (const Breakpoint& known : session_.breakpoints())
    if (known.condition == Condition::line && known.place == place) {
      remove(known.id);
      removed = true;
    }
  if (removed) return false;
  Breakpoint line;
  line.condition = Condition::line;
  line.pass = Breakpoint::Pass::forward;
  line.place = place;
  return add(line);
}

void BreakpointActions::toggle(const NodeInfo& node) {
  if (node.place.line > 0) {
    toggle(node.place);
    return;
  }
  const std::string name = public_op_name(node.op);
  for (const Breakpoint& known : session_.breakpoints())
    if (known.condition == Condition::op && known.text == name) return remove(known.id);
  Breakpoint op;
  op.condition = Condition::op;
  op.text = name;
  add(op);
}

}  // namespace lunagrad
