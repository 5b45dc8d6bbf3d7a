#include "ui/runs/journal.h"

#include <algorithm>
#include <utility>

#include "ui/base/utf8.h"

namespace lunagrad {

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const unsigned char c = static_cast<unsigned char>(text[0]);
    if (c == 0x1b && text.size() > 1 && text[1] == '[') {
      size_t end = 2;
      while (end < text.size() && (text[end] < '@' || text[end] > '~')) ++end;
      text.remove_prefix(std::min(end + 1, text.size()));
    } else if (c == '\t') {
      out.append(4 - out.size() % 4, ' ');
      text.remove_prefix(1);
    } else if (c < 0x20 || c == 0x7f) {
      out += "\xef\xbf\xbd";
      text.remove_prefix(1);
    } else if (const size_t length = utf8_sequence(text)) {
      out.append(text.substr(0, length));
      text.remove_prefix(length);
    } else {
      out += "\xef\xbf\xbd";
      text.remove_prefix(1);
    }
  }
  return out;
}

Journal::Journal(std::function<void()> wake) : wake_(std::move(wake)) {}

void Journal::push(const Event& event) {
  bool first = false;
  {
    std::lock_guard lock(mutex_);
    first = queue_.empty();
    queue_.push_back(event);
  }
  if (first && wake_) wake_();
}

bool Journal::update() {
  {
    std::lock_guard lock(mutex_);
    taken_.swap(queue_);
  }
  for (const Event& event : taken_) apply(event);
  const bool any = !taken_.empty();
  taken_.clear();
  return any;
}

void Journal::restart() {
  if (active())
    waiting_for_end_ = true;
  else
    begin();
}

void Journal::begin() {
  waiting_for_end_ = false;
  ended_ = false;
  curves_ = RunCurves();
  probes_.clear();
  ++runs_;
  params_.clear();
  drags_.clear();
  media_.clear();
  former_texts_ = std::exchange(texts_, TextHistory());
  step_ = total_ = 0;
  time_ = 0;
  time_at_ = Clock::now();
  recent_.clear();
  run_folder_.clear();
  stops_.clear();
  at_breakpoint_ = false;
  not_finite_.reset();
  failure_.reset();
  growth_.reset();
  surgery_.reset();
  failed_.clear();
  last_hit_ = 0;
  edits_.clear();
}

void Journal::note(const Event& event) {
  const std::string text = printable(event.text.substr(0, event.text.find('\n')));
  switch (event.kind) {
    case Event::Kind::not_finite: {
      NotFiniteNote made{
          event.text.starts_with("NaN"), event.step, event.since, text, {}, event.place, event.node};
      if (const size_t more = event.text.find('\n'); more != event.text.npos)
        made.explanation = event.text.substr(more + 1);
      not_finite_ = std::move(made);
      mark(RunMark::Kind::not_finite, event, text, not_finite_->nan ? "NaN" : "Inf");
      break;
    }
    case Event::Kind::growth:
      growth_ = GrowthNote{event.subject, text, event.step, event.place};
      break;
    case Event::Kind::error:
      // An error in a line typed in the console is shown below that line, not as a failure.
      if (event.place.line > 0 && event.place.file != "input")
        failure_ = FailureNote{text, event.place};
      else
        failed_ = text;
      break;
    case Event::Kind::reload:
      failure_.reset();
      surgery_.reset();
      if (not_finite_ && event.step < not_finite_->step) not_finite_.reset();
      if (growth_ && event.step < growth_->step) growth_.reset();
      break;
    default:
      break;
  }
}

