// Who sees the ops and backward passes of a run: the tape for a viewer, statistics and breakpoints; and how a
// run pauses for a breakpoint.
#include "script/session/impl.h"

namespace lunagrad {

BreakpointWatch::Owner Session::Impl::breakpoint_owner() {
  return {.changed =
              [this] {
                const std::lock_guard lock(mutex_);
                breakpoints_changed_ = true;
                attention_.store(true);
              },
          .found =
              [this] {
                const std::lock_guard lock(mutex_);
                pause_ = true;
                attention_.store(true);
              },
          .pause = [this] { safe_point(nullptr, Place::midst); },
          .state = [this] { return lua_; },
          .ending = [this] { return unwinding_; },
          .warn = [this](const std::string& message) { warn(message); }};
}

void Session::Impl::begin_step() {
  take_over_breakpoints();
  breakpoints_.begin_step(run_->step());
  statistics_.begin_step();
  bool values = false;
  {
    const std::lock_guard lock(mutex_);
    values = pause_ || step_to_ != StepTo::nothing;
  }
  in_steps_.store(run_->in_steps());
  if (handed_ && run_->done() > handed_->step) handed_.reset();
  tape_watch_.begin_step(run_->step(), values && tape_watch_.watching());
  profile_.begin_step(run_->step(), !run_->awaits_boundary(), *context_.device);
  listen();
}

bool Session::Impl::take_over_breakpoints() {
  {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(breakpoints_changed_, false)) return false;
  }
  breakpoints_.take_over();
  return true;
}

// Nobody listens who need not: an op that nobody sees costs one look at a pointer.
void Session::Impl::listen() {
  std::vector<Capture*> viewers;
  if (statistics_.watching())
    viewers.push_back(&statistics_);  // before the tape, which takes over its numbers
  if (tape_watch_.watching()) viewers.push_back(&tape_watch_);
  if (breakpoints_.wants_gradients()) viewers.push_back(&breakpoints_);
  if (profile_.measuring()) viewers.push_back(&profile_);
  captures_.set(std::move(viewers));
  context_.capture = captures_.empty() ? nullptr : &captures_;
  const bool ops =
      tape_watch_.keeps_values() || statistics_.looking() || breakpoints_.wants_ops() || profile_.measuring();
  context_.trace = ops || !context_.device->is_cpu() ? &listener_ : nullptr;
  set_finite_watch(breakpoints_.wants_finite() ? &breakpoints_ : nullptr);
  context_.guard = breakpoints_.wants_finite() ? Guard::op : asked_guard_;
  breakpoints_.set_raises(asked_guard_ == Guard::op);
}

void Session::Impl::ask_guard(Guard level) {
  asked_guard_ = level;
  listen();
}

void Session::Impl::pause_here(lua_State* L) {
  pause();
  safe_point(L, Place::midst);
}

// The run stands behind the op, or amid the backward pass, in which a breakpoint was met.
void Session::Impl::announce(Finding finding) {
  BreakHit& hit = finding.hit;
  if (!finding.node && finding.value.defined()) finding.node = finding.value.node();
  if (finding.node) hit.node = finding.node->id;
  if (finding.value.defined()) bind_console("it", finding.value.detach());
  tape_watch_.show(finding);
  breakpoints_.record(hit);
  Event event{};
  event.kind = Event::Kind::break_hit;
  event.text = hit.explanation;
  event.place = hit.place;
  event.step = hit.step;
  event.breakpoint = hit.breakpoint;
  event.node = hit.node;
  emit(std::move(event));
}

void Session::Impl::Listener::ran(const Call& call, uint64_t length) {
  if (owner_.profile_.measuring()) owner_.profile_.ran(call, length);
  if (owner_.tape_watch_.keeps_values()) owner_.tape_watch_.ran(call);
  if (owner_.task_running_) return;
  owner_.statistics_.ran(call);
  owner_.breakpoints_.ran(call);
}

void Session::Impl::Listener::waited(uint64_t length) {
  if (owner_.profile_.measuring()) owner_.profile_.waited(length);
}

void Session::Impl::Listener::fell_back(const Call& call, const char* reason) {
  if (owner_.profile_.measuring()) owner_.profile_.fell_back(call, reason);
  if (!told_.insert(call.op).second) return;
  Event event{};
  event.kind = Event::Kind::warning;
  event.text = text(call.op->name + (call.op->hidden() ? 1 : 0), " runs on the CPU: ", reason);
  owner_.emit(std::move(event));
}

// ---- the public face

void Session::watch_statistics(bool on, int64_t every) { impl_->statistics().watch(on, every); }
std::vector<StepStatisticsPtr> Session::statistics(uint64_t number) const {
  return impl_->statistics().steps(number);
}
uint64_t Session::add_breakpoint(Breakpoint added) { return impl_->breakpoints().add(std::move(added)); }
bool Session::change_breakpoint(const Breakpoint& changed) { return impl_->breakpoints().change(changed); }
bool Session::remove_breakpoint(uint64_t id) { return impl_->breakpoints().remove(id); }
std::vector<Breakpoint> Session::breakpoints() const { return impl_->breakpoints().list(); }
std::vector<BreakHit> Session::break_hits() const { return impl_->breakpoints().hits(); }
void Session::watch_profile(bool on) { impl_->profile_watch().watch(on); }
void Session::reset_profile() { impl_->profile_watch().reset(); }
std::shared_ptr<const ProfileView> Session::profile() const { return impl_->profile_watch().view(); }
void Session::watch_data(bool on) { impl_->batch_watch().watch(on); }
void Session::batch(int64_t limit, std::function<void(BatchView)> done) {
  impl_->post([this, limit, done = std::move(done)] { done(impl_->batch_watch().view(limit)); });
}

}  // namespace lunagrad
