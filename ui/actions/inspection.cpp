#include "ui/actions/inspection.h"

#include <algorithm>
#include <utility>

namespace lunagrad {

void Inspection::watch() {
  if (const NodeInfo* node = tape_.selected_node()) {
    watch_node(*node);
  } else {
    probe_.forget();
    index_ = 0;
    input_ = false;
  }
}

bool Inspection::update() {
  const auto told = inquiry_.update();
  if (!told) return false;
  if (!told->clipboard.empty()) ImGui::SetClipboardText(told->clipboard.c_str());
  shell_.write(told->failed ? ConsoleLine::Kind::error : ConsoleLine::Kind::note, told->sentence + "\n");
  told_ = told->sentence;
  return true;
}

void Inspection::look_at(const ValueProbe::Look& value, const ValueProbe::Look& gradient) {
  probe_.value_look = value;
  probe_.gradient_look = gradient;
}

// While a script runs, shows the latest captured step and asks for the next one to be captured.
void Inspection::watch_node(const NodeInfo& shown) {
  const bool running = journal_.state() == SessionState::running && shown_.live();
  int64_t step = tape_.tape()->step;
  const NodeInfo* node = &shown;
  if (running)
    if (const NodeInfo* twin = captured_twin(shown, step)) node = twin;
  const auto& side = input_ ? node->inputs : node->outputs;
  if (size_t(index_) >= side.size()) index_ = 0, input_ = false;
  place_ = {step, node->id, input_, index_, Which::output};
  const int place = (tape_.selected() * 64 + index_) * 2 + input_;
  const bool asked = probe_.watch(session_, place, place_, running);
  if (asked && running) session_.capture_values();
}

// The same node in the latest step whose values were kept; null if there is no such step or its tape has a
// different structure.
const NodeInfo* Inspection::captured_twin(const NodeInfo& node, int64_t& step) {
  const auto& steps = shown_.history().steps;
  const auto last =
      std::find_if(steps.rbegin(), steps.rend(), [](const KeptStep& kept) { return kept.values; });
  if (last == steps.rend()) return nullptr;
  if (last->step == step) return &node;
  TapePtr captured = session_.tape(last->step);
  const size_t index = size_t(tape_.selected());
  if (!captured || captured->nodes.size() != tape_.tape()->nodes.size() ||
      captured->nodes[index].op != node.op)
    return nullptr;
  captured_ = std::move(captured);
  step = last->step;
  return &captured_->nodes[index];
}

}  // namespace lunagrad
