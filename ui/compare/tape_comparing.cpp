#include "ui/compare/tape_comparing.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "runtime/core/error.h"
#include "runtime/core/op_name.h"
#include "runtime/io/atomic_file.h"
#include "script/report/tape_diff_page.h"
#include "script/tape_diff/compare_graphs.h"
#include "script/tape_diff/read.h"
#include "script/view/source_place.h"
#include "script/view/tape_json.h"

namespace lunagrad {
namespace {

TapeGraph graph_of(const TapeSnapshot& tape, const std::string& title) {
  return read_tape_text(tape_json(tape), title);
}

// The other tape, and what its difference to the shown one may say.
struct OtherTape {
  TapeGraph graph;
  TapeDiffOptions options;
  std::vector<std::string> notes;
};

// Loads a tape: of a run, the shown step if the run keeps it. Values of two steps differ even in equal runs:
// only the structure of the nearest kept step is compared instead.
OtherTape load_tape(const std::string& source, int64_t step) {
  OtherTape other;
  if (!std::filesystem::is_directory(source)) {
    other.graph = read_tape_file(source);
    return other;
  }
  const RunTapes run(source);
  const std::vector<int64_t> kept = run.steps();
  const int64_t nearest = *std::min_element(kept.begin(), kept.end(), [step](int64_t a, int64_t b) {
    return std::abs(a - step) < std::abs(b - step);
  });
  other.graph = run.tape(nearest);
  if (!run.damage().empty()) other.notes.push_back(run.damage());
  if (nearest == step) return other;
  other.options.structure = true;
  other.notes.push_back(text("the run keeps no tape of step ", step, ", but of ", run.steps_text(),
                             ": the structure of step ", nearest,
                             " was compared; show one of these steps to compare values"));
  return other;
}

bool begins_at(const PassInfo& pass, const TapeNode& root) {
  return pass.op == root.op && pass.place.line == root.line &&
         file_name(pass.place.file) == file_name(root.file);
}

// A run keeps one backward pass of a step, the largest. Another pass of the same step has other nodes, and
// the list would say that all of them were added.
void check_pass(const OtherTape& other, const TapeSnapshot& shown) {
  const auto last = std::find_if(other.graph.nodes.rbegin(), other.graph.nodes.rend(),
                                 [](const TapeNode& node) { return node.kind == TapeNodeKind::op; });
  if (shown.passes.size() < 2 || shown.pass < 0 || last == other.graph.nodes.rend()) return;
  const PassInfo& pass = shown.passes[size_t(shown.pass)];
  const TapeNode& root = *last;
  if (begins_at(pass, root)) return;
  for (const PassInfo& choice : shown.passes)
    if (begins_at(choice, root))
      fail_as(ErrorKind::file, other.graph.title, ": its tape is of the backward pass of ",
              public_op_name(root.op), ", ", file_name(root.file), ":", root.line, ", and the shown tape of ",
              public_op_name(pass.op), ", ", file_name(pass.place.file), ":", pass.place.line,
              "; choose the same pass above the tape");
}

}  // namespace

TapeComparing::TapeComparing(const Session& session, const ShownStep& shown, const Journal& journal,
                             const TapeModel& tape, Shell& shell, std::function<void()> begins)
    : session_(session),
      shown_(shown),
      journal_(journal),
      tape_(tape),
      shell_(shell),
      begins_(std::move(begins)) {
  add_actions();
}

void TapeComparing::add_actions() {
  Actions& actions = shell_.actions();
  const auto why_not = [this](const ActionArguments&) { return lacks(); };
  actions.add({"compare_tape", "{step =, before_reload =, run =, file =}",
               [this](const ActionArguments& given) {
                 if (const std::string why = lacks(); !why.empty()) given.refuse(why);
                 Other other = other_of(given);
                 begins_();
                 compare(std::move(other));
               },
               why_not});
  actions.add(
      {"save_tape_comparison", "path",
       [this](const ActionArguments& given) {
         if (!diff_) given.refuse("no tapes are compared");
         write(given.text(0, "path"));
       },
       [this](const ActionArguments&) -> std::string { return diff_ ? "" : "no tapes are compared"; }});
  actions.add({"close_tape_comparison", "", [this](const ActionArguments&) { forget(); }});
}

std::string TapeComparing::lacks() const {
  if (!tape_.tape()) return "there is no tape";
  if (session_.state() != SessionState::running && shown_.live() && shown_.tape(false) != tape_.share())
    return "the tape of the latest step is not shown yet";
  return "";
}

TapeComparing::Other TapeComparing::other_of(const ActionArguments& given) const {
  const ActionFields& fields = given.fields(0, "tape", {"step", "before_reload", "run", "file"});
  if (fields.size() != 1) given.refuse("name one of step, before_reload, run and file");
  if (const auto step = number_field(fields, "step")) {
    const TapePtr tape = session_.tape(int64_t(*step));
    if (!tape)
      given.refuse(text("step ", int64_t(*step), " is not kept; the Time panel lists the kept steps"));
    return {tape, text("step ", tape->step), ""};
  }
  if (flag_field(fields, "before_reload")) {
    if (!before_reload_) given.refuse("the script was not reloaded in this run");
    return {before_reload_, text("step ", before_reload_->step, ", before the reload"), ""};
  }
  const auto run = text_field(fields, "run"), file = text_field(fields, "file");
  const std::string& source = run ? *run : *file;
  return {nullptr, source, source};
}

void TapeComparing::compare(Other other) {
  problem_.clear();
  result_.clear();
  working_ = true;
  other_ = other;
  compared_ = tape_.share();
  const auto found = std::make_shared<TapeDiff>();
  shell_.background_tasks().add(
      [found, other = std::move(other), shown = compared_] {
        OtherTape a;
        if (other.tape) {
          a.graph = graph_of(*other.tape, other.title);
        } else {
          a = load_tape(other.source, shown->step);
          check_pass(a, *shown);
        }
        *found = compare_tapes(std::move(a.graph), graph_of(*shown, text("step ", shown->step, ", shown")),
                               a.options);
        found->notes.insert(found->notes.begin(), a.notes.begin(), a.notes.end());
      },
      [this, found, number = ++requests_](const std::string& problem) {
        if (number != requests_) return;
        working_ = false;
        problem_ = problem;
        if (!problem.empty()) return;
        diff_ = found;
        marked_ = nullptr;
      });
}

void TapeComparing::write(const std::string& path) {
  result_ = "writing " + path;
  shell_.background_tasks().add(
      [path, diff = diff_] {
        if (std::filesystem::exists(path)) fail_as(ErrorKind::file, path, ": exists; choose another name");
        write_file(path, tape_diff_page(*diff));
      },
      [this, path](const std::string& problem) {
        result_ = problem.empty() ? "wrote " + std::filesystem::absolute(path).lexically_normal().string()
                                  : problem;
        shell_.write(problem.empty() ? ConsoleLine::Kind::note : ConsoleLine::Kind::error, result_ + "\n");
      });
}

void TapeComparing::forget() {
  ++requests_;
  working_ = false;
  diff_ = nullptr;
  marks_ = nullptr;
  marked_ = nullptr;
  other_ = {};
  compared_ = nullptr;
  problem_.clear();
  result_.clear();
}

void TapeComparing::begin_run() {
  forget();
  latest_ = before_reload_ = nullptr;
}

void TapeComparing::update() {
  const auto& marks = journal_.curves().marks;
  const size_t reloads = size_t(std::count_if(
      marks.begin(), marks.end(), [](const RunMark& mark) { return mark.kind == RunMark::Kind::reload; }));
  if (reloads > reloads_ && latest_) before_reload_ = latest_;  // from an earlier frame
  reloads_ = reloads;
  latest_ = tape_.former() ? nullptr : tape_.share();
  // The step of a pause is measured when the pause begins: its values may come after the comparison.
  if (diff_ && compared_ && !compared_->has_statistics && tape_.share() != compared_ && tape_.tape() &&
      tape_.tape()->has_statistics && tape_.tape()->step == compared_->step)
    compare(other_);
  if (!diff_ || marked_ == tape_.share()) return;
  marked_ = tape_.share();
  marks_ = nullptr;
  if (!marked_ || marked_->step != diff_->b.step) return;
  NodeMarks made = diff_marks(*marked_, *diff_);
  if (std::any_of(made.of.begin(), made.of.end(), [](int kind) { return kind >= 0; }))
    marks_ = std::make_shared<const NodeMarks>(std::move(made));
}

}  // namespace lunagrad
