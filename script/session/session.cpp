// The public interface: each function calls the part that does the work.
#include "script/session.h"

#include "runtime/dist/world.h"
#include "script/session/session_thread.h"

namespace lunagrad {

Session::Session(EventSink sink) : impl_(std::make_unique<SessionThread>(std::move(sink))) {}
Session::~Session() = default;

// ---- control

void Session::run_file(const std::string& path, RunOptions options) {
  impl_->control().start({path, "@" + path, "", std::move(options)});
}
void Session::run_text(const std::string& code, const std::string& chunk_name, RunOptions options) {
  impl_->control().start({"", "=" + chunk_name, code, std::move(options)});
}
void Session::pause() { impl_->pause_for_viewer(); }
void Session::resume() { impl_->control().go_on(StepTo::nothing); }
void Session::step() { impl_->control().go_on(StepTo::step_end); }
void Session::step_op() { impl_->control().go_on(StepTo::op); }
void Session::step_line() { impl_->control().go_on(StepTo::line); }
void Session::stop() { impl_->control().stop(); }
void Session::interrupt() { impl_->control().interrupt(); }
Outcome Session::wait() { return impl_->control().wait(); }
std::optional<Silence> Session::silence() const { return impl_->silence(); }
void Session::reload(std::optional<std::string> source, std::optional<Modules> modules) {
  impl_->control().reload({std::move(source), std::move(modules)});
}
SessionState Session::state() const { return impl_->control().state(); }

// ---- the run

std::vector<std::string> Session::files() const { return impl_->current_run().files(); }
std::vector<ParamInfo> Session::params() const { return impl_->current_run().params(); }
bool Session::set_param(const std::string& name, const std::string& value, std::string* why) {
  if (dist::leads() && state() != SessionState::idle) {
    if (why) *why = "the other ranks would keep the value that they began with: stop the run, then set it";
    return false;
  }
  return impl_->current_run().set_param(name, value, why);
}
Session::Memory Session::memory() const {
  const DeviceMemory memory = impl_->current_run().device()->memory();
  return {memory.in_use, memory.peak};
}

void Session::checkpoint() {
  impl_->control().post([this] {
    if (impl_->control().running()) impl_->run().ask_checkpoint();
  });
}

void Session::set(const std::string& name, const Tensor& value) { impl_->host().set(name, value); }
Tensor Session::get(const std::string& name) const { return impl_->host().get(name); }
void Session::add_function(const std::string& name, std::function<TensorList(const TensorList&)> function) {
  impl_->host().add_function(name, std::move(function));
}
void Session::add_op(const Op& record) { impl_->host().add_op(record); }

// ---- tasks; answers.cpp has those about kept tensors

void Session::eval(const std::string& code, std::function<void(bool)> done) {
  impl_->control().post([this, code, done = std::move(done)] { impl_->evaluate(code, done); });
}
void Session::complete(const std::string& line, std::function<void(std::vector<std::string>)> done) {
  impl_->control().post([this, line, done = std::move(done)] { impl_->complete(line, done); });
}
void Session::batch(int64_t limit, std::function<void(BatchView)> done) {
  impl_->control().post(
      [this, limit, done = std::move(done)] { done(impl_->viewers().batch().view(limit)); });
}
void Session::set_history_budget(size_t bytes) {
  impl_->control().post([this, bytes] { impl_->viewers().tape().set_budget(bytes); });
}

// ---- viewers

void Session::watch_tape(bool on) { impl_->viewers().tape().watch(on); }
std::shared_ptr<const TapeSnapshot> Session::tape() const { return impl_->viewers().tape().tape(); }
std::shared_ptr<const TapeSnapshot> Session::tape(int64_t step) const {
  return impl_->viewers().tape().tape(step);
}
void Session::choose_pass(uint64_t key) {
  impl_->control().post([this, key] { impl_->viewers().tape().choose_pass(key); });
}
std::shared_ptr<const StepPlan> Session::plan() const { return impl_->viewers().tape().plan(); }
History Session::history() const { return impl_->viewers().tape().history(); }
void Session::capture_values() { impl_->viewers().tape().capture_next(); }
void Session::stop_behind(int64_t step) {
  impl_->viewers().tape().watch(true);
  impl_->viewers().tape().seek(step);
}
bool Session::reached() const { return impl_->viewers().tape().reached(); }
void Session::watch_statistics(bool on, int64_t every) { impl_->viewers().statistics().watch(on, every); }
std::vector<StepStatisticsPtr> Session::statistics(uint64_t number) const {
  return impl_->viewers().statistics().steps(number);
}
void Session::watch_profile(bool on) {
  impl_->viewers().profile().watch(on);
  impl_->viewers().ranks().watch(on);
}
void Session::reset_profile() {
  impl_->viewers().profile().reset();
  impl_->viewers().ranks().reset();
}
std::shared_ptr<const RankProfile> Session::rank_profile() const { return impl_->viewers().ranks().view(); }
std::shared_ptr<const ProfileView> Session::profile() const { return impl_->viewers().profile().view(); }
std::shared_ptr<const LeakReport> Session::leaks() const { return impl_->viewers().leaks().report(); }
void Session::watch_leaks(bool on) { impl_->viewers().leaks().watch(on); }
void Session::find_leaks(std::function<void()> done) {
  impl_->control().post([this, done = std::move(done)] {
    impl_->find_leaks();
    done();
  });
}
void Session::watch_data(bool on) { impl_->viewers().batch().watch(on); }

// ---- breakpoints

uint64_t Session::add_breakpoint(Breakpoint added) { return impl_->breakpoints().add(std::move(added)); }
bool Session::change_breakpoint(const Breakpoint& changed) { return impl_->breakpoints().change(changed); }
bool Session::remove_breakpoint(uint64_t id) { return impl_->breakpoints().remove(id); }
std::vector<Breakpoint> Session::breakpoints() const { return impl_->breakpoints().list(); }
uint64_t Session::add_probe(Probe probe, std::string* why) {
  return impl_->probes().add(std::move(probe), why);
}
bool Session::remove_probe(uint64_t id) { return impl_->probes().remove(id); }
std::vector<Probe> Session::probes() const { return impl_->probes().list(); }
std::vector<BreakHit> Session::break_hits() const { return impl_->breakpoints().hits(); }

}  // namespace lunagrad