void Journal::apply(const Event& event) {
  const bool stale = waiting_for_end_;
  switch (event.kind) {
    case Event::Kind::output:
      write(ConsoleLine::Kind::output, event.text, event.place);
      break;
    case Event::Kind::warning:
      write(ConsoleLine::Kind::warning, event.text + "\n", event.place);
      break;
    case Event::Kind::error:
      write(ConsoleLine::Kind::error, event.text + "\n", event.place);
      if (!stale) note(event);
      break;
    case Event::Kind::not_finite:
    case Event::Kind::growth:
      write(ConsoleLine::Kind::warning, event.text + "\n", event.place);
      if (!stale) note(event);
      break;
    case Event::Kind::checkpoint:
      write(ConsoleLine::Kind::note, "checkpoint saved in " + event.text + "\n", event.place);
      if (!stale) mark(RunMark::Kind::checkpoint, event, "checkpoint " + event.text);
      break;
    case Event::Kind::reload:
      write(ConsoleLine::Kind::note, "reloaded: " + event.text + "\n", event.place);
      if (stale) break;
      note(event);
      curves_.drop_after(event.step);
      probes_.drop_after(event.step);
      ++reloads_;
      mark(RunMark::Kind::reload, event, "reloaded: " + event.text);
      break;
    case Event::Kind::param:
      if (!stale && !event.metrics.empty()) {
        const std::string& name = event.metrics[0].first;
        const auto [known, first] = params_.try_emplace(name, event.text);
        if (!first && known->second != event.text) edit(event, name, known->second);
        known->second = event.text;
      }
      break;
    case Event::Kind::break_hit:
      write(ConsoleLine::Kind::warning, "paused: " + event.text + "\n", event.place);
      if (!stale) stops_.push_back(event.node), at_breakpoint_ = true, last_hit_ = event.breakpoint;
      break;
    case Event::Kind::surgery:
      write(ConsoleLine::Kind::note, event.text + "\n", event.place);
      if (stale) break;
      surgery_ = event.surgery;
      mark(RunMark::Kind::edit, event, event.text, event.text);
      break;
    case Event::Kind::run_folder:
      if (!stale) run_folder_ = curves_.folder = event.text;
      break;
    case Event::Kind::state:
      if (event.state == SessionState::paused) paused_time_ = elapsed();
      state_ = event.state;
      at_breakpoint_ &= state_ == SessionState::paused;
      pause_place_ = event.place;
      pauses_ += state_ == SessionState::paused;
      if (!stale && state_ == SessionState::paused) {
        Event here = event;
        here.step = step_;
        here.time = time_;
        mark(RunMark::Kind::pause, here, "paused");
      }
      break;
    case Event::Kind::step:
    case Event::Kind::metrics:
      if (stale) break;
      step_ = std::max(step_, event.step);
      if (event.total > 0) total_ = event.total;
      for (const auto& [name, value] : event.metrics)
        curves_.metric(name, smoothing_).append(event.step, event.time, value);
      if (event.kind == Event::Kind::step) {
        texts_.reach(event.step);
        recent_.emplace_back(event.time, event.step);
        while (recent_.size() > 2 && event.time - recent_.front().first > 2) recent_.pop_front();
      }
      break;
    case Event::Kind::probe:
      if (stale) break;
      if (const auto* known = probes_.find(event.probe);
          !event.text.empty() && (!known || known->problem.empty()))
        write(ConsoleLine::Kind::error, "probe " + event.metrics[0].first + ": " + event.text + "\n",
              event.place);
      probes_.add(event, curves_, smoothing_);
      break;
    case Event::Kind::image:
    case Event::Kind::histogram:
    case Event::Kind::text:
      if (!stale) media_.add(event);
      break;
    case Event::Kind::source:
      if (!stale) texts_.load(event.place.file, event.step, event.text);
      break;
    case Event::Kind::ended:
      outcome_ = event.outcome;
      ended_ = true;
      ++ends_;
      if (stale || outcome_ == Outcome::ok || outcome_ == Outcome::stopped) {
        failure_.reset();
      } else {
        if (!failure_) failure_ = FailureNote{failed_.empty() ? "the run failed" : failed_, {}};
        failure_->ended = true;
      }
      failed_.clear();
      break;
  }
  if (event.time > 0 && !stale) {
    time_ = event.time;
    time_at_ = Clock::now();
  }
  if (event.kind == Event::Kind::ended) {
    state_ = SessionState::idle;
    if (stale) begin();
  }
}

void Journal::begin_drag(const std::string& name) { drags_[name] = {}; }

void Journal::end_drag(const std::string& name, const std::string& value) {
  if (const auto drag = drags_.find(name); drag != drags_.end()) drag->second.last = value;
}

