#include "capi/session/outlet.h"

#include <cstdio>

#include "runtime/core/error.h"

namespace lunagrad::capi {
namespace {

int32_t kind_of(Event::Kind kind) {
  using Kind = Event::Kind;
  switch (kind) {
    case Kind::output:
      return LG_EVENT_OUTPUT;
    case Kind::warning:
      return LG_EVENT_WARNING;
    case Kind::error:
      return LG_EVENT_ERROR;
    case Kind::state:
      return LG_EVENT_STATE;
    case Kind::step:
      return LG_EVENT_STEP;
    case Kind::metrics:
      return LG_EVENT_METRICS;
    case Kind::param:
      return LG_EVENT_PARAM;
    case Kind::run_folder:
      return LG_EVENT_RUN_FOLDER;
    case Kind::checkpoint:
      return LG_EVENT_CHECKPOINT;
    case Kind::not_finite:
      return LG_EVENT_NOT_FINITE;
    case Kind::growth:
      return LG_EVENT_GROWTH;
    case Kind::surgery:
      return LG_EVENT_SURGERY;
    case Kind::image:
    case Kind::histogram:
    case Kind::text:
      return LG_EVENT_MEDIA;
    case Kind::ended:
      return LG_EVENT_ENDED;
    case Kind::reload:
    case Kind::break_hit:
    case Kind::probe:
    case Kind::source:
      break;  // only what the C library cannot ask for causes them
  }
  return LG_EVENT_NONE;
}

static_assert(LG_STATE_PAUSED == int(SessionState::paused) &&
              LG_STATE_STOPPING == int(SessionState::stopping) && LG_OUTCOME_USAGE == int(Outcome::usage) &&
              LG_OUTCOME_MEMORY == int(Outcome::memory) && LG_OUTCOME_STOPPED == int(Outcome::stopped));

}  // namespace

KeptEvent::KeptEvent(const Event& event) : text_(event.text), file_(event.place.file) {
  event_.kind = kind_of(event.kind);
  event_.line = event.place.line;
  if (event.kind == Event::Kind::output) event_.stream = event.to_stderr ? LG_STREAM_ERR : LG_STREAM_OUT;
  event_.step = event.step;
  event_.total = event.total;
  event_.time = event.time;
  event_.state = int32_t(event.state);
  event_.outcome = int32_t(event.outcome);
  event_.exit_code = event.exit_code;
  for (const auto& [name, value] : event.metrics) {
    names_.push_back(name);
    values_.push_back(value);
  }
}

lg_event KeptEvent::view(uint32_t dropped) {
  name_pointers_.clear();
  for (const std::string& name : names_) name_pointers_.push_back(name.c_str());
  event_.struct_size = sizeof event_;
  event_.text = text_.c_str();
  event_.length = text_.size();
  event_.file = file_.c_str();
  event_.dropped = dropped;
  event_.names = name_pointers_.data();
  event_.values = values_.data();
  event_.n_values = values_.size();
  return event_;
}

void Outlet::tell(int32_t stream, const std::string& words) const {
  if (sink_) sink_(user_, stream, words.data(), words.size());
  if (!stdio_) return;
  std::FILE* const file = stream == LG_STREAM_OUT ? stdout : stderr;
  std::fwrite(words.data(), 1, words.size(), file);
  if (stream >= LG_STREAM_WARNING) std::fputc('\n', file);
  std::fflush(file);
}

void Outlet::take(const Event& event) {
  KeptEvent kept(event);
  if (!kept.is_told()) return;
  using Kind = Event::Kind;
  if (event.kind == Kind::output)
    tell(event.to_stderr ? LG_STREAM_ERR : LG_STREAM_OUT, event.text);
  else if (event.kind == Kind::error)
    tell(LG_STREAM_ERROR, event.text);
  else if (event.kind == Kind::warning || event.kind == Kind::not_finite || event.kind == Kind::growth)
    tell(LG_STREAM_WARNING, event.text);
  if (on_event_) {
    const lg_event shown = kept.view(0);
    on_event_(user_, &shown);
  }
  const std::lock_guard lock(mutex_);
  if (event.kind == Kind::error) last_error_ = event.text;
  if (event.kind == Kind::ended && event.exit_code != 0 && last_error_.empty())
    last_error_ = text("the script ended with the exit code ", event.exit_code);
  if (event.kind == Kind::state && event.state == SessionState::running) last_error_.clear();
  if (limit_ == 0) return;
  if (events_.size() == limit_) {
    events_.pop_front();
    ++dropped_;
  }
  events_.push_back(std::move(kept));
  arrived_.notify_all();
}

std::pair<KeptEvent, uint32_t> Outlet::next(double seconds) {
  std::unique_lock lock(mutex_);
  if (!wait_until(arrived_, lock, seconds, [this] { return !events_.empty(); })) return {};
  KeptEvent found = std::move(events_.front());
  events_.pop_front();
  return {std::move(found), std::exchange(dropped_, 0)};
}

size_t Outlet::waiting() const {
  const std::lock_guard lock(mutex_);
  return events_.size();
}

std::string Outlet::last_error() const {
  const std::lock_guard lock(mutex_);
  return last_error_;
}

}  // namespace lunagrad::capi
