#include "ui/panels/tape/marks.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "script/view/failing_nodes.h"
#include "ui/panels/tape/alarm_marks.h"
#include "ui/tape/groups.h"
#include "ui/window/theme.h"

namespace lunagrad {

// The nodes of the line where the run ended with an error; searched again when tape or console have changed.
const std::vector<int>& TapeMarks::failed_nodes(const Workbench& bench) {
  const Journal& journal = bench.journal();
  const bool failed = journal.ended() && !journal.active() && journal.outcome() != Outcome::ok &&
                      journal.outcome() != Outcome::stopped;
  const std::pair key{bench.tape().share(), failed ? journal.revision() : 0};
  if (key == failed_key_) return failed_;
  failed_key_ = key;
  failed_.clear();
  // Only the tape of the step that failed has failed nodes.
  if (!failed || !key.first->failed) return failed_;
  if (const int at = bench.tape().find_node(key.first->at); at >= 0) {
    failed_ = {at};
    return failed_;
  }
  // The first line of the error is its message; the traceback follows.
  const auto is_error = [](const ConsoleLine& line) { return line.kind == ConsoleLine::Kind::error; };
  const auto& lines = journal.lines();
  const auto last = std::find_if(lines.rbegin(), lines.rend(), is_error);
  const auto before = std::find_if_not(last, lines.rend(), is_error);
  if (last == lines.rend()) return failed_;
  const ConsoleLine& message = *std::prev(before);
  failed_ = failing_nodes(*key.first, message.text, message.place);
  return failed_;
}

// Nodes of the shown tape with an alarm; searched again when tape or alarms have changed.
std::shared_ptr<const NodeMarks> TapeMarks::alarms_on(const Workbench& bench) {
  if (bench.tape().former()) return nullptr;  // the alarms belong to the run that has no tape yet
  const Alarms& alarms = bench.gradients().alarms();
  const std::pair key{bench.tape().share(), alarms.revision()};
  if (key != alarms_key_) {
    alarms_key_ = key;
    alarms_ = key.first ? alarm_marks(*key.first, alarms) : nullptr;
  }
  return alarms_;
}

void TapeMarks::update(const Workbench& bench, const TapePicture& picture, const TapeSearch& search,
                       const TapePlayer& player, std::shared_ptr<const NodeMarks> compared) {
  const TapeModel& model = bench.tape();
  const bool groups = bench.settings().tape_groups;
  const int selected = model.selected();
  Looks looks{picture.canvas.number,
              search.revision(),
              model.structure(),
              model.share(),
              metric,
              player.position(),
              player.backward(),
              groups,
              theme().dark,
              selected,
              model.lit(),
              failed_nodes(bench),
              std::move(compared),
              nullptr};
  if (!looks.compared && metric < 0) looks.alarms = alarms_on(bench);
  if (looks == looks_) return;
  looks_ = std::move(looks);
  if (ranked_ != model.structure()) {
    ranked_ = model.structure();
    const auto& order = model.tree()->execution;
    rank_.assign(model.tape()->nodes.size(), -1);
    for (size_t i = 0; i < order.size(); ++i) rank_[order[i]] = int(i);
  }
  const size_t count = picture.boxes.size();
  marks_.assign(count, {});
  hits_.assign(count, 0);
  values_.clear();
  if (metric >= 0 && !looks_.compared)
    values_ = box_values(tape_metrics()[size_t(metric)], *model.tape(), picture);
  const HeatScale heat(values_);
  for (size_t b = 0; b < values_.size(); ++b) marks_[b].heat = heat.of(values_[b]);
  box_marks_.clear();
  const NodeMarks* const kinds = looks_.compared ? looks_.compared.get() : looks_.alarms.get();
  if (kinds) box_marks_ = box_marks(*kinds, picture);
  for (size_t b = 0; b < box_marks_.size(); ++b) {
    if (box_marks_[b].kind < 0) continue;
    const MarkKind& kind = kinds->kinds[size_t(box_marks_[b].kind)];
    marks_[b].color = kind.color();
    marks_[b].sign = kind.sign;
    marks_[b].strong = kind.strong;
  }
  if (search.active())
    for (const int hit : search.hits())
      if (size_t(hit) < picture.box_of.size()) ++hits_[picture.box_of[size_t(hit)]];
  // The player has reached a closed module when it has reached a node in it.
  std::vector<char> begun(count, 0), runs(count, 0);
  for (size_t i = 0; player.on() && i < rank_.size(); ++i) {
    const uint32_t box = picture.box_of[i];
    if (rank_[i] < 0) continue;
    runs[box] = 1;
    begun[box] |= player.done(rank_[i]);
  }
  for (size_t b = 0; b < count; ++b)
    marks_[b].faded = (search.active() && hits_[b] == 0) || (player.on() && runs[b] && !begun[b]);
  for (const int node : looks_.lit) marks_[picture.box_of[size_t(node)]].lit = true;
  for (const int node : looks_.failed)
    if (size_t(node) < picture.box_of.size()) marks_[picture.box_of[size_t(node)]].failed = true;
  bands_.clear();
  if (groups && !looks_.compared) bands_ = group_bands(model.tape()->plan, picture, selected);
  standing_out_.clear();
  for (uint32_t b = 0; b < count; ++b)
    if (hits_[b] > 0 || marks_[b].lit || marks_[b].failed || marks_[b].strong) standing_out_.push_back(b);
}

std::string TapeMarks::note(const TapePicture& picture, const TapeSearch& search, int box) const {
  const size_t b = size_t(box);
  if (search.active() && hits_[b] > 0 && picture.boxes[b].is_group)
    return std::to_string(hits_[b]) + (hits_[b] == 1 ? " hit" : " hits");
  if (compared()) return compared_note(picture, b);
  if (metric < 0) return {};
  return std::isnan(values_[b]) ? "not known" : tape_metrics()[size_t(metric)].text(values_[b]);
}

// For a closed module: the number of its nodes that have the module's kind, the most severe in it.
std::string TapeMarks::compared_note(const TapePicture& picture, size_t b) const {
  const BoxMark& mark = box_marks_[b];
  const TapeTree::Item item = picture.boxes[b];
  if (!item.is_group) return compared()->notes[item.index];
  return mark.kind < 0 ? "" : std::to_string(mark.count) + " " + compared()->kinds[size_t(mark.kind)].name;
}

std::string TapeMarks::described(const TapePicture& picture, const TapeSearch& search, int box) const {
  const CanvasNode& shown = picture.canvas.nodes[size_t(box)];
  const GraphCanvas::Mark& mark = marks_[size_t(box)];
  const std::string instead = any_notes(search) ? note(picture, search, box) : "";
  std::string text = (shown.name.empty() ? shown.title : shown.name) + " " + shown.line;
  if (!shown.name.empty()) text += " shown as " + shown.title;
  if (!instead.empty()) text += " (" + instead + ")";
  const NodeMarks* const kinds = compared() ? compared() : alarms();
  if (const int kind = kinds ? box_marks_[size_t(box)].kind : -1; kind >= 0)
    text += std::string(" ") + kinds->kinds[size_t(kind)].name;
  if (shown.pale) text += " pale";
  if (mark.failed) text += " failed";
  if (mark.lit) text += " lit";
  return text;
}

}  // namespace lunagrad
