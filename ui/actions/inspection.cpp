#include "ui/actions/inspection.h"

#include <algorithm>
#include <utility>

namespace lunagrad {
namespace {

// How long the picture of another step waits for its values.
constexpr std::chrono::milliseconds kPatience{300};

}  // namespace

Inspection::Inspection(SessionInspection& session, const Journal& journal, const TapeModel& tape,
                       ShownStep& shown, Shell& shell, const std::function<void()>& wake)
    : session_(session),
      journal_(journal),
      tape_(tape),
      shown_(shown),
      shell_(shell),
      probe_(wake),
      inquiry_(wake) {
  add_actions();
}

void Inspection::add_actions() {
  Actions& actions = shell_.actions();
  const auto lacks = [this](const ActionArguments&) -> std::string {
    return tape_.selected_node() ? "" : "no node is selected";
  };
  const auto add = [&](const char* name, const char* arguments, auto run) {
    actions.add({name, arguments,
                 [lacks, run](const ActionArguments& given) {
                   if (const std::string why = lacks(given); !why.empty()) given.refuse(why);
                   run(given);
                 },
                 lacks});
  };
  add("check_gradient", "", [this](const ActionArguments&) {
    inquiry_.check_gradient(shown_.session(), tape_.tape()->step, tape_.selected_node()->id);
  });
  add("compare_devices", "", [this](const ActionArguments&) {
    inquiry_.compare_devices(shown_.session(), tape_.tape()->step, tape_.selected_node()->id);
  });
  actions.add({"cancel_check", "", [this](const ActionArguments&) { inquiry_.cancel(); }});
  actions.add({"close_check", "", [this](const ActionArguments&) { inquiry_.close(); }});
  add("select_tensor", "side, number", [this](const ActionArguments& given) {
    const int64_t number = given.whole(1, "number", 1);
    if (size_t(number) > side(given).size())
      given.refuse("the selected " + tape_.selected_node()->op + " has " +
                   std::to_string(side(given).size()) + " of side " + given.text(0, "side") +
                   ", got number " + std::to_string(number));
    input_ = given.text(0, "side") == "input";
    index_ = int(number) - 1;
  });
  add("save_tensor", "path, which", [this](const ActionArguments& given) {
    const std::string which = given.has(1) ? given.text(1, "which") : "value";
    if (which != "value" && which != "gradient")
      given.refuse("which must be value or gradient, got \"" + which + '"');
    TensorPlace place = place_of(*tape_.tape(), *tape_.selected_node());
    place.which = which == "gradient" ? Which::gradient : Which::output;
    inquiry_.save(shown_.session(), place, given.text(0, "path"));
  });
}

// The inputs or outputs of the selected node.
const std::vector<OperandInfo>& Inspection::side(const ActionArguments& given) const {
  const std::string& name = given.text(0, "side");
  if (name != "input" && name != "output") given.refuse("side must be input or output, got \"" + name + '"');
  return name == "input" ? tape_.selected_node()->inputs : tape_.selected_node()->outputs;
}

TapePtr Inspection::watch() {
  auto waited = std::exchange(awaited_, std::nullopt);
  const bool running = journal_.state() == SessionState::running && shown_.live();
  const NodeInfo* const selected = tape_.selected_node();
  TapePtr next = shown_.tape(selected && running);
  if (shown_.source() != std::exchange(source_, shown_.source())) {
    probe_.forget();
    waited.reset();
  }
  if (!selected) {
    probe_.forget();
    index_ = 0;
    input_ = false;
    return next;
  }
  const TensorPlace shown_place = place_of(*tape_.tape(), *selected);
  if (tape_.former()) return next;  // the tape of an earlier run; its last received values stay
  // While the script runs, only captured steps are shown: the values of other steps are freed at once.
  const auto captured = [&](int64_t step) {
    const auto& steps = shown_.history().steps;
    return std::any_of(steps.begin(), steps.end(),
                       [step](const KeptStep& kept) { return kept.values && kept.step == step; });
  };
  // On a slow display each frame finds a later capture. Going on to it would drop the requested values before
  // they are shown.
  if (running && waited && captured(waited->tape->step)) next = waited->tape;
  if (running && (!next || !captured(next->step))) {
    session_.capture_values();
    return nullptr;
  }
  const bool other = next && next->step != tape_.tape()->step;
  const NodeInfo* const twin = other ? twin_of(*selected, *next) : nullptr;
  if (other && !twin) return next;  // the other tape has another structure
  const TensorPlace asked_place = twin ? place_of(*next, *twin) : shown_place;
  const int place = (tape_.selected() * 64 + index_) * 2 + input_;
  const bool asked = probe_.watch(shown_.session(), place, asked_place, running);
  // Captures the next values while these are read. When the run continues after a pause, the pause's values
  // have been read already.
  if (running && (asked || (!other && probe_.has_all(asked_place)))) session_.capture_values();
  if (!twin) return next;
  // The picture and the values change together, unless the values take long.
  const auto since = waited ? waited->since : Clock::now();
  if (probe_.has_all(asked_place) || (!running && Clock::now() - since > kPatience)) return next;
  awaited_ = {next, since};
  return nullptr;
}

void Inspection::show() {
  const NodeInfo* const selected = tape_.selected_node();
  if (!selected) return;
  place_ = place_of(*tape_.tape(), *selected);
  probe_.show(tape_.tape()->step);
}

TensorPlace Inspection::place_of(const TapeSnapshot& tape, const NodeInfo& node) {
  const auto& side = input_ ? node.inputs : node.outputs;
  // A call that failed has no outputs.
  if (size_t(index_) >= side.size()) index_ = 0, input_ = node.outputs.empty() && !node.inputs.empty();
  return {tape.step, node.id, input_, index_, Which::output};
}

// The same node in another step; null when that step's tape has another structure.
const NodeInfo* Inspection::twin_of(const NodeInfo& node, const TapeSnapshot& other) const {
  const size_t index = size_t(tape_.selected());
  if (other.nodes.size() != tape_.tape()->nodes.size() || other.nodes[index].op != node.op) return nullptr;
  return &other.nodes[index];
}

bool Inspection::update() {
  const auto result = inquiry_.update();
  if (!result) return false;
  if (!result->clipboard.empty()) ImGui::SetClipboardText(result->clipboard.c_str());
  shell_.write(result->failed ? ConsoleLine::Kind::error : ConsoleLine::Kind::note, result->sentence + "\n");
  result_ = result->sentence;
  return true;
}

void Inspection::look_at(const ValueProbe::Look& value, const ValueProbe::Look& gradient) {
  probe_.value_look = value;
  probe_.gradient_look = gradient;
}

}  // namespace lunagrad
