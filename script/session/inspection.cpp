// What a session shows of what it has collected. Answers that need the values of kept tensors are tasks on
// the session's thread.
#include "runtime/io/npy.h"
#include "runtime/ops.h"
#include "script/compare/compare_step.h"
#include "script/inspect/node_checks.h"
#include "script/inspect/tensor_slice.h"
#include "script/inspect/without_listeners.h"
#include "script/session/session_thread.h"
#include "script/session_inspection.h"

namespace lunagrad {
namespace {

// Statistics of more elements (some ten milliseconds) follow in a second answer.
constexpr int64_t kMostAtOnce = 1 << 24;

// Answers a query about a tensor: `look` makes the answer from its value. Without a value, or on an error,
// the answer has a reason. A value that is not kept is recomputed, if no script runs.
template <class Answer, class Look>
Answer answer(SessionThread& session, const TensorPlace& place, const std::stop_token& stop,
              const Look& look) {
  Answer answer;
  const WithoutListeners aside;
  const auto check_wanted = [&] {
    context().check_stop();
    if (stop.stop_requested() || session.control().ending())
      fail_as(ErrorKind::cancelled, "inspect: no longer wanted");
  };
  try {
    const TapeWatch::Found found = session.viewers().tape().find(
        place, session.control().state() == SessionState::running ? StepValues::CheckWanted() : check_wanted);
    if (!found.value.defined()) {
      answer.reason = found.reason;
      return answer;
    }
    answer = look(found.value);
    if constexpr (requires { answer.note; })
      if (!found.note.empty()) answer.note = found.note;
  } catch (const std::exception& error) {
    answer = Answer();
    answer.reason = error.what();
  }
  return answer;
}

}  // namespace

// ---- what is collected

std::shared_ptr<const TapeSnapshot> SessionInspection::tape() const {
  return thread_.viewers().tape().tape();
}
std::shared_ptr<const TapeSnapshot> SessionInspection::tape(int64_t step) const {
  return thread_.viewers().tape().tape(step);
}
void SessionInspection::choose_pass(uint64_t key) {
  thread_.control().post([&thread = thread_, key] { thread.viewers().tape().choose_pass(key); });
}
std::shared_ptr<const StepPlan> SessionInspection::plan() const { return thread_.viewers().tape().plan(); }
std::vector<StepStatisticsPtr> SessionInspection::statistics(uint64_t number) const {
  return thread_.viewers().statistics().steps(number);
}
void SessionInspection::measure_step(std::stop_token stop, std::function<void(bool)> done) {
  thread_.control().post([&thread = thread_, stop, done = thread_.calls().callback(std::move(done))] {
    RunControl& control = thread.control();
    const auto check_wanted = [&] {
      context().check_stop();
      if (stop.stop_requested() || control.ending() || control.resumed())
        fail_as(ErrorKind::cancelled, "measure: no longer wanted");
    };
    TapeWatch& tape = thread.viewers().tape();
    bool measured = false;
    const TapeWatch::Latest latest = tape.latest_values();
    if (latest.values && control.state() != SessionState::running && !stop.stop_requested()) try {
        const CurrentRun& run = thread.current_run();
        const bool ended = run && run->done() >= latest.values->step();
        const WithoutListeners aside;
        measured = thread.viewers().statistics().measure(
            {*latest.values, latest.pass, ended, latest.is_latest}, check_wanted);
        if (measured) tape.measured();
      } catch (const std::exception&) {  // cancelled, or out of memory: the step stays without figures
      }
    done(measured);
  });
}
std::shared_ptr<const ProfileView> SessionInspection::profile() const {
  return thread_.viewers().profile().view();
}
std::shared_ptr<const RankProfile> SessionInspection::rank_profile() const {
  return thread_.viewers().ranks().view();
}
std::shared_ptr<const LeakReport> SessionInspection::leaks() const {
  return thread_.viewers().leaks().report();
}
void SessionInspection::find_leaks(std::function<void()> done) {
  thread_.control().post([&thread = thread_, done = thread_.calls().callback(std::move(done))] {
    thread.find_leaks();
    done();
  });
}
void SessionInspection::batch(int64_t limit, std::function<void(BatchView)> done) {
  thread_.control().post([&thread = thread_, limit, done = thread_.calls().callback(std::move(done))] {
    done(thread.viewers().batch().view(limit));
  });
}
History SessionInspection::history() const { return thread_.viewers().tape().history(); }
void SessionInspection::set_history_budget(size_t bytes) {
  thread_.control().post([&thread = thread_, bytes] { thread.viewers().tape().set_budget(bytes); });
}
void SessionInspection::capture_values() { thread_.viewers().tape().capture_next(); }
void SessionInspection::stop_behind(int64_t step) {
  thread_.viewers().tape().watch(true);
  thread_.viewers().tape().seek(step);
}
bool SessionInspection::reached() const { return thread_.viewers().tape().reached(); }
SessionInspection::Memory SessionInspection::memory() const {
  const DeviceMemory memory = thread_.current_run().device()->memory();
  return {memory.in_use, memory.peak};
}

// ---- answers about kept tensors and nodes

void SessionInspection::inspect(const TensorPlace& place, const SliceQuery& query, std::stop_token stop,
                                std::function<void(SliceView)> done) {
  const auto look = [&thread = thread_, place, query, stop](bool in_full) {
    return answer<SliceView>(thread, place, stop, [&](const Tensor& value) {
      SliceQuery asked = query;
      asked.statistics = query.statistics && (in_full || elements_counted(value) <= kMostAtOnce);
      SliceView view = read_slice(value, asked, stop);
      view.statistics_follow = asked.statistics != query.statistics;
      return view;
    });
  };
  thread_.control().post(
      [&thread = thread_, look, place, stop, done = thread_.calls().callback(std::move(done))] {
        if (stop.stop_requested()) return;
        SliceView view = look(false);
        view.step = place.step;
        if (stop.stop_requested()) return;
        const bool more = view.statistics_follow;
        done(std::move(view));
        if (!more) return;
        thread.control().post([look, place, stop, done] {
          if (stop.stop_requested()) return;
          SliceView whole = look(true);
          whole.step = place.step;
          if (!stop.stop_requested()) done(std::move(whole));
        });
      });
}

void SessionInspection::inspect_tiles(const TensorPlace& place, const TileQuery& query, std::stop_token stop,
                                      std::function<void(TileView)> done) {
  thread_.control().post(
      [&thread = thread_, place, query, stop, done = thread_.calls().callback(std::move(done))] {
        if (stop.stop_requested()) return;
        TileView view = answer<TileView>(thread, place, stop,
                                         [&](const Tensor& value) { return read_tiles(value, query, stop); });
        view.step = place.step;
        if (!stop.stop_requested()) done(std::move(view));
      });
}

void SessionInspection::print_slice(const TensorPlace& place, const SliceQuery& query, SliceFormat format,
                                    std::function<void(std::string, std::string)> done) {
  thread_.control().post(
      [&thread = thread_, place, query, format, done = thread_.calls().callback(std::move(done))] {
        struct Answer {
          std::string text, reason;
        };
        Answer made = answer<Answer>(thread, place, {}, [&](const Tensor& value) {
          return Answer{lunagrad::print_slice(value, query, format), {}};
        });
        done(std::move(made.text), std::move(made.reason));
      });
}

void SessionInspection::save_tensor(const TensorPlace& place, const std::string& path,
                                    std::function<void(std::string)> done) {
  thread_.control().post([&thread = thread_, place, path, done = thread_.calls().callback(std::move(done))] {
    struct Answer {
      std::string reason;
    };
    const Answer made = answer<Answer>(thread, place, {}, [&](const Tensor& value) {
      const NoGrad off;
      // NumPy has no bf16; f32 holds all of its values.
      save_npy(path, value.dtype() == DType::bf16 ? to(value, DType::f32) : value);
      return Answer();
    });
    done(made.reason);
  });
}

void SessionInspection::check_gradient(int64_t step, uint64_t node, std::stop_token stop,
                                       std::function<void(GradientCheck)> done) {
  thread_.control().post(
      [&thread = thread_, step, node, stop, done = thread_.calls().callback(std::move(done))] {
        done(lunagrad::check_gradient(thread.viewers().tape(), step, node, stop));
      });
}

void SessionInspection::compare_devices(int64_t step, uint64_t node, std::stop_token stop,
                                        std::function<void(DeviceComparison)> done) {
  thread_.control().post(
      [&thread = thread_, step, node, stop, done = thread_.calls().callback(std::move(done))] {
        done(lunagrad::compare_devices(thread.viewers().tape(), step, node, stop));
      });
}

void SessionInspection::compare_step(int64_t step, const ComparisonQuery& query, std::stop_token stop,
                                     std::function<void(size_t, size_t, std::string_view)> progress,
                                     std::function<void(StepComparison)> done) {
  thread_.control().post([&thread = thread_, step, query, stop,
                          progress = thread_.calls().callback(std::move(progress)),
                          done = thread_.calls().callback(std::move(done))] {
    const auto on_progress = [&](size_t computed, size_t all, std::string_view name) {
      if (thread.control().ending() || thread.control().resumed())
        fail_as(ErrorKind::cancelled, "compare: the run goes on");
      progress(computed, all, name);
    };
    done(lunagrad::compare_step(thread.viewers().tape(), step, query, stop, on_progress));
  });
}

}  // namespace lunagrad