void Journal::edit(const Event& event, const std::string& name, const std::string& before) {
  edits_.push_back({event.step, name, event.text});
  const auto drag = drags_.find(name);
  const bool dragged = drag != drags_.end();
  const std::string line = "step " + std::to_string(event.step) + ": " + name + " = " + event.text;
  if (dragged && drag->second.marked) {
    // The mark stays at the step where the drag began.
    RunMark& mark = curves_.marks[drag->second.mark];
    mark.text = printable(name + ": " + drag->second.before + " to " + event.text);
    mark.brief = printable(name + " " + event.text);
    if (drag->second.line >= dropped_) lines_[size_t(drag->second.line - dropped_)].text = printable(line);
    ++revision_;
  } else {
    mark(RunMark::Kind::edit, event, name + ": " + before + " to " + event.text, name + " " + event.text);
    if (dragged)
      drag->second = {true, curves_.marks.size() - 1, dropped_ + lines_.size(), before, drag->second.last};
    write(ConsoleLine::Kind::note, line + "\n", event.place);
  }
  if (dragged && drag->second.last == event.text) drags_.erase(drag);
}

void Journal::write(ConsoleLine::Kind kind, std::string_view text, SourcePlace place) {
  uint32_t part_of_message = 0;
  while (!text.empty()) {
    const size_t newline = text.find('\n');
    std::string_view part = text.substr(0, newline);
    text.remove_prefix(newline == text.npos ? text.size() : newline + 1);
    bool replaces = false;
    if (part.ends_with('\r')) part.remove_suffix(1);
    // A carriage return overwrites the line, as on a terminal.
    if (const size_t start = part.find_last_of('\r'); start != part.npos) {
      part.remove_prefix(start + 1);
      replaces = true;
    }
    if (line_open_ && !lines_.empty() && lines_.back().kind == kind) {
      if (replaces) lines_.back().text.clear();
      lines_.back().text += printable(part);
    } else {
      lines_.push_back({kind, printable(part), place, part_of_message});
    }
    ++part_of_message;
    line_open_ = newline == text.npos;
    ++revision_;
  }
  for (; lines_.size() > kMostLines; ++dropped_) lines_.pop_front();
}

void Journal::clear_console() {
  dropped_ += lines_.size();
  lines_.clear();
  line_open_ = false;
  ++revision_;
}

void Journal::mark(RunMark::Kind kind, const Event& event, std::string text, std::string brief) {
  if (curves_.marks.size() == kMostMarks) {
    constexpr size_t kGone = kMostMarks / 2;
    curves_.marks.erase(curves_.marks.begin(), curves_.marks.begin() + kGone);
    for (auto& [name, drag] : drags_)
      if (drag.marked && drag.mark < kGone)
        drag.marked = false;
      else
        drag.mark -= drag.marked ? kGone : 0;
  }
  curves_.marks.push_back({kind, event.step, event.time, printable(text), event.place, printable(brief)});
}

void Journal::set_smoothing(double beta) {
  if (beta == smoothing_) return;
  smoothing_ = beta;
  for (Metric& metric : curves_.metrics) metric.set_smoothing(beta);
}

double Journal::elapsed() const {
  if (state_ == SessionState::paused) return paused_time_;
  if (!active()) return time_;
  return time_ + std::chrono::duration<double>(Clock::now() - time_at_).count();
}

double Journal::steps_per_second() const {
  if (recent_.size() < 2) return 0;
  const double seconds = recent_.back().first - recent_.front().first;
  return seconds > 0 ? double(recent_.back().second - recent_.front().second) / seconds : 0;
}

std::string Journal::error_message(const SourcePlace& place) const {
  const auto found = std::find_if(lines_.rbegin(), lines_.rend(), [&](const ConsoleLine& line) {
    return line.kind == ConsoleLine::Kind::error && line.part == 0 && line.place == place;
  });
  return found == lines_.rend() ? std::string() : found->text;
}

const ConsoleLine* Journal::last_error() const {
  for (auto line = lines_.rbegin(); line != lines_.rend(); ++line)
    if (line->kind == ConsoleLine::Kind::error && line->place.line > 0) return &*line;
  return nullptr;
}

}  // namespace lunagrad
