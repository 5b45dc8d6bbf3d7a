#include "ui/workbench/workbench.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "runtime/error.h"
#include "script/run/record.h"
#include "ui/window/texture.h"
#include "ui/window/theme.h"
#include "ui/workbench/palette.h"

namespace lunagrad {

Workbench::Workbench(std::string script, RunOptions options, std::function<void()> waken, EventSink also)
    : journal(waken),
      tape(TextMeasure(fonts().body, fonts().bold), waken),
      probe(waken),
      inquiry(waken),
      runs(waken),
      errands(waken),
      documents({}, waken),
      syntax(waken),
      wake(std::move(waken)),
      session([this, also = std::move(also)](const Event& event) {
        journal.push(event);
        if (also) also(event);
      }),
      script_(std::move(script)),
      options_(std::move(options)) {
  options_.interactive = true;  // somebody can resume: lg.run.breakpoint() pauses
  session.watch_tape(true);
  session.watch_statistics(true);
}

bool Workbench::update() {
  session.watch_profile(Clock::now() - profile_wanted_ < kLooksAway);
  session.watch_data(Clock::now() - data_wanted_ < kLooksAway);
  bool changed = journal.update();
  changed |= runs.update();
  for (const std::string& gone : runs.take_gone())
    journal.write(ConsoleLine::Kind::note,
                  "the folder " + gone + " was removed: its curves are no longer shown\n");
  changed |= errands.update();
  update_documents();
  share_memory();
  if (follows_line_from_ && journal.pauses() > *follows_line_from_) {
    follows_line_from_.reset();
    go_to(journal.pause_place());
  }
  tape.offer(standing_ ? session.tape(*standing_) : session.tape());
  changed |= tape.update();
  changed |= gradients.update(session);
  if (journal.stops().size() < stops_seen_) stops_seen_ = 0;
  for (; stops_seen_ < journal.stops().size(); ++stops_seen_) show_node(journal.stops()[stops_seen_]);
  if (const int node = wanted_node_ ? tape.find_node(wanted_node_) : -1; node >= 0) {
    tape.select(node);
    wanted_node_ = 0;
  }
  if (const NodeInfo* node = tape.selected_node()) {
    watch_values(*node);
  } else {
    probe.forget();
    inspected_ = 0;
    inspected_input_ = false;
  }
  if (const auto told = inquiry.update()) {
    if (!told->clipboard.empty()) ImGui::SetClipboardText(told->clipboard.c_str());
    journal.write(told->failed ? ConsoleLine::Kind::error : ConsoleLine::Kind::note, told->sentence + "\n");
    told_ = told->sentence;
    changed = true;
  }
  return changed;
}

// Textures come and go with what is looked at; kept steps make room for them.
void Workbench::share_memory() {
  const size_t left = memory_budget - std::min(memory_budget, Texture::bytes_in_use());
  if (left != history_budget_) session.set_history_budget(history_budget_ = left);
  history_ = session.history();
}

size_t Workbench::memory_held() const { return history_.bytes + Texture::bytes_in_use(); }

// While a script runs, the step that was captured last is looked at, and the next one is to be captured.
void Workbench::watch_values(const NodeInfo& shown) {
  const bool running = journal.state() == SessionState::running && live();
  int64_t step = tape.tape()->step;
  const NodeInfo* node = &shown;
  if (running)
    if (const NodeInfo* twin = captured_twin(shown, step)) node = twin;
  const auto& side = inspected_input_ ? node->inputs : node->outputs;
  if (size_t(inspected_) >= side.size()) inspected_ = 0, inspected_input_ = false;
  place_ = {step, node->id, inspected_input_, inspected_, Which::output};
  const int place = (tape.selected() * 64 + inspected_) * 2 + inspected_input_;
  const bool asked = probe.watch(session, place, place_, running);
  if (asked && running) session.capture_values();
}

// The same node of the latest step whose values were kept, if its tape is built alike.
const NodeInfo* Workbench::captured_twin(const NodeInfo& node, int64_t& step) {
  const auto last = std::find_if(history_.steps.rbegin(), history_.steps.rend(),
                                 [](const KeptStep& kept) { return kept.values; });
  if (last == history_.steps.rend()) return nullptr;
  if (last->step == step) return &node;
  TapePtr captured = session.tape(last->step);
  const size_t index = size_t(tape.selected());
  if (!captured || captured->nodes.size() != tape.tape()->nodes.size() ||
      captured->nodes[index].op != node.op)
    return nullptr;
  captured_ = std::move(captured);
  step = last->step;
  return &captured_->nodes[index];
}

void Workbench::stand_on(int64_t step) {
  const auto& steps = history_.steps;
  if (steps.empty()) return;
  const auto distance = [step](const KeptStep& kept) { return std::abs(kept.step - step); };
  const auto nearest =
      std::min_element(steps.begin(), steps.end(),
                       [&](const KeptStep& a, const KeptStep& b) { return distance(a) < distance(b); });
  standing_ = nearest->step;
}

void Workbench::step_in_time(int by) {
  const auto& steps = history_.steps;
  if (steps.empty()) return;
  const int64_t from = shown_step();
  if (by < 0) {
    const auto before =
        std::find_if(steps.rbegin(), steps.rend(), [from](const KeptStep& kept) { return kept.step < from; });
    if (before != steps.rend()) standing_ = before->step;
    return;
  }
  if (live()) return;
  const auto after =
      std::find_if(steps.begin(), steps.end(), [from](const KeptStep& kept) { return kept.step > from; });
  if (after == steps.end() || after->step == steps.back().step)
    go_live();
  else
    standing_ = after->step;
}

void Workbench::run() {
  go_live();
  if (journal.state() == SessionState::paused)
    session.resume();
  else
    restart();
}

void Workbench::restart(bool paused) {
  if (script_.empty()) {
    journal.write(ConsoleLine::Kind::note,
                  "There is no script: open one (Ctrl+P), take one of the examples, or start the "
                  "workbench with one, as in lunagrad-workbench train.lua\n");
    return;
  }
  awaited_ = paused ? Awaited::paused_run : Awaited::run;
  if (save_before_run()) begin_run();
}

void Workbench::begin_run() {
  const bool paused = std::exchange(awaited_, Awaited::nothing) == Awaited::paused_run;
  if (new_seed) options_.seed = std::random_device()();
  for (const auto& [name, value] : params.take_waiting()) options_.set[name] = value;
  journal.restart();
  sources_.clear();
  tape.clear();
  gradients.clear();
  wanted_node_ = 0;
  remember_run_lines();
  go_live();
  inquiry.close();
  journal.write(ConsoleLine::Kind::note, "run " + short_path(script_) + "\n");
  if (const Document* untitled = documents.with_title(script_))
    session.run_text(untitled->buffer.content(), script_, options_);
  else
    session.run_file(script_, options_);
  options_.run_directory.clear();  // it holds a run now: the next one gets a folder of its own
  if (paused) session.pause();
  // Who ran an example wants to see it learn.
  PanelLayout& layout = settings.layout;
  std::string& front = layout.front[size_t(layout.region_of("Curves"))];
  if (front == "Examples and help") front = "Curves";
}

void Workbench::open_run(const std::string& folder) {
  const std::string path = full_path(folder);
  runs.show(path, true);
  try {
    const RunRecord run = read_run_config(path);
    script_ = std::filesystem::exists(run.script) ? run.script : path + "/script.lua";
  } catch (const Error& error) {
    journal.write(ConsoleLine::Kind::error, std::string(error.what()) + "\n");
    return;
  }
  journal.write(ConsoleLine::Kind::note,
                "opened the run " + path + " to look at; run starts " + script_ + " anew\n");
}

void Workbench::pause_or_resume() {
  go_live();
  if (journal.state() == SessionState::paused)
    session.resume();
  else if (journal.state() == SessionState::running)
    session.pause();
}

void Workbench::step() {
  go_live();
  if (journal.state() == SessionState::paused) {
    session.step();
  } else if (journal.state() == SessionState::running) {
    session.pause();
  } else if (!journal.active()) {
    restart(true);
  }
}

void Workbench::step_op() {
  if (journal.state() == SessionState::paused) session.step_op();
}

void Workbench::step_line() {
  if (journal.state() != SessionState::paused) return;
  follows_line_from_ = journal.pauses();
  session.step_line();
}

void Workbench::open(const std::string& path) {
  const bool untitled = documents.with_title(path) != nullptr;
  if (!untitled) show_text(path);
  if (path != script_) {
    script_ = path;
    sources_.clear();
    options_.set.clear();  // of parameters that this script need not have
    params = ParamDesk();
    journal.write(ConsoleLine::Kind::note, "open " + path + "\n");
  }
  if (!untitled) settings.remember(path);
}

void Workbench::notice(const std::string& sentence) {
  notices.push_back(sentence);
  journal.write(ConsoleLine::Kind::warning, sentence + "\n");
}

void Workbench::stop() {
  if (journal.state() == SessionState::stopping)
    session.interrupt();
  else if (journal.active())
    session.stop();
}

void Workbench::evaluate(const std::string& code) {
  journal.write(ConsoleLine::Kind::command, code + "\n");
  session.eval(code);
}

void Workbench::rerun_with(const std::map<std::string, std::string>& values) {
  for (const auto& [name, value] : values) options_.set[name] = value;
  restart();
}

bool Workbench::toggle_breakpoint(const SourcePlace& place) {
  bool removed = false;
  for (const Breakpoint& known : session.breakpoints())
    if (known.condition == Breakpoint::Condition::line && known.place == place)
      removed |= session.remove_breakpoint(known.id);
  if (removed) return false;
  Breakpoint line;
  line.condition = Breakpoint::Condition::line;
  line.pass = Breakpoint::Pass::forward;
  line.place = place;
  return session.add_breakpoint(line) != 0;
}

void Workbench::toggle_breakpoint(const NodeInfo& node) {
  if (node.place.line > 0) {
    toggle_breakpoint(node.place);
    return;
  }
  for (const Breakpoint& known : session.breakpoints())
    if (known.condition == Breakpoint::Condition::op && known.text == node.op) {
      session.remove_breakpoint(known.id);
      return;
    }
  Breakpoint op;
  op.condition = Breakpoint::Condition::op;
  op.text = node.op;
  session.add_breakpoint(op);
}

void Workbench::show_node(uint64_t id) { wanted_node_ = id; }

const std::string& Workbench::source_line(const SourcePlace& place) {
  static const std::string none;
  if (place.file.empty() || place.line < 1) return none;
  auto [entry, fresh] = sources_.try_emplace(place.file);
  if (fresh) {
    std::ifstream file(place.file);
    for (std::string line; std::getline(file, line);) {
      line = printable(line);
      entry->second.push_back(line.substr(std::min(line.find_first_not_of(' '), line.size())));
    }
  }
  return size_t(place.line) <= entry->second.size() ? entry->second[size_t(place.line) - 1] : none;
}

}  // namespace lunagrad
