#include "ui/actions/tape_actions.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "runtime/core/op_name.h"
#include "script/view/source_place.h"

namespace lunagrad {
namespace {

constexpr const char* kModes[] = {"automatic", "depth", "all"};  // names of CollapseState::Mode

std::string leaf_name(const NodeInfo& node) {
  return node.op == "leaf" && !node.outputs.empty() ? node.outputs[0].name : std::string();
}

bool is_error(const PausePosition& at) { return at.reason == PausePosition::Reason::error; }

bool matches(const NodeInfo& node, const ActionFields& wanted) {
  const auto is = [&](const char* field, const std::string& value) {
    const std::optional<std::string> text = text_field(wanted, field);
    return !text || *text == value;
  };
  const std::optional<double> line = number_field(wanted, "line");
  const std::optional<std::string> file = text_field(wanted, "file");
  return (is("op", node.op) || is("op", public_op_name(node.op))) && is("module", node.module) &&
         is("name", leaf_name(node)) && (!line || *line == node.place.line) &&
         (!file || *file == node.place.file || *file == file_name(node.place.file));
}

}  // namespace

TapeActions::TapeActions(TapeModel& model, Actions& actions) : model_(model), actions_(actions) {
  actions_.add({"select_node", "{op =, file =, line =, module =, name =, nth =}",
                [this](const ActionArguments& given) {
                  const int node = find(given);
                  if (node < 0) given.refuse("no such node is on the tape");
                  model_.select(node);
                },
                [this](const ActionArguments& given) -> std::string {
                  return find(given) < 0 ? "no such node is on the tape" : "";
                }});
  actions_.add({"deselect", "", [this](const ActionArguments&) { model_.select(-1); }});
  actions_.add({"open_module", "path, open",
                [this](const ActionArguments& given) {
                  const int group = group_at(given.text(0, "path"));
                  const bool open = given.flag(1, "open");
                  if (group < 0) given.refuse("no such module is on the tape");
                  model_.set_open(uint32_t(group), open);
                },
                [this](const ActionArguments& given) -> std::string {
                  return group_at(given.text(0, "path")) < 0 ? "no such module is on the tape" : "";
                }});
  actions_.add({"open_modules", "mode, depth", [this](const ActionArguments& given) {
                  const std::string& name = given.text(0, "mode");
                  const auto mode = std::find(std::begin(kModes), std::end(kModes), name);
                  if (mode == std::end(kModes))
                    given.refuse("mode must be automatic, depth or all, got \"" + name + '"');
                  CollapseState state = model_.collapse();
                  state.exceptions.clear();
                  ++state.fits;
                  state.mode = CollapseState::Mode(mode - std::begin(kModes));
                  state.depth = uint32_t(given.has(1) ? given.whole(1, "depth", 0) : 0);
                  model_.set_collapse(std::move(state));
                }});
}

void TapeActions::select(int node) {
  if (node == model_.selected()) return play_to(node);  // the panels scroll to it again
  if (node < 0)
    actions_.act("deselect");
  else
    actions_.act("select_node", {fields_of(node)});
}

void TapeActions::set_open(uint32_t group, bool open) {
  actions_.act("open_module", {model_.tree()->groups[group].path, open});
}

void TapeActions::open_modules(CollapseState::Mode mode, uint32_t depth) {
  actions_.act("open_modules", {std::string(kModes[size_t(mode)]), double(depth)});
}

void TapeActions::show_in(bool sideways, PictureRoom room) {
  CollapseState state = model_.collapse();
  state.sideways = sideways;
  state.room = room;
  model_.set_collapse(std::move(state));
}

void TapeActions::fit_again() {
  CollapseState state = model_.collapse();
  ++state.fits;
  model_.set_collapse(std::move(state));
}

// The nodes are listed from the newest; `nth` counts in the order of execution.
ActionFields TapeActions::fields_of(int node) const {
  const auto& nodes = model_.tape()->nodes;
  const NodeInfo& one = nodes[size_t(node)];
  ActionFields fields{{"op", public_op_name(one.op)}};
  if (one.place.line > 0) {
    fields["file"] = file_name(one.place.file);
    fields["line"] = double(one.place.line);
  }
  if (!one.module.empty()) fields["module"] = one.module;
  if (const std::string name = leaf_name(one); !name.empty()) fields["name"] = name;
  const auto nth = 1 + std::count_if(nodes.begin() + node + 1, nodes.end(),
                                     [&](const NodeInfo& before) { return matches(before, fields); });
  if (nth > 1) fields["nth"] = double(nth);
  return fields;
}

int TapeActions::find(const ActionArguments& given) const {
  return find(given.fields(0, "node", {"op", "file", "line", "module", "name", "nth"}));
}

int TapeActions::find(const ActionFields& wanted) const {
  if (!model_.tape()) return -1;
  const auto& nodes = model_.tape()->nodes;
  double left = number_field(wanted, "nth").value_or(1);
  for (size_t i = nodes.size(); i-- > 0;)
    if (matches(nodes[i], wanted) && --left <= 0) return int(i);
  return -1;
}

int TapeActions::group_at(const std::string& path) const {
  if (!model_.tape()) return -1;
  const auto& groups = model_.tree()->groups;
  const auto found = std::find_if(groups.begin(), groups.end(),
                                  [&](const TapeTree::Group& group) { return group.path == path; });
  return found == groups.end() ? -1 : int(found - groups.begin());
}

void TapeActions::update(const Journal& journal) {
  if (journal.pause() != pause_) {
    pause_ = journal.pause();
    // The tape does not show the op: the node that was selected before would be taken for it.
    const bool elsewhere = pause_ && pause_->node == 0 && (!pause_->op.empty() || is_error(*pause_));
    if (elsewhere) model_.select(-1);
    if (pause_ && pause_->node != 0) select_when_shown(pause_->node);
  }
  if (const int node = wanted_node_ ? model_.find_node(wanted_node_) : -1; node >= 0) {
    model_.select(node);
    wanted_node_ = 0;
  }
}

void TapeActions::begin_run() {
  model_.begin_run();
  wanted_node_ = 0;
}

void TapeActions::clear() {
  model_.clear();
  wanted_node_ = 0;
}

}  // namespace lunagrad
