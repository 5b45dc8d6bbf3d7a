// The public interface: each function calls the part of SessionThread that does the work. inspection.cpp has
// SessionInspection.
#include "script/session.h"

#include "runtime/dist/world.h"
#include "script/meta/library.h"
#include "script/session/session_thread.h"

namespace lunagrad {

bool set_library(const std::string& folder, std::string* why) { return set_library_directory(folder, why); }

Session::Session(EventSink sink, SessionOptions options)
    : Session(std::make_unique<SessionThread>(std::move(sink), std::move(options))) {}
Session::Session(std::unique_ptr<SessionThread> thread)
    : SessionControl(*thread),
      SessionInspection(*thread),
      SessionWatches(*thread),
      SessionConsole(*thread),
      SessionHost(*thread),
      thread_(std::move(thread)) {}
Session::~Session() {
  if (thread_) SessionThread::end(std::move(thread_));
}
bool Session::end(double seconds) { return SessionThread::end(std::move(thread_), seconds); }

// ---- control

void SessionControl::run_file(const std::string& path, RunOptions options) {
  thread_.control().start({path, "@" + path, "", std::move(options)});
}
void SessionControl::run_text(const std::string& code, const std::string& chunk_name, RunOptions options) {
  thread_.control().start({"", "=" + chunk_name, code, std::move(options)});
}
void SessionControl::pause() { thread_.pause_for_viewer(); }
void SessionControl::resume() { thread_.control().go_on(StepTo::nothing); }
void SessionControl::step() { thread_.control().go_on(StepTo::step_end); }
void SessionControl::step_op() { thread_.control().go_on(StepTo::op); }
void SessionControl::step_line() { thread_.control().go_on(StepTo::line); }
void SessionControl::stop() { thread_.control().stop(); }
void SessionControl::interrupt() { thread_.control().interrupt(); }
void SessionControl::checkpoint() {
  thread_.control().post([&thread = thread_] {
    if (thread.control().running()) thread.run().ask_checkpoint();
  });
}
Outcome SessionControl::wait() {
  thread_.require_other_thread("wait");
  return thread_.control().wait();
}
std::optional<Outcome> SessionControl::wait_for(double seconds) {
  thread_.require_other_thread("wait_for");
  return thread_.control().wait_for(seconds);
}
StepEnd SessionControl::step_and_wait(double seconds) {
  thread_.require_other_thread("step_and_wait");
  return thread_.control().step_and_wait(seconds);
}
std::optional<Silence> SessionControl::silence() const { return thread_.silence(); }
void SessionControl::reload(std::optional<std::string> source, std::optional<Modules> modules) {
  thread_.control().reload({std::move(source), std::move(modules)});
}
std::vector<std::string> SessionControl::files() const { return thread_.current_run().files(); }
SessionState SessionControl::state() const { return thread_.control().state(); }
std::vector<ParamInfo> SessionControl::params() const { return thread_.current_run().params(); }
bool SessionControl::set_param(const std::string& name, const std::string& value, std::string* why) {
  if (dist::leads() && state() != SessionState::idle) {
    if (why) *why = "the other ranks would keep the value that they began with: stop the run, then set it";
    return false;
  }
  return thread_.current_run().set_param(name, value, why);
}

// ---- watches

void SessionWatches::watch_tape(bool on) { thread_.viewers().tape().watch(on); }
void SessionWatches::watch_statistics(bool on, int64_t every) {
  thread_.viewers().statistics().watch(on, every);
}
void SessionWatches::watch_profile(bool on) {
  thread_.viewers().profile().watch(on);
  thread_.viewers().ranks().watch(on);
}
void SessionWatches::reset_profile() {
  thread_.viewers().profile().reset();
  thread_.viewers().ranks().reset();
}
void SessionWatches::watch_leaks(bool on) { thread_.viewers().leaks().watch(on); }
void SessionWatches::watch_data(bool on) { thread_.viewers().batch().watch(on); }
uint64_t SessionWatches::add_breakpoint(Breakpoint added) {
  return thread_.breakpoints().add(std::move(added));
}
bool SessionWatches::change_breakpoint(const Breakpoint& changed) {
  return thread_.breakpoints().change(changed);
}
bool SessionWatches::remove_breakpoint(uint64_t id) { return thread_.breakpoints().remove(id); }
std::vector<Breakpoint> SessionWatches::breakpoints() const { return thread_.breakpoints().list(); }
std::vector<BreakHit> SessionWatches::break_hits() const { return thread_.breakpoints().hits(); }
uint64_t SessionWatches::add_probe(Probe probe, std::string* why) {
  return thread_.probes().add(std::move(probe), why);
}
bool SessionWatches::remove_probe(uint64_t id) { return thread_.probes().remove(id); }
std::vector<Probe> SessionWatches::probes() const { return thread_.probes().list(); }

// ---- console

void SessionConsole::eval(const std::string& code, std::function<void(bool)> done) {
  thread_.control().post([&thread = thread_, code, done = thread_.calls().callback(std::move(done))] {
    thread.evaluate(code, done);
  });
}
void SessionConsole::evaluate(const std::string& code, std::function<void(bool, std::string)> done) {
  thread_.control().post([&thread = thread_, code, done = thread_.calls().callback(std::move(done))] {
    thread.evaluate(code, {}, done);
  });
}
void SessionConsole::complete(const std::string& line, std::function<void(std::vector<std::string>)> done) {
  thread_.control().post([&thread = thread_, line, done = thread_.calls().callback(std::move(done))] {
    thread.complete(line, done);
  });
}

// ---- host

bool SessionHost::set(const std::string& name, const Tensor& value, std::string* why) {
  return thread_.host().set(name, {value}, why);
}
Tensor SessionHost::get(const std::string& name) const { return as_tensor(thread_.host().get(name).value); }
bool SessionHost::set_value(const std::string& name, const SessionValue& value, std::string* why) {
  return thread_.host().set(name, value, why);
}
SessionHost::Got SessionHost::get_value(const std::string& name) const { return thread_.host().get(name); }
bool SessionHost::add_function(const std::string& name, std::function<TensorList(const TensorList&)> function,
                               std::string* why) {
  return thread_.host().add_function(name, std::move(function), why);
}
bool SessionHost::add_value_function(const std::string& name, ValueFunction function, std::string* why) {
  return thread_.host().add_function(name, std::move(function), why);
}
bool SessionHost::add_op(const Op& record, std::string* why, std::shared_ptr<const void> owner) {
  return thread_.host().add_op(record, std::move(owner), why);
}

}  // namespace lunagrad
