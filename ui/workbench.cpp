#include "ui/workbench.h"

#include <filesystem>
#include <fstream>
#include <random>

#include "runtime/error.h"
#include "script/run_record.h"
#include "ui/theme.h"

namespace lunagrad {

Workbench::Workbench(std::string script, RunOptions options, std::function<void()> ask_frame, EventSink also)
    : journal(ask_frame),
      tape(TextMeasure(fonts().body, fonts().bold), ask_frame),
      probe(ask_frame),
      runs(ask_frame),
      wake(std::move(ask_frame)),
      session([this, also = std::move(also)](const Event& event) {
        journal.push(event);
        if (also) also(event);
      }),
      script_(std::move(script)),
      options_(std::move(options)) {
  options_.interactive = true;  // somebody can resume: lg.run.breakpoint() pauses
  session.watch_tape(true);
}

bool Workbench::update() {
  session.watch_profile(Clock::now() - profile_wanted_ < kLooksAway);
  session.watch_data(Clock::now() - data_wanted_ < kLooksAway);
  bool changed = journal.update();
  changed |= runs.update();
  tape.offer(session.tape());
  changed |= tape.update();
  if (const NodeInfo* node = tape.selected_node()) {
    const int outputs = int(node->outputs.size());
    if (inspected_output_ >= outputs) inspected_output_ = 0;
    probe.watch(session, tape.selected(), node->id, inspected_output_, tape.tape()->step,
                journal.state() == SessionState::running);
  } else {
    probe.forget();
    inspected_output_ = 0;
  }
  return changed;
}

void Workbench::run() {
  if (journal.state() == SessionState::paused)
    session.resume();
  else
    restart();
}

void Workbench::restart() {
  if (script_.empty()) {
    journal.write(ConsoleLine::Kind::note,
                  "There is no script: open one (Ctrl+P), take one of the examples, or start the "
                  "workbench with one, as in lunagrad-workbench train.lua\n");
    return;
  }
  if (new_seed) options_.seed = std::random_device()();
  journal.restart();
  sources_.clear();
  tape.clear();
  journal.write(ConsoleLine::Kind::note, "run " + script_ + "\n");
  session.run_file(script_, options_);
  options_.run_directory.clear();  // it holds a run now: the next one gets a folder of its own
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
  journal.write(ConsoleLine::Kind::note, "opened the run " + path + " to look at; run starts " + script_ + " anew\n");
}

void Workbench::pause_or_resume() {
  if (journal.state() == SessionState::paused)
    session.resume();
  else if (journal.state() == SessionState::running)
    session.pause();
}

void Workbench::step() {
  if (journal.state() == SessionState::paused) {
    session.step();
  } else if (journal.state() == SessionState::running) {
    session.pause();
  } else if (!journal.active()) {
    restart();
    session.pause();
  }
}

void Workbench::step_op() {
  if (journal.state() == SessionState::paused) session.step_op();
}

void Workbench::open(const std::string& path) {
  if (path != script_) {
    script_ = path;
    sources_.clear();
    journal.write(ConsoleLine::Kind::note, "open " + path + "\n");
  }
  settings.remember(path);
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
